/* SPDX-License-Identifier: MIT */
/*
 * source_input: what the files of the source share: its inputs, its readers, its tasks.
 *
 * One lock guards all of it. It is never held while a thread reads, opens, waits for an input,
 * decodes or copies much; what the thread works on is marked as its own then (input.busy,
 * source.opening, job.running, a piece that is FILLING or OUT). Functions are called with the lock
 * held and keep it, unless their comment says that they are called without it; those whose names
 * end in _unlocks give it up in between.
 *
 * Offsets are those of an input's decoded bytes, from where it begins, unless they are called
 * packed.
 */
#ifndef GPUHIST_SOURCE_INPUT_H
#define GPUHIST_SOURCE_INPUT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/lock.h"
#include "input/bytes.h"
#include "input/content.h"
#include "input/part.h"
#include "input/source.h"
#include "input/zstd_job.h"

struct plain_input; /* source_plain.c */
struct zstd_input;  /* zstd_job.h */
struct slice;       /* source_part.c */

/* What was taken of an input when nothing more of it comes. */
struct taken {
	uint64_t left_at; /* packed: where the next program goes on with a redirected file */
	uint64_t packed;  /* bytes that were decoded */
	uint64_t missing; /* bytes before in->at that were not there after all */
	uint64_t bytes;   /* of samples ... */
	uint64_t tail;    /* ... and how many of them are behind the last whole record */
};

/* What plain inputs and zstd inputs do in their own ways, with the lock but for `begin`. */
struct input_kind {
	/* Gets ready for the first task. 1: the source was stopped. */
	int (*begin)(struct source *s, struct input *in, struct fail *fail);
	void (*free)(struct source *s, struct input *in);
	bool (*idle)(const struct input *in); /* nothing of it is being read or decoded */
	bool (*backlog)(const struct source *s, const struct input *in); /* source_backlog */
	struct taken (*taken)(const struct source *s, const struct input *in);
	/* Looks at what follows the samples, where that was not done before. */
	int (*check_rest)(struct input *in, struct fail *fail);
};
extern const struct input_kind plain_kind, zstd_kind;

struct input {
	struct input *next; /* of those that live, in their order */
	const char *name;   /* for messages */
	size_t index;       /* among the paths: failures have an order */
	struct bytes *bytes;
	bool is_file; /* they can be read at any offset */
	struct content content;
	/* the first sample that is wanted; the end of the samples, or NO_END */
	uint64_t first, bound;
	uint64_t limit; /* what comes from here on is not wanted, by -n or --part; or NO_END */
	bool sliced;    /* for --part: only the records from `from` on, up to `to`, are wanted */
	uint64_t from, to;
	bool begins, ends; /* -S's bytes belong to it, and what follows its last record */

	uint64_t at;   /* what comes next, or UNKNOWN */
	bool busy;     /* a reader has its turn, to read or cut what comes next */
	bool ended;    /* nothing more is read or cut */
	bool shorter;  /* the file is smaller than it was */
	unsigned lent; /* chunks of it that callers give back */
	const struct input_kind *kind;
	struct plain_input *plain; /* by its kind one of them, once it has begun */
	struct zstd_input *zstd;
};

struct reader {
	struct source *source;
	struct reader *next;
	bool takes;       /* it has called source_take: a worker may fail before it does */
	uint64_t counted; /* a tally: bytes that came back with source_done */
};

/* The first failure: of an input, at an offset, packed for zstd. */
struct failure {
	struct fail fail;
	size_t index;
	uint64_t offset;
};

/* Unless raw: the first input, which later ones must agree with. */
struct first {
	const char *name;
	struct header said;  /* by it */
	struct input *input; /* itself, until it is used */
};

/* Readers that wait, and how they are called (source.c). */
struct waiting {
	pthread_cond_t wake;
	unsigned sleepers;
	unsigned calls;     /* rises with each call to readers; read without the lock too */
	bool soon;          /* the last wait was short: one reader waits awake */
	bool awake, called; /* a reader waits awake; and it has been called */
};

/* The bytes that jobs may take: a ledger. */
struct budget {
	uint64_t memory; /* all of it; less, once a GPU takes its part back */
	uint64_t held;   /* by live jobs, and by inputs for what they keep of streams */
	uint64_t kept;   /* by free jobs */
};

/* Decoding, of all inputs (zstd_job.h). */
struct decoding {
	struct zstd_piece *queue, **queue_end; /* ready, of known offset: for any reader */
	struct seam *mended;                   /* records that were put together */
	struct zstd_job *free_jobs;            /* which keep their buffers for the next ones */
	unsigned jobs;                         /* that live */
	unsigned decoding;                     /* jobs that a thread works on */
	const struct zstd_job *on_device;      /* the one that has the unpacker, or NULL */
	/* Was it tried, where that is asked for? It is not tried twice, and used if it pays. */
	enum { DEVICE_NEW, DEVICE_TRIED, DEVICE_PAYS } device;
	bool dropped; /* jobs were, and wait to be freed */
};

struct source {
	struct source_spec spec;
	struct source_use use; /* record is 0 until source_start */
	struct slice *slice;   /* NULL: all records are wanted */
	struct source_totals totals;
	struct lock lock;
	struct waiting wait;
	bool wanted;      /* one more reader would find work */
	bool stopped;     /* by source_stop */
	int wake_pipe[2]; /* a byte in it ends every wait for a stream */
	struct bytes_shared shared;
	struct reader *readers; /* atomic; a reader stays where it is until the source is closed */
	unsigned reader_count;  /* readers that take */
	struct input *inputs;   /* that live */
	struct input *current;  /* the last of them, until nothing more is read or cut of it */
	struct first first;
	size_t next_path;
	bool opening;  /* a thread opens the next input */
	size_t told;   /* by source_use.ended */
	uint64_t left; /* records that -n leaves for inputs that are not open */
	struct decoding zstd;
	struct budget budget;
	struct failure failure;
};

/* What source_take was asked for, and how far that is answered. */
struct request {
	const struct want *want;
	struct chunk *chunk; /* bytes > 0: answered */
	size_t cap, got;     /* of want->room: what decoded bytes were copied to it so far */
};

/* Something that a reader can do: with the lock, which run_unlocks gives up while it works. */
struct task {
	bool (*ready)(const struct source *s, const struct request *q);
	void (*run_unlocks)(struct source *s, struct request *q);
};
extern const struct task execute_task, /* put the next block together */
	mended_task,                   /* hand out a record that lay in several pieces */
	decode_task,                   /* decode a frame, or small ones, for one thread */
	piece_task,                    /* hand out a piece that was decoded */
	fetch_task,                    /* read blocks, some ahead of those who decode them */
	unpack_task,                   /* decode a block, but for its past */
	send_task,                     /* send blocks to a device that decodes them */
	done_task,                     /* take what it has decoded ... */
	wait_task,                     /* ... or wait for that */
	plain_task,                    /* read plain samples */
	cut_task;                      /* cut frames off */

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* a + b, or the largest offset where the sum is larger. */
static inline uint64_t offset_sum(uint64_t a, uint64_t b)
{
	return a < NO_END - b ? a + b : NO_END;
}

/* Which record an offset is the beginning of. */
static inline uint64_t input_record(const struct source *s, const struct input *in, uint64_t at)
{
	return (at - in->first) / s->use.record;
}

/* Where the records of an input end at the latest. */
static inline uint64_t input_stop(const struct input *in)
{
	return lesser(in->limit, in->bound);
}

/* ---- source.c ---- */

/* There is something to do for one more reader; for all. */
void source_call(struct source *s);
void source_call_all(struct source *s);

/*
 * A failure of an input at an offset. The first one counts, by input and offset; what lies behind
 * it ends, what lies before goes on, and may fail too.
 */
void source_fail(struct source *s, const struct input *in, uint64_t offset, const struct fail *f);
bool source_failed_before(const struct source *s, const struct input *in, uint64_t offset);

/* Nothing more is read or cut of the input, so the next one can be opened. */
void input_end(struct source *s, struct input *in);

/* Was all of it handed out, and given back? Then it is checked, added to the totals, and freed. */
void input_check(struct source *s, struct input *in);

/* What is wrong with its end: it lacks something (cut), or has a partial record. No lock. */
int input_check_end(const struct source *s, const struct input *in, uint64_t tail, bool cut,
		    struct fail *fail);

/* ---- source_input.c: without the lock ---- */

/* Checks that every named input exists, is no directory, and may be read. */
int input_check_all(const struct source_spec *spec, struct fail *fail);

/*
 * Opens an input and looks at its beginning: is it zstd, does it have a header? No byte of a pipe
 * is lost. The caller frees *out in any case. 1: the source was stopped, or by --finish the tee.
 */
int input_open(struct source *s, size_t path, struct input **out, struct fail *fail);
void input_free(struct source *s, struct input *in);

/* Finds the first sample that -S does not skip, and where the samples end. -1: -S is larger. */
int input_bounds(const struct source *s, struct input *in, struct fail *fail);

/* Gets it ready for reading, `left` records of -n. 1: the source was stopped. */
int input_begin(struct source *s, struct input *in, uint64_t left, struct fail *fail);

/* Does its header agree with what the samples are taken to be, and with the first input? */
int input_agrees(const struct source *s, const struct input *in, struct fail *fail);

/* Sets *fail and returns -1: -S is larger than the samples are. */
int input_too_skipped(const struct source *s, const struct input *in, struct fail *fail);

/* ---- source_part.c: the records of a slice; without the lock ---- */

uint64_t part_records(const struct slice *slice); /* how many it has */

/* Can what the path-th path names, a file or not, be cut into slices? */
int part_check(const struct source_spec *spec, size_t path, mode_t mode, struct fail *fail);

/* Counts the records of all inputs: opens each and closes it again. Then there is a slice. */
int part_measure(struct source *s, struct fail *fail);

/* An input that was opened to be read: which of its records are wanted? -1: it has changed. */
int part_enter(const struct source *s, struct input *in, struct fail *fail);

/* Of zstd: goes to the first frame that the slice needs. */
int part_begin_zstd(struct source *s, struct input *in, struct fail *fail);

/* Sets *fail and returns -1: it does not hold what it held when its records were counted. */
int part_changed(const struct input *in, struct fail *fail);

/* ---- source_plain.c: the task "read" ---- */

/* A range comes back, of which `counted` bytes were there. */
void range_back(struct source *s, const struct chunk *range, size_t counted);

#endif

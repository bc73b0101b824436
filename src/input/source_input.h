/* SPDX-License-Identifier: MIT */
/*
 * source_input: what the files of the source share: its inputs, its readers, its tasks.
 *
 * One lock guards all of it. It is never held while a thread reads, opens, waits for an input,
 * decodes or copies much; what the thread works on is marked as its own then (input.busy,
 * source.opening, job.running, a piece that is FILLING or has `out`). Functions are called with the lock
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
#include "count/layout.h"
#include "input/bytes.h"
#include "input/content.h"
#include "input/part.h"
#include "input/source.h"
#include "input/zstd_job.h"

struct plain_input; /* source_plain.c */
struct zstd_input;  /* zstd_job.h */
struct slice;       /* source_part.c */
struct rooms;       /* zstd_blocks.h */

/* What was taken of an input when nothing more of it comes. */
struct taken {
	uint64_t left_at; /* packed: where the next program goes on with a redirected file */
	uint64_t packed;  /* packed bytes that were decoded */
	uint64_t missing; /* bytes before in->at that were not there after all */
	uint64_t bytes;   /* bytes of samples */
	uint64_t tail;    /* bytes of samples after the last whole record */
};

/* What plain inputs and zstd inputs do in their own ways, with the lock but for `begin`. */
struct input_kind {
	/* Gets ready for the first task. 1: the source was stopped. */
	int (*begin)(struct source *s, struct input *in, struct fail *fail);
	void (*free)(struct source *s, struct input *in);
	/* Nothing of the input is being read or decoded, or will be handed out. */
	bool (*idle)(const struct source *s, const struct input *in);
	bool (*backlog)(const struct source *s, const struct input *in); /* source_backlog */
	struct taken (*taken)(const struct source *s, const struct input *in);
	/* Looks at what follows the samples, where that was not done before. */
	int (*check_rest)(struct input *in, struct fail *fail);
};
extern const struct input_kind plain_kind, zstd_kind;

struct input {
	struct input *next; /* the next live input, in the order of the paths */
	const char *name;   /* for messages */
	size_t index;       /* its index among the paths, by which failures are ordered */
	struct bytes *bytes;
	bool is_file; /* its bytes can be read at any offset */
	struct content content;
	/* offset of the first sample that is wanted; offset where samples end, or NO_END */
	uint64_t first, bound;
	uint64_t limit;    /* offset from which on -n or --part want nothing; or NO_END */
	bool sliced;       /* for --part: only the bytes from `from` on, up to `to`, are wanted */
	uint64_t from, to; /* offsets from the first sample */
	bool begins, ends; /* this run has what -S skips; it has what follows the records */

	uint64_t at;   /* offset of what is read or cut next, or UNKNOWN */
	bool busy;     /* a reader has its turn, to read or cut what comes next */
	bool ended;    /* nothing more is read or cut */
	bool shorter;  /* the file is smaller than it was */
	unsigned lent; /* chunks of it that callers have yet to give back */
	bool spent;    /* nothing of it is left to hand out, and a reader was called */
	const struct input_kind *kind;
	struct plain_input *plain; /* NULL unless a plain input has begun */
	struct zstd_input *zstd;   /* NULL unless a zstd input has begun */
};

struct reader {
	struct source *source;
	struct reader *next;
	bool takes;       /* it has called source_take: a worker may fail before it does */
	uint64_t counted; /* a tally: bytes that came back with source_done */
};

/*
 * The first failure: of an input, at an offset, packed for zstd. It waits until all work before it
 * is done, which may fail too; then it is due, and the run's. Work behind it ends with the run.
 */
struct failure {
	struct fail fail;
	size_t index;
	uint64_t offset;
	bool due;
};

/* Unless raw: the first input, which later ones must agree with. */
struct first {
	const char *name;
	struct header said;  /* what the first input's header says */
	struct input *input; /* the open input, until a reader begins it; then NULL */
};

/* Readers that wait, and how they are called (source.c). */
struct waiting {
	pthread_cond_t wake;
	unsigned sleepers;
};

/* The bytes that jobs may take: a ledger. */
struct budget {
	uint64_t memory; /* bytes of the budget */
	uint64_t held;   /* bytes held by live jobs, and by inputs that keep bytes of streams */
	uint64_t kept;   /* bytes held by free jobs */
};

/* Decoding, of all inputs (zstd_job.h). */
struct decoding {
	struct zstd_job *free_jobs; /* ended jobs; the next ones take their buffers */
	unsigned jobs;              /* live jobs */
	unsigned decoding;          /* jobs that a thread decodes, but for BLOCKS */
	struct rooms *rooms;        /* of the unpacker, once it is used; or NULL */
	unsigned on_device;         /* jobs that have the unpacker */
};

struct source {
	struct source_spec spec;
	struct source_use use; /* use.record is 0 until source_start */
	struct slice *slice;   /* NULL: all records are wanted */
	struct source_totals totals;
	struct lock lock;
	struct waiting wait;
	bool wanted;      /* one more reader would find work */
	bool stopped;     /* source_stop was called */
	int wake_pipe[2]; /* a byte in it ends every wait for a stream */
	struct bytes_shared shared;
	struct reader *readers; /* atomic; a reader stays where it is until the source is closed */
	unsigned reader_count;  /* readers that take */
	struct input *inputs;   /* live inputs */
	struct input *current;  /* the last live input, until no more of it is read or cut */
	struct first first;
	size_t next_path;
	bool opening;     /* a thread opens the next input */
	size_t told;      /* inputs that source_use.ended was told of */
	unsigned telling; /* threads that are telling it */
	uint64_t length;  /* bytes of all inputs; 0: not known; atomic */
	uint64_t left;    /* records that -n leaves for inputs that are not open */
	struct decoding zstd;
	struct budget budget;
	struct failure failure;
};

/* What source_take was asked for, and how far that is answered. */
struct request {
	const struct want *want;
	struct chunk *chunk; /* bytes > 0: answered */
	size_t cap, got;     /* bytes of want->room that may be used; decoded bytes copied there */
};

/* Something that a reader can do: with the lock, which run_unlocks gives up while it works. */
struct task {
	bool (*ready)(const struct source *s, const struct request *q);
	void (*run_unlocks)(struct source *s, struct request *q);
};
extern const struct task execute_task, /* put the next block of a long frame together */
	device_task,                   /* take what a device has decoded, or send it more */
	feed_task,                     /* cut off a frame for that device */
	decode_task,                   /* decode a frame, or some small ones, with one thread */
	piece_task,                    /* hand out what was decoded */
	short_task,                    /* hand out the last records of a packed input */
	unpack_task,                   /* find or read a block, or decode what is in it */
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
	return layout_records(at - in->first, s->use.record, s->use.packed);
}

/* How many of the last n bytes of an input hold whole records. */
static inline uint64_t whole_records(const struct source *s, uint64_t n)
{
	const uint64_t records = layout_records(n, s->use.record, s->use.packed);

	return layout_records_bytes(records, s->use.record, s->use.packed);
}

/* Where the records of an input end at the latest. */
static inline uint64_t input_stop(const struct input *in)
{
	return lesser(in->limit, in->bound);
}

/* ---- source.c ---- */

/* Calls one reader that waits, or all, because there is something to do. */
void source_call(struct source *s);
void source_call_all(struct source *s);

/* Reports a failure of an input at an offset. The first one counts: nothing more is read or cut. */
void source_fail(struct source *s, const struct input *in, uint64_t offset, const struct fail *f);

/* Nothing more is read or cut of the input, so the next one can be opened. */
void input_end(struct source *s, struct input *in);

/* -1: the input's end is wrong: samples are missing (cut), or a record is partial. No lock. */
int input_check_end(const struct source *s, const struct input *in, uint64_t tail, bool cut,
		    struct fail *fail);

/* ---- source_input.c: without the lock ---- */

/*
 * Checks that every named input exists, is no directory, and may be read. *length is how many bytes
 * follow those that -S skips, or 0 if an input is no regular file or is compressed by its name.
 */
int input_check_all(const struct source_spec *spec, uint64_t *length, struct fail *fail);

/*
 * Opens an input and looks at its beginning: is it zstd, does it have a header? No byte of a pipe
 * is lost. The caller frees *out in any case. 1: the source was stopped.
 */
int input_open(struct source *s, size_t path, struct input **out, struct fail *fail);
void input_free(struct source *s, struct input *in);

/* Finds the first sample that -S does not skip, and where the samples end. -1: -S is larger. */
int input_bounds(const struct source *s, struct input *in, struct fail *fail);

/* Gets the input ready; -n leaves `left` records for it. 1: the source was stopped. */
int input_begin(struct source *s, struct input *in, uint64_t left, struct fail *fail);

/* Does the header agree with what samples are taken to be, and with the first input? */
int input_agrees(const struct source *s, const struct input *in, struct fail *fail);

/* Sets *fail and returns -1: -S is larger than the samples are. */
int input_too_skipped(const struct source *s, const struct input *in, struct fail *fail);

/* ---- source_part.c: the records of a slice; without the lock ---- */

uint64_t part_records(const struct slice *slice); /* how many records it has */

/* Can the input that this path names, of file type `mode`, be cut into slices? */
int part_check(const struct source_spec *spec, size_t path, mode_t mode, struct fail *fail);

/* Counts the records of all inputs: opens each and closes it again. Makes s->slice. */
int part_measure(struct source *s, struct fail *fail);

/* Finds which records of an open input the slice wants. -1: the input has changed. */
int part_enter(const struct source *s, struct input *in, struct fail *fail);

/* Sets *fail and returns -1: the input has changed since its records were counted. */
int part_changed(const struct input *in, struct fail *fail);

/* ---- source_plain.c: the task "read" ---- */

/* Only the first `counted` bytes of a range were there: did the file become shorter? No lock. */
bool range_shorter(const struct chunk *range, size_t counted);

/* Takes a range back, of which the first `counted` bytes were there. */
void range_back(struct source *s, const struct chunk *range, size_t counted, bool shorter);

#endif

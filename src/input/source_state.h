/* SPDX-License-Identifier: MIT */
/*
 * source_state: what the readers share: the source with its inputs, jobs and budget; its tasks.
 *
 * One lock guards all of it. No thread holds it while it reads, opens, waits for an input, decodes or
 * copies much; it marks what it works on as its own before that (input.busy, source.next.opening,
 * job.running, a piece that is FILLING or has `out`). Functions are called with the lock held and keep
 * it, unless their comment says that they are called without it; functions whose names end in _unlocks
 * drop it and take it again.
 */
#ifndef GPUHIST_SOURCE_STATE_H
#define GPUHIST_SOURCE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "count/layout.h"
#include "input/source_input.h"
#include "input/zstd_job.h"

struct rooms; /* zstd_blocks.h */

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
	int pipe[2]; /* a byte in it ends every wait for a stream */
};

struct readers {
	struct reader *first; /* atomic; a reader stays where it is until the source is closed */
	unsigned takers;      /* readers that take */
};

/* The input that is opened next. */
struct next {
	size_t path;
	bool opening; /* a thread opens it */
};

/* What source_use.ended was told. */
struct told {
	size_t inputs;
	unsigned tellers; /* threads that are telling it */
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
	bool wanted;  /* one more reader would find work */
	bool stopped; /* source_stop was called */
	struct bytes_shared shared;
	struct readers readers;
	struct input *inputs;  /* live inputs */
	struct input *current; /* the last live input, until no more of it is read or cut */
	struct first first;
	struct next next;
	struct told told;
	uint64_t length; /* bytes of all inputs; 0: not known; atomic */
	uint64_t left;   /* records that -n leaves for inputs that are not open */
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

/* ---- source_plain.c: the task "read" ---- */

/* Only the first `counted` bytes of a range were there: did the file become shorter? No lock. */
bool range_shorter(const struct chunk *range, size_t counted);

/* Takes a range back, of which the first `counted` bytes were there. */
void range_back(struct source *s, const struct chunk *range, size_t counted, bool shorter);

#endif

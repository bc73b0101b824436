/* SPDX-License-Identifier: MIT */
/*
 * source_state: the state that all readers share: the source, its inputs, jobs, budget and tasks.
 *
 * One lock guards all of it. No thread holds the lock while it reads, opens, waits for an input,
 * decodes or copies much; before that, it marks the object as in use (input.busy,
 * source.next.opening, job.running, a piece that is FILLING or has `out`). Functions are called
 * with the lock held and keep it, unless their comment says otherwise; functions whose names end in
 * _unlocks drop it and take it again.
 */
#ifndef GPUHIST_SOURCE_STATE_H
#define GPUHIST_SOURCE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "count/layout.h"
#include "source/input.h"

struct jobs;      /* zstd_job.h */
struct text_work; /* source_text.c */

struct reader {
	struct source *source;
	struct reader *next;
	struct text_work *work; /* text: the lines that it reads; or NULL */
	bool takes;             /* it has called source_take; a worker may fail before it does */
	uint64_t counted;       /* bytes reported by source_done; a tally */
};

/*
 * The first failure in the order of inputs and their bytes. Earlier work may still fail; once all
 * of it is done, the failure is due, and the run ends with it. Later work is abandoned.
 */
struct failure {
	struct fail fail;
	size_t index;    /* of the input among the paths */
	uint64_t offset; /* in the input; packed for zstd */
	bool due;
};

/* Unless raw: the first input, which later ones must agree with. */
struct first_input {
	const char *name;
	struct header said;  /* its header */
	struct input *input; /* the open input, until a reader begins it; then NULL */
};

/* Readers that wait, and the means to wake them (source.c). */
struct waiting {
	pthread_cond_t wake;
	unsigned inside;   /* readers in source_take or source_done: at work, or asleep */
	unsigned sleepers; /* readers that wait for `wake` */
	bool called;       /* one of them was woken, and has not looked for work yet */
	int pipe[2];       /* wake-up pipe: a byte in it ends every wait for a stream */
};

struct readers {
	struct reader *head; /* atomic; readers are freed when the source is closed */
	unsigned takers;     /* readers that have called source_take */
};

/* The input to open next. */
struct next {
	size_t path;  /* its index among the paths */
	bool opening; /* a thread is opening it */
};

/* Calls of source_use.ended. */
struct reported {
	size_t inputs;    /* inputs in the last call */
	unsigned callers; /* threads that are in a call */
};

/* A call of source_take, and the answer so far. */
struct request {
	const struct want *want;
	struct chunk *chunk; /* the answer, if it has bytes */
	size_t cap;          /* bytes of want->buffer that may be used */
	size_t got;          /* decoded bytes copied to want->buffer */
	struct reader *reader;
};

/* A step that any reader can carry out. */
struct task {
	bool (*ready)(const struct source *s, const struct request *q);
	void (*run_unlocks)(struct source *s, struct request *q);
};
/* source_plain.c */
extern const struct input_kind plain_kind;
extern const struct task plain_task; /* read plain samples */

/* The tasks of all kinds of input (source_open.c). */
struct tasks {
	const struct task *const *list; /* the most urgent first; NULL ends them */
	/* Is an answer of the device due that no reader waits for? */
	bool (*answer_due)(const struct source *s);
	/* No task is ready: wait for such an answer, for a millisecond at most. False: none is due. */
	bool (*wait_unlocks)(struct source *s);
};

struct source {
	struct source_spec spec;
	struct source_use use;     /* use.record is 0 until source_start */
	struct identity *identity; /* --part: of each path, before it is read; or NULL */
	struct source_totals totals;
	struct lock lock;
	struct waiting wait;
	bool wanted;  /* one more reader would find work */
	bool stopped; /* source_stop was called */
	struct bytes_shared shared;
	struct readers readers;
	struct input *inputs;  /* live inputs, in the order of the paths */
	struct input *current; /* the last live input, until all of it is read or cut */
	struct first_input first;
	struct next next;
	struct reported reported;
	uint64_t length; /* bytes of all inputs; 0: not known; atomic */
	uint64_t left;   /* records that -n leaves for inputs that are not open */
	struct jobs *jobs;
	const struct tasks *tasks;
	struct failure failure;
};

/* The number of the record that begins at an offset. */
static inline uint64_t input_record(const struct source *s, const struct input *in, uint64_t at)
{
	return layout_records(at - in->begin, s->use.record, s->use.packed);
}

/* The number of an input's last n bytes that hold whole records. */
static inline uint64_t whole_records(const struct source *s, uint64_t n)
{
	const uint64_t records = layout_records(n, s->use.record, s->use.packed);

	return layout_records_bytes(records, s->use.record, s->use.packed);
}

/* ---- source.c ---- */

/*
 * Release the lock, to work or to wait without it. What this thread does next must be marked as in
 * use, because a sleeping reader is woken if it finds a task.
 */
void source_unlocks(struct source *s);

/* Wake all waiting readers. */
void source_call_all(struct source *s);

/* ---- source_ends.c ---- */

/* Are there inputs still to be opened? --finish opens no stream after the first. */
bool source_more_inputs(const struct source *s);

/* Has the source ended, so that it hands out no further chunk? */
bool source_is_over(const struct source *s);

/* Record a failure of an input at an offset, unless an earlier one is known; end all inputs. */
void source_fail(struct source *s, const struct input *in, uint64_t offset, const struct fail *f);

/* Is this offset of an input after a known failure? */
bool source_is_behind_failure(const struct source *s, const struct input *in, uint64_t offset);

/* End the reading and cutting of an input, so that the next one can be opened. */
void input_end(struct source *s, struct input *in);

/* Check the input's end. -1: samples are missing (`truncated`), or a record is partial. No lock. */
int input_check_end(const struct source *s, const struct input *in, uint64_t tail, bool truncated,
		    struct fail *fail);

/* Set *fail and return -1: -S goes beyond the samples. */
int input_too_skipped(const struct source *s, const struct input *in, struct fail *fail);

/* Set *fail and return -1: the input has changed since the records of its slices were counted. */
int input_changed(const struct input *in, struct fail *fail);

/* Was all of the input handed out? Callers may still hold chunks of it. */
bool input_is_done(const struct source *s, const struct input *in);

void input_free(struct source *s, struct input *in);

/* Close an input. Leave a redirected file after its last record, for the next program. */
void input_close(struct source *s, struct input *in);

/*
 * Free jobs and inputs that are done, and end the run when its failure is due; rows of earlier
 * inputs are written by then. Only this function, called between tasks, frees jobs and live inputs,
 * so tasks may keep pointers to them.
 */
void source_settle_unlocks(struct source *s);

#endif

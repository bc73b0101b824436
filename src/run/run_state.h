/* SPDX-License-Identifier: MIT */
/*
 * run_state: the state that the files of a run share. run.c has the outline and makes the result,
 * run_prepare.c does everything before the first record, run_workers.c counts, and the watching
 * thread calls run_watch.c.
 */
#ifndef GPUHIST_RUN_STATE_H
#define GPUHIST_RUN_STATE_H

#include "each/each.h"
#include "text/text_keys.h"
#include "run/plan.h"
#include "run/run.h"
#include "run/watch.h"

/* The workers: started one by one, and the GPU after the last (run_workers.c). */
struct team {
	struct lock lock;       /* guards started, closed, and the GPU's start */
	unsigned started;       /* workers started so far */
	bool closed;            /* start no more workers */
	double began;           /* when counting began */
	struct worker *workers; /* plan.workers of them */
};

/* The last attempt to write a partial output; the watching thread's (run_watch.c). */
struct partial {
	bool written;     /* it succeeded */
	bool failed;      /* it failed */
	uint64_t records; /* if written: records in the output */
	uint64_t inputs;  /* if written: inputs begun by then */
	struct screen screen;
};

struct run {
	const struct job *job;
	struct output *out; /* the output, which --each writes to; or NULL */
	double began;
	struct shape shape;         /* const once the first input is open */
	struct plan plan;           /* const once it is made */
	struct work work;           /* shared by all workers; const once prepared, except for gpu */
	struct unpacker unpacker;   /* the GPU as a decoder, once it has started */
	struct row_spec row;        /* --each */
	struct keys keys;           /* --by */
	struct text_keys *names;    /* --by in text: what their numbers stand for */
	struct digest_memory pages; /* of all digests */
	struct counts counts;
	struct hist hist; /* reserved first, then filled */
	struct codebook book;
	struct hist_scratch *scratch; /* for hist */
	struct run_report report;
	struct team team;
	struct watch *watch;
	struct snapshot snapshot;
	struct partial partial;
	bool prepared; /* the watching thread may look at all but partial; atomic */
};

/* ---- run_prepare.c ---- */

/*
 * Open the inputs, make the plan, start the source, and allocate all memory. Fills in what cleanup
 * needs even if it fails.
 */
int run_prepare(struct run *run, struct fail *fail);

/*
 * Say what the channels of a histogram are, and name them if they have names before they are
 * counted. -1: no memory.
 */
int run_name_series(const struct run *run, struct hist *hist, struct fail *fail);

/* ---- run_workers.c ---- */

/* Count all inputs with workers that start one another; returns when the last has ended. */
int run_count(struct run *run, struct fail *fail);

/*
 * Records counted so far by all workers, in total or on the GPU. Any thread, without a lock, once
 * the run is prepared.
 */
uint64_t run_records(const struct run *run, bool gpu);

/*
 * Callbacks, which have a run. work.start_next: start another worker if the plan allows it or, once
 * all are running, the GPU. Failing to start one is not an error.
 */
bool run_start_next(void *arg);
/* source_use.start_worker: the source has work for another worker. */
void run_more(void *arg);
/* source_use.start_device: a GPU would decode the next frame sooner than the CPU. */
bool run_start_unpacker(void *arg);

/* ---- run_watch.c ---- */

/* Start the watching thread; without it the run goes on. */
void run_start_watch(struct run *run);

#endif

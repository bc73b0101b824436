/* SPDX-License-Identifier: MIT */
/*
 * run: a job from the first record to the last, in three steps.
 *
 * The workers start one another: the first one runs in the calling thread, and each that finds more
 * work than it can do starts the next. A small input costs one thread, a long one has all of them
 * within a few blocks, and the size need not be known beforehand. When all have been started and
 * the rest of the work is worth it, they start the GPU.
 *
 * Every wait ends: a worker's as source.h and gpu.h say, and with it that for the worker's thread.
 * A worker that fails stops the source, so that the others end too.
 */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "base/fail.h"
#include "base/lock.h"
#include "cli/job.h"
#include "cli/report.h"
#include "hist/hist.h"
#include "plan.h"
#include "snapshot.h"
#include "worker.h"

/* What run.c shares with partial.c; all others call the functions below. */
struct run {
	const struct job *asked; /* borrowed; const, so that the watching thread may look at it */
	struct job job; /* completed with the type, layout and record that the first input gave */
	double began;
	struct axis axis; /* of the bins that were asked for */
	struct plan_facts facts;
	struct plan plan; /* const once it is made */
	struct work work; /* what all workers share */
	struct counts counts;
	struct hist hist; /* reserved first, then filled */
	bool done;        /* filled and audited */
	struct run_report report;

	struct lock lock; /* of the next two */
	unsigned started; /* workers that were started */
	bool closed;      /* no more may be started */
	double counting_began;
	struct worker *workers; /* plan.workers of them */

	struct watch *watch;
	bool counts_are_there; /* the thread that watches may look at them; atomic */
	struct snapshot snapshot;
	uint64_t length; /* bytes of all inputs, if known ... */
	bool measured;   /* ... once they were looked at, perhaps by the thread that watches */
	/* what that thread alone knows of the output (partial.c): */
	bool blank;       /* one without counts was written */
	bool written;     /* it holds the counts of ... */
	uint64_t records; /* ... so many records ... */
	uint64_t inputs;  /* ... of so many inputs that were begun */
	bool unsaved;     /* the last one failed */
};

/*
 * Opens the first input, waits for its first bytes, which may say of what type the samples are,
 * plans the job, and takes what it will need: when this returns, the inputs exist, and the totals
 * and the histogram have their memory. No record is consumed and no worker started. On failure *out
 * is NULL and *fail says why.
 */
int run_open(struct run **out, const struct job *job, struct fail *fail);

/*
 * The histogram before it is filled: its axis (that of --auto is still open) and its channels.
 * Valid until run_until_end.
 */
const struct hist *run_hist(const struct run *run);

/*
 * Reads all inputs to their end, or to -n's limit, and counts them; the histogram is then filled
 * and audited. Returns when every worker has ended. --device=gpu waits for the GPU before anything
 * is read. On failure *fail says why. Called once.
 */
int run_until_end(struct run *run, struct fail *fail);

/*
 * Frees everything; *report is what the run did. The histogram is moved to *hist, which is empty
 * unless run_until_end succeeded. Takes NULL.
 */
void run_close(struct run *run, struct hist *hist, struct run_report *report);

/* The three in a row. On failure *hist is empty and *fail says why. */
int run_job(const struct job *job, struct hist *hist, struct run_report *report, struct fail *fail);

/*
 * Records that all workers have counted so far; *gpu_records is how many of them a GPU counted. Any
 * thread, once counts are there, without a lock.
 */
uint64_t run_records(const struct run *run, uint64_t *gpu_records);

/* What an output says about where its counts come from, as far as the job says it. */
struct provenance run_provenance(const struct job *job);

#endif

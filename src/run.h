/* SPDX-License-Identifier: MIT */
/*
 * run: a job from the first record to the last.
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

/*
 * Reads all inputs of a job to their end, or to -n's limit, and counts them into *hist, which is
 * audited; *report is what the run did. All memory is taken and --into's FILE compared before a
 * record is consumed; --device=gpu waits for the GPU before anything is read. Returns when every
 * worker has ended. On failure *hist is empty and *fail says why.
 */
int run_job(const struct job *job, struct hist *hist, struct run_report *report, struct fail *fail);

/* What an output says about where its counts come from. */
struct provenance run_provenance(const struct job *job, const struct source_totals *totals);

/* ---- what run.c shares with partial.c ---- */

struct run {
	const struct job *asked; /* borrowed; const, so that the watching thread may look at it */
	struct job job;          /* completed by what the first input says */
	double began;
	struct plan_facts facts;
	struct plan plan; /* const once it is made */
	struct work work; /* what all workers share */
	struct counts counts;
	struct hist hist; /* reserved first, then filled */
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
 * Records that all workers have counted so far, or those of them that a GPU counted. Any thread,
 * once counts are there, without a lock.
 */
uint64_t run_records(const struct run *run, bool by_gpu);

/*
 * --every: replaces the job's output by the counts so far, marked as partial, without statistics;
 * unless nothing came since the last time. The counts are audited as those at the end are: against
 * the records of the workers' reports, and their sum. Takes memory for a copy of the totals and,
 * for codes, for the bins, and frees it. Before there are counts, writes a histogram of no samples,
 * once: what an earlier run left must not look like this one's. -1: the output is what it was, and
 * *fail says why. Any thread that is no worker; one at a time.
 */
int partial_write(struct run *run, struct fail *fail);

#endif

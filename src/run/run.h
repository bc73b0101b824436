/* SPDX-License-Identifier: MIT */
/*
 * run: a job from the first record to the last.
 *
 * Workers start one another: the first runs in the calling thread, and each one that finds more
 * work than it can do starts the next. So a small input costs one thread, a long one has all
 * threads within a few blocks, and the size need not be known beforehand. Once all workers are
 * running, they start the GPU if the rest of the work is worth it. A worker that fails stops the
 * source, which ends the others too.
 */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "base/fail.h"
#include "cli/job.h"
#include "cli/report.h"
#include "hist/hist.h"
#include "output/output.h"

/*
 * Read all inputs of a job to their end or to -n's limit, count them into *hist, audit it, and fill
 * in *report. With --each, write the rows to `rows`. All memory is allocated and --into's FILE
 * checked before any record is consumed; with --device=gpu, the GPU is started first. Return when
 * every worker has ended. On failure *hist is empty and *fail says why.
 */
int run_job(const struct job *job, struct output *rows, struct hist *hist,
	    struct run_report *report, struct fail *fail);

/*
 * --each=tensor: check the headers of all FILEs, then count each tensor as a run with its own type
 * and write its row.
 */
int run_tensors(const struct job *job, struct output *out, struct fail *fail);

/*
 * -1: `what` has other bins than the reference of --compare (STATUS_DATA), or a picture cannot hold
 * the reference's counts in -M (STATUS_LIMIT).
 */
int run_reference(const struct job *job, const struct hist *hist, const char *what,
		  struct fail *fail);

/* Return the provenance of a run's counts. */
struct provenance run_provenance(const struct job *job, const struct source_totals *totals);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * run: a job from the first record to the last.
 *
 * The workers start one another: the first one runs in the calling thread, and each that finds more
 * work than it can do starts the next. A small input costs one thread, a long one has all of them
 * within a few blocks, and the size need not be known beforehand. When all have been started and
 * the rest of the work is worth it, they start the GPU. A worker that fails stops the source, so
 * that the others end too.
 */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "base/fail.h"
#include "cli/job.h"
#include "cli/report.h"
#include "hist/hist.h"
#include "output/output.h"

/*
 * Reads all inputs of a job to their end, or to -n's limit, and counts them into *hist, which is
 * audited; *report is what the run did. With --each it writes the rows to `rows`. All memory is
 * taken and --into's FILE compared before a record is consumed; --device=gpu waits for the GPU
 * before anything is read. Returns when every worker has ended. On failure *hist is empty and *fail
 * says why.
 */
int run_job(const struct job *job, struct output *rows, struct hist *hist,
	    struct run_report *report, struct fail *fail);

/* What an output says about where its counts come from. */
struct provenance run_provenance(const struct job *job, const struct source_totals *totals);

#endif

/* SPDX-License-Identifier: MIT */
/* run: a job from the first record to the last, in three steps. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "base/fail.h"
#include "cli/job.h"
#include "cli/report.h"
#include "hist/hist.h"

struct run;

/*
 * Opens the first input, waits for its first bytes, which may say of what type the samples are,
 * plans the job, and takes what it will need: when this returns, the inputs exist, and the totals
 * and the histogram have their memory. No record is consumed and no thread started. On failure *out
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
 * and audited. Returns when every worker has ended. On failure *fail says why. Called once.
 */
int run_until_end(struct run *run, struct fail *fail);

/*
 * Frees everything; *report is what the run did. The histogram is moved to *hist, which is empty
 * unless run_until_end succeeded. Takes NULL.
 */
void run_close(struct run *run, struct hist *hist, struct run_report *report);

/* The three in a row. On failure *hist is empty and *fail says why. */
int run_job(const struct job *job, struct hist *hist, struct run_report *report, struct fail *fail);

#endif

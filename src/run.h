/* SPDX-License-Identifier: MIT */
/* run: a job from the first to the last record, in three steps. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "base/fail.h"
#include "cli/job.h"
#include "cli/report.h"
#include "hist/hist.h"

struct run;

/*
 * Opens the first input, which may say of what type the samples are, and waits for its first bytes; plans the job and
 * takes what it will need: the inputs are there, the totals and the histogram have their memory. No record
 * is lost and no thread started. On failure *out is NULL and *fail says why.
 */
int run_open(struct run **out, const struct job *job, struct fail *fail);

/* The histogram to be: its axis, which of --auto is open yet, and its channels. Until run_until_end. */
const struct hist *run_hist(const struct run *run);

/*
 * Reads all inputs to their end, or to that of -n, and counts them; the histogram is then filled and
 * audited. Returns when every worker has ended. On failure *fail says why. Called once.
 */
int run_until_end(struct run *run, struct fail *fail);

/*
 * Frees all; *report is what the run did. The histogram goes to *hist, which is empty unless
 * run_until_end succeeded. Takes NULL.
 */
void run_close(struct run *run, struct hist *hist, struct run_report *report);

/* The three in a row. On failure hist is empty and *fail says why. */
int run_job(const struct job *job, struct hist *hist, struct run_report *report, struct fail *fail);

#endif

/* SPDX-License-Identifier: MIT */
/* partial: the counts so far, written while the work goes on (--every). */
#ifndef GPUHIST_PARTIAL_H
#define GPUHIST_PARTIAL_H

#include "base/fail.h"

struct run;

/*
 * Replaces the job's output by the counts so far, marked as partial, without statistics; unless
 * nothing came since the last time. The counts are audited as those at the end are: against the
 * records of the workers' reports, and their sum. Takes memory for a copy of the totals and, for
 * codes, for the bins, and frees it. Before there are counts, writes a histogram of no samples,
 * once: what an earlier run left must not look like this one's. -1: the output is what it was, and
 * *fail says why. Any thread that is no worker; one at a time.
 */
int partial_write(struct run *run, struct fail *fail);

#endif

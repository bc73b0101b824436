/* SPDX-License-Identifier: MIT */
/* partial: the counts so far, written while the work goes on (--every). */
#ifndef GPUHIST_PARTIAL_H
#define GPUHIST_PARTIAL_H

#include "base/fail.h"
#include "cli/job.h"
#include "crew.h"
#include "snapshot.h"

struct partial {
	/* What is counted; borrowed. */
	const struct job *job; /* its type, layout and record are known */
	const struct axis *axis;
	const struct source *source;
	const struct crew *crew;
	struct counts *counts;
	struct snapshot *snapshot;
	/* What the output holds, once one was written. */
	bool written;
	uint64_t records;
	uint64_t inputs; /* that were begun */
};

/*
 * Replaces the job's output by the counts so far, marked as partial, without statistics; unless
 * nothing came since the last time. The counts are audited as those at the end are: against the
 * records of the workers' reports, and their sum. Takes memory for a copy of the totals and, for
 * codes, for the bins, and frees it. -1: the output is what it was, and *fail says why. Any thread
 * that is no worker; one at a time.
 */
int partial_write(struct partial *p, struct fail *fail);

#endif

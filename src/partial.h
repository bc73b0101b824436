/* SPDX-License-Identifier: MIT */
/* partial: --every's output of the counts so far. */
#ifndef GPUHIST_PARTIAL_H
#define GPUHIST_PARTIAL_H

#include "cli/job.h"
#include "engine/snapshot.h"
#include "input/source.h"

/* Where a partial output finds the counts so far, once counting has begun. */
struct counted {
	const struct job *job;
	const struct shape *shape;
	struct source *source;
	struct counts *counts;
	const struct codebook *book;
	struct snapshot *snapshot;
	/* Records that all workers have counted so far. Any thread, without a lock. */
	uint64_t (*records)(const void *arg);
	const void *arg;
};

/* What the watching thread knows of the output. */
struct partial {
	bool written;     /* the output holds the counts of the last attempt */
	uint64_t records; /* if written: records that the output counts */
	uint64_t inputs;  /* if written: inputs that were begun by then */
	struct screen screen;
	bool failed; /* the last attempt to write the output failed */
};

/*
 * Replaces the output of the job by the counts so far, marked as partial and without statistics,
 * unless nothing came since the last time. The counts are audited as those at the end are: against
 * the records of the workers' reports, and their sum. Takes memory for a copy of the totals and,
 * for codes, for the bins, and frees it. A failure leaves the output as it was, and is a warning
 * unless the attempt before failed too. Any thread that is no worker; one at a time.
 */
void partial_write(struct partial *p, const struct counted *now);

#endif

/* SPDX-License-Identifier: MIT */
/* partial: --every's output of the counts so far. */
#ifndef GPUHIST_PARTIAL_H
#define GPUHIST_PARTIAL_H

#include "cli/job.h"
#include "engine/snapshot.h"
#include "input/source.h"

/* What has been counted so far, once that has begun. */
struct counted {
	const struct job *job; /* completed by what the first input says */
	struct source *source;
	struct counts *counts;
	struct snapshot *snapshot;
	/* Records that all workers have counted so far. Any thread, without a lock. */
	uint64_t (*records)(const void *arg);
	const void *arg;
};

/* What the thread that watches knows of the output. */
struct partial {
	enum { PARTIAL_NONE, PARTIAL_BLANK, PARTIAL_COUNTS } holds;
	uint64_t records; /* COUNTS: of so many records ... */
	uint64_t inputs;  /* ... of so many inputs that were begun */
	bool failed;      /* it could not be written the last time */
};

/*
 * Replaces the output of the job, as it was asked, by the counts so far, marked as partial, without
 * statistics; unless nothing came since the last time. The counts are audited as those at the end
 * are: against the records of the workers' reports, and their sum. Takes memory for a copy of the
 * totals and, for codes, for the bins, and frees it. now is NULL before there are counts: then it
 * writes a histogram of no samples, once: what an earlier run left must not look like this one's.
 * A failure is a warning, unless the time before failed too; the output is then what it was. Any
 * thread that is no worker; one at a time.
 */
void partial_write(struct partial *p, const struct job *asked, const struct counted *now);

#endif

/* SPDX-License-Identifier: MIT */
/* partial: writes the counts so far, for --every. */
#ifndef GPUHIST_PARTIAL_H
#define GPUHIST_PARTIAL_H

#include "cli/job.h"
#include "engine/snapshot.h"
#include "input/source.h"

/* A partial output: where the counts are, and the last attempt to write them. */
struct partial {
	/* Const once counting has begun. */
	const struct job *job;
	const struct style *style; /* with the title of the inputs that are counted */
	const struct shape *shape;
	struct source *source;
	struct counts *counts;
	const struct codebook *book;
	struct snapshot *snapshot;
	/* Return the records counted so far by all workers. Any thread, without a lock. */
	uint64_t (*counted)(const void *arg);
	const void *arg;

	/* Used by the watching thread. */
	bool written;     /* the last attempt succeeded */
	uint64_t records; /* if written: records in the output */
	uint64_t inputs;  /* if written: inputs begun by then */
	struct screen screen;
	bool failed; /* the last attempt failed */
};

/*
 * Replace the job's output with the counts so far, marked as partial and without statistics, unless
 * nothing has changed since the last time. The counts are audited like the final ones. Allocates a
 * temporary copy of the totals and, for codes, of the bins. A failure leaves the output as it was;
 * it is reported as a warning unless the previous attempt failed too. Any thread except a worker,
 * but only one at a time.
 */
void partial_write(struct partial *p);

#endif

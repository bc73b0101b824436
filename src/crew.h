/* SPDX-License-Identifier: MIT */
/*
 * crew: the workers of a run, which start one another.
 *
 * The first worker runs in the calling thread, and each worker that finds more work than it can do
 * starts the next. A small input costs one thread, a long one has all of them within a few blocks,
 * and the size need not be known beforehand. When all have been started and the rest of the work is
 * worth it, they start the GPU.
 */
#ifndef GPUHIST_CREW_H
#define GPUHIST_CREW_H

#include "base/fail.h"
#include "cli/job.h"
#include "cli/report.h"
#include "plan.h"

struct crew;

/* What a crew works on; borrowed until crew_close. */
struct crew_work {
	const struct job *job;
	const struct plan *plan; /* of at least one worker */
	struct source *source;
	struct counts *counts;
	struct snapshot *snapshot; /* NULL: counts are looked at only at the end */
};

/* Starts nothing yet. On failure *out is NULL and *fail says why. */
int crew_open(struct crew **out, const struct crew_work *on, struct fail *fail);

/*
 * Starts the workers and returns when all have ended: the source is read to its end, or one has
 * failed and *fail says why. --device=gpu waits for the GPU before anything is read. Adds to the
 * report what the workers did. Called once.
 */
int crew_run(struct crew *crew, struct run_report *report, struct fail *fail);

/*
 * There is work that one more worker could share: starts it. Any worker's thread, while crew_run
 * runs.
 */
void crew_more(struct crew *crew);

/*
 * Records that all workers have counted so far; *gpu_records is how many of them a GPU counted. Any
 * thread, at any time, without a lock.
 */
uint64_t crew_records(const struct crew *crew, uint64_t *gpu_records);

/* Call it after crew_run. It waits for no helper of a GPU. Takes NULL. */
void crew_close(struct crew *crew);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * into: a finished run added to the document of a file: --into.
 *
 * FILE is read, added to and replaced under a lock, which is held only during that time. So runs
 * that end at the same time add up, and FILE is always the whole old one or the whole new one. The
 * lock is flock's, on FILE's folder: it needs no file of its own, leaves none behind, and is
 * dropped when a process dies. A folder where the system has no locks is refused before the work.
 *
 * Every wait can end: the process that holds the lock reads and writes files and waits for nothing
 * else, and a signal ends a process that waits.
 *
 * Main thread only, while no output is open.
 */
#ifndef GPUHIST_INTO_H
#define GPUHIST_INTO_H

#include "base/fail.h"
#include "hist/hist.h"
#include "output/format.h"

/*
 * Before the work: can FILE be written, is it a regular file or does it not exist yet, and can its
 * folder be locked? Leaves nothing behind.
 */
int into_check(const char *path, struct fail *fail);

/*
 * When the bins are known: if FILE exists, is it one histogram to which a run with the axis and the
 * channels of `like` can be added? Its counts are not looked at.
 */
int into_compare(const char *path, const struct hist *like, struct fail *fail);

/* What FILE holds after the run was added. */
struct into_sum {
	uint64_t samples, inputs;
};

/*
 * Adds the run to FILE, or makes FILE, with a sparse storage if nonzero; *sum is what it holds
 * then. On failure FILE is the old one, and the run's histogram is saved beside it as
 * FILE.rescue.json, or as format.h says: *fail says what failed and names it. If only the syncing
 * of FILE's folder failed, FILE is the new one, nothing is saved, and *fail says so.
 */
int into_add(const char *path, const struct hist *hist, bool nonzero, const struct provenance *from,
	     struct into_sum *sum, struct fail *fail);

#endif

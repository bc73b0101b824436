/* SPDX-License-Identifier: MIT */
/*
 * into: a finished run added to the document of a file: --into.
 *
 * FILE is read, added to and replaced under a lock, which is held for just that long: so runs that end at the same time
 * add up, and FILE is always the old one or the new one, whole. The lock is flock's, on FILE's folder: it
 * needs no file of its own, none is left behind, and a process that dies drops it. A folder where the system has no
 * locks is refused, before the work.
 *
 * Every wait can end: who holds the lock reads and writes files and waits for nothing else, and a signal ends a process
 * that waits.
 *
 * Main thread only, while no output is open.
 */
#ifndef GPUHIST_INTO_H
#define GPUHIST_INTO_H

#include "base/fail.h"
#include "hist/hist.h"
#include "output/write.h"

/*
 * Before the work: may FILE be written, is it a regular file or not there yet, can its folder be locked? Leaves
 * nothing behind.
 */
int into_check(const char *path, struct fail *fail);

/*
 * When the bins are known: is FILE, where it is there, one histogram that a run with the axis and the channels of
 * `like` can be added to? Its counts are not looked at.
 */
int into_compare(const char *path, const struct hist *like, struct fail *fail);

/* What FILE holds now. */
struct into_sum {
	uint64_t samples, inputs;
};

/*
 * Adds the run to FILE, or makes FILE, with a sparse storage if nonzero; *sum is what it holds then. On failure FILE is
 * the old one, and the run's histogram is saved beside it as FILE.rescue.json, or as publish.h has it: *fail says what
 * failed and names it. Where only the syncing of FILE's folder failed, FILE is the new one, nothing is saved, and *fail
 * says so.
 */
int into_add(const char *path, const struct hist *hist, bool nonzero, const struct provenance *from,
	     struct into_sum *sum, struct fail *fail);

#endif

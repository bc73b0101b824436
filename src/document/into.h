/* SPDX-License-Identifier: MIT */
/*
 * into: adds a finished run to the document in a file (--into).
 *
 * FILE is read, added to and replaced under a lock, which is held only for that time. So runs that
 * end at the same time add up, and FILE is always the whole old file or the whole new one. The lock
 * is flock() on FILE's directory: it leaves no lock file behind, and is released when a process
 * dies. If the directory cannot be locked, the run fails before the work.
 *
 * No wait is endless: the process that holds the lock only reads and writes files, and a signal
 * ends a waiting process.
 *
 * Main thread only, while no output is open.
 */
#ifndef GPUHIST_INTO_H
#define GPUHIST_INTO_H

#include "base/fail.h"
#include "document/document.h"
#include "hist/hist.h"
#include "output/format.h"

/*
 * Check before the work that FILE is a writable regular file or does not exist yet, and that its
 * directory can be locked. Leaves nothing behind.
 */
int into_check(const char *path, struct fail *fail);

/*
 * Read FILE's document, for the bins of this run. 1: the caller frees it. 0: there is no FILE yet.
 */
int into_read(const char *path, struct document *document, struct fail *fail);

/*
 * Check, once the bins are known, that FILE does not exist or is one histogram to which a run with
 * the axis and channels of `like` can be added. Ignores its counts.
 */
int into_compare(const char *path, const struct hist *like, struct fail *fail);

/* Contents of FILE after the run was added. */
struct into_sum {
	uint64_t samples, inputs;
	const char *bare; /* FILE or the run had statistics, and the sum has none: why; or NULL */
};

/*
 * Add the run to FILE, or create FILE, with a sparse storage if nonzero; *sum describes the result.
 * On failure FILE is unchanged, and the run's histogram is saved next to it as FILE.rescue.json, or
 * elsewhere (publish_rescue); *fail gives the reason and that name. If only syncing FILE's
 * directory failed, FILE is the new one, nothing is saved, and *fail says so.
 */
int into_add(const char *path, const struct hist *hist, bool nonzero, const struct provenance *from,
	     struct into_sum *sum, struct fail *fail);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * snapshot: copies the counts so far while workers keep counting (--every).
 *
 * A worker counts into tables of its own until it ends, and may sleep on a pipe for hours. So it
 * has a "holder", whose lock it holds while it counts a chunk, never while it reads or waits. A
 * snapshot locks the holders of all workers, adds their counts to the totals, and copies these. At
 * that moment every worker is between two chunks, so the copy has whole records, the same number of
 * samples for every channel, and exactly the records that each worker reports.
 *
 * Without --every there is no snapshot, and a holder takes no lock.
 */
#ifndef GPUHIST_SNAPSHOT_H
#define GPUHIST_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "count/counts.h"

struct holder {
	struct snapshot *of;      /* NULL if it has not joined one, or has left */
	struct lock lock;         /* held by its worker while counting, or by a snapshot */
	void (*flush)(void *arg); /* add the worker's counts to the totals and clear them */
	void *arg;
	struct holder *next;
};

struct snapshot {
	struct lock lock; /* guards the list; taken before any holder's lock */
	bool wanted;      /* a snapshot waits for the holders' locks or has them; atomic */
	struct holder *first;
};

void snapshot_init(struct snapshot *s);

/* All holders must have left. */
void snapshot_destroy(struct snapshot *s);

/* Join a holder, unless s is NULL. It must not move in memory until it has left. */
void snapshot_join(struct snapshot *s, struct holder *h, void (*flush)(void *arg), void *arg);

/*
 * A worker counts a chunk and adds it to its report between these two calls. No snapshot is taken
 * meanwhile; one that is waiting goes first.
 */
void snapshot_lock_take(struct holder *h);
void snapshot_unlocks(struct holder *h);

/* Flush and remove the holder; its worker has stopped counting. Do nothing if not joined. */
void snapshot_leave(struct holder *h);

/*
 * Copy the counts of all workers so far to *copy, which must have as many cells as the totals
 * (counts_init), and call look at that moment. Not for workers; one thread at a time.
 */
void snapshot_take(struct snapshot *s, struct counts *copy, struct counts *totals,
		   void (*look)(void *arg), void *arg);

#endif

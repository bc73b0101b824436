/* SPDX-License-Identifier: MIT */
/*
 * snapshot: the counts so far, while workers go on counting (--every).
 *
 * A worker's counts are in tables of its own until it ends, and a worker may sleep on a pipe for
 * hours. So it has a holder, whose lock it holds while it counts a chunk, never while it reads or
 * waits. A snapshot locks the holders of all workers, has what they hold added to the totals, and
 * copies these. At that moment every worker is between two chunks: the copy holds whole records,
 * equally many of every channel, and of each worker exactly what its report says.
 *
 * Without --every there is no snapshot: a holder of NULL takes no lock and does nothing.
 */
#ifndef GPUHIST_SNAPSHOT_H
#define GPUHIST_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/lock.h"
#include "count/counts.h"

struct holder {
	struct snapshot *of;      /* NULL: no snapshot, or the holder has not joined, or has left */
	struct lock lock;         /* taken by its worker while it counts, and by a snapshot */
	void (*flush)(void *arg); /* adds what the worker holds to the totals, and empties it */
	void *arg;
	struct holder *next;
};

struct snapshot {
	struct lock lock; /* of the list; taken before any holder's */
	bool wanted;      /* a thread waits for holders' locks, or has them; atomic */
	struct holder *first;
};

int snapshot_init(struct snapshot *s, struct fail *fail);

/* Call it when all holders have left. */
void snapshot_destroy(struct snapshot *s);

/* Joins a holder, which must not move until it has left. With s NULL this cannot fail. */
int snapshot_join(struct snapshot *s, struct holder *h, void (*flush)(void *arg), void *arg,
		  struct fail *fail);

/*
 * A worker counts a chunk, and adds it to its report, between these two: a snapshot that waits goes
 * first, and none is taken meanwhile. Without a snapshot they do nothing.
 */
void snapshot_lock_take(struct holder *h);
void snapshot_unlocks(struct holder *h);

/* Flushes the holder, whose worker counts nothing more. Does nothing if it has not joined. */
void snapshot_leave(struct holder *h);

/*
 * *copy, with as many cells as the totals (counts_init), becomes what all workers together have
 * counted so far; look is called at that moment. Any thread that is no worker; one at a time.
 */
void snapshot_take(struct snapshot *s, struct counts *copy, struct counts *totals,
		   void (*look)(void *arg), void *arg);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * snapshot: the counts so far, while workers go on counting (--every).
 *
 * What a worker has counted lies in tables of its own until it ends, and a worker may sleep on a pipe for hours. So
 * each has a holder, and counts with its lock held; a snapshot locks the holders of
 * all workers, has what they hold added to the totals, and copies these. At that moment every worker is between two
 * chunks: the copy holds whole records, of every channel as many, and of each worker exactly what its report says.
 *
 * A worker holds its lock for a chunk, never while it reads or waits, and the snapshot holds all of them for as long as
 * it takes to add and copy tables: every wait ends. A worker that would count while a snapshot is wanted waits for it,
 * so that one which counts chunk after chunk cannot keep it out.
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
	struct snapshot *of;      /* NULL: none; or it has not joined, or has left */
	struct lock lock;         /* taken by its worker while it counts, and by a snapshot */
	void (*flush)(void *arg); /* adds to the totals what the worker holds, which is then empty */
	void *arg;
	struct holder *next;
};

struct snapshot {
	struct lock lock; /* of the list; taken before any holder's */
	bool wanted;      /* a thread waits for holders' locks, or has them; atomic */
	struct holder *first;
};

int snapshot_init(struct snapshot *s, struct fail *fail);

/* When all holders have left. */
void snapshot_destroy(struct snapshot *s);

/* The worker's own, which stays where it is until it has left. Takes NULL for s, which cannot fail. */
int snapshot_join(struct snapshot *s, struct holder *h, void (*flush)(void *arg), void *arg, struct fail *fail);

/*
 * Before a worker with a snapshot (h->of) takes its holder's lock, to count a chunk and add it to its report: lets a
 * snapshot that is wanted have it first. Without one both are left out.
 */
void snapshot_let(struct holder *h);

/* Flushes, without the holder's lock; nothing more is counted. Nothing is done where it has not joined, or joined NULL.
 */
void snapshot_leave(struct holder *h);

/*
 * *copy, of as many cells as the totals (counts_init), becomes what all workers together have counted so far; look is
 * called at that moment. Any thread but a worker; one at a time.
 */
void snapshot_take(struct snapshot *s, struct counts *copy, struct counts *totals, void (*look)(void *arg), void *arg);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * worker_feeder: what worker_gpu.c, which feeds and reaps, shares with worker_recount.c, which has
 * the CPU count what the GPU did not.
 */
#ifndef GPUHIST_WORKER_FEEDER_H
#define GPUHIST_WORKER_FEEDER_H

#include "gpu/gpu.h"
#include "worker.h"

#define SENT_MOST 64u /* the most slots that a device has */

/* A slot that was submitted, or is about to be. */
struct sent {
	struct slot *slot;
	struct chunk chunk; /* what it holds, or the range of a file that it hands over */
	uint64_t epoch;     /* the epoch in which it was submitted, where counters stay */
	bool epochs;        /* the epoch holds its chunk, and gives it back */
	bool counted;       /* the GPU has counted it, in counters that stay */
};

struct feeder {
	const struct work *work;
	struct reader *reader;
	struct lane *lane;
	struct worker_report *report;
	struct fail *fail;
	struct cpu_leg *cpu;         /* what is not for the GPU is counted there */
	struct sent sent[SENT_MOST]; /* a ring, in the order in which they were submitted */
	unsigned first, count;
	struct stats *stats; /* of all samples that it took, for each channel; or NULL */
	/* samples in the lane's total, or in cells of the totals that are not announced yet */
	uint64_t committed;
	struct holder holder; /* of the lane's total, for snapshots */
	uint64_t counted;     /* bytes that the device has counted since ... */
	double began;         /* ... the lane was opened */
	/* a piece was cut short: what -n had reserved for it is available again */
	bool came_short;
	bool left; /* the lane has left its epoch */
};

/* A range of a file can be read again. */
static inline bool is_range(const struct chunk *chunk)
{
	return chunk->bytes > 0 && !chunk->data;
}

/* Where counters stay: gives back the ranges of committed epochs, whichever worker took them. */
int feeder_give_committed(struct feeder *f);

/* Counts the chunk of one slot on the CPU, while the GPU works on, and frees the slot. */
enum turn feeder_count_here(struct feeder *f, struct sent *s);

#endif

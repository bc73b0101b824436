/* SPDX-License-Identifier: MIT */
/*
 * worker_feeder: what the two halves of a worker's GPU leg share: worker_gpu.c, which feeds and reaps, and
 * worker_recount.c, which has the CPU count what the GPU did not.
 */
#ifndef GPUHIST_WORKER_FEEDER_H
#define GPUHIST_WORKER_FEEDER_H

#include "gpu/gpu.h"
#include "worker.h"

#define SENT_MOST 64u /* slots of a device at most */

/* A slot that was submitted, or is about to be. */
struct sent {
	struct slot *slot;
	struct chunk chunk; /* what it holds, or, a range of a file, hands over */
	uint64_t epoch;     /* in which it was submitted, where counters stay */
	bool epochs;        /* its chunk is the epoch's */
	bool counted;       /* in counters that stay */
};

struct feeder {
	const struct work *work;
	struct reader *reader;
	struct lane *lane;
	struct worker_report *report;
	struct fail *fail;
	struct cpu_leg *cpu;         /* the worker's other leg: what is not for the GPU it counts there */
	struct sent sent[SENT_MOST]; /* a ring, in the order in which they were submitted */
	unsigned first, count;
	struct stats *stats;  /* NULL, or of all samples that it took, each channel's */
	uint64_t committed;   /* samples in the lane's total, or in cells of the run's that are not announced */
	struct holder holder; /* of the lane's total */
	uint64_t counted;     /* bytes that the device has counted since ... */
	double began;         /* ... the lane was opened */
	bool came_short;      /* a piece was cut: what -n had reserved for it is free again */
	bool left;            /* the lane's epoch */
};

/* Of a file: it can be read again. */
static inline bool is_range(const struct chunk *chunk)
{
	return chunk->bytes > 0 && !chunk->data;
}

/* Where counters stay: gives back the ranges of epochs that are over, whichever worker took them. */
int feeder_give_committed(struct feeder *f);

/* Counts on the CPU what one slot was sent, while the GPU works, and frees the slot. */
enum turn feeder_count_here(struct feeder *f, struct sent *s);

#endif

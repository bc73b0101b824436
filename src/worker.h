/* SPDX-License-Identifier: MIT */
/*
 * worker: the contract of a worker.
 *
 * A worker takes records from the source until there are none, counts them on its own, and adds its
 * counts to the totals when it ends, or when a snapshot asks for them. It has its own thread and
 * its own memory, never prints, and never ends the process. When it fails, it has added nothing
 * that it did not count.
 */
#ifndef GPUHIST_WORKER_H
#define GPUHIST_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "count/count.h"
#include "gpu/region.h"
#include "input/source.h"
#include "snapshot.h"

struct gpu;

/* What all workers of a run share: const, but for gpu. */
struct work {
	const struct counting *counting;
	struct source *source;
	struct counts *counts;
	size_t block;    /* bytes of a worker's buffer */
	uint32_t record; /* bytes of a record */
	/*
	 * A worker calls this when it finds work for another one too: at once, then now and then;
	 * with gpu_only whenever a lane is free. True: this call began the start of a GPU, and the
	 * worker must yield its core.
	 */
	bool (*busy)(void *arg);
	void *arg;
	/* NULL: none, or none yet: the callback `busy` of any worker may set it, atomically */
	struct gpu *gpu;
	bool gpu_only; /* --device=gpu: no CPU worker takes the place of the GPU */
	/* --every: looks at what workers hold while they work; else NULL */
	struct snapshot *snapshot;
};

/* A worker; zeroed but for work. All but the tallies is its thread's, until that has ended. */
struct worker {
	const struct work *work;
	pthread_t thread; /* run.c's */
	struct fail fail;
	struct reader *reader;

	/* What it did, for -v. The first three are tallies, which any thread may read. */
	uint64_t records;
	uint64_t gpu_records; /* of these, counted by way of a lane */
	uint64_t fills;       /* takes from the source that brought something */
	bool asked;           /* it has asked the source: a failure is then the input's */
	bool makes_room;      /* it has begun the start of a GPU */
	double passed_on;     /* clock when busy was called last */
	double read_seconds;  /* in source_take: reading, and waiting for its turn or for data */
	double count_seconds;
	double core_seconds; /* for which its thread had a core */

	/* Its turns on the CPU, in one buffer that stays in the cache: */
	const struct counting *counting; /* those of work, but while chunks are counted again */
	struct counts *counts;
	struct counter *counter; /* NULL: not open */
	unsigned char *block;
	struct holder holder;
	uint64_t bytes; /* in all these turns ... */
	double seconds; /* ... and the time they took */

	/* Its turns by way of the GPU (worker_gpu.c): */
	struct lane *lane;               /* NULL: none */
	struct slot *sent[REGION_SLOTS]; /* a ring, in the order in which they were submitted */
	unsigned first, count;
	struct stats *stats; /* of all samples that were submitted, for each channel; or NULL */
	/* samples in the lane's total, or in cells of the totals that are not announced yet */
	uint64_t committed;
	struct holder lane_holder; /* of the lane's total, for snapshots */
	uint64_t lane_bytes;       /* that the device has counted since ... */
	double lane_began;         /* ... the lane was opened */
};

/*
 * Runs a worker from the first record to the last, in turns: where a slot of the GPU is free for
 * it, it fills that, else it counts a block itself. It counts on the CPU alone until a GPU is
 * ready, and after it has failed. Under gpu_only it waits for slots instead, and the loss of the
 * GPU is a failure. -1: w->fail says why.
 */
int worker_run(struct worker *w);

/* Bytes of memory that its turns on the CPU take. */
size_t cpu_memory(const struct counting *counting, size_t block);

/* The outcome of a turn. */
enum turn {
	TURN_FAILED = -1, /* w->fail says why */
	TURN_DONE,        /* something was taken, and is counted or is on its way; or time passed */
	TURN_END,         /* the source has ended */
	TURN_NO_SLOT,     /* there is no free slot: nothing was taken */
	TURN_NO_EPOCH,    /* there is one, and no use for it until others go on */
	TURN_LOST_GPU,    /* the GPU has failed; w->fail is as it was */
};

/* A range of a file, which can be read again. */
static inline bool chunk_is_range(const struct chunk *chunk)
{
	return chunk->fd >= 0;
}

/* Opens the counter and the buffer, if they are not open yet. */
int cpu_open(struct worker *w);

/* Counts whole records and adds them to the report, both between two snapshots. */
void cpu_count(struct worker *w, const struct chunk *chunk);

/* Counts a chunk, read once more if it is a range, and gives it back. */
int cpu_chunk(struct worker *w, struct chunk *chunk);

/* Adds its counts to the totals and frees all. Takes one that was never opened. */
void cpu_close(struct worker *w);

/* After a turn of either kind took something: now and then calls busy. */
void worker_found(struct worker *w);

/* Opens a lane for the worker, if there is one now. -1: no memory. */
int lane_open(struct worker *w);

/* Fills a slot, or waits for one where there is nothing better to do; else TURN_NO_SLOT. */
enum turn lane_turn(struct worker *w);

/* Waits until all that it submitted is counted: TURN_END or TURN_LOST_GPU. */
enum turn lane_finish(struct worker *w);

/* After TURN_LOST_GPU: counts on the CPU what the GPU did not count, and closes the lane. */
int lane_recount(struct worker *w);

/* Adds what it committed to the totals, and gives back its slots. Does nothing without a lane. */
void lane_close(struct worker *w);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * worker: the contract of a worker.
 *
 * A worker takes records from the source until there are none, counts them on its own, and adds its
 * counts to the totals when it ends, or when a snapshot asks for them. It has its own thread and
 * its own memory, never prints, and never ends the process. When it fails, it has added nothing
 * that it did not count, and *fail says why.
 */
#ifndef GPUHIST_WORKER_H
#define GPUHIST_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "count/count.h"
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

/*
 * What a worker did, for -v. The first three are tallies, which any thread may read while the
 * worker works.
 */
struct worker_report {
	uint64_t records;
	uint64_t gpu_records; /* of these, counted by way of a lane */
	uint64_t fills;       /* takes from the source that brought something */
	double asked_at;      /* clock when busy was called last */
	bool asked;           /* it has asked the source: a failure is then the input's */
	bool passed_on;       /* busy was called ... */
	bool makes_room;      /* ... and returned true */
	double read_seconds;  /* in source_take: reading, and waiting for its turn or for data */
	double count_seconds;
	double core_seconds; /* for which its thread had a core */
};

/*
 * Runs a worker from the first record to the last, in turns: where a slot of the GPU is free for
 * it, it fills that, else it counts a block itself. It counts on the CPU alone until a GPU is
 * ready, and after it has failed. Under gpu_only it waits for slots instead, and the loss of the
 * GPU is a failure.
 */
int worker_run(const struct work *work, struct worker_report *report, struct fail *fail);

/* The outcome of a turn. */
enum turn {
	TURN_FAILED = -1, /* *fail says why */
	TURN_DONE,        /* something was taken, and is counted or is on its way */
	TURN_END,         /* the source has ended */
	TURN_NO_SLOT,     /* there is no free slot: nothing was taken */
	TURN_LOST_GPU,    /* the GPU has failed; *fail is as it was */
};

/* ---- the CPU's turns: in one buffer that stays in the cache ---- */

struct cpu_leg {
	const struct work *work;
	struct reader *reader;
	struct worker_report *report;
	struct fail *fail;
	struct counter *counter; /* NULL: not open */
	unsigned char *block;
	struct holder holder;
	uint64_t bytes; /* in all its turns ... */
	double seconds; /* ... and the time they took */
};

enum turn cpu_turn(struct cpu_leg *leg);

/* Opens the counter and the buffer, if they are not open yet. */
int cpu_open(struct cpu_leg *leg);

/* Counts whole records and adds them to the report, both between two snapshots. */
void cpu_count(struct cpu_leg *leg, const struct chunk *chunk);

/* Adds its counts to the totals and frees all. Takes one that was never opened. */
void cpu_close(struct cpu_leg *leg);

/* Bytes of memory that it takes. */
size_t cpu_memory(const struct counting *counting, size_t block);

/* After a turn of either kind took something: now and then calls busy. */
void worker_found(const struct work *work, struct worker_report *report);

/* ---- the GPU's turns (worker_gpu.c): fill, submit, reap, on a lane of its own ---- */

struct feeder;

/*
 * Opens a feeder for the worker; what is not for the GPU is counted on `cpu`. NULL: there is no
 * lane, now or ever; or, if fail is set, no memory.
 */
struct feeder *feeder_open(struct cpu_leg *cpu);

enum turn feeder_turn(struct feeder *f);

/*
 * Is it better to wait for a slot than to count meanwhile? Counting uses the memory bandwidth from
 * which other workers fill their slots. So it is, if the lane has brought far more than this
 * worker's own turns on the CPU, at cpu_rate bytes a second.
 */
bool feeder_faster(const struct feeder *f, double cpu_rate);

/*
 * After TURN_NO_SLOT, where there is nothing else to do: waits for a slot. TURN_DONE, TURN_LOST_GPU
 * or TURN_FAILED.
 */
enum turn feeder_wait(struct feeder *f);

/* Waits until all that it submitted is counted: TURN_END; TURN_LOST_GPU; TURN_FAILED. */
enum turn feeder_finish(struct feeder *f);

/* After TURN_LOST_GPU: counts on the CPU what it took and the GPU did not count. */
int feeder_recount(struct feeder *f);

/* Adds what it committed to the totals, gives back what it holds, and frees it. Takes NULL. */
void feeder_close(struct feeder *f);

#endif

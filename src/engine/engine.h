/* SPDX-License-Identifier: MIT */
/*
 * engine: the contract of a worker, and of the engines that it counts by.
 *
 * A worker takes records from the source until there are none, counts them on its own, and adds its
 * counts to the totals when it ends, or when a snapshot asks for them. It has a thread and memory
 * of its own, and never prints.
 *
 * An engine is a way to count: the CPU's (cpu.c) and the GPU's (gpu/lane.c). A worker works in
 * turns, each by the first engine that has room for one (worker.c). What an engine keeps from turn
 * to turn is its own, and one pointer in the worker.
 */
#ifndef GPUHIST_ENGINE_H
#define GPUHIST_ENGINE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "count/count.h"
#include "engine/snapshot.h"
#include "input/source.h"

struct gpu;
struct each;
struct worker;

/* What all workers of a run share: const, but for gpu. */
struct work {
	const struct counting *counting;
	struct source *source;
	struct counts *counts;
	size_t block;    /* bytes of a worker's buffer */
	size_t step;     /* bytes that a worker reads at a time of a range */
	size_t part;     /* --each: bytes of a file that a worker takes at a time; 0: a block */
	uint32_t record; /* bytes of a record */
	/*
	 * A worker calls this when it finds work for another one too: at once, then now and then.
	 * True: this call began the start of a GPU, and the worker must yield its core.
	 */
	bool (*busy)(void *arg);
	void *arg;
	/* NULL: none, or none yet: the callback `busy` of any worker may set it, atomically */
	struct gpu *gpu;
	bool gpu_only; /* --device=gpu: no CPU worker takes the place of the GPU */
	/* --every: looks at what workers hold while they work; else NULL */
	struct snapshot *snapshot;
	struct each *each; /* --each: rows are counted (each/each.h); else NULL */
};

/* The outcome of a turn. */
enum turn {
	TURN_FAILED = -1, /* w->fail says why */
	TURN_DONE,        /* something was taken, and is counted or is on its way; or time passed */
	TURN_END,         /* the source has ended */
	TURN_NO_ROOM,     /* the engine can take nothing now: nothing was taken */
	TURN_LOST,        /* the engine has failed; w->fail is as it was */
};

struct engine {
	/* Takes records and counts them, or has them counted. */
	enum turn (*turn)(struct worker *w);
	/* After TURN_END: waits until all that the engine took is counted. TURN_DONE: try again. */
	enum turn (*finish)(struct worker *w);
	/* After TURN_LOST: has the CPU count the rest. -1: w->fail. NULL: it cannot be lost. */
	int (*recount)(struct worker *w);
	/* Adds its counts to the totals and frees all. Does nothing where nothing was taken. */
	void (*close)(struct worker *w);
};

/* A worker; zeroed but for work. All but the tallies belongs to its thread until that ends. */
struct worker {
	const struct work *work;
	pthread_t thread; /* run.c's */
	struct fail fail;
	struct reader *reader;

	/* What its engines keep; NULL: nothing yet. */
	struct cpu *cpu;
	struct feeder *feeder;
	struct rows *rows;

	/* What it did, for -v. The first three are tallies, which any thread may read. */
	uint64_t records;
	uint64_t gpu_records; /* records that a GPU counted */
	uint64_t fills;       /* takes from the source that brought something */
	bool asked;           /* it has asked the source: a failure is then the input's */
	bool makes_room;      /* it has begun the start of a GPU */
	double passed_on;     /* clock when busy was called last */
	double read_seconds;  /* in source_take: reading, and waiting for its turn or for data */
	double count_seconds;
	double core_seconds; /* for which its thread had a core */
};

/*
 * For engines: source_take for the worker, and a call of busy where there is work for another
 * worker. Returns what source_take returns.
 */
int worker_take(struct worker *w, const struct want *want, struct chunk *chunk);

/* A range of a file, which can be read again. */
static inline bool chunk_is_range(const struct chunk *chunk)
{
	return chunk->fd >= 0;
}

/* ---- the CPU ---- */

extern const struct engine cpu_engine;

/*
 * Counts a chunk, read once more if it is a range, and gives it back. For engines that cannot count
 * it themselves.
 */
int cpu_chunk(struct worker *w, struct chunk *chunk);

/*
 * From now on the worker counts as `counting` says and into `counts`, not into the work's totals,
 * until cpu_close. What was open before must be closed first.
 */
int cpu_open(struct worker *w, const struct counting *counting, struct counts *counts);
void cpu_close(struct worker *w);

/* Counts whole records in memory and adds them to the report, both between two snapshots. */
void cpu_count(struct worker *w, const struct chunk *chunk);

/* Bytes a second that the worker's turns on the CPU brought; 0: it had none. */
double cpu_rate(const struct worker *w);

#endif

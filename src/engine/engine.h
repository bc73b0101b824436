/* SPDX-License-Identifier: MIT */
/*
 * engine: the interface of workers and of the engines that they count with.
 *
 * A worker takes records from the source until it ends, counts them into tables of its own, and
 * adds its counts to the totals when it ends or a snapshot asks for them. It has its own thread and
 * memory and never prints.
 *
 * An engine is a way to count: on the CPU (cpu.c) or the GPU (gpu/gpu_engine.c). A worker works in
 * turns, each on the first engine that can take one (worker.c). The worker has a pointer to each
 * engine's private state.
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
#include "source/source.h"

struct gpu;
struct each;
struct worker;

/* Data shared by all workers of a run; const, except for gpu. */
struct work {
	const struct counting *counting;
	struct source *source;
	struct counts *counts;
	size_t block;    /* bytes of a worker's buffer */
	uint32_t record; /* bytes of a record, or that `packed` records share */
	uint32_t packed; /* records that share bytes; 0 or 1: they do not */
	/*
	 * A worker calls this when there is work for another worker too: at once, then now and
	 * then. Return true if the call began to start a GPU; the worker must yield its core then.
	 */
	bool (*start_next)(void *arg);
	void *arg;
	struct gpu *gpu; /* NULL: none (yet); `start_next` may set it in any worker, atomically */
	bool gpu_only;   /* --device=gpu: the CPU must not count in place of the GPU */
	struct snapshot *snapshot; /* --every: collects counts while workers run; else NULL */
	struct each *each;         /* --each: rows are counted (each/each.h); else NULL */
};

/* The outcome of a turn. */
enum turn {
	TURN_FAILED = -1, /* w->fail says why */
	TURN_DONE,        /* records were taken, and are or will be counted; or time passed */
	TURN_END,         /* the source has ended */
	TURN_BUSY,        /* the engine took nothing */
	TURN_LOST,        /* the engine has failed; w->fail is unchanged */
};

struct engine {
	/* Take records and count them, or have them counted. */
	enum turn (*turn)(struct worker *w);
	/* After TURN_END: wait until all taken records are counted. TURN_DONE: call again. */
	enum turn (*finish)(struct worker *w);
	/* After TURN_LOST: have the CPU count the rest; -1: see w->fail. NULL: never lost. */
	int (*recount)(struct worker *w);
	/* Add the counts to the totals and free everything. Do nothing if nothing was taken. */
	void (*close)(struct worker *w);
};

/* A worker; all but `work` begins as 0. While its thread runs, others read only the tallies. */
struct worker {
	const struct work *work;
	pthread_t thread; /* run_workers.c's */
	struct fail fail;
	struct reader *reader;

	/* Private state of the engines; NULL until used. */
	struct cpu *cpu;
	struct feeder *feeder;
	struct row_worker *rows;

	/* Statistics for -v. The first three are tallies, which any thread may read. */
	uint64_t records;
	uint64_t gpu_records; /* records counted by the GPU */
	uint64_t chunks;      /* chunks taken from the source */
	bool owns_failure;    /* its failure is the run's: it has read from the source */
	bool started_gpu;     /* it has begun to start a GPU */
	double last_start;    /* clock when `start_next` was called last */
	double read_seconds;  /* time in source_take: reading, or waiting for its turn or data */
	double count_seconds;
	double core_seconds; /* CPU time of its thread */
};

/*
 * For engines: call source_take for the worker, and `start_next` if there is work for another
 * worker. Return the result of source_take.
 */
int worker_take(struct worker *w, const struct want *want, struct chunk *chunk);

/*
 * Can the run continue without a worker that failed? Yes, if the worker ran out of memory before it
 * asked for data: nothing is lost.
 */
static inline bool worker_is_spare(const struct worker *w)
{
	return !w->owns_failure && w->fail.status == STATUS_SYSTEM;
}

/* Records in the bytes of a chunk. */
static inline uint64_t work_records(const struct work *work, size_t bytes)
{
	return layout_records(bytes, work->record, work->packed);
}

static inline size_t work_bytes(const struct work *work, uint64_t records)
{
	return (size_t)layout_records_bytes(records, work->record, work->packed);
}

/* ---- the CPU ---- */

extern const struct engine cpu_engine;

/*
 * Count a chunk and return it to the source. Other engines call this for chunks that they cannot
 * count themselves.
 */
int cpu_chunk(struct worker *w, struct chunk *chunk);

/*
 * From now on, until cpu_close, the worker counts by `counting` and into `counts`, not into the
 * run's totals. Any earlier cpu_open must have been closed.
 */
int cpu_open(struct worker *w, const struct counting *counting, struct counts *counts);
void cpu_close(struct worker *w);

/* Count whole records in memory and add them to the report, with no snapshot in between. */
void cpu_count(struct worker *w, const struct chunk *chunk);

/* Bytes per second of the worker's turns on the CPU; 0 if it had none. */
double cpu_rate(const struct worker *w);

#endif

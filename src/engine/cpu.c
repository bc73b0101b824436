/* SPDX-License-Identifier: MIT */
/* cpu: a turn on the CPU reads a block that fits into the cache, and counts it. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/minmax.h"
#include "base/tally.h"
#include "engine/engine.h"

#define ASKS_SECONDS 0.02

struct cpu {
	struct counter *counter;
	unsigned char *block;
	struct holder holder;
	uint64_t bytes; /* bytes counted in turns */
	double seconds; /* time spent in turns */
};

int worker_take(struct worker *w, const struct want *want, struct chunk *chunk)
{
	const struct work *const work = w->work;
	const double start = clock_seconds();

	w->owns_failure = true;
	const int rc = source_take(w->reader, want, chunk, &w->fail);
	const double now = clock_seconds();
	w->read_seconds += now - start;
	if (rc != 0 || chunk->bytes == 0)
		return rc;
	/* Check for a backlog at once, then now and then: a long run needs no fast start. */
	if (now - w->last_start >= ASKS_SECONDS && source_backlog(work->source)) {
		w->last_start = now;
		w->started_gpu = work->start_next(work->arg);
	}
	tally_add(&w->chunks, 1);
	return 0;
}

static void cpu_flush(void *counter)
{
	counter_flush(counter);
}

int cpu_open(struct worker *w, const struct counting *counting, struct counts *counts)
{
	struct cpu *const cpu = w->cpu = calloc(1, sizeof(*cpu));

	if (!cpu)
		return fail_errno(&w->fail, "worker");
	cpu->counter = counter_open(counting, counts);
	cpu->block = aligned_alloc(PAGE, round_up(w->work->block, PAGE));
	if (!cpu->counter || !cpu->block)
		return fail_errno(&w->fail, "worker");
	snapshot_join(w->work->snapshot, &cpu->holder, cpu_flush, cpu->counter);
	return 0;
}

/* Open a counter that adds to the run's totals, unless one is open. */
static int open_once(struct worker *w)
{
	return w->cpu ? 0 : cpu_open(w, w->work->counting, w->work->counts);
}

void cpu_close(struct worker *w)
{
	struct cpu *const cpu = w->cpu;

	if (!cpu)
		return;
	snapshot_leave(&cpu->holder);
	counter_close(cpu->counter);
	free(cpu->block);
	free(cpu);
	w->cpu = NULL;
}

void cpu_count(struct worker *w, const struct chunk *chunk)
{
	struct cpu *const cpu = w->cpu;

	snapshot_lock_take(&cpu->holder);
	gather_add(cpu->counter, chunk->data, chunk->bytes, chunk->hash);
	tally_add(&w->records, work_records(w->work, chunk->bytes));
	snapshot_unlocks(&cpu->holder);
}

int cpu_chunk(struct worker *w, struct chunk *chunk)
{
	if (open_once(w) != 0 || counts_check(w->work->counts, &w->fail) != 0)
		return -1;
	cpu_count(w, chunk);
	source_done(w->reader, chunk);
	return 0;
}

double cpu_rate(const struct worker *w)
{
	return w->cpu && w->cpu->seconds > 0 ? (double)w->cpu->bytes / w->cpu->seconds : 0;
}

static enum turn cpu_turn(struct worker *w)
{
	struct chunk chunk;

	if (open_once(w) != 0)
		return TURN_FAILED;
	struct cpu *const cpu = w->cpu;
	const struct want want = {.buffer = cpu->block, .cap = w->work->block, .lent = true};
	const double start = clock_seconds(), read = w->read_seconds;
	const int rc = worker_take(w, &want, &chunk);
	if (rc != 0 || chunk.bytes == 0)
		return rc != 0 ? TURN_FAILED : TURN_END;
	cpu->bytes += chunk.bytes;
	if (cpu_chunk(w, &chunk) != 0)
		return TURN_FAILED;
	const double all = clock_seconds() - start;
	w->count_seconds += all - (w->read_seconds - read);
	cpu->seconds += all;
	return TURN_DONE;
}

/* A turn leaves nothing unfinished. */
static enum turn cpu_finish(struct worker *w)
{
	(void)w;
	return TURN_END;
}

const struct engine cpu_engine = {cpu_turn, cpu_finish, NULL, cpu_close};

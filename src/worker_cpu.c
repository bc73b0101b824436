/* SPDX-License-Identifier: MIT */
/* worker_cpu: fill a block, count it. */
#include "worker.h"

#include <stdlib.h>

#include "base/clock.h"

#define PAGE 4096u

size_t worker_cpu_memory(const struct counting *counting, size_t block)
{
	return counting->memory + block + PAGE;
}

static void flush(void *counter)
{
	counter_flush(counter);
}

int cpu_open(struct cpu_leg *leg)
{
	const struct work *work = leg->work;

	if (leg->counter)
		return 0;
	leg->counter = counter_open(work->counting, work->counts);
	leg->block = aligned_alloc(PAGE, (work->block + PAGE - 1) / PAGE * PAGE);
	if (!leg->counter || !leg->block)
		return fail_errno(leg->fail, "worker");
	return snapshot_join(work->snapshot, &leg->holder, flush, leg->counter, leg->fail);
}

enum turn cpu_turn(struct cpu_leg *leg)
{
	const struct work *work = leg->work;
	struct worker_report *report = leg->report;
	struct chunk chunk;

	if (cpu_open(leg) != 0)
		return TURN_FAILED;
	report->asked = true;
	const struct want want = {.buffer = leg->block, .cap = work->block, .lent = true};
	const double start = clock_seconds();
	const int rc = source_take(leg->reader, &want, &chunk, leg->fail);
	const double filled = clock_seconds();
	report->read_seconds += filled - start;
	if (rc != 0 || chunk.bytes == 0)
		return rc != 0 ? TURN_FAILED : TURN_END;
	worker_found(work, report);
	worker_count(work, leg->counter, &leg->holder, report, &chunk);
	const double end = clock_seconds();
	report->count_seconds += end - filled;
	leg->bytes += chunk.bytes;
	leg->seconds += end - start;
	return source_done(leg->reader, &chunk, chunk.bytes, leg->fail) == 0 ? TURN_DONE
									     : TURN_FAILED;
}

void cpu_close(struct cpu_leg *leg)
{
	snapshot_leave(&leg->holder);
	counter_close(leg->counter);
	free(leg->block);
	leg->counter = NULL;
	leg->block = NULL;
}

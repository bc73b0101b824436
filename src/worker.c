/* SPDX-License-Identifier: MIT */
/* worker: turns on the CPU and turns by way of the GPU, until the source ends. */
#include "worker.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/tally.h"
#include "count/count.h"
#include "gpu/gpu.h"

#define PAGE 4096u
#define ASKS_SECONDS 0.02
#define ROOM_SECONDS 3.0
#define ROOM_LOOK_NS 1000000

void worker_found(const struct work *work, struct worker_report *report)
{
	const double now = clock_seconds();
	/*
	 * The first time immediately, then now and then: a long run does not need a fast start.
	 * Under --device=gpu a worker is of use only where there is a lane for it.
	 */
	const bool ask = work->gpu_only
				 ? gpu_lane_free(work->gpu)
				 : !report->passed_on || now - report->asked_at >= ASKS_SECONDS;
	if (ask)
		report->asked_at = now;
	if (ask && source_backlog(work->source)) {
		report->passed_on = true;
		report->makes_room = work->busy(work->arg);
	}
	tally_add(&report->fills, 1);
}

/* ---- turns on the CPU: fill a block, count it ---- */

size_t cpu_memory(const struct counting *counting, size_t block)
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

void cpu_count(struct cpu_leg *leg, const struct chunk *chunk)
{
	const struct work *const work = leg->work;
	struct holder *const holder = &leg->holder;

	snapshot_let(holder);
	if (holder->of)
		lock_take(&holder->lock);
	gather_add(work->counting, leg->counter, chunk->data, chunk->bytes, chunk->hash);
	tally_add(&leg->report->records, chunk->bytes / work->record);
	if (holder->of)
		lock_drop(&holder->lock);
}

enum turn cpu_turn(struct cpu_leg *leg)
{
	const struct work *work = leg->work;
	struct worker_report *report = leg->report;
	struct chunk chunk;

	if (cpu_open(leg) != 0)
		return TURN_FAILED;
	report->asked = true;
	const struct want want = {.room = leg->block, .cap = work->block, .lent = true};
	const double start = clock_seconds();
	const int rc = source_take(leg->reader, &want, &chunk, leg->fail);
	const double filled = clock_seconds();
	report->read_seconds += filled - start;
	if (rc != 0 || chunk.bytes == 0)
		return rc != 0 ? TURN_FAILED : TURN_END;
	worker_found(work, report);
	cpu_count(leg, &chunk);
	const double end = clock_seconds();
	report->count_seconds += end - filled;
	leg->bytes += chunk.bytes;
	leg->seconds += end - start;
	source_done(leg->reader, &chunk, chunk.bytes);
	return TURN_DONE;
}

void cpu_close(struct cpu_leg *leg)
{
	snapshot_leave(&leg->holder);
	counter_close(leg->counter);
	free(leg->block);
	leg->counter = NULL;
	leg->block = NULL;
}

/* ---- turns of both kinds ---- */

/*
 * The driver's start keeps a core busy for a quarter of a second. Where each core had a worker it
 * took twice as long, and the GPU would have counted more in that time than one worker does. So the
 * worker that began the start waits until the GPU is ready. The wait also ends with the input, with
 * a failure, and after ROOM_SECONDS.
 */
static void make_room(const struct work *work, const struct gpu *gpu)
{
	const double began = clock_seconds();

	while (gpu_starting(gpu) && source_backlog(work->source) &&
	       clock_seconds() - began < ROOM_SECONDS)
		nanosleep(&(struct timespec){.tv_nsec = ROOM_LOOK_NS}, NULL);
}

/* Under --device=gpu no worker takes the place of a GPU that has failed. */
static int lost_gpu(const struct work *work, struct fail *fail)
{
	struct gpu_report gpu;

	gpu_describe(work->gpu, &gpu);
	return fail_set(fail, STATUS_SYSTEM, "the GPU failed: %s", gpu.why);
}

/* Bytes a second in its turns on the CPU; 0: it had none. */
static double cpu_rate(const struct cpu_leg *cpu)
{
	return cpu->seconds > 0 ? (double)cpu->bytes / cpu->seconds : 0;
}

/* One turn, by way of the GPU where a slot is free, else on the CPU. */
static enum turn turn_of(const struct work *work, struct cpu_leg *cpu, struct feeder *feeder)
{
	const enum turn turn = feeder ? feeder_turn(feeder) : TURN_NO_SLOT;

	if (turn != TURN_NO_SLOT)
		return turn;
	return work->gpu_only || (feeder && feeder_faster(feeder, cpu_rate(cpu)))
		       ? feeder_wait(feeder)
		       : cpu_turn(cpu);
}

/*
 * After the GPU has failed: counts all that the worker took for it. From then on it is a CPU
 * worker.
 */
static int go_on_without(const struct work *work, struct feeder **feeder, struct fail *fail)
{
	int rc = work->gpu_only ? lost_gpu(work, fail) : feeder_recount(*feeder);

	feeder_close(*feeder);
	*feeder = NULL;
	return rc;
}

int worker_run(const struct work *work, struct worker_report *report, struct fail *fail)
{
	struct reader *const reader = source_reader(work->source);
	struct cpu_leg cpu = {.work = work, .reader = reader, .report = report, .fail = fail};
	struct feeder *feeder = NULL;
	enum turn turn = TURN_DONE;

	if (!reader)
		return fail_errno(fail, "worker");
	while (turn == TURN_DONE) {
		struct gpu *gpu = __atomic_load_n(&work->gpu, __ATOMIC_ACQUIRE);
		if (!feeder && gpu && gpu_lane_free(gpu) && !(feeder = feeder_open(&cpu)) &&
		    fail->status != STATUS_OK) {
			turn = TURN_FAILED;
			break;
		}
		if (work->gpu_only && !feeder) {
			turn = !gpu_failed(gpu) ? TURN_END : TURN_FAILED;
			if (turn == TURN_FAILED)
				lost_gpu(work, fail);
			break;
		}
		turn = turn_of(work, &cpu, feeder);
		if (report->makes_room && turn == TURN_DONE)
			make_room(work, __atomic_load_n(&work->gpu, __ATOMIC_ACQUIRE));
		report->makes_room = false;
		if (turn == TURN_END && feeder)
			turn = feeder_finish(feeder);
		if (turn == TURN_LOST_GPU)
			turn = go_on_without(work, &feeder, fail) == 0 ? TURN_DONE : TURN_FAILED;
	}
	feeder_close(feeder);
	cpu_close(&cpu);
	return turn == TURN_FAILED ? -1 : 0;
}

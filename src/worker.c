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

void worker_found(struct worker *w)
{
	const struct work *const work = w->work;
	const double now = clock_seconds();
	/*
	 * The first time immediately, then now and then: a long run does not need a fast start.
	 * Under --device=gpu a worker is of use only where there is a lane for it.
	 */
	const bool ask =
		work->gpu_only ? gpu_lane_free(work->gpu) : now - w->passed_on >= ASKS_SECONDS;
	if (ask && source_backlog(work->source)) {
		w->passed_on = now;
		w->makes_room = work->busy(work->arg);
	}
	tally_add(&w->fills, 1);
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

int cpu_open(struct worker *w)
{
	const struct work *const work = w->work;

	if (w->counter)
		return 0;
	w->counter = counter_open(w->counting, w->counts);
	w->block = aligned_alloc(PAGE, (work->block + PAGE - 1) / PAGE * PAGE);
	if (!w->counter || !w->block)
		return fail_errno(&w->fail, "worker");
	return snapshot_join(work->snapshot, &w->holder, flush, w->counter, &w->fail);
}

void cpu_count(struct worker *w, const struct chunk *chunk)
{
	struct holder *const holder = &w->holder;

	snapshot_let(holder);
	if (holder->of)
		lock_take(&holder->lock);
	gather_add(w->counting, w->counter, chunk->data, chunk->bytes, chunk->hash);
	tally_add(&w->records, chunk->bytes / w->work->record);
	if (holder->of)
		lock_drop(&holder->lock);
}

int cpu_chunk(struct worker *w, struct chunk *chunk)
{
	const uint32_t record = w->work->record;
	const size_t cap = w->work->block / record * record;
	size_t counted = 0, got = cap;

	if (cpu_open(w) != 0)
		return -1;
	if (!chunk_is_range(chunk)) {
		cpu_count(w, chunk);
		counted = chunk->bytes;
	}
	while (got == cap && counted < chunk->bytes) {
		const size_t want = chunk->bytes - counted < cap ? chunk->bytes - counted : cap;
		if (source_read(chunk, counted, w->block, want, &got, &w->fail) != 0)
			return -1;
		cpu_count(w, &(struct chunk){.data = w->block, .bytes = got / record * record});
		counted += got;
	}
	source_done(w->reader, chunk, counted);
	return 0;
}

static enum turn cpu_turn(struct worker *w)
{
	const struct work *const work = w->work;
	struct chunk chunk;

	if (cpu_open(w) != 0)
		return TURN_FAILED;
	w->asked = true;
	const struct want want = {.room = w->block, .cap = work->block, .lent = true};
	const double start = clock_seconds();
	const int rc = source_take(w->reader, &want, &chunk, &w->fail);
	const double filled = clock_seconds();
	w->read_seconds += filled - start;
	if (rc != 0 || chunk.bytes == 0)
		return rc != 0 ? TURN_FAILED : TURN_END;
	worker_found(w);
	w->bytes += chunk.bytes;
	cpu_chunk(w, &chunk);
	const double end = clock_seconds();
	w->count_seconds += end - filled;
	w->seconds += end - start;
	return TURN_DONE;
}

void cpu_close(struct worker *w)
{
	snapshot_leave(&w->holder);
	counter_close(w->counter);
	free(w->block);
	w->counter = NULL;
	w->block = NULL;
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
static enum turn lost_gpu(struct worker *w)
{
	struct gpu_report gpu;

	gpu_describe(w->work->gpu, &gpu);
	fail_set(&w->fail, STATUS_SYSTEM, "the GPU failed: %s", gpu.why);
	return TURN_FAILED;
}

/* One turn, by way of the GPU where a slot is free, else on the CPU. */
static enum turn turn_of(struct worker *w)
{
	const struct work *const work = w->work;
	struct gpu *const gpu = __atomic_load_n(&work->gpu, __ATOMIC_ACQUIRE);
	enum turn turn = TURN_NO_SLOT;

	if (!w->lane && gpu && gpu_lane_free(gpu) && lane_open(w) != 0)
		return TURN_FAILED;
	if (w->lane)
		turn = lane_turn(w);
	else if (work->gpu_only)
		return gpu_failed(gpu) ? lost_gpu(w) : TURN_END;
	if (turn == TURN_NO_SLOT)
		turn = cpu_turn(w);
	if (turn == TURN_END && w->lane)
		turn = lane_finish(w);
	if (turn != TURN_LOST_GPU)
		return turn;
	/* From now on it is a CPU worker. */
	return work->gpu_only ? lost_gpu(w) : lane_recount(w) == 0 ? TURN_DONE : TURN_FAILED;
}

int worker_run(struct worker *w)
{
	const struct work *const work = w->work;
	enum turn turn = TURN_DONE;

	w->counting = work->counting;
	w->counts = work->counts;
	if (!(w->reader = source_reader(work->source)))
		return fail_errno(&w->fail, "worker");
	while ((turn = turn_of(w)) == TURN_DONE) {
		if (w->makes_room)
			make_room(work, __atomic_load_n(&work->gpu, __ATOMIC_ACQUIRE));
		w->makes_room = false;
	}
	lane_close(w);
	cpu_close(w);
	return turn == TURN_FAILED ? -1 : 0;
}

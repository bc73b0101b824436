/* SPDX-License-Identifier: MIT */
/*
 * gpu_engine: a turn reaps finished slots, then fills one and submits it. After the GPU has failed,
 * the CPU counts the chunks that the GPU has not.
 *
 * A chunk is committed when its slot is done and its counters, unless they stay on the device
 * (gpu_resident.h), sum to its samples. Only then do we return it to the source; until then it is
 * in our own memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/tally.h"
#include "engine/engine.h"
#include "gpu/gpu.h"
#include "gpu/gpu_resident.h"

#define WAIT_SECONDS 0.1 /* longest wait for the oldest slot before looking for a free one */
#define TELLING_SLOTS 2u /* slots counted before the speed of a lane is known */
/*
 * A worker without a slot counts a block itself, which takes memory bandwidth and cache from
 * workers that fill slots. With few counters that pays, unless the lane is more than FASTER times
 * as fast as the worker itself.
 */
#define FASTER 1.7
#define FASTER_RESIDENT 1.0
#define NAP_NS 50000 /* pause while other workers have all slots */

/* A worker with a lane. */
struct feeder {
	struct gpu *gpu;
	struct slot *sent[REGION_SLOTS]; /* ring of slots in the order of submission */
	unsigned first, count;
	uint64_t bytes; /* bytes counted by the device for the lane */
	double began;   /* clock when the lane was opened */
	bool lent; /* a submitted chunk is in the source's memory; return it before the next take */
};

static void feeder_push(struct feeder *f, struct slot *slot)
{
	f->sent[(f->first + f->count++) % REGION_SLOTS] = slot;
}

static struct slot *feeder_pop(struct feeder *f)
{
	struct slot *const slot = f->sent[f->first];

	f->first = (f->first + 1) % REGION_SLOTS;
	f->count--;
	return slot;
}

/* ---- reaping ---- */

/* Commit a chunk. Return -1 if its counters do not sum to its samples. */
static int lane_commit(struct worker *w, const struct slot *slot)
{
	const struct work *const work = w->work;
	const struct counting *const c = work->counting;
	uint64_t sum = 0;

	if (gpu_is_resident(w->feeder->gpu)) {
		gpu_resident_commit(w->feeder->gpu, slot->shared->samples);
		return 0;
	}
	for (size_t i = 0; i < c->cells; i++)
		sum += slot->cells[i];
	if (sum != slot->shared->samples) {
		gpu_fail(w->feeder->gpu, "check", "a chunk's counts do not sum to its samples");
		return -1;
	}
	counts_add(work->counts, &(struct tables){.samples = slot->shared->samples,
						  .narrow = slot->cells,
						  .tables = 1,
						  .stride = c->cells,
						  .channels = 1,
						  .shared = c->method == COUNT_SHARED,
						  .k = slot->shared->k,
						  .extent = slot->extent});
	return 0;
}

/* Reap the oldest slot. Return TURN_BUSY if it is not done yet. */
static enum turn lane_reap(struct worker *w, double seconds)
{
	struct feeder *const f = w->feeder;
	struct slot *const slot = f->sent[f->first];
	const enum gpu_answer answer = gpu_done(f->gpu, slot, seconds);

	if (answer == GPU_NOT_YET)
		return TURN_BUSY;
	if (answer == GPU_LOST || lane_commit(w, slot) != 0)
		return TURN_LOST;
	struct chunk chunk = slot->chunk;
	gpu_free(feeder_pop(f));
	f->bytes += chunk.bytes;
	tally_add(&w->records, work_records(w->work, chunk.bytes));
	tally_add(&w->gpu_records, work_records(w->work, chunk.bytes));
	source_done(w->reader, &chunk);
	return TURN_DONE;
}

/* Reap finished slots, oldest first; `all` waits for every one. Return TURN_DONE or TURN_LOST. */
static enum turn lane_reap_some(struct worker *w, bool all)
{
	enum turn turn = TURN_DONE;

	while (w->feeder->count > 0 && (turn == TURN_DONE || (all && turn == TURN_BUSY)))
		turn = lane_reap(w, all ? WAIT_SECONDS : 0);
	return turn == TURN_LOST ? TURN_LOST : TURN_DONE;
}

/* ---- feeding ---- */

/*
 * Take a chunk, into the slot or in a room where the device decoded it, and submit it. If the GPU
 * has just failed, this worker counts the chunk, unless --device=gpu forbids it.
 */
static enum turn lane_fill(struct worker *w, struct slot *slot)
{
	const struct work *const work = w->work;
	struct feeder *const f = w->feeder;
	struct chunk *const chunk = &slot->chunk;
	const struct want want = {.buffer = slot->data,
				  .cap = gpu_slot_bytes(f->gpu),
				  .unpacked = gpu_counts_rooms(f->gpu)};
	int rc = worker_take(w, &want, chunk);

	if (rc != 0 || chunk->bytes == 0) {
		gpu_free(slot);
		return rc != 0 ? TURN_FAILED : TURN_END;
	}
	if (work->counting->auto_bins.most > 0)
		counts_auto(work->counts, &slot->shared->k, &slot->extent);
	if (gpu_submit(f->gpu, slot, chunk->data, chunk->bytes) == 0) {
		feeder_push(f, slot);
		f->lent |= chunk->data != slot->data;
		return TURN_DONE;
	}
	if (!work->gpu_only)
		rc = cpu_chunk(w, chunk);
	gpu_free(slot);
	return rc != 0 ? TURN_FAILED : TURN_LOST;
}

/* Reap, then fill a slot. If none is free, wait a while or return TURN_BUSY. */
static enum turn lane_step(struct worker *w, bool wait)
{
	struct feeder *const f = w->feeder;

	if (lane_reap_some(w, f->lent) == TURN_LOST)
		return TURN_LOST;
	f->lent = false;
	struct slot *const slot = f->count < REGION_SLOTS ? gpu_take_slot(f->gpu) : NULL;
	if (slot)
		return lane_fill(w, slot);
	if (!wait)
		return TURN_BUSY;
	if (f->count > 0)
		return lane_reap(w, WAIT_SECONDS) == TURN_LOST ? TURN_LOST : TURN_DONE;
	if (gpu_failed(f->gpu))
		return TURN_LOST;
	nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	return TURN_DONE;
}

/*
 * Is it better to wait for a slot than to count meanwhile? Yes, if the lane is much faster than
 * this worker's own turns on the CPU.
 */
static bool is_faster(const struct worker *w)
{
	const struct feeder *const f = w->feeder;
	const double faster = gpu_is_resident(f->gpu) ? FASTER_RESIDENT : FASTER;

	return f->bytes >= TELLING_SLOTS * gpu_slot_bytes(f->gpu) &&
	       (double)f->bytes > faster * cpu_rate(w) * (clock_seconds() - f->began);
}

/* ---- opening and closing ---- */

static void close_lane(struct worker *w)
{
	struct feeder *const f = w->feeder;

	if (!f)
		return;
	/* Even if this worker has failed, others may be waiting for its slots. */
	if (!gpu_failed(f->gpu))
		(void)lane_reap_some(w, true);
	gpu_lane_close(f->gpu);
	free(f);
	w->feeder = NULL;
}

/* Open a lane, if the GPU has a free one. Return -1 if memory is short. */
static int open_lane(struct worker *w)
{
	struct gpu *const gpu = w->work->gpu;

	if (!gpu_lane_open(gpu))
		return 0;
	w->feeder = calloc(1, sizeof(*w->feeder));
	if (!w->feeder) {
		const int rc = fail_errno(&w->fail, "worker");
		gpu_lane_close(gpu);
		return rc;
	}
	w->feeder->gpu = gpu;
	w->feeder->began = clock_seconds();
	return 0;
}

/* ---- turns ---- */

static enum turn lane_turn(struct worker *w)
{
	struct gpu *const gpu = __atomic_load_n(&w->work->gpu, __ATOMIC_ACQUIRE);
	const bool alone = w->work->gpu_only;

	if (!w->feeder && gpu && gpu_lane_free(gpu) && open_lane(w) != 0)
		return TURN_FAILED;
	if (!w->feeder)
		return !alone ? TURN_BUSY : gpu_failed(gpu) ? TURN_LOST : TURN_END;
	const double start = clock_seconds(), read = w->read_seconds;
	const enum turn turn = lane_step(w, alone || is_faster(w));
	/* Time not spent reading was spent waiting for the bus and the GPU. */
	w->count_seconds += clock_seconds() - start - (w->read_seconds - read);
	return turn;
}

static enum turn lane_finish(struct worker *w)
{
	const double start = clock_seconds();

	if (!w->feeder)
		return TURN_END;
	const enum turn turn = lane_reap_some(w, true);
	w->count_seconds += clock_seconds() - start;
	return turn == TURN_DONE ? TURN_END : turn;
}

/* ---- after the GPU has failed ---- */

/*
 * Have the CPU count the chunks still in slots. Under --device=gpu, or if the table on the device
 * is lost, the run fails instead.
 */
static int lane_recount(struct worker *w)
{
	const struct work *const work = w->work;
	struct feeder *const f = w->feeder;

	if (work->gpu_only || gpu_resident_lost(work->gpu))
		return gpu_fail_run(work->gpu, &w->fail);
	int rc = 0;
	while (rc == 0 && f->count > 0)
		rc = cpu_chunk(w, &feeder_pop(f)->chunk);
	close_lane(w);
	return rc;
}

const struct engine gpu_engine = {lane_turn, lane_finish, lane_recount, close_lane};

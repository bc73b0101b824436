/* SPDX-License-Identifier: MIT */
/*
 * worker_gpu: a worker's turns on the GPU: fill a slot, submit it, reap those before it; and after
 * the GPU has failed, the CPU counts what it had not.
 *
 * A chunk is counted when it is committed: when its slot is done, and its counters sum to its
 * samples; or, where counters stay on the device, when its epoch is committed (gpu_epoch.h). Only
 * then is it given back to the source. When the GPU fails, in whatever way, the chunks that were
 * submitted and not committed are still in our own memory and are counted by the CPU, and those
 * that are ranges of files can be read again. Nothing is lost and nothing is counted twice. After a
 * failure of the run, what was not counted is forgotten.
 *
 * Statistics that workers add to (counting_adds_stats) are different: samples are added to them
 * once, when they are submitted or counted here. Counting again does not change them.
 */
#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/tally.h"
#include "count/count.h"
#include "gpu/gpu.h"
#include "gpu/gpu_epoch.h"

#define WAIT_SECONDS 0.1 /* the longest wait for the first slot; then look for a free one again */
#define TELLING_SLOTS 2u /* after so many slots the speed of a lane is known */
/*
 * A worker without a slot counts a block itself, which takes memory bandwidth and cache from those
 * that fill slots. With few counters that is worth it, unless the lane brings FASTER times as much
 * as its own counting.
 */
#define FASTER 1.7
#define FASTER_STAYS 1.0
#define NAP_NS 50000 /* a pause while other workers have all slots */
#define ORDERS 2u /* of an epoch's end that one lane has on their way: the others take part too */

static void push(struct worker *w, struct slot *slot)
{
	w->sent[(w->first + w->count++) % REGION_SLOTS] = slot;
}

static struct slot *pop(struct worker *w)
{
	struct slot *const slot = w->sent[w->first];

	w->first = (w->first + 1) % REGION_SLOTS;
	w->count--;
	return slot;
}

/* ---- totals ---- */

/* What the lane counted of a cell; for a group of cells, the first of them gets all. */
static uint64_t take_cell(void *arg, size_t cell)
{
	const struct lane *lane = arg;
	uint64_t *const own = &lane->total[gpu_counter(lane, cell)], n = *own;

	*own = 0;
	return n;
}

/* Adds the lane's own totals to those of the run, at the end or when a snapshot asks for them. */
static void add_totals(void *arg)
{
	struct worker *const w = arg;
	struct counts *const counts = w->work->counts;
	struct lane *const lane = w->lane;

	if (lane->slots_of_k) {
		counts_add_auto64(counts, lane->total, w->committed, lane->k, &lane->extent);
		/* The lane's k stays that of all samples it has counted. */
		memset(lane->total, 0, lane->cells * sizeof(*lane->total));
	} else if (lane->total) {
		counts_add_each(counts, take_cell, lane, w->committed);
	} else {
		counts_add_samples(counts, w->committed);
	}
	w->committed = 0;
}

/* Adds a chunk's counters to the lane's total. */
static void add_chunk(struct counts *counts, struct lane *lane, struct slot *slot)
{
	const size_t cells = lane->cells;
	const uint32_t *const own = slot->cells;
	uint64_t *const total = lane->total;

	if (lane->slots_of_k)
		gpu_align(lane, slot);
	if (total) {
		for (size_t i = 0; i < cells; i++)
			total[i] += own[i];
		return;
	}
	/* Very many cells: other workers may be adding to the same table, so this is atomic. */
	for (size_t i = 0; i < cells; i++)
		if (own[i])
			counts_add_cell(counts, i, own[i]);
}

/*
 * Commits a chunk and adds it to the worker's report, both between two snapshots of the lane's
 * total. -1: its counters do not sum to its samples.
 */
static int commit(struct worker *w, struct slot *slot)
{
	const size_t cells = w->lane->cells;
	struct holder *const holder = &w->lane_holder;
	uint64_t sum = 0;

	for (size_t i = 0; i < cells; i++)
		sum += slot->cells[i];
	if (sum != slot->samples) {
		gpu_fail(w->lane->gpu, "check", "a chunk's counts do not sum to its samples");
		return -1;
	}
	snapshot_let(holder);
	if (holder->of)
		lock_take(&holder->lock);
	add_chunk(w->work->counts, w->lane, slot);
	tally_add(&w->records, slot->bytes / w->work->record);
	w->committed += slot->samples;
	if (holder->of)
		lock_drop(&holder->lock);
	return 0;
}

/* ---- reaping ---- */

/* Gives back a chunk that the GPU counted. */
static void give_back(struct worker *w, struct chunk *chunk)
{
	const uint64_t records = chunk->bytes / w->work->record;

	if (w->lane->stays) /* otherwise commit did */
		tally_add(&w->records, records);
	tally_add(&w->gpu_records, records);
	source_done(w->reader, chunk, chunk->bytes);
}

/* Gives back the ranges of committed epochs, whichever worker took them. */
static void give_committed(struct worker *w)
{
	struct chunk chunk;

	while (w->lane->stays && epoch_take_committed(w->lane, &chunk))
		give_back(w, &chunk);
}

/* Reaps the first slot that was sent. TURN_NO_SLOT: it is not done yet. */
static enum turn reap(struct worker *w, double seconds)
{
	struct lane *const lane = w->lane;
	struct slot *const slot = w->sent[w->first];
	const enum gpu_answer answer = gpu_done(lane, slot, seconds);

	if (answer == GPU_NOT_YET)
		return TURN_NO_SLOT;
	if (answer == GPU_LOST ||
	    (lane->stays ? epoch_reap(lane, slot, w->work->counts) : commit(w, slot)) != 0)
		return TURN_LOST_GPU;
	const bool counted = slot->order == ORDER_COUNT;
	struct chunk chunk = slot->chunk;
	gpu_free(pop(w));
	if (counted)
		w->lane_bytes += chunk.bytes;
	if (counted && !(lane->stays && chunk_is_range(&chunk))) /* the epoch has that */
		give_back(w, &chunk);
	return TURN_DONE;
}

/* Reaps the slots that are done, from the first on, or all: TURN_DONE or TURN_LOST_GPU. */
static enum turn reap_some(struct worker *w, bool all)
{
	enum turn turn = TURN_DONE;

	while (w->count > 0 && (turn == TURN_DONE || (all && turn == TURN_NO_SLOT)))
		turn = reap(w, all ? WAIT_SECONDS : 0);
	if (turn == TURN_LOST_GPU)
		return turn;
	give_committed(w);
	return TURN_DONE;
}

/* ---- feeding ---- */

/*
 * Takes a chunk into a slot, and submits it. Where counters stay the GPU may count what can be read
 * again, which is read here, and anything where no CPU worker may count it. What it may not, what is
 * left of a range whose file became shorter, and, where CPU workers may count, what a GPU that has
 * just failed does not take, this worker counts.
 */
static enum turn fill(struct worker *w, struct slot *slot)
{
	const struct work *const work = w->work;
	struct lane *const lane = w->lane;
	struct chunk *const chunk = &slot->chunk;
	const size_t cap = gpu_slot_bytes(lane);
	const struct want want = {.room = slot->data, .cap = cap, .range = lane->stays ? cap : 0};
	const double start = clock_seconds();
	int rc = source_take(w->reader, &want, chunk, &w->fail);
	const bool some = rc == 0 && chunk->bytes > 0;
	size_t got = some && (!lane->stays || work->gpu_only) ? chunk->bytes : 0;

	if (some && chunk_is_range(chunk))
		rc = source_read(chunk, 0, slot->data, chunk->bytes, &got, &w->fail);
	w->read_seconds += clock_seconds() - start;
	const bool fits = some && rc == 0 && got == chunk->bytes;
	if (lane->stays && !fits)
		epoch_cancel(lane);
	if (!some || rc != 0) {
		gpu_free(slot);
		return rc != 0 ? TURN_FAILED : TURN_END;
	}
	worker_found(w);
	if (fits &&
	    (lane->stays ? epoch_submit(lane, slot) : gpu_submit(lane, slot, chunk->bytes)) == 0) {
		push(w, slot);
		if (w->stats)
			gather_stats(work->counting, w->stats, slot->data, chunk->bytes);
		return TURN_DONE;
	}
	if (!work->gpu_only || !fits)
		rc = cpu_chunk(w, chunk);
	gpu_free(slot);
	return rc != 0 ? TURN_FAILED : fits ? TURN_LOST_GPU : TURN_DONE;
}

/* One step that does not wait; TURN_NO_SLOT or TURN_NO_EPOCH: nothing could be done. */
static enum turn step(struct worker *w)
{
	struct lane *const lane = w->lane;

	if (reap_some(w, false) == TURN_LOST_GPU)
		return TURN_LOST_GPU;
	struct slot *const slot = w->count < REGION_SLOTS ? gpu_take_slot(lane) : NULL;
	if (!slot)
		return TURN_NO_SLOT;
	switch (lane->stays ? epoch_use(lane, slot, w->count >= ORDERS) : EPOCH_FILL) {
	case EPOCH_FILL:
		return fill(w, slot);
	case EPOCH_ORDERED:
		push(w, slot);
		return TURN_DONE;
	case EPOCH_WAIT:
		break;
	}
	gpu_free(slot);
	return TURN_NO_EPOCH;
}

/* After a step that could do nothing, until the next one may: TURN_DONE or TURN_LOST_GPU. */
static enum turn wait_after(struct worker *w, enum turn turn)
{
	if (w->count > 0)
		return reap(w, WAIT_SECONDS) == TURN_LOST_GPU ? TURN_LOST_GPU : TURN_DONE;
	if (gpu_failed(w->lane->gpu))
		return TURN_LOST_GPU;
	if (turn == TURN_NO_EPOCH)
		epoch_wait(w->lane, WAIT_SECONDS);
	else
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	return TURN_DONE;
}

/*
 * Is it better to wait for a slot than to count meanwhile? Counting uses the memory bandwidth from
 * which other workers fill their slots. So it is, if the lane has brought far more than this
 * worker's own turns on the CPU.
 */
static bool is_faster(const struct worker *w)
{
	const double faster = w->lane->stays ? FASTER_STAYS : FASTER;
	const double cpu_rate = w->seconds > 0 ? (double)w->bytes / w->seconds : 0;

	return w->lane_bytes >= TELLING_SLOTS * gpu_slot_bytes(w->lane) &&
	       (double)w->lane_bytes > faster * cpu_rate * (clock_seconds() - w->lane_began);
}

enum turn lane_turn(struct worker *w)
{
	const double start = clock_seconds(), read = w->read_seconds;
	enum turn turn = step(w);

	if (turn == TURN_NO_SLOT || turn == TURN_NO_EPOCH)
		turn = w->work->gpu_only || is_faster(w) ? wait_after(w, turn) : TURN_NO_SLOT;
	/* What was not reading was waiting for the bus and the GPU. */
	w->count_seconds += clock_seconds() - start - (w->read_seconds - read);
	return turn;
}

enum turn lane_finish(struct worker *w)
{
	const double start = clock_seconds();
	enum turn turn = reap_some(w, true);

	if (turn == TURN_DONE && w->lane->stays) {
		epoch_leave(w->lane);
		while (turn == TURN_DONE && !epoch_over(w->lane)) {
			turn = step(w); /* a lane that has left fills no slot */
			if (turn == TURN_NO_SLOT || turn == TURN_NO_EPOCH)
				turn = wait_after(w, turn);
		}
		if (turn == TURN_DONE)
			turn = reap_some(w, true);
	}
	w->count_seconds += clock_seconds() - start;
	return turn == TURN_DONE ? TURN_END : turn;
}

/* ---- after the GPU has failed ---- */

/* Counts the ranges that the epoch held, into w->counts. */
static int recount_ranges(struct worker *w)
{
	struct chunk chunk;
	int rc = 0;

	while (rc == 0 && epoch_take_lost(w->lane, &chunk))
		rc = cpu_chunk(w, &chunk);
	cpu_close(w);
	return rc;
}

/* What was counted again of a cell, unless its piece is in the totals already. */
static uint64_t take_missing(void *arg, size_t cell)
{
	const struct worker *const w = arg;

	return epoch_added(w->lane, cell) ? 0 : w->counts->cell[cell];
}

/* Some pieces are in the totals already: counts all again, and adds what is missing. */
static int recount_missing(struct worker *w)
{
	struct counts *const totals = w->work->counts;
	struct counts again;

	if (counts_init(&again, totals->cells, &w->fail) != 0)
		return -1;
	w->counts = &again;
	int rc = recount_ranges(w);
	if (rc == 0 && !epoch_agrees(w->lane, again.cell))
		rc = fail_set(
			&w->fail, STATUS_SYSTEM,
			"the GPU failed, and what it had counted is not what the input holds now: "
			"--device=cpu counts all of it");
	if (rc == 0)
		counts_add_each(totals, take_missing, w, again.samples);
	w->counts = totals;
	counts_free(&again);
	return rc;
}

static int recount_epoch(struct worker *w)
{
	const enum epoch_rest rest = epoch_settle(w->lane);

	/* What was committed before stays committed. */
	give_committed(w);
	return rest == REST_SHARED    ? recount_ranges(w)
	       : rest == REST_MISSING ? recount_missing(w)
				      : 0;
}

int lane_recount(struct worker *w)
{
	struct counting counting = *w->work->counting;
	int rc = 0;

	cpu_close(w);
	counting.stats = false; /* they have these samples already */
	w->counting = &counting;
	if (w->lane->stays)
		rc = recount_epoch(w);
	else
		while (rc == 0 && w->count > 0)
			rc = cpu_chunk(w, &pop(w)->chunk);
	cpu_close(w);
	w->counting = w->work->counting;
	lane_close(w);
	return rc;
}

/* ---- opening and closing ---- */

int lane_open(struct worker *w)
{
	const struct work *const work = w->work;

	if (counting_adds_stats(work->counting) &&
	    !(w->stats = stats_open(&work->counting->type, work->counts->stats_channels)))
		return fail_errno(&w->fail, "statistics of a worker");
	if (!(w->lane = gpu_lane_open(work->gpu))) {
		if (errno == ENOMEM && work->gpu_only)
			fail_errno(&w->fail, "worker");
		free(w->stats);
		w->stats = NULL;
		return w->fail.status == STATUS_OK ? 0 : -1;
	}
	w->asked = true;
	w->lane_began = clock_seconds();
	if (snapshot_join(work->snapshot, &w->lane_holder, add_totals, w, &w->fail) == 0)
		return 0;
	lane_close(w);
	return -1;
}

void lane_close(struct worker *w)
{
	struct lane *const lane = w->lane;

	if (!lane)
		return;
	/*
	 * If the worker failed, nothing more is counted, but others may wait for the slots, and for
	 * the end of the epoch.
	 */
	if (!gpu_failed(lane->gpu))
		(void)reap_some(w, true);
	if (lane->stays && !lane->left)
		epoch_leave(lane);
	snapshot_leave(&w->lane_holder);
	add_totals(w);
	if (w->stats)
		counts_add_stats(w->work->counts, w->stats);
	free(w->stats);
	gpu_lane_close(lane);
	w->stats = NULL;
	w->lane = NULL;
	w->count = 0;
}

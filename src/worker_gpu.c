/* SPDX-License-Identifier: MIT */
/*
 * worker_gpu: a worker's turns on the GPU: fill a slot, submit it, reap those before it.
 *
 * A chunk is counted when it is committed: when its slot is done, and its counters sum to its
 * samples; or, where counters stay on the device, when its epoch is committed (gpu_epoch.h). Only
 * then is it given back to the source. When the GPU fails, in whatever way, the chunks that were
 * submitted and not committed are still in our own memory and are counted by the CPU, and those
 * that are ranges of files can be read again. Nothing is lost and nothing is counted twice.
 *
 * Statistics that workers add to (counting_adds_stats) are different: samples are added to them
 * once, when they are taken, before any engine counts them. So with statistics no range of a file
 * is handed over, and counting again does not change them.
 */
#include "worker_feeder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/tally.h"
#include "count/gather.h"
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
	struct feeder *const f = arg;
	struct counts *const counts = f->work->counts;
	struct lane *const lane = f->lane;

	if (lane->slots_of_k) {
		counts_add_auto64(counts, lane->total, f->committed, lane->k, &lane->extent);
		/* The lane's k stays that of all samples it has counted. */
		memset(lane->total, 0, lane->cells * sizeof(*lane->total));
	} else if (lane->total) {
		counts_add_each(counts, take_cell, lane, f->committed);
	} else {
		counts_add_samples(counts, f->committed);
	}
	f->committed = 0;
}

/* Adds a chunk's counters to the lane's total; false when they do not sum to its samples. */
static bool commit(struct counts *counts, struct lane *lane, struct slot *slot)
{
	const size_t cells = lane->cells;
	uint64_t sum = 0;

	for (size_t i = 0; i < cells; i++)
		sum += slot->cells[i];
	if (sum != slot->samples)
		return false;
	if (lane->slots_of_k)
		gpu_align(lane, slot);
	if (lane->total) {
		for (size_t i = 0; i < cells; i++)
			lane->total[i] += slot->cells[i];
		return true;
	}
	/* Very many cells: other workers may be adding to the same table, so this is atomic. */
	for (size_t i = 0; i < cells; i++)
		if (slot->cells[i])
			counts_add_cell(counts, i, slot->cells[i]);
	return true;
}

/*
 * Commits a chunk and adds it to the worker's report, both between two snapshots of the lane's
 * total.
 */
static bool commit_chunk(struct feeder *f, struct slot *slot, uint64_t records)
{
	snapshot_let(&f->holder);
	if (f->holder.of)
		lock_take(&f->holder.lock);
	const bool done = commit(f->work->counts, f->lane, slot);
	tally_add(&f->report->records, done ? records : 0);
	f->committed += done ? slot->samples : 0;
	if (f->holder.of)
		lock_drop(&f->holder.lock);
	return done;
}

/* ---- giving back ---- */

/* Gives back a chunk that the GPU counted, and that is committed. */
static int give_back(struct feeder *f, struct chunk *chunk)
{
	const uint64_t records = chunk->bytes / f->work->record;

	tally_add(&f->report->gpu_records, records);
	return source_done(f->reader, chunk, chunk->bytes, f->fail);
}

int feeder_give_committed(struct feeder *f)
{
	struct chunk chunk;

	while (f->lane->stays && epoch_take_committed(f->lane, &chunk)) {
		tally_add(&f->report->records, chunk.bytes / f->work->record);
		if (give_back(f, &chunk) != 0)
			return -1;
	}
	return 0;
}

/* ---- reaping ---- */

static void pop(struct feeder *f)
{
	f->first = (f->first + 1) % SENT_MOST;
	f->count--;
}

/*
 * The slot's chunk is counted in counters that stay. TURN_NO_SLOT: the slot must keep it until its
 * epoch is committed.
 */
static enum turn reap_stay(struct feeder *f, struct sent *s)
{
	struct slot *slot = s->slot;

	if (!s->epochs) {
		if (epoch_committed(f->lane) <= s->epoch)
			return TURN_NO_SLOT;
		tally_add(&f->report->records, s->chunk.bytes / f->work->record);
		if (give_back(f, &s->chunk) != 0)
			return TURN_FAILED;
	}
	pop(f);
	gpu_free(f->lane, slot);
	return TURN_DONE;
}

/* Reaps the first slot that was sent. TURN_NO_SLOT: it is not done yet. */
static enum turn reap(struct feeder *f, double seconds)
{
	struct sent *s = &f->sent[f->first];
	struct slot *slot = s->slot;

	if (s->counted)
		return reap_stay(f, s);
	switch (gpu_done(f->lane, slot, seconds)) {
	case GPU_NOT_YET:
		return TURN_NO_SLOT;
	case GPU_LOST:
		return TURN_LOST_GPU;
	case GPU_REFUSED:
		pop(f);
		return feeder_count_here(f, s);
	case GPU_DONE:
		break;
	}
	f->counted += slot->bytes;
	if (f->lane->stays) {
		s->counted = true;
		return reap_stay(f, s);
	}
	const bool window = is_range(&s->chunk);
	/*
	 * The file was cut, and past its new end the device has read zeros: count again what is
	 * there now.
	 */
	if (window && !source_intact(&s->chunk)) {
		pop(f);
		return feeder_count_here(f, s);
	}
	const uint64_t records = slot->bytes / f->work->record;
	if (!commit_chunk(f, slot, records)) {
		gpu_fail(f->lane->gpu, "check", "a chunk's counts do not sum to its samples");
		return TURN_LOST_GPU;
	}
	if (window)
		tally_add(&f->report->mapped_records, records);
	pop(f);
	gpu_free(f->lane, slot);
	return give_back(f, &s->chunk) == 0 ? TURN_DONE : TURN_FAILED;
}

/* ---- feeding ---- */

/*
 * Reads the range that a slot is for; *got bytes of it are there. TURN_NO_SLOT: the file ends
 * before the range does.
 */
static enum turn read_range(struct feeder *f, struct sent *s, size_t *got)
{
	if (source_read(&s->chunk, 0, s->slot->data, s->chunk.bytes, got, f->fail) != 0)
		return TURN_FAILED;
	return *got == s->chunk.bytes ? TURN_DONE : TURN_NO_SLOT;
}

/*
 * Where counters stay: the GPU may count what can be read again, which is read here; and anything
 * where no CPU worker may count it.
 */
static enum turn send_stay(struct feeder *f, struct sent *s)
{
	const bool range = is_range(&s->chunk);
	size_t got = s->chunk.bytes;
	const enum turn rc = range               ? read_range(f, s, &got)
			     : f->work->gpu_only ? TURN_DONE
						 : TURN_NO_SLOT;

	if (rc == TURN_NO_SLOT)
		return feeder_count_here(f, s);
	f->count++;
	if (rc != TURN_DONE)
		return rc;
	if (f->stats)
		gather_stats(f->work->counting, f->stats, s->slot->data, got);
	if (epoch_submit(f->lane, s->slot, &s->chunk, &s->epoch, f->work->counts) != EPOCH_OK)
		return TURN_LOST_GPU;
	s->epochs = range;
	return TURN_DONE;
}

static enum turn send(struct feeder *f, struct sent *s)
{
	struct slot *slot = s->slot;

	gpu_fill(f->lane, slot, s->chunk.bytes);
	if (f->lane->stays)
		return send_stay(f, s);
	if (f->stats)
		gather_stats(f->work->counting, f->stats, slot->data, s->chunk.bytes);
	if (is_range(&s->chunk)) {
		const struct chunk *c = &s->chunk;
		if (gpu_submit_window(f->lane, slot, c->fd, c->offset, c->bytes) != 0 &&
		    !gpu_failed(f->lane->gpu))
			return feeder_count_here(f, s);
		f->count++;
		return gpu_failed(f->lane->gpu) ? TURN_LOST_GPU : TURN_DONE;
	}
	f->count++;
	return gpu_submit(f->lane, slot) == 0 ? TURN_DONE : TURN_LOST_GPU;
}

/* Reaps the slots that are done, from the first on. */
static enum turn reap_done(struct feeder *f)
{
	enum turn turn = TURN_DONE;

	while (f->count > 0 && turn == TURN_DONE)
		turn = reap(f, 0);
	if (turn != TURN_DONE && turn != TURN_NO_SLOT)
		return turn;
	return feeder_give_committed(f) == 0 ? TURN_DONE : TURN_FAILED;
}

enum turn feeder_turn(struct feeder *f)
{
	const struct lane *lane = f->lane;
	const double waiting = clock_seconds();
	const enum turn turn = reap_done(f);

	if (turn != TURN_DONE)
		return turn;
	struct slot *slot = f->count < SENT_MOST ? gpu_take_slot(f->lane) : NULL;
	if (!slot)
		return TURN_NO_SLOT;
	struct sent *s = &f->sent[(f->first + f->count) % SENT_MOST];
	*s = (struct sent){.slot = slot};
	const struct want want = {
		.buffer = slot->data,
		.cap = gpu_slot_bytes(lane),
		.range = lane->stays ? gpu_slot_bytes(lane)
			 : f->stats  ? 0
				     : lane->window_bytes,
		.reads = lane->stays,
	};
	const double start = clock_seconds();
	f->report->count_seconds += start - waiting; /* waiting for the bus and the GPU */
	const int rc = source_take(f->reader, &want, &s->chunk, f->fail);
	if (rc != 0 || s->chunk.bytes == 0) {
		gpu_free(f->lane, slot);
		return rc != 0 ? TURN_FAILED : TURN_END;
	}
	/* From here on this worker must have the chunk counted, whatever fails. */
	const enum turn sent = send(f, s);
	f->report->read_seconds += clock_seconds() - start;
	worker_found(f->work, f->report);
	return sent;
}

bool feeder_faster(const struct feeder *f, double cpu_rate)
{
	const double faster = f->lane->stays ? FASTER_STAYS : FASTER;

	if (f->lane->window_bytes > 0 || f->counted < TELLING_SLOTS * gpu_slot_bytes(f->lane))
		return false;
	return (double)f->counted > faster * cpu_rate * (clock_seconds() - f->began);
}

/*
 * Other workers may have all slots and wait, in source_take, for something that this worker's
 * reader has begun, such as the next pieces of a frame. Then it must not wait for those workers,
 * and counts on the CPU.
 */
enum turn feeder_wait(struct feeder *f)
{
	const double start = clock_seconds();
	enum turn turn = TURN_NO_SLOT;

	if (f->count == 0 && !gpu_failed(f->lane->gpu) && source_owes(f->reader))
		return cpu_turn(f->cpu);

	if (f->count > 0)
		turn = reap(f, WAIT_SECONDS);
	else if (gpu_failed(f->lane->gpu))
		turn = TURN_LOST_GPU;
	/*
	 * Slots with chunks that cannot be read again keep them until the epoch's end, so end it.
	 */
	if (turn == TURN_NO_SLOT && f->count > 0 && f->sent[f->first].counted)
		turn = epoch_end(f->lane, f->work->counts) == EPOCH_OK ? TURN_DONE : TURN_LOST_GPU;
	if (turn == TURN_NO_SLOT && f->count == 0)
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	f->report->count_seconds += clock_seconds() - start;
	return turn == TURN_NO_SLOT ? TURN_DONE : turn;
}

/* Reaps until every slot is counted, or waits for the epoch's end. */
static enum turn reap_all(struct feeder *f)
{
	while (f->count > 0) {
		const enum turn turn = reap(f, WAIT_SECONDS);
		/* Those after it wait for the same epoch, or can wait. */
		if (turn == TURN_NO_SLOT && f->sent[f->first].counted)
			break;
		if (turn != TURN_DONE && turn != TURN_NO_SLOT)
			return turn;
	}
	return TURN_DONE;
}

enum turn feeder_finish(struct feeder *f)
{
	const double start = clock_seconds();
	enum turn turn = reap_all(f);

	if (turn == TURN_DONE && !f->came_short && f->lane->stays) {
		f->left = epoch_leave(f->lane, true, f->work->counts) == EPOCH_OK;
		if (!f->left)
			turn = TURN_LOST_GPU;
	}
	if (turn == TURN_DONE && f->left)
		turn = reap_all(f);
	f->report->count_seconds += clock_seconds() - start;
	if (turn != TURN_DONE)
		return turn;
	if (feeder_give_committed(f) != 0)
		return TURN_FAILED;
	const bool more = f->came_short;
	f->came_short = false;
	return more ? TURN_DONE : TURN_END;
}

/* ---- opening and closing ---- */

struct feeder *feeder_open(struct cpu_leg *cpu)
{
	const struct work *const work = cpu->work;
	struct worker_report *const report = cpu->report;
	struct fail *const fail = cpu->fail;
	struct feeder *f = calloc(1, sizeof(*f));

	if (!f) {
		fail_errno(fail, "worker");
		return NULL;
	}
	*f = (struct feeder){
		.work = work, .reader = cpu->reader, .report = report, .fail = fail, .cpu = cpu};
	if (counting_adds_stats(work->counting) &&
	    !(f->stats = stats_open(&work->counting->type, work->counts->stats_channels))) {
		fail_errno(fail, "statistics of a worker");
		goto free_feeder;
	}
	if (!(f->lane = gpu_lane_open(work->gpu))) {
		if (errno == ENOMEM && work->gpu_only)
			fail_errno(fail, "worker");
		goto free_feeder;
	}
	if (snapshot_join(work->snapshot, &f->holder, add_totals, f, fail) != 0)
		goto close_lane;
	report->asked = true;
	f->began = clock_seconds();
	return f;
close_lane:
	gpu_lane_close(f->lane);
free_feeder:
	free(f->stats);
	free(f);
	return NULL;
}

/*
 * Gives back ranges that an epoch still holds when its last lane has left, because the run failed:
 * their inputs close then.
 */
static void give_back_rest(struct feeder *f)
{
	struct chunk chunk;

	while (epoch_left_by_all(f->lane) &&
	       (epoch_take_lost(f->lane, &chunk) || epoch_take_committed(f->lane, &chunk)))
		(void)source_done(f->reader, &chunk, chunk.bytes, f->fail);
}

void feeder_close(struct feeder *f)
{
	if (!f)
		return;
	/*
	 * After a failure of the worker: nothing more is counted, but other workers may wait for
	 * the slots.
	 */
	for (; f->count > 0; pop(f)) {
		struct sent *s = &f->sent[f->first];
		while (s->slot->state == SLOT_SUBMITTED &&
		       gpu_done(f->lane, s->slot, WAIT_SECONDS) == GPU_NOT_YET)
			;
		if (!s->epochs)
			source_done(f->reader, &s->chunk, s->chunk.bytes, f->fail);
		gpu_free(f->lane, s->slot);
	}
	if (f->lane->stays && !f->left) {
		(void)epoch_leave(f->lane, false, f->work->counts);
		give_back_rest(f);
	}
	snapshot_leave(&f->holder);
	add_totals(f);
	if (f->stats)
		counts_add_stats(f->work->counts, f->stats);
	gpu_lane_close(f->lane);
	free(f->stats);
	free(f);
}

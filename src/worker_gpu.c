/* SPDX-License-Identifier: MIT */
/*
 * worker_gpu: a worker's turns on the GPU: fill a slot, submit it, reap those before it; and after
 * the GPU has failed, the CPU counts what it had not.
 *
 * A chunk is counted when it is committed: when its slot is done, and its counters sum to its
 * samples; or, where counters stay on the device, when its epoch is committed (gpu_epoch.h). Only
 * then is a range given back to the source. When the GPU fails, in whatever way, the chunks that
 * were submitted and not committed are still in our own memory and are counted by the CPU, and
 * those that are ranges of files can be read again. Nothing is lost and nothing is counted twice.
 *
 * Statistics that workers add to (counting_adds_stats) are different: samples are added to them
 * once, when they are taken, before any engine counts them. Counting again does not change them.
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

struct feeder {
	const struct work *work;
	struct reader *reader;
	struct lane *lane;
	struct worker_report *report;
	struct fail *fail;
	struct cpu_leg *cpu;             /* what is not for the GPU is counted there */
	struct slot *sent[REGION_SLOTS]; /* a ring, in the order in which they were submitted */
	unsigned first, count;
	struct stats *stats; /* of all samples that it took, for each channel; or NULL */
	/* samples in the lane's total, or in cells of the totals that are not announced yet */
	uint64_t committed;
	struct holder holder; /* of the lane's total, for snapshots */
	uint64_t counted;     /* bytes that the device has counted since ... */
	double began;         /* ... the lane was opened */
	bool waits;           /* for its epoch to go on, not for a slot */
};

static void push(struct feeder *f, struct slot *slot)
{
	f->sent[(f->first + f->count++) % REGION_SLOTS] = slot;
}

static struct slot *pop(struct feeder *f)
{
	struct slot *const slot = f->sent[f->first];

	f->first = (f->first + 1) % REGION_SLOTS;
	f->count--;
	return slot;
}

/* A range of a file can be read again. */
static bool is_range(const struct chunk *chunk)
{
	return chunk->fd >= 0;
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

/* Gives back a chunk that the GPU counted, and adds it to the report. */
static void give_back(struct feeder *f, struct chunk *chunk)
{
	const uint64_t records = chunk->bytes / f->work->record;

	if (f->lane->stays) /* otherwise commit did */
		tally_add(&f->report->records, records);
	tally_add(&f->report->gpu_records, records);
	source_done(f->reader, chunk, chunk->bytes);
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
 * total. False: its counters do not sum to its samples.
 */
static bool commit(struct feeder *f, struct slot *slot)
{
	const size_t cells = f->lane->cells;
	uint64_t sum = 0;

	for (size_t i = 0; i < cells; i++)
		sum += slot->cells[i];
	if (sum != slot->samples)
		return false;
	snapshot_let(&f->holder);
	if (f->holder.of)
		lock_take(&f->holder.lock);
	add_chunk(f->work->counts, f->lane, slot);
	tally_add(&f->report->records, slot->bytes / f->work->record);
	f->committed += slot->samples;
	if (f->holder.of)
		lock_drop(&f->holder.lock);
	return true;
}

/* Gives back the ranges of committed epochs, whichever worker took them. */
static void give_committed(struct feeder *f)
{
	struct chunk chunk;

	while (f->lane->stays && epoch_take_committed(f->lane, &chunk))
		give_back(f, &chunk);
}

/* ---- what the CPU counts ---- */

/* Reads a range of a file once more, counts it, and gives it back. */
static int count_range(struct feeder *f, struct cpu_leg *cpu, struct chunk *chunk)
{
	const uint32_t record = f->work->record;
	const size_t cap = f->work->block / record * record;
	size_t counted = 0, got = cap;

	while (got == cap && counted < chunk->bytes) {
		const size_t want = chunk->bytes - counted < cap ? chunk->bytes - counted : cap;
		if (source_read(chunk, counted, cpu->block, want, &got, f->fail) != 0)
			return -1;
		const struct chunk part = {.data = cpu->block, .bytes = got / record * record};
		cpu_count(cpu, &part);
		counted += got;
	}
	source_done(f->reader, chunk, counted);
	return 0;
}

/* Counts the chunk of a slot, from our own memory or from the file, and frees the slot. */
static int count_slot(struct feeder *f, struct cpu_leg *cpu, struct slot *slot)
{
	const struct chunk part = {.data = slot->data, .bytes = slot->chunk.bytes};
	int rc = 0;

	if (is_range(&slot->chunk)) {
		rc = count_range(f, cpu, &slot->chunk);
	} else {
		cpu_count(cpu, &part);
		source_done(f->reader, &slot->chunk, part.bytes);
	}
	gpu_free(slot);
	return rc;
}

/* While the GPU works on: by the worker's turns on the CPU, which add its statistics too. */
static enum turn count_here(struct feeder *f, struct slot *slot)
{
	if (cpu_open(f->cpu) == 0)
		return count_slot(f, f->cpu, slot) == 0 ? TURN_DONE : TURN_FAILED;
	source_done(f->reader, &slot->chunk, slot->chunk.bytes);
	gpu_free(slot);
	return TURN_FAILED;
}

/* What counts again, into these totals: statistics have it already. */
struct again {
	struct counting counting;
	struct work work;
	struct cpu_leg cpu;
};

static int again_open(struct again *a, const struct feeder *f, struct counts *totals)
{
	a->counting = *f->work->counting;
	a->counting.stats = false;
	a->work = *f->work;
	a->work.counting = &a->counting;
	a->work.counts = totals;
	a->cpu = (struct cpu_leg){
		.work = &a->work, .reader = f->reader, .report = f->report, .fail = f->fail};
	return cpu_open(&a->cpu);
}

/* Counts all ranges that the epoch of a failed GPU held, into these totals. */
static int recount_epoch(struct feeder *f, struct counts *totals)
{
	struct chunk chunk;
	struct again again;
	int rc = again_open(&again, f, totals);

	while (rc == 0 && epoch_take_lost(f->lane, &chunk))
		rc = count_range(f, &again.cpu, &chunk);
	cpu_close(&again.cpu);
	return rc;
}

/* Counts that were made again: those of pieces that are not in the totals yet are added. */
struct missing {
	const struct lane *lane;
	struct counts *counts;
};

static uint64_t take_missing(void *arg, size_t cell)
{
	const struct missing *m = arg;

	return epoch_added(m->lane, cell) ? 0 : m->counts->cell[cell];
}

/* Some pieces are in the totals already: counts all again, and adds what is missing. */
static int recount_missing(struct feeder *f)
{
	struct counts again;

	if (counts_init(&again, f->work->counting->cells, f->fail) != 0)
		return -1;
	int rc = recount_epoch(f, &again);
	if (rc == 0 && !epoch_agrees(f->lane, again.cell))
		rc = fail_set(
			f->fail, STATUS_SYSTEM,
			"the GPU failed, and what it had counted is not what the input holds now: "
			"--device=cpu counts all of it");
	if (rc == 0)
		counts_add_each(f->work->counts, take_missing, &(struct missing){f->lane, &again},
				again.samples);
	counts_free(&again);
	return rc;
}

int feeder_recount(struct feeder *f)
{
	struct again again;
	int rc = again_open(&again, f, f->work->counts);

	while (f->count > 0 && rc == 0) {
		struct slot *const slot = pop(f);
		/* What was submitted in an epoch is the epoch's. */
		if (!f->lane->stays || (slot->order == ORDER_COUNT && slot_is(slot, SLOT_TAKEN)))
			rc = count_slot(f, &again.cpu, slot);
	}
	cpu_close(&again.cpu);
	if (rc != 0 || !f->lane->stays)
		return rc;
	const enum epoch_rest rest = epoch_settle(f->lane);
	/* What was committed before stays committed. */
	give_committed(f);
	return rest == REST_SHARED    ? recount_epoch(f, f->work->counts)
	       : rest == REST_MISSING ? recount_missing(f)
				      : 0;
}

/* ---- reaping ---- */

/* Reaps the first slot that was sent. TURN_NO_SLOT: it is not done yet. */
static enum turn reap(struct feeder *f, double seconds)
{
	struct slot *const slot = f->sent[f->first];
	const enum gpu_answer answer = gpu_done(f->lane, slot, seconds);
	const bool chunk = slot->order == ORDER_COUNT;
	bool gives_back = chunk;

	if (answer != GPU_DONE)
		return answer == GPU_LOST ? TURN_LOST_GPU : TURN_NO_SLOT;
	if (f->lane->stays) {
		if (epoch_reap(f->lane, slot, f->work->counts) != 0)
			return TURN_LOST_GPU;
		gives_back = chunk && !is_range(&slot->chunk); /* the epoch does the others */
	} else if (!commit(f, slot)) {
		gpu_fail(f->lane->gpu, "check", "a chunk's counts do not sum to its samples");
		return TURN_LOST_GPU;
	}
	f->counted += chunk ? slot->bytes : 0;
	pop(f);
	struct chunk done = slot->chunk;
	gpu_free(slot);
	if (gives_back)
		give_back(f, &done);
	return TURN_DONE;
}

/* Reaps the slots that are done, from the first on, or all. */
static enum turn reap_some(struct feeder *f, bool all)
{
	enum turn turn = TURN_DONE;

	while (f->count > 0 && (turn == TURN_DONE || (all && turn == TURN_NO_SLOT)))
		turn = reap(f, all ? WAIT_SECONDS : 0);
	if (turn != TURN_DONE && turn != TURN_NO_SLOT)
		return turn;
	give_committed(f);
	return TURN_DONE;
}

/* ---- feeding ---- */

/*
 * Where counters stay: the GPU may count what can be read again, which is read here; and anything
 * where no CPU worker may count it.
 */
static enum turn send_stay(struct feeder *f, struct slot *slot)
{
	const struct chunk *const chunk = &slot->chunk;
	size_t got = f->work->gpu_only ? chunk->bytes : 0;

	if (is_range(chunk) &&
	    source_read(chunk, 0, slot->data, chunk->bytes, &got, f->fail) != 0) {
		epoch_cancel(f->lane);
		push(f, slot);
		return TURN_FAILED;
	}
	if (got != chunk->bytes) {
		epoch_cancel(f->lane);
		return count_here(f, slot);
	}
	push(f, slot);
	if (f->stats)
		gather_stats(f->work->counting, f->stats, slot->data, got);
	return epoch_submit(f->lane, slot) == 0 ? TURN_DONE : TURN_LOST_GPU;
}

/* Takes a chunk into a slot, and submits it. From then on this worker must have it counted. */
static enum turn fill(struct feeder *f, struct slot *slot)
{
	const size_t cap = gpu_slot_bytes(f->lane);
	const bool stays = f->lane->stays;
	const struct want want = {.room = slot->data, .cap = cap, .range = stays ? cap : 0};
	const double start = clock_seconds();
	const int rc = source_take(f->reader, &want, &slot->chunk, f->fail);
	enum turn turn = TURN_DONE;

	slot->order = ORDER_COUNT;
	if (rc != 0 || slot->chunk.bytes == 0) {
		if (stays)
			epoch_cancel(f->lane);
		gpu_free(slot);
		return rc != 0 ? TURN_FAILED : TURN_END;
	}
	if (stays) {
		turn = send_stay(f, slot);
	} else {
		push(f, slot);
		if (f->stats)
			gather_stats(f->work->counting, f->stats, slot->data, slot->chunk.bytes);
		if (gpu_submit(f->lane, slot, slot->chunk.bytes) != 0)
			turn = TURN_LOST_GPU;
	}
	f->report->read_seconds += clock_seconds() - start;
	worker_found(f->work, f->report);
	return turn;
}

enum turn feeder_turn(struct feeder *f)
{
	const double start = clock_seconds();
	const enum turn turn = reap_some(f, false);
	struct slot *const slot =
		turn == TURN_DONE && f->count < REGION_SLOTS ? gpu_take_slot(f->lane) : NULL;
	enum epoch_use use = EPOCH_FILL;

	f->report->count_seconds += clock_seconds() - start; /* waiting for the bus and the GPU */
	f->waits = false;
	if (!slot)
		return turn == TURN_DONE ? TURN_NO_SLOT : turn;
	if (f->lane->stays)
		use = epoch_use(f->lane, slot, f->count >= ORDERS);
	if (use == EPOCH_FILL)
		return fill(f, slot);
	if (use == EPOCH_ORDERED) {
		push(f, slot);
		return TURN_DONE;
	}
	gpu_free(slot);
	f->waits = true;
	return TURN_NO_SLOT;
}

bool feeder_faster(const struct feeder *f, double cpu_rate)
{
	const double faster = f->lane->stays ? FASTER_STAYS : FASTER;

	return f->counted >= TELLING_SLOTS * gpu_slot_bytes(f->lane) &&
	       (double)f->counted > faster * cpu_rate * (clock_seconds() - f->began);
}

/* After TURN_NO_SLOT: until the first slot is done, or else until there may be a free one. */
static enum turn wait_for_slot(struct feeder *f)
{
	if (f->count > 0)
		return reap(f, WAIT_SECONDS);
	if (gpu_failed(f->lane->gpu))
		return TURN_LOST_GPU;
	if (f->waits)
		epoch_wait(f->lane, WAIT_SECONDS);
	else
		nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	return TURN_NO_SLOT;
}

enum turn feeder_wait(struct feeder *f)
{
	const double start = clock_seconds();

	const enum turn turn = wait_for_slot(f);
	f->report->count_seconds += clock_seconds() - start;
	return turn == TURN_NO_SLOT ? TURN_DONE : turn;
}

/* The lane's part of ending the epoch, until what it submitted is committed. */
static enum turn finish_epoch(struct feeder *f)
{
	enum turn turn = TURN_DONE;

	epoch_leave(f->lane);
	while (turn == TURN_DONE && !epoch_over(f->lane)) {
		turn = feeder_turn(f); /* a lane that has left fills none */
		if (turn == TURN_NO_SLOT)
			turn = wait_for_slot(f);
		if (turn == TURN_NO_SLOT)
			turn = TURN_DONE;
	}
	return turn == TURN_DONE ? reap_some(f, true) : turn;
}

enum turn feeder_finish(struct feeder *f)
{
	const double start = clock_seconds();
	enum turn turn = reap_some(f, true);

	if (turn == TURN_DONE && f->lane->stays)
		turn = finish_epoch(f);
	f->report->count_seconds += clock_seconds() - start;
	return turn == TURN_DONE ? TURN_END : turn;
}

/* ---- opening and closing ---- */

struct feeder *feeder_open(struct cpu_leg *cpu)
{
	const struct work *const work = cpu->work;
	struct fail *const fail = cpu->fail;
	struct feeder *f = calloc(1, sizeof(*f));

	if (!f) {
		fail_errno(fail, "worker");
		return NULL;
	}
	*f = (struct feeder){.work = work,
			     .reader = cpu->reader,
			     .report = cpu->report,
			     .fail = fail,
			     .cpu = cpu};
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
	f->report->asked = true;
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
 * Leaves an epoch after a failure. The last lane to leave gives back the ranges that are still
 * held, because their inputs close then.
 */
static void leave_epoch(struct feeder *f)
{
	struct chunk chunk;

	if (!f->lane->left)
		epoch_leave(f->lane);
	while (epoch_left_by_all(f->lane) && f->fail->status != STATUS_OK &&
	       (epoch_take_lost(f->lane, &chunk) || epoch_take_committed(f->lane, &chunk)))
		source_done(f->reader, &chunk, chunk.bytes);
}

void feeder_close(struct feeder *f)
{
	if (!f)
		return;
	/*
	 * After a failure of the worker: nothing more is counted, but other workers may wait for
	 * the slots, and for the end of the epoch.
	 */
	while (f->count > 0) {
		struct slot *const slot = pop(f);
		enum gpu_answer answer = GPU_NOT_YET;
		const bool epochs = f->lane->stays && slot_is(slot, SLOT_SUBMITTED);
		while (slot_is(slot, SLOT_SUBMITTED) && answer == GPU_NOT_YET)
			answer = gpu_done(f->lane, slot, WAIT_SECONDS);
		if (epochs && answer == GPU_DONE)
			(void)epoch_reap(f->lane, slot, f->work->counts);
		if (slot->order == ORDER_COUNT && !(epochs && is_range(&slot->chunk)))
			source_done(f->reader, &slot->chunk, slot->chunk.bytes);
		gpu_free(slot);
	}
	if (f->lane->stays)
		leave_epoch(f);
	snapshot_leave(&f->holder);
	add_totals(f);
	if (f->stats)
		counts_add_stats(f->work->counts, f->stats);
	gpu_lane_close(f->lane);
	free(f->stats);
	free(f);
}

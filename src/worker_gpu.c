/* SPDX-License-Identifier: MIT */
/*
 * worker_gpu: one lane: fill a slot, submit it, reap the one before.
 *
 * A chunk counts when it is committed: its event is done, its counters were fetched, and they
 * sum to its samples. Only then is the slot free. When the GPU fails, in whatever way, the
 * chunks that are submitted and not committed still lie in our own memory and are counted by
 * the CPU, and those that were mapped can be read again; nothing is lost and nothing is counted
 * twice.
 *
 * Statistics that workers add to (counting_adds_stats) are another matter: they are made of the samples as these are
 * taken, once, before any engine counts them. So with them no range of a file is taken, and counting
 * again leaves them as they are.
 */
#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/tally.h"
#include "count/gather.h"
#include "gpu/gpu.h"

/*
 * How long a chunk may take. The slowest kernel counts 64 MiB in milliseconds and a shared
 * GPU may be busy with another program's for seconds; what lasts longer than this hangs.
 */
#define WATCHDOG_SECONDS 20.0
/* Between two looks: a quarter of what 4 MiB take on PCIe 5 x16; of a window, 32. */
#define NAP_NS 20000
#define WINDOW_NAP_NS 150000

/* Adds a chunk's counters; false when they do not sum to its samples. */
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
	/* Very many cells: other workers may be adding to this table atomically. */
	for (size_t i = 0; i < cells; i++)
		if (slot->cells[i])
			counts_add_cell(counts, i, slot->cells[i]);
	return true;
}

/* One worker on its lane. */
struct walk {
	const struct work *work;
	struct reader *reader;
	struct lane *lane;
	struct worker_report *report;
	struct fail *fail;
	struct chunk chunk[GPU_SLOTS]; /* what a slot holds, or, a range of a file, maps */
	struct stats *stats;           /* NULL, or of all samples that it took, each channel's */
	uint64_t committed;   /* samples in the lane's total, or in cells of the run's that are not announced */
	struct holder holder; /* of the lane's total */
	bool came_short;      /* a piece was cut: what -n had reserved for it is free again */
};

static int give_back(struct walk *w, unsigned k)
{
	return source_done(w->reader, &w->chunk[k], w->chunk[k].bytes, w->fail);
}

/* Of a file, whether it could be mapped or not. */
static bool is_range(const struct walk *w, unsigned k)
{
	return w->chunk[k].bytes > 0 && !w->chunk[k].data;
}

/* What is counted on the CPU instead. */
static void count_records(struct walk *w, struct counter *counter, struct holder *holder, const unsigned char *data,
			  size_t bytes)
{
	worker_count(w->work, counter, holder, w->report, &(struct chunk){.data = data, .bytes = bytes});
}

/* Counts on the CPU what a slot holds: from our own memory, or from the file once more. */
static int recount_slot(struct walk *w, struct counter *counter, struct holder *holder, unsigned k)
{
	struct slot *slot = &w->lane->slot[k];
	struct chunk *chunk = &w->chunk[k];
	const uint32_t record = w->work->record;
	const size_t cap = gpu_slot_bytes(w->lane->gpu) / record * record;
	size_t counted = 0, got = cap;
	const size_t bytes = slot->bytes;

	gpu_free(slot);
	if (!is_range(w, k)) {
		count_records(w, counter, holder, slot->data, bytes);
		return give_back(w, k);
	}
	while (got == cap && counted < chunk->bytes) {
		const size_t want = chunk->bytes - counted < cap ? chunk->bytes - counted : cap;
		if (source_read(chunk, counted, slot->data, want, &got, w->fail) != 0)
			return -1;
		count_records(w, counter, holder, slot->data, got / record * record);
		counted += got;
	}
	w->came_short |= counted < chunk->bytes;
	return source_done(w->reader, chunk, counted, w->fail);
}

static void flush_counter(void *counter)
{
	counter_flush(counter);
}

/* The same for slots `from` up to `to`, those of them that hold anything. */
static int recount(struct walk *w, unsigned from, unsigned to)
{
	struct counting counting = *w->work->counting;
	struct counter *counter = NULL;
	struct holder holder = {.of = NULL};
	int rc = 0;

	counting.stats = false; /* fill added them */

	for (unsigned k = from; k < to && rc == 0; k++) {
		if (w->lane->slot[k].state == SLOT_FREE)
			continue;
		if (!counter && !(counter = counter_open(&counting, w->work->counts)))
			return fail_errno(w->fail, "recounting what the GPU did not");
		if (!holder.flush)
			rc = snapshot_join(w->work->snapshot, &holder, flush_counter, counter, w->fail);
		if (rc == 0)
			rc = recount_slot(w, counter, &holder, k);
	}
	snapshot_leave(&holder);
	counter_close(counter);
	return rc;
}

/* commit, and the worker's report, between two snapshots of the lane's total. */
static bool commit_chunk(struct walk *w, struct slot *slot, uint64_t records)
{
	snapshot_let(&w->holder);
	if (w->holder.of)
		lock_take(&w->holder.lock);
	const bool done = commit(w->work->counts, w->lane, slot);
	tally_add(&w->report->records, done ? records : 0);
	w->committed += done ? slot->samples : 0;
	if (w->holder.of)
		lock_drop(&w->holder.lock);
	return done;
}

/*
 * Waits for a slot and commits it. -1: the gpu has failed and the slot is as it was, or, with
 * w->fail set, something else has.
 */
static int reap(struct walk *w, unsigned k)
{
	struct lane *lane = w->lane;
	struct slot *slot = &lane->slot[k];
	const double start = clock_seconds();
	int done;

	if (slot->state == SLOT_FREE)
		return 0;
	while ((done = gpu_done(lane, slot)) == 0) {
		/* Asked once more: it may be the process that stood still. */
		if (clock_seconds() - start > WATCHDOG_SECONDS && (done = gpu_done(lane, slot)) == 0) {
			gpu_fail(lane->gpu, "watchdog", "a chunk was not counted in time");
			return -1;
		}
		if (done != 0)
			break;
		nanosleep(&(struct timespec){.tv_nsec = is_range(w, k) ? WINDOW_NAP_NS : NAP_NS}, NULL);
	}
	if (done < 0)
		return -1;
	/* After a file's new end the device has read zeros: what is there decides. */
	if (is_range(w, k) && !source_intact(&w->chunk[k]))
		return recount(w, k, k + 1);
	const uint64_t records = slot->bytes / w->work->record;
	if (!commit_chunk(w, slot, records)) {
		gpu_fail(lane->gpu, "check", "a chunk's counts do not sum to its samples");
		return -1;
	}
	tally_add(&w->report->gpu_records, records);
	if (is_range(w, k))
		tally_add(&w->report->mapped_records, records);
	gpu_free(slot);
	return give_back(w, k);
}

/*
 * The next records for a slot: a window of the file where there is one, else a copy. *bytes: how many
 * came, 0 at the end; a range that cannot be mapped is counted here and leaves the slot free.
 */
static int fill(struct walk *w, unsigned k, size_t *bytes)
{
	struct lane *lane = w->lane;
	struct slot *slot = &lane->slot[k];
	struct chunk *chunk = &w->chunk[k];
	const struct want want = {
		.buffer = slot->data,
		.cap = gpu_slot_bytes(lane->gpu),
		.range = w->stats ? 0 : lane->window_bytes,
	};

	if (source_take(w->reader, &want, chunk, w->fail) != 0)
		return -1;
	*bytes = chunk->bytes;
	if (chunk->bytes == 0)
		return 0;
	/* From here on the chunk is ours to count, whatever fails. */
	gpu_fill(lane, slot, chunk->bytes);
	if (w->stats)
		gather_stats(w->work->counting, w->stats, slot->data, chunk->bytes);
	if (!is_range(w, k) || gpu_map(lane, slot, chunk->fd, chunk->offset, chunk->bytes) == 0)
		return 0;
	return gpu_failed(lane->gpu) ? 0 : recount(w, k, k + 1);
}

/* Fill, submit, reap until the source has ended and every slot is free. */
static int walk(struct walk *w)
{
	struct lane *lane = w->lane;
	size_t bytes = 1;

	for (unsigned k = 0; bytes > 0; k = (k + 1) % lane->slots) {
		const double waiting = clock_seconds();
		if (reap(w, k) != 0)
			return -1;
		const double start = clock_seconds();
		w->report->count_seconds += start - waiting; /* the bus and the GPU */
		if (fill(w, k, &bytes) != 0)
			return -1;
		w->report->read_seconds += clock_seconds() - start;
		if (bytes == 0)
			continue;
		worker_found(w->work, w->report, bytes);
		if (lane->slot[k].state != SLOT_FREE && gpu_submit(lane, &lane->slot[k]) != 0)
			return -1;
	}
	for (unsigned k = 0; k < lane->slots; k++)
		if (reap(w, k) != 0)
			return -1;
	return 0;
}

/* What the lane counted of a cell; of a group of cells, all for the first of them. */
static uint64_t take_cell(void *arg, size_t cell)
{
	const struct lane *lane = arg;
	uint64_t *const own = &lane->total[gpu_counter(lane, cell)], n = *own;

	*own = 0;
	return n;
}

/* The lane's own totals to those of the run, at the end, and when a snapshot asks for them. */
static void add_totals(void *arg)
{
	struct walk *const w = arg;
	struct counts *const counts = w->work->counts;
	struct lane *const lane = w->lane;

	if (lane->slots_of_k) {
		counts_add_auto64(counts, lane->total, w->committed, lane->k, &lane->extent);
		/* The lane's k stays that of all that it counted. */
		memset(lane->total, 0, lane->cells * sizeof(*lane->total));
	} else if (lane->total) {
		counts_add_each(counts, take_cell, lane, w->committed);
	} else {
		counts_add_samples(counts, w->committed);
	}
	w->committed = 0;
}

int worker_gpu(const struct work *work, struct reader *reader, struct lane *lane, struct worker_report *report,
	       struct fail *fail)
{
	struct walk w = {.work = work, .reader = reader, .lane = lane, .report = report, .fail = fail};
	int rc = 0;

	if (counting_adds_stats(work->counting) &&
	    !(w.stats = stats_open(&work->counting->type, work->counts->stats_channels))) {
		fail_errno(fail, "statistics of a worker");
		return WORKER_FAILED;
	}
	if (snapshot_join(work->snapshot, &w.holder, add_totals, &w, fail) != 0) {
		free(w.stats);
		return WORKER_FAILED;
	}
	report->asked = true;
	do {
		w.came_short = false;
		rc = walk(&w);
	} while (rc == 0 && w.came_short);
	snapshot_leave(&w.holder);
	add_totals(&w);
	if (w.stats)
		counts_add_stats(work->counts, w.stats);
	free(w.stats);
	if (rc == 0)
		return WORKER_DONE;
	/* Without a word in *fail it is the gpu that failed. */
	if (fail->status == STATUS_OK && recount(&w, 0, lane->slots) == 0)
		return WORKER_LOST_GPU;
	for (unsigned k = 0; k < lane->slots; k++)
		give_back(&w, k);
	return WORKER_FAILED;
}

/* SPDX-License-Identifier: MIT */
/*
 * worker_recount: chunks that a worker took for the GPU and that the CPU counts: those that the GPU
 * refused or must not have, and, after it has failed, all that it had not committed.
 */
#include "worker_feeder.h"

#include <stdlib.h>

#include "gpu/gpu_epoch.h"

/* What counts on the CPU, opened when it is needed. */
struct recount {
	struct feeder *f;
	struct counting counting;
	struct counts *totals;
	struct counter *counter;
	struct holder *holder;
	struct holder own;
};

static void flush_counter(void *counter)
{
	counter_flush(counter);
}

static int recount_open(struct recount *r, struct feeder *f, struct counts *totals)
{
	*r = (struct recount){.f = f, .counting = *f->work->counting, .totals = totals};
	r->counting.stats = false; /* the feeder has added them already */
	r->counter = counter_open(&r->counting, totals);
	if (!r->counter)
		return fail_errno(f->fail, "recounting what the GPU did not");
	r->holder = &r->own;
	return snapshot_join(f->work->snapshot, &r->own, flush_counter, r->counter, f->fail);
}

static void recount_close(struct recount *r)
{
	snapshot_leave(&r->own);
	counter_close(r->counter);
}

static void recount_records(struct recount *r, const unsigned char *data, size_t bytes)
{
	const struct chunk chunk = {.data = data, .bytes = bytes};

	worker_count(r->f->work, r->counter, r->holder, r->f->report, &chunk);
}

/* Reads a range of a file once more into a buffer, counts it, and gives the range back. */
static int recount_range(struct recount *r, struct chunk *chunk, unsigned char *buffer, size_t cap)
{
	struct feeder *f = r->f;
	const uint32_t record = f->work->record;
	size_t counted = 0, got;

	cap -= cap % record;
	got = cap;
	while (got == cap && counted < chunk->bytes) {
		const size_t want = chunk->bytes - counted < cap ? chunk->bytes - counted : cap;
		if (source_read(chunk, counted, buffer, want, &got, f->fail) != 0)
			return -1;
		recount_records(r, buffer, got / record * record);
		counted += got;
	}
	f->came_short |= counted < chunk->bytes;
	return source_done(f->reader, chunk, counted, f->fail);
}

/* Counts on the CPU what a slot holds, from our own memory or from the file, and frees the slot. */
static int recount_sent(struct recount *r, struct sent *s)
{
	struct feeder *f = r->f;
	int rc;

	if (is_range(&s->chunk)) {
		rc = recount_range(r, &s->chunk, s->slot->data, gpu_slot_bytes(f->lane));
	} else {
		recount_records(r, s->slot->data, s->slot->bytes);
		rc = source_done(f->reader, &s->chunk, s->chunk.bytes, f->fail);
	}
	gpu_free(f->lane, s->slot);
	return rc;
}

/*
 * The same for one slot while the GPU works on, by the worker's own turns on the CPU, which add its
 * statistics too.
 */
enum turn feeder_count_here(struct feeder *f, struct sent *s)
{
	struct cpu_leg *const cpu = f->cpu;

	if (cpu_open(cpu) != 0) {
		source_done(f->reader, &s->chunk, s->chunk.bytes, f->fail);
		gpu_free(f->lane, s->slot);
		return TURN_FAILED;
	}
	struct recount r = {.f = f, .counter = cpu->counter, .holder = &cpu->holder};
	return recount_sent(&r, s) == 0 ? TURN_DONE : TURN_FAILED;
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

/* Counts all ranges that the epoch of a failed GPU held, into these totals. */
static int recount_epoch(struct feeder *f, struct counts *totals)
{
	const size_t cap = f->work->block;
	unsigned char *buffer = malloc(cap);
	struct chunk chunk;
	struct recount r;
	int rc = recount_open(&r, f, totals);

	if (rc == 0 && !buffer)
		rc = fail_errno(f->fail, "recounting what the GPU did not");
	while (rc == 0 && epoch_take_lost(f->lane, &chunk))
		rc = recount_range(&r, &chunk, buffer, cap);
	recount_close(&r);
	free(buffer);
	return rc;
}

/*
 * Some pieces are in the totals already: the first worker that gets here counts all again and adds
 * what is missing.
 */
static int recount_missing(struct feeder *f)
{
	struct counts again;

	if (!epoch_claim(f->lane))
		return 0;
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
	struct recount r;
	int rc = recount_open(&r, f, f->work->counts);

	for (; f->count > 0 && rc == 0; f->count--, f->first = (f->first + 1) % SENT_MOST)
		if (!f->sent[f->first].epochs)
			rc = recount_sent(&r, &f->sent[f->first]);
	recount_close(&r);
	if (rc != 0 || !f->lane->stays)
		return rc;
	/* Waits for the threads that still add pieces, so that it is known which were added. */
	epoch_settle(f->lane);
	/* What was committed before stays committed. */
	if (feeder_give_committed(f) != 0)
		return -1;
	return epoch_added_any(f->lane) ? recount_missing(f) : recount_epoch(f, f->work->counts);
}

/* SPDX-License-Identifier: MIT */
/* gpu_epoch: chunks in, pieces out. */
#include "gpu/gpu_epoch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu_state.h"

#define EPOCH_SAMPLES UINT32_MAX
#define INPUTS_MOST 128u /* most inputs that held ranges keep open: descriptors are scarce */
#define INPUTS_PART 4 /* held ranges take at most one in this many of the process's descriptors */

int epoch_init(struct gpu_device *d)
{
	const long descriptors = sysconf(_SC_OPEN_MAX) / INPUTS_PART;
	const size_t pieces = (d->cells + d->layout.piece - 1) / d->layout.piece;
	struct epoch *const e = &d->epoch;

	if (pieces * sizeof(uint64_t) > d->layout.cell_bytes)
		return -1;
	*e = (struct epoch){.pieces = (uint32_t)pieces,
			    .samples_most = EPOCH_SAMPLES,
			    .inputs_most = INPUTS_MOST};
	if (descriptors > 0 && descriptors < (long)INPUTS_MOST)
		e->inputs_most = (unsigned)descriptors;
	e->missing = calloc(pieces, sizeof(*e->missing));
	if (!e->missing || lock_init(&e->lock) != 0) {
		gpu_fail(d->gpu, "memory for the sums of its counters", strerror(errno));
		free(e->missing);
		e->missing = NULL;
		return -1;
	}
	lock_init_condition(&e->changed);
	return 0;
}

struct held *held_drop(struct held *held)
{
	struct held *const next = held->next;

	free(held);
	return next;
}

void epoch_destroy(struct epoch *e)
{
	if (!e->missing)
		return;
	pthread_cond_destroy(&e->changed);
	lock_destroy(&e->lock);
	while (e->held) /* after a failure of the run */
		e->held = held_drop(e->held);
	while (e->committed)
		e->committed = held_drop(e->committed);
	free(e->missing);
	e->missing = NULL;
}

size_t epoch_piece(const struct gpu_device *d, uint32_t piece)
{
	const size_t left = d->cells - (size_t)piece * d->layout.piece;

	return left < d->layout.piece ? left : d->layout.piece;
}

/* ---- the state; all with the lock held ---- */

static void changed(struct epoch *e)
{
	lock_assert_held(&e->lock);
	e->changes++;
	pthread_cond_broadcast(&e->changed);
}

static void set_order(struct epoch *e, enum slot_order order)
{
	e->order = order;
	changed(e);
}

/* Ends an epoch that takes chunks, unless there is nothing in it. */
static void end(struct epoch *e)
{
	if (e->order == ORDER_COUNT && (e->samples > 0 || e->filling > 0))
		set_order(e, ORDER_SUMS);
}

/* Once all slots are back, wakes who waits for that. An epoch without samples takes chunks. */
static void if_all_back(struct epoch *e)
{
	if (e->filling + e->on_way == 0)
		set_order(e, e->order == ORDER_SUMS && e->samples == 0 ? ORDER_COUNT : e->order);
}

/* No piece is missing in the totals any more: the ranges may be given back. */
static void commit(struct epoch *e, struct counts *totals)
{
	struct held **last = &e->committed;

	counts_add_samples(totals, e->samples);
	while (*last)
		last = &(*last)->next;
	*last = e->held;
	e->held = NULL;
	e->samples = 0;
	e->input = NULL;
	e->inputs = 0;
	e->number++;
	set_order(e, ORDER_CLEAR);
}

/* Is there room for the samples of one more slot, and of the slots that are being filled? */
static bool has_room(const struct epoch *e, const struct lane *lane)
{
	const uint64_t samples =
		samples_of(&lane->gpu->spec.counting->layout, gpu_slot_bytes(lane));

	return e->samples + (e->filling + 1) * samples <= e->samples_most &&
	       e->inputs + e->filling < e->inputs_most;
}

/* ---- lanes ---- */

void epoch_join(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	lane->left = false;
	e->lanes++;
	lock_drop(&e->lock);
}

void epoch_leave(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	lane->left = true;
	lane->epoch = e->number;
	if (--e->lanes == 0)
		end(e);
	lock_drop(&e->lock);
}

bool epoch_over(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	const bool over = e->samples == 0 || e->number != lane->epoch;
	lock_drop(&e->lock);
	return over;
}

void epoch_wait(struct lane *lane, double seconds)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	if (e->changes == lane->seen)
		lock_wait_for(&e->lock, &e->changed, seconds);
	lock_drop(&e->lock);
}

/* ---- what a slot is used for ---- */

static enum epoch_use use_now(struct epoch *e, struct lane *lane, struct slot *slot, bool busy)
{
	switch (e->order) {
	case ORDER_COUNT:
		if (!lane->left && has_room(e, lane)) {
			e->filling++;
			return EPOCH_FILL;
		}
		if (!lane->left)
			end(e);
		return EPOCH_WAIT;
	case ORDER_SUMS: /* once all chunks are counted */
	case ORDER_CLEAR:
		if (e->filling + e->on_way > 0)
			return EPOCH_WAIT;
		break;
	case ORDER_UNPACK: /* never an epoch's order */
		return EPOCH_WAIT;
	case ORDER_PIECE:
		while (e->next < e->pieces && e->missing[e->next] == 0)
			e->next++;
		if (e->next == e->pieces || busy)
			return EPOCH_WAIT;
		slot->piece = e->next++;
		break;
	}
	e->on_way++;
	slot->order = e->order;
	device_submit(lane->device, slot);
	return EPOCH_ORDERED;
}

enum epoch_use epoch_use(struct lane *lane, struct slot *slot, bool busy)
{
	struct epoch *e = &lane->device->epoch;
	enum epoch_use use = EPOCH_WAIT;

	lock_take(&e->lock);
	if (!gpu_failed(lane->gpu))
		use = use_now(e, lane, slot, busy);
	lane->seen = e->changes;
	lock_drop(&e->lock);
	return use;
}

void epoch_cancel(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	e->filling--;
	if_all_back(e);
	lock_drop(&e->lock);
}

int epoch_submit(struct lane *lane, struct slot *slot, const unsigned char *data)
{
	struct epoch *e = &lane->device->epoch;
	struct held *const held = slot->chunk.fd >= 0 ? malloc(sizeof(*held)) : NULL;

	if (slot->chunk.fd >= 0 && !held)
		gpu_fail(lane->gpu, "memory", "none for what was counted");
	lock_take(&e->lock);
	e->filling--;
	const int rc = gpu_submit(lane, slot, data, slot->chunk.bytes);
	if (rc == 0) {
		e->on_way++;
		e->samples += slot->samples;
	}
	if (rc == 0 && held) {
		*held = (struct held){slot->chunk, e->held};
		e->held = held;
		e->inputs += e->input != slot->chunk.input;
		e->input = slot->chunk.input;
	}
	lock_drop(&e->lock);
	if (rc != 0)
		free(held);
	return rc;
}

/* ---- answers ---- */

static int wrong(struct lane *lane, const char *why)
{
	gpu_fail(lane->gpu, "check", why);
	return -1;
}

static int reap_sums(struct lane *lane, const struct slot *slot)
{
	struct epoch *e = &lane->device->epoch;
	uint64_t all = 0;
	bool possible = true;

	lock_take(&e->lock);
	memcpy(e->missing, slot->cells, e->pieces * sizeof(*e->missing));
	for (uint32_t i = 0; i < e->pieces; i++) {
		possible &= e->missing[i] <= UINT32_MAX;
		all += possible ? e->missing[i] : 0;
	}
	possible &= all == e->samples;
	if (possible) {
		e->next = 0;
		e->missing_all = all;
		e->on_way--;
		set_order(e, ORDER_PIECE);
	}
	lock_drop(&e->lock);
	return possible ? 0 : wrong(lane, "the counts do not sum to the samples");
}

/*
 * The piece counts as added before it is added to the totals: nothing can keep this thread from
 * adding it. Once the GPU has failed, another thread may be counting again what was missing then.
 */
static int reap_piece(struct lane *lane, const struct slot *slot, struct counts *totals)
{
	struct gpu_device *d = lane->device;
	struct epoch *e = &d->epoch;
	const size_t n = epoch_piece(d, slot->piece);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += slot->cells[i];
	if (sum != e->missing[slot->piece])
		return wrong(lane, "counts have changed");
	lock_take(&e->lock);
	const bool lost = gpu_failed(lane->gpu);
	if (!lost) {
		e->on_way--;
		e->missing[slot->piece] = 0;
		e->missing_all -= sum;
		if (e->missing_all == 0)
			commit(e, totals);
	}
	lock_drop(&e->lock);
	if (lost)
		return -1;
	counts_add_piece(totals, (size_t)slot->piece * d->layout.piece, slot->cells, n,
			 lane->gpu->spec.counting->method == COUNT_SHARED);
	return 0;
}

int epoch_reap(struct lane *lane, const struct slot *slot, struct counts *totals)
{
	struct epoch *e = &lane->device->epoch;

	if (slot->order == ORDER_SUMS)
		return reap_sums(lane, slot);
	if (slot->order == ORDER_PIECE)
		return reap_piece(lane, slot, totals);
	lock_take(&e->lock);
	e->on_way--;
	if (slot->order == ORDER_CLEAR)
		set_order(e, ORDER_COUNT);
	if_all_back(e);
	lock_drop(&e->lock);
	return 0;
}

/* ---- ranges ---- */

struct held *epoch_take_committed(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	struct held *const all = e->committed;
	e->committed = NULL;
	lock_drop(&e->lock);
	return all;
}

struct held *epoch_take_lost(struct lane *lane, bool *partly)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	struct held *const first = e->held;
	*partly = e->order == ORDER_PIECE && e->missing_all < e->samples;
	e->held = first && !*partly ? first->next : NULL;
	if (first && !*partly)
		first->next = NULL;
	lock_drop(&e->lock);
	return first;
}

struct recount {
	const struct gpu_device *device;
	const struct counts *again;
};

static uint64_t take_missing(void *arg, size_t cell)
{
	const struct recount *const r = arg;
	const struct gpu_device *const d = r->device;

	return d->epoch.missing[cell / d->layout.piece] > 0 ? r->again->cell[cell] : 0;
}

int epoch_add_missing(struct lane *lane, const struct counts *again, struct counts *totals)
{
	const struct epoch *const e = &lane->device->epoch;
	struct recount recount = {lane->device, again};
	uint64_t missing = 0;

	for (size_t i = 0; i < again->cells; i++)
		missing += take_missing(&recount, i);
	if (missing != e->missing_all || again->samples != e->samples)
		return -1;
	counts_add_each(totals, take_missing, &recount, e->samples);
	return 0;
}

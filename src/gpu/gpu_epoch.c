/* SPDX-License-Identifier: MIT */
/* gpu_epoch: chunks in, pieces out, and who waits for whom. */
#include "gpu/gpu_epoch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/gpu_order.h"
#include "gpu/gpu_state.h"

#define EPOCH_SAMPLES UINT32_MAX
#define INPUTS_MOST 128u /* that ranges keep open at the same time: descriptors are scarce ... */
#define INPUTS_PART 4    /* ... so at most one in so many of those that the process may have */
#define LOOK_SECONDS 0.1 /* how soon a lane that waits to leave notices that the GPU has failed */

int epoch_init(struct epoch *e, uint32_t pieces)
{
	const long descriptors = sysconf(_SC_OPEN_MAX) / INPUTS_PART;

	*e = (struct epoch){
		.pieces = pieces, .samples_most = EPOCH_SAMPLES, .inputs_most = INPUTS_MOST};
	if (descriptors > 0 && descriptors < (long)INPUTS_MOST)
		e->inputs_most = (unsigned)descriptors;
	e->sums = calloc(pieces, sizeof(*e->sums));
	e->added = calloc(pieces, sizeof(*e->added));
	if (e->sums && e->added && lock_init(&e->lock) == 0) {
		pthread_cond_init(&e->changed, NULL);
		return 0;
	}
	free(e->sums);
	free(e->added);
	*e = (struct epoch){.pieces = 0};
	return -1;
}

void epoch_destroy(struct epoch *e)
{
	if (!e->sums)
		return;
	pthread_cond_destroy(&e->changed);
	lock_destroy(&e->lock);
	free(e->sums);
	free(e->added);
	free(e->held.at);
	free(e->committed.at);
	e->sums = NULL;
}

/* ---- ranges ---- */

static bool make_room(struct chunks *c, size_t more)
{
	if (c->count + more <= c->room)
		return true;
	const size_t room = 2 * c->room + more + 64;
	struct chunk *at = realloc(c->at, room * sizeof(*at));
	if (!at)
		return false;
	c->at = at;
	c->room = room;
	return true;
}

static bool take_last(struct epoch *e, struct chunks *c, struct chunk *chunk)
{
	lock_take(&e->lock);
	const bool there = c->count > 0;
	if (there)
		*chunk = c->at[--c->count];
	lock_drop(&e->lock);
	return there;
}

bool epoch_take_committed(struct lane *lane, struct chunk *chunk)
{
	return take_last(&lane->device->epoch, &lane->device->epoch.committed, chunk);
}

bool epoch_take_lost(struct lane *lane, struct chunk *chunk)
{
	return take_last(&lane->device->epoch, &lane->device->epoch.held, chunk);
}

void epoch_settle(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	/* Another thread may still commit the epoch, if everything had been fetched. */
	lock_take(&e->lock);
	while (e->busy > 0 || e->state == EPOCH_ENDING)
		lock_wait(&e->lock, &e->changed);
	e->state = EPOCH_LOST;
	lock_drop(&e->lock);
}

bool epoch_added_any(const struct lane *lane)
{
	const struct epoch *e = &lane->device->epoch;

	for (uint32_t i = 0; i < e->pieces; i++)
		if (e->added[i])
			return true;
	return false;
}

bool epoch_added(const struct lane *lane, size_t cell)
{
	return lane->device->epoch.added[cell / lane->device->layout.piece];
}

bool epoch_agrees(const struct lane *lane, const uint64_t *cell)
{
	const struct gpu_device *d = lane->device;
	const size_t piece = d->layout.piece;

	for (uint32_t i = 0; i < d->epoch.pieces; i++) {
		uint64_t sum = 0;
		for (size_t k = i * piece; k < d->cells && k - i * piece < piece; k++)
			sum += cell[k];
		if (d->epoch.added[i] && sum != d->epoch.sums[i])
			return false;
	}
	return true;
}

bool epoch_claim(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	const bool first = !e->claimed;
	e->claimed = true;
	lock_drop(&e->lock);
	return first;
}

/* ---- pieces ---- */

/*
 * Takes pieces until none is left for this thread, which counts as busy; slot is one that is kept
 * for orders.
 */
static int take_pieces(struct gpu_device *d, unsigned slot, struct counts *totals)
{
	struct epoch *e = &d->epoch;
	uint32_t *copy = malloc(d->layout.piece * sizeof(*copy));
	int rc = 0;

	if (!copy) {
		gpu_fail(d->gpu, "memory", "none for a piece of the counters");
		rc = -1;
	}
	while (rc == 0) {
		lock_take(&e->lock);
		const uint32_t which = e->next;
		e->next += which < e->pieces;
		lock_drop(&e->lock);
		if (which == e->pieces)
			break;
		/* A piece that is said to be empty adds nothing, so it does not count as added. */
		const bool some = e->sums[which] > 0;
		if (some && (rc = order_piece(d, slot, which, copy, totals)) != 0)
			break;
		lock_take(&e->lock);
		e->added[which] = some;
		e->done++;
		lock_drop(&e->lock);
	}
	free(copy);
	lock_take(&e->lock);
	e->busy--;
	if (rc != 0)
		e->state = EPOCH_LOST;
	pthread_cond_broadcast(&e->changed);
	lock_drop(&e->lock);
	return rc;
}

/*
 * While another thread ends the epoch: takes part in it, if a slot for orders is left, or waits.
 * With the lock held.
 */
static void help_unlocks(struct lane *lane, struct counts *totals)
{
	struct gpu_device *d = lane->device;
	struct epoch *e = &d->epoch;

	lock_assert_held(&e->lock);
	if (!e->fetching || e->next == e->pieces || e->helpers == d->orders - 1) {
		lock_wait(&e->lock, &e->changed);
		return;
	}
	const unsigned slot = d->slots + 1 + e->helpers++;
	e->busy++;
	lock_drop(&e->lock);
	(void)take_pieces(d, slot, totals);
	lock_take(&e->lock);
}

/* ---- the end of an epoch ---- */

/* Everything is in the totals: the epoch is over. With the lock held. */
static void commit(struct epoch *e, struct counts *totals)
{
	lock_assert_held(&e->lock);
	counts_add_samples(totals, e->samples);
	if (e->held.count > 0)
		memcpy(e->committed.at + e->committed.count, e->held.at,
		       e->held.count * sizeof(*e->held.at));
	e->committed.count += e->held.count;
	e->held.count = 0;
	memset(e->added, 0, e->pieces * sizeof(*e->added));
	e->samples = 0;
	e->input = NULL;
	e->inputs = 0;
	e->number++;
}

/* What the thread that ends the epoch does without the lock. */
static int fetch_all(struct gpu_device *d, struct counts *totals)
{
	struct epoch *e = &d->epoch;
	int rc = 0;

	if (order_drain(d) != 0 || order_sums(d) != 0)
		return -1;
	lock_take(&e->lock);
	e->next = e->done = 0;
	e->helpers = 0;
	e->fetching = true;
	e->busy++;
	pthread_cond_broadcast(&e->changed);
	lock_drop(&e->lock);
	rc = take_pieces(d, d->slots, totals);
	lock_take(&e->lock);
	/* A thread that helped with this epoch must not take the next one's pieces. */
	e->fetching = false;
	while (e->busy > 0)
		lock_wait(&e->lock, &e->changed);
	rc = e->state == EPOCH_ENDING && e->done == e->pieces ? rc : -1;
	lock_drop(&e->lock);
	return rc;
}

/* Ends an open epoch. With the lock held. */
static void end_unlocks(struct gpu_device *d, struct counts *totals)
{
	struct epoch *e = &d->epoch;

	lock_assert_held(&e->lock);
	if (!make_room(&e->committed, e->held.count)) {
		e->state = EPOCH_LOST;
		lock_drop(&e->lock);
		gpu_fail(d->gpu, "memory", "none for what was counted");
		lock_take(&e->lock);
		pthread_cond_broadcast(&e->changed);
		return;
	}
	e->state = EPOCH_ENDING;
	lock_drop(&e->lock);
	const int rc = fetch_all(d, totals);
	if (rc == 0) {
		lock_take(&e->lock);
		commit(e, totals);
		lock_drop(&e->lock);
	}
	/*
	 * What was committed stays committed, even if the table cannot be cleared for the next
	 * epoch.
	 */
	const bool cleared = rc == 0 && order_clear(d) == 0;
	lock_take(&e->lock);
	e->state = cleared ? EPOCH_OPEN : EPOCH_LOST;
	pthread_cond_broadcast(&e->changed);
}

/* With the lock held: returns when the epoch is open, or lost. */
static enum epoch_result settle_unlocks(struct lane *lane, struct counts *totals)
{
	struct epoch *e = &lane->device->epoch;

	while (e->state == EPOCH_ENDING)
		help_unlocks(lane, totals);
	if (gpu_failed(lane->gpu))
		e->state = EPOCH_LOST;
	return e->state == EPOCH_OPEN ? EPOCH_OK : EPOCH_FAILED;
}

void epoch_join(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	e->lanes++;
	lock_drop(&e->lock);
}

enum epoch_result epoch_submit(struct lane *lane, struct slot *slot, const struct chunk *chunk,
			       uint64_t *epoch, struct counts *totals)
{
	struct epoch *e = &lane->device->epoch;
	const bool range = chunk->fd >= 0;

	lock_take(&e->lock);
	enum epoch_result rc = settle_unlocks(lane, totals);
	while (rc == EPOCH_OK &&
	       (e->samples + slot->samples > e->samples_most || e->inputs >= e->inputs_most)) {
		end_unlocks(lane->device, totals);
		rc = settle_unlocks(lane, totals);
	}
	if (rc == EPOCH_OK && range && !make_room(&e->held, 1)) {
		lock_drop(&e->lock);
		gpu_fail(lane->gpu, "memory", "none for what was counted");
		return EPOCH_FAILED;
	}
	if (rc == EPOCH_OK) {
		if (range) {
			e->held.at[e->held.count++] = *chunk;
			e->inputs += e->input != chunk->input;
			e->input = chunk->input;
		}
		e->samples += slot->samples;
		*epoch = e->number;
		device_submit(lane->device, slot, ORDER_COUNT);
	}
	lock_drop(&e->lock);
	return rc;
}

uint64_t epoch_committed(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	const uint64_t number = e->number;
	lock_drop(&e->lock);
	return number;
}

enum epoch_result epoch_end(struct lane *lane, struct counts *totals)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	enum epoch_result rc = settle_unlocks(lane, totals);
	if (rc == EPOCH_OK && e->samples > 0) {
		end_unlocks(lane->device, totals);
		rc = settle_unlocks(lane, totals);
	}
	lock_drop(&e->lock);
	return rc;
}

enum epoch_result epoch_leave(struct lane *lane, bool wait, struct counts *totals)
{
	struct gpu_device *d = lane->device;
	struct epoch *e = &d->epoch;
	enum epoch_result rc = EPOCH_OK;

	lock_take(&e->lock);
	e->leaving++;
	const uint64_t epoch = e->number;
	pthread_cond_broadcast(&e->changed);
	while (wait && rc == EPOCH_OK && e->number == epoch && e->samples > 0) {
		if (e->state == EPOCH_ENDING)
			help_unlocks(lane, totals);
		else if (gpu_failed(lane->gpu) || e->state == EPOCH_LOST)
			rc = EPOCH_FAILED;
		else if (e->leaving == e->lanes)
			end_unlocks(d, totals);
		else
			lock_wait_for(&e->lock, &e->changed, LOOK_SECONDS);
	}
	e->leaving--;
	e->lanes -= rc == EPOCH_OK;
	lock_drop(&e->lock);
	return rc;
}

bool epoch_left_by_all(struct lane *lane)
{
	struct epoch *e = &lane->device->epoch;

	lock_take(&e->lock);
	const bool all = e->lanes == 0;
	lock_drop(&e->lock);
	return all;
}

/* SPDX-License-Identifier: MIT */
/* gpu_slot: the way through a slot, as a worker sees it; what comes back is copied and checked. */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/gpu_state.h"

#define LOOK_SECONDS 0.1 /* how soon a thread that sleeps notices that the GPU has failed */

static struct shared_slot *shared_of(const struct lane *lane, const struct slot *slot)
{
	return &lane->device->region->slot[slot->index];
}

/* How many words come back for what it was submitted for. */
static size_t words_of(const struct gpu_device *d, const struct slot *slot)
{
	switch (slot->order) {
	case ORDER_SUMS:
		return d->epoch.pieces * sizeof(uint64_t) / sizeof(uint32_t);
	case ORDER_PIECE:
		return epoch_piece(d, slot->piece);
	case ORDER_COUNT:
		return d->layout.piece > 0 ? 0 : d->cells;
	case ORDER_CLEAR:
		break;
	}
	return 0;
}

struct slot *gpu_take_slot(struct lane *lane)
{
	struct gpu_device *d = lane->device;

	for (unsigned i = 0; i < d->facts.slots; i++) {
		struct slot *slot = &d->slot[i];
		enum slot_state state = SLOT_FREE;
		if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) == SLOT_FREE &&
		    __atomic_compare_exchange_n(&slot->state, &state, SLOT_TAKEN, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

void gpu_free(struct slot *slot)
{
	__atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_RELEASE);
}

void device_submit(struct gpu_device *d, struct slot *slot)
{
	struct shared_slot *s = &d->region->slot[slot->index];

	assert(slot_is(slot, SLOT_TAKEN));
	s->order = slot->order;
	s->piece = slot->piece;
	s->bytes = slot->bytes;
	s->samples = slot->samples;
	s->k = slot->k;
	s->extent = slot->extent;
	__atomic_store_n(&s->awaited, 0, __ATOMIC_RELAXED);
	/*
	 * More than any sum or counter can be: if an answer comes and nothing was written, what was
	 * there before must not pass the checks.
	 */
	memset(region_cells(d->region, &d->layout, slot->index), 0xff, sizeof(uint64_t));
	__atomic_store_n(&slot->state, SLOT_SUBMITTED, __ATOMIC_RELEASE);
	__atomic_fetch_add(&d->submitted, 1, __ATOMIC_RELAXED);
	slot_submit(d->region, s, ++slot->number);
}

int gpu_submit(struct lane *lane, struct slot *slot, size_t bytes)
{
	assert(bytes > 0);
	if (gpu_failed(lane->gpu))
		return -1;
	slot->order = ORDER_COUNT;
	slot->bytes = bytes;
	slot->samples = samples_of(&lane->gpu->spec.counting->layout, bytes);
	slot->k = lane->k;
	slot->extent = lane->extent;
	device_submit(lane->device, slot);
	return 0;
}

/*
 * Is this an extent that samples of the type can have, or EXTENT_NONE? A faulty GPU may say
 * anything.
 */
static bool is_extent(const struct extent *e, const struct sample_type *type)
{
	const uint64_t most = type->bytes == 8   ? UINT64_MAX
			      : type->bytes == 4 ? UINT32_MAX
						 : 0xffffff;

	return e->least <= e->greatest ? e->greatest <= most
				       : e->least == UINT64_MAX && e->greatest == 0;
}

/*
 * --auto: takes over what the helper says of the chunk's samples, and the k at which it must have
 * counted them: the one it was given if that is large enough, else that of all samples of the lane
 * and the chunk's own (driver/pump.c).
 */
static int take_extent(struct lane *lane, struct slot *slot)
{
	const struct counting *c = lane->gpu->spec.counting;
	const struct shared_slot *s = shared_of(lane, slot);
	const struct extent said = {
		.least = __atomic_load_n(&s->extent.least, __ATOMIC_RELAXED),
		.greatest = __atomic_load_n(&s->extent.greatest, __ATOMIC_RELAXED),
	};
	const int k_said = __atomic_load_n(&s->k, __ATOMIC_RELAXED);
	struct extent all = slot->extent;

	if (!is_extent(&said, &c->type)) {
		gpu_fail(lane->gpu, "check",
			 "a chunk's least and greatest sample are none of the type");
		return -1;
	}
	int k = slot->k;
	if (auto_k(&said, c->most, &c->type) > k) {
		extent_add(&all, &said);
		k = auto_k(&all, c->most, &c->type);
	}
	if (k_said != k) {
		gpu_fail(lane->gpu, "check",
			 "a chunk was counted by other bins than its samples ask for");
		return -1;
	}
	slot->k = k;
	slot->extent = said;
	return 0;
}

enum gpu_answer gpu_done(struct lane *lane, struct slot *slot, double seconds)
{
	const struct gpu_device *d = lane->device;
	struct shared_slot *s = shared_of(lane, slot);
	const uint32_t submitted = slot_word(slot->number, SHARED_SUBMITTED);
	uint32_t word;

	assert(slot_is(slot, SLOT_SUBMITTED));
	for (double end = 0; (word = slot_word_of(s)) == submitted && !gpu_failed(lane->gpu);) {
		if (seconds <= 0)
			return GPU_NOT_YET;
		const double now = clock_seconds();
		if (end == 0)
			end = now + seconds;
		if (now >= end)
			return GPU_NOT_YET;
		__atomic_store_n(&s->awaited, 1, __ATOMIC_SEQ_CST);
		region_wait(&s->word, submitted,
			    end - now < LOOK_SECONDS ? end - now : LOOK_SECONDS);
	}
	if (gpu_failed(lane->gpu))
		return GPU_LOST;
	if (word != slot_word(slot->number, SHARED_DONE)) {
		gpu_fail(lane->gpu, "driver", "its process sent an invalid answer");
		return GPU_LOST;
	}
	if (lane->slots_of_k && take_extent(lane, slot) != 0)
		return GPU_LOST;
	slot->cells = lane->cells_copy;
	memcpy(slot->cells, region_cells(d->region, &d->layout, slot->index),
	       words_of(d, slot) * sizeof(*slot->cells));
	__atomic_store_n(&slot->state, SLOT_TAKEN, __ATOMIC_RELAXED);
	return GPU_DONE;
}

void gpu_align(struct lane *lane, struct slot *slot)
{
	const struct counting *c = lane->gpu->spec.counting;
	const struct extent before = lane->extent;
	const uint32_t slots = c->binning.bins;

	extent_add(&lane->extent, &slot->extent);
	const int k = auto_k_grown(lane->k > slot->k ? lane->k : slot->k, &lane->extent, c->most,
				   &c->type);
	for (size_t at = 0; at < lane->cells; at += c->cells_each) {
		auto_coarsen64(lane->total + at, slots, &c->type, &before, lane->k, k);
		auto_coarsen32(slot->cells + at, slots, &c->type, &slot->extent, slot->k, k);
	}
	lane->k = slot->k = k;
}

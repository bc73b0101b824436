/* SPDX-License-Identifier: MIT */
/* gpu_slot: the way of a chunk through a slot, as its worker sees it. */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/gpu_state.h"

#define LOOK_SECONDS 0.1 /* how soon a thread that sleeps notices that the GPU has failed */

static struct shared_slot *shared_of(const struct lane *lane, const struct slot *slot)
{
	return &lane->device->region->slot[slot->index];
}

struct slot *gpu_take_slot(struct lane *lane)
{
	struct gpu_device *d = lane->device;

	for (unsigned i = 0; i < d->slots; i++) {
		struct slot *slot = &d->slot[i];
		bool taken = false;
		if (!__atomic_load_n(&slot->taken, __ATOMIC_RELAXED) &&
		    __atomic_compare_exchange_n(&slot->taken, &taken, true, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

void gpu_free(struct lane *lane, struct slot *slot)
{
	(void)lane;
	slot->bytes = slot->samples = 0;
	__atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->taken, false, __ATOMIC_RELEASE);
}

void gpu_fill(struct lane *lane, struct slot *slot, size_t bytes)
{
	const struct layout *l = &lane->gpu->spec.counting->layout;

	assert(slot->state == SLOT_FREE && bytes > 0);
	slot->bytes = bytes;
	slot->samples = bytes / layout_bytes(l) * layout_samples(l);
	slot->k = lane->k;
	slot->extent = lane->extent;
	slot->window = false;
	__atomic_store_n(&slot->state, SLOT_FILLED, __ATOMIC_RELAXED);
}

void device_hand_over(struct gpu_device *d, unsigned slot)
{
	/*
	 * If an answer comes without counters, those of the chunk before must not pass the check of
	 * the sum.
	 */
	if (d->layout.cell_bytes > 0)
		*device_cells(d, slot) = UINT32_MAX;
	__atomic_fetch_add(&d->submitted, 1, __ATOMIC_RELAXED);
	slot_submit(d->region, &d->region->slot[slot], ++d->slot[slot].number);
}

void device_submit(struct gpu_device *d, struct slot *slot, uint32_t order)
{
	struct shared_slot *s = &d->region->slot[slot->index];

	s->order = order;
	s->bytes = slot->bytes;
	s->samples = slot->samples;
	s->k = slot->k;
	s->extent = slot->extent;
	__atomic_store_n(&s->awaited, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&slot->state, SLOT_SUBMITTED, __ATOMIC_RELEASE);
	device_hand_over(d, slot->index);
}

int gpu_submit(struct lane *lane, struct slot *slot)
{
	assert(slot->state == SLOT_FILLED);
	if (gpu_failed(lane->gpu))
		return -1;
	device_submit(lane->device, slot, ORDER_COUNT);
	return 0;
}

int gpu_submit_window(struct lane *lane, struct slot *slot, int fd, uint64_t offset, size_t bytes)
{
	assert(slot->state == SLOT_FILLED);
	if (gpu_failed(lane->gpu) ||
	    link_send_window(lane->device, slot->index, fd, offset, bytes) != 0)
		return -1;
	slot->window = true;
	device_submit(lane->device, slot, ORDER_WINDOW);
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
	struct shared_slot *s = shared_of(lane, slot);
	const uint32_t submitted = slot_word(slot->number, SHARED_SUBMITTED);
	uint32_t word;

	assert(slot->state == SLOT_SUBMITTED);
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
	if (word == slot_word(slot->number, SHARED_REFUSED) && slot->window) {
		__atomic_store_n(&slot->state, SLOT_FILLED, __ATOMIC_RELAXED);
		return GPU_REFUSED;
	}
	if (word != slot_word(slot->number, SHARED_DONE)) {
		gpu_fail(lane->gpu, "driver", "its process says what cannot be");
		return GPU_LOST;
	}
	if (lane->slots_of_k && take_extent(lane, slot) != 0)
		return GPU_LOST;
	if (!lane->stays) {
		memcpy(lane->chunk, device_cells(lane->device, slot->index),
		       lane->cells * sizeof(*lane->chunk));
		slot->cells = lane->chunk;
	}
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

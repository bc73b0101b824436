/* SPDX-License-Identifier: MIT */
/* gpu_order: orders in slots, their answers, and the checks. */
#include "gpu/gpu_order.h"

#include <string.h>

#include "gpu/gpu_state.h"

#define LOOK_SECONDS 0.1 /* how soon a wait for an answer notices that the GPU has failed */

/* Waits until the helper has given slot k back. -1: the GPU has failed. */
static int await(struct gpu_device *d, unsigned k)
{
	struct shared_slot *s = &d->region->slot[k];
	uint32_t word;

	while (((word = slot_word_of(s)) & 3) == SHARED_SUBMITTED) {
		if (gpu_failed(d->gpu))
			return -1;
		__atomic_store_n(&s->awaited, 1, __ATOMIC_SEQ_CST);
		region_wait(&s->word, word, LOOK_SECONDS);
	}
	return gpu_failed(d->gpu) ? -1 : 0;
}

/*
 * Gives an order in slot k, one that is kept for orders, and waits for its answer. -1: the GPU has
 * failed.
 */
static int order(struct gpu_device *d, unsigned k, enum slot_order what, uint32_t piece)
{
	struct shared_slot *s = &d->region->slot[k];

	/*
	 * More than any sum or piece can hold, so that an answer that wrote nothing fails the
	 * check.
	 */
	memset(d->slot[k].data, 0xff, sizeof(uint64_t));
	s->order = what;
	s->piece = piece;
	__atomic_store_n(&d->slot[k].state, SLOT_SUBMITTED, __ATOMIC_RELAXED);
	device_hand_over(d, k);
	if (await(d, k) != 0)
		return -1;
	if (slot_word_of(s) != slot_word(d->slot[k].number, SHARED_DONE)) {
		gpu_fail(d->gpu, "driver", "its process says what cannot be");
		return -1;
	}
	__atomic_store_n(&d->slot[k].state, SLOT_FREE, __ATOMIC_RELAXED);
	return 0;
}

int order_drain(struct gpu_device *d)
{
	for (unsigned k = 0; k < d->slots; k++)
		if (__atomic_load_n(&d->slot[k].state, __ATOMIC_ACQUIRE) == SLOT_SUBMITTED &&
		    await(d, k) != 0)
			return -1;
	return 0;
}

int order_sums(struct gpu_device *d)
{
	struct epoch *e = &d->epoch;
	uint64_t all = 0;
	bool possible = true;

	if (order(d, d->slots, ORDER_SUMS, 0) != 0)
		return -1;
	memcpy(e->sums, d->slot[d->slots].data, e->pieces * sizeof(*e->sums));
	for (uint32_t i = 0; i < e->pieces; i++) {
		possible &= e->sums[i] <= UINT32_MAX;
		all += possible ? e->sums[i] : 0;
	}
	if (possible && all == e->samples)
		return 0;
	gpu_fail(d->gpu, "check", "the counts do not sum to the samples");
	return -1;
}

int order_piece(struct gpu_device *d, unsigned slot, uint32_t which, uint32_t *copy,
		struct counts *totals)
{
	const size_t piece = d->layout.piece, from = which * piece;
	const size_t n = d->cells - from < piece ? d->cells - from : piece;
	uint64_t sum = 0;

	if (order(d, slot, ORDER_PIECE, which) != 0)
		return -1;
	memcpy(copy, d->slot[slot].data, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		sum += copy[i];
	if (sum != d->epoch.sums[which]) {
		gpu_fail(d->gpu, "check", "counts have changed");
		return -1;
	}
	counts_add_piece(totals, from, copy, n, d->gpu->spec.counting->method == COUNT_SHARED);
	return 0;
}

int order_clear(struct gpu_device *d)
{
	return order(d, d->slots, ORDER_CLEAR, 0);
}

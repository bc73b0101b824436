/* SPDX-License-Identifier: MIT */
/* hot: the cache of cells in front of the shared table. */
#include "count/hot.h"

#include <stdbool.h>

/* lines of the totals that are prefetched together: 8 KiB of L1 beside the cache */
#define BLOCK 128u

void hot_add(uint64_t *hot, struct counts *counts, const uint32_t *cells, size_t n, bool alone)
{
	uint64_t out[BLOCK]; /* what leaves the cache: cell << 32 | count, like the slots */
	uint64_t *const total = counts->cell;

	while (n > 0) {
		const size_t some = n < BLOCK ? n : BLOCK;
		size_t used = 0;
		for (size_t i = 0; i < some; i++) {
			uint64_t *const slot = &hot[cells[i] % HOT_SLOTS];
			const uint64_t old = *slot;
			const bool same = old >> 32 == cells[i];
			out[used] = old;
			used += !same;
			*slot = (same ? old : (uint64_t)cells[i] << 32) + 1;
		}
		for (size_t i = 0; i < used; i++)
			/* cppcheck-suppress uninitvar */
			__builtin_prefetch(&total[out[i] >> 32], 1);
		if (alone) {
			for (size_t i = 0; i < used; i++)
				total[out[i] >> 32] += (uint32_t)out[i];
		} else {
			for (size_t i = 0; i < used; i++)
				counts_add_cell(counts, out[i] >> 32, (uint32_t)out[i]);
		}
		cells += some;
		n -= some;
	}
}

void hot_add_same(uint64_t *hot, struct counts *counts, uint32_t cell, size_t n)
{
	uint64_t *const slot = &hot[cell % HOT_SLOTS];

	if (*slot >> 32 != cell) {
		counts_add_cell(counts, *slot >> 32, (uint32_t)*slot);
		*slot = (uint64_t)cell << 32;
	}
	*slot += n;
}

void hot_flush(uint64_t *hot, struct counts *counts)
{
	for (size_t i = 0; i < HOT_SLOTS; i++) {
		counts_add_cell(counts, hot[i] >> 32, (uint32_t)hot[i]);
		hot[i] = 0;
	}
}

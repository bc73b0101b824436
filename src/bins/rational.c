/* SPDX-License-Identifier: MIT */
/* rational: from edges LO + i W / N of integers to the rule that finds floor((x - LO) N / W). */
#include "bins/edges.h"

#include <math.h>

void rational_keys(struct edges *e, const struct sample_type *type, int128_t low, int128_t high)
{
	struct binning *b = &e->binning;
	const int128_t min = sample_min(type), max = sample_max(type);
	const int128_t first = low > max || low < min ? min : low;
	int128_t last = high < max ? high : max;

	b->is_signed = type->kind == SAMPLE_SIGNED;
	b->bias = (uint64_t)-min;
	if (low > max || last < first) {
		b->kind = BIN_NONE;
		e->edge_cell = low > max ? EDGE_IS_UNDER : EDGE_IS_OVER;
		last = max;
	}
	b->first = (uint64_t)(first - min);
	b->span = (uint64_t)(last - first);
}

void rational_set(struct edges *e, const struct sample_type *type, int128_t lo, int128_t hi)
{
	struct binning *b = &e->binning;
	const int128_t width = hi - lo;
	const uint32_t bins = b->bins;

	e->form = EDGES_RATIONAL;
	e->rational.lo = lo;
	e->rational.width = width;
	rational_keys(e, type, lo, e->closed ? hi : hi - 1);
	if (b->kind == BIN_NONE)
		return;

	const int128_t first = sample_min(type) + (int128_t)b->first;
	const uint64_t key_max = type->code_bytes == 8 ? UINT64_MAX : UINT32_MAX;
	/* Does the distance from LO fit a key? */
	const bool fits = first - lo + (int128_t)b->span <= (int128_t)key_max;
	const int128_t per_bin = width / bins;

	const uint64_t base = (uint64_t)(first - lo); /* used only if that fits */
	if (fits && width % bins == 0 && (per_bin & (per_bin - 1)) == 0) {
		b->kind = BIN_SHIFT;
		b->shift = (struct bin_shift){.base = base};
		while (((int128_t)1 << b->shift.by) < per_bin)
			b->shift.by++;
		/* C does not define a shift by all bits of a key, for one bin of 2^32 or 2^64. */
		if (b->shift.by < 8 * (type->code_bytes == 8 ? 8u : 4u))
			return;
	}
	if (fits && type->code_bytes < 8 && width <= (int128_t)1 << 32 && bins < width) {
		/*
		 * d ceil(2^64 N / W) / 2^64 exceeds d N / W by less than d / 2^64. Because
		 * d <= W <= 2^32, that is less than 1 / W, and d N / W is at least 1 / W below the
		 * next whole number.
		 */
		b->kind = BIN_MAGIC;
		b->magic = (struct bin_magic){
			.base = base,
			.multiplier = (uint64_t)((((uint128_t)bins << 64) + (uint128_t)width - 1) /
						 (uint128_t)width),
		};
		return;
	}
	/*
	 * The guess is off by a few times N 2^-53, far below one half. All products fit 128 bits,
	 * because W < 2^97, N <= 2^28 and e N + offset <= W N.
	 */
	const uint128_t offset = (uint128_t)(first - lo) * bins;
	b->kind = BIN_RATIO;
	b->ratio = (struct bin_ratio){
		.width = {(uint64_t)width, (uint64_t)((uint128_t)width >> 64)},
		.offset = {(uint64_t)offset, (uint64_t)(offset >> 64)},
		.scale = (double)bins / (double)width,
		.guess = (double)offset / (double)width,
	};
}

bool edges_distinct(const struct edges *e)
{
	const uint32_t bins = e->binning.bins;

	if (e->form != EDGES_RATIONAL)
		return true;
	const double lo = fabs(edges_value(e, 0)), hi = fabs(edges_value(e, bins));
	const double step = (double)e->rational.width / bins;
	/* Edges at least a unit in the last place apart are not rounded to one number. */
	bool distinct = true;
	for (uint32_t i = 0; i < bins && step < fmax(lo, hi) * 0x1p-52 && distinct; i++) {
		const uint32_t at = lo > hi ? i : bins - 1 - i; /* the larger magnitude first */
		distinct = edges_value(e, at) < edges_value(e, at + 1);
	}
	return distinct;
}

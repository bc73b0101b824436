/* SPDX-License-Identifier: MIT */
/* binning_more: the bins of the rarer kinds, and of 64-bit integers, for binning.h. */
#ifndef GPUHIST_BINNING_MORE_H
#define GPUHIST_BINNING_MORE_H

#include "binning_rule.h"

/* ---- edges in order: bisection ---- */

/* Edge i by numpy.linspace's formula; tests compare the results bit for bit. */
BINNING_INLINE double binning_edge(const struct binning *b, uint32_t i)
{
	return BINNING_ADD(BINNING_MUL((double)(int32_t)i, b->linear.step), b->linear.lo);
}

/* Edge i with linspace's special cases: the last edge, a step that underflows, an overflow. */
BINNING_INLINE double binning_edge_careful(const struct binning *b, uint32_t i)
{
	if (i == b->bins)
		return b->linear.hi;
	if (b->linear.step == 0)
		return BINNING_ADD(BINNING_MUL((double)i / (double)b->bins,
					       BINNING_ADD(b->linear.hi, -b->linear.lo)),
				   b->linear.lo);
	return BINNING_MUL(binning_edge(b, i), b->linear.unit);
}

/* Is the integer with this key less than x? Exact for any finite x. */
BINNING_INLINE int key_below(const struct binning *b, uint64_t key, double x)
{
	if (b->is_signed) {
		if (x >= 0x1p63)
			return 1;
		if (x <= -0x1p63)
			return 0;
		int64_t value = (int64_t)(key - b->bias);
		int64_t whole = (int64_t)x; /* towards zero */
		return value < whole || (value == whole && (double)whole < x);
	}
	if (x >= 0x1p64)
		return 1;
	if (x <= 0)
		return 0;
	uint64_t whole = (uint64_t)x;
	return key < whole || (key == whole && (double)whole < x);
}

BINNING_INLINE double key_value(const struct binning *b, uint64_t key)
{
	return b->is_signed ? (double)(int64_t)(key - b->bias) : (double)key;
}

/* The largest i < N with edge i <= x, for x in [lo, last]. is_key: x is the integer of the key. */
BINNING_INLINE uint32_t bin_search(const struct binning *b, int is_key, uint64_t key, double x)
{
	uint32_t low = 0, high = b->bins; /* edge low <= x; high is past the answer */

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;
		const double edge = binning_edge_careful(b, middle);
		if (is_key ? key_below(b, key, edge) : x < edge)
			high = middle;
		else
			low = middle;
	}
	return low;
}

/* ---- slots (auto.h) ---- */

/*
 * The slot of bin j = floor(x 2^-k). auto.h guarantees that |x| 2^-k is at most 2^53 for every
 * finite x, so all steps are exact but one: the product may underflow, and then a negative x is in
 * bin -1 anyway. j mod W is computed as j - floor(j / W) W, in exact steps of binary64, because
 * vector units have no conversion to 64-bit integers.
 */
BINNING_INLINE uint32_t bin_slot_float(const struct binning *b, double x)
{
	const double infinity = (double)__builtin_inff();
	int finite = x < infinity && x > -infinity;
	double safe = finite ? x : 0;
	double whole = floor(BINNING_MUL(BINNING_MUL(safe, b->slot.scale[0]), b->slot.scale[1]));
	double j = safe < 0 && whole > -1 ? -1 : whole;
	double whole_turns = BINNING_MUL(floor(BINNING_MUL(j, b->slot.inverse)), b->slot.slots);
	uint32_t slot = (uint32_t)(int32_t)BINNING_ADD(j, -whole_turns);
#ifdef __CUDACC__ /* k may still be too small; then any slot is fine, but it must exist */
	slot &= b->slot.mask;
#endif
	uint32_t outside = x < 0 ? cell_under(b) : x > 0 ? cell_over(b) : cell_nan(b);

	return finite ? slot : outside;
}

/*
 * Like bin_slot_float, for a binary32: |x| 2^-k is at most 2^24, so j fits 32 bits, and j mod W is
 * a mask.
 */
BINNING_INLINE uint32_t bin_slot_single(const struct binning *b, float x, uint32_t bits)
{
	const uint32_t magnitude = bits & 0x7fffffffu, negative = 0u - (bits >> 31);
	const uint32_t finite = 0u - (uint32_t)(magnitude < 0x7f800000u);
	float t = BINNING_MUL_FLOAT(BINNING_MUL_FLOAT(x, (float)b->slot.scale[0]),
				    (float)b->slot.scale[1]);
	/* Masks instead of branches, so that loops vectorise. */
	float safe = float_of_bits(bits_of_float(t) & finite);
	int32_t whole = (int32_t)safe; /* towards zero */
	uint32_t down = (uint32_t)((float)whole > safe) |
			((uint32_t)(whole == 0) & negative & (uint32_t)(magnitude != 0));
	uint32_t slot = ((uint32_t)whole - down) & b->slot.mask;
	uint32_t outside = magnitude > 0x7f800000u ? cell_nan(b) : cell_over(b) - (negative & 1);

	return (slot & finite) | (outside & ~finite);
}

/*
 * ---- ranks (auto.h) ----
 *
 * The rank of a float is its bits without the sign, negated for a negative float. The 32 bits may
 * be a smaller float followed by zeros: every finite one is below the infinity of binary32.
 *
 * Each function sets *bin to the sample's bin, mod 2^32; for infinities and NaN, and for zeros once
 * there are some, it sets a known bin.
 */
BINNING_INLINE uint32_t bin_rank_single(const struct binning *b, uint32_t bits, uint32_t *bin)
{
	const uint32_t infinity = 0x7f800000u;
	const uint32_t magnitude = bits & 0x7fffffffu, negative = 0u - (bits >> 31);
	const int32_t rank = (int32_t)((magnitude ^ negative) - negative);
	const uint32_t own = (uint32_t)(rank >> b->rank.shift);
	const uint32_t slot = (own & b->rank.mask) + (b->rank.above & ~negative);
	const uint32_t other = magnitude == 0         ? b->rank.above - 1
			       : magnitude > infinity ? cell_nan(b)
						      : cell_over(b) - (negative & 1);
	const uint32_t usual = 0u - (uint32_t)(magnitude - 1 < infinity - 1);
	const uint32_t zero = 0u - (uint32_t)(magnitude == 0);

	*bin = (own & usual) | ((b->rank.low - (zero & b->rank.unknown)) & ~usual);
	return (slot & usual) | (other & ~usual);
}

/* Half of 2^64 is added to ranks, because vector units have no arithmetic shift of 64 bits. */
BINNING_INLINE uint32_t bin_rank_double(const struct binning *b, uint64_t bits, uint32_t *bin)
{
	const uint64_t infinity = 0x7ff0000000000000u, half = 0x8000000000000000u;
	const uint64_t magnitude = bits & ~half, negative = 0u - (bits >> 63);
	const uint64_t rank = (magnitude ^ negative) - negative;
	const uint32_t own = (uint32_t)((rank + half) >> b->rank.shift) - b->rank.before;
	const uint32_t slot = (own & b->rank.mask) + (b->rank.above & ~(uint32_t)negative);
	const uint32_t other = magnitude == 0         ? b->rank.above - 1
			       : magnitude > infinity ? cell_nan(b)
						      : cell_over(b) - (uint32_t)(negative & 1);
	const uint32_t usual = 0u - (uint32_t)(magnitude - 1 < infinity - 1);
	const uint32_t zero = 0u - (uint32_t)(magnitude == 0);

	*bin = (own & usual) | ((b->rank.low - (zero & b->rank.unknown)) & ~usual);
	return (slot & usual) | (other & ~usual);
}

/*
 * Return how far a value must be shifted to the right to leave `digits` binary digits after its
 * first; 0 if it has fewer. Vector units cannot count leading zeros, but can convert to floats,
 * whose exponent is the answer. The digit after the first is cleared, so that rounding cannot reach
 * the next power of two. Half of the value is converted, so that it fits a signed integer; the
 * halves of 0 and 1 have the exponent of 0.
 */
BINNING_INLINE uint32_t rank_excess32(uint32_t value, uint32_t digits)
{
#ifdef __CUDACC__
	const int32_t excess = 31 - __clz((int)(value | 1)) - (int32_t)digits;
#else
	const uint32_t half = (value & ~(value >> 1)) >> 1;
	const int32_t excess =
		(int32_t)(bits_of_float((float)(int32_t)half) >> 23) - (int32_t)(126 + digits);
#endif
	return (uint32_t)(excess > 0 ? excess : 0);
}

/* Each half of the value is put into the bits of a binary64: 2^84 + high 2^32, and 2^52 + low. */
BINNING_INLINE uint64_t rank_excess64(uint64_t value, uint32_t digits)
{
#ifdef __CUDACC__
	const int64_t excess = 63 - __clzll((long long)(value | 1)) - (int64_t)digits;
#else
	const uint64_t some = value & ~(value >> 1);
	const double high = double_of_bits(some >> 32 | 0x4530000000000000u),
		     low = double_of_bits((some & 0xffffffffu) | 0x4330000000000000u);
	const double whole = (high - (0x1p84 + 0x1p52)) + low;
	const int64_t excess = (int64_t)(bits_of_double(whole) >> 52) - (int64_t)(1023 + digits);
#endif
	return (uint64_t)(excess > 0 ? excess : 0);
}

/* Negative values -1, -2 ... mirror 0, 1 ...: their bins go down from -1. */
BINNING_INLINE uint32_t bin_rank_key32(const struct binning *b, uint32_t key, uint32_t *bin)
{
	const uint32_t own = key - (uint32_t)b->bias, negative = 0u - (own >> 31 & b->is_signed);
	const uint32_t value = own ^ negative, excess = rank_excess32(value, b->rank.digits);
	const uint32_t number =
		((excess << b->rank.digits) + (value >> excess) + b->rank.before) >> b->rank.shift;
	const uint32_t slot = ((number ^ negative) & b->rank.mask) + (b->rank.above & ~negative);

	*bin = own ? number ^ negative : b->rank.low - b->rank.unknown;
	return own ? slot : b->rank.above - 1;
}

BINNING_INLINE uint32_t bin_rank_key64(const struct binning *b, uint64_t key, uint32_t *bin)
{
	const uint64_t own = key - b->bias, negative = 0u - (own >> 63 & b->is_signed);
	const uint64_t value = own ^ negative, excess = rank_excess64(value, b->rank.digits);
	const uint64_t number =
		((excess << b->rank.digits) + (value >> excess) + b->rank.before) >> b->rank.shift;
	const uint32_t numbered = (uint32_t)(number ^ negative),
		       slot = (numbered & b->rank.mask) + (b->rank.above & ~(uint32_t)negative);

	*bin = own ? numbered : b->rank.low - b->rank.unknown;
	return own ? slot : b->rank.above - 1;
}

/* ---- explicit edges: a guide finds a few bins, bisection picks one of them (table.c) ---- */

/*
 * The keys of floats are in the order of the values. -0 comes before 0, NaNs come before -inf or
 * after inf.
 */
BINNING_INLINE uint32_t key32_of_float(uint32_t bits)
{
	return bits ^ ((0u - (bits >> 31)) | 0x80000000u);
}

BINNING_INLINE uint64_t key64_of_double(uint64_t bits)
{
	return bits ^ ((0u - (bits >> 63)) | 0x8000000000000000u);
}

/*
 * The entry of a float x, or of an integer at x = e; the distance is x - lo. Each step rounds to
 * nearest, which never reverses an order, so entries never fall as samples rise.
 */
BINNING_INLINE uint32_t table_entry32(const struct bin_table *t, float x)
{
	const float least = (float)t->least, most = (float)t->most;
	float distance = BINNING_ADD_FLOAT(x, -(float)t->lo);

	distance = distance > least ? distance : least; /* also replaces NaN */
	distance = distance < most ? distance : most;
	return (bits_of_float(distance) >> t->shift) - t->origin;
}

BINNING_INLINE uint32_t table_entry64(const struct bin_table *t, double x)
{
	double distance = BINNING_ADD(x, -t->lo);

	distance = distance > t->least ? distance : t->least;
	distance = distance < t->most ? distance : t->most;
	return (uint32_t)(bits_of_double(distance) >> t->shift) - t->origin;
}

/* The words before the keys: an even number, so that 64-bit keys are aligned. */
BINNING_INLINE uint32_t table_guide_words(const struct bin_table *t)
{
	return (t->guide + 1) & ~1u;
}

/* The cell of a key. x is the float with this key, or key - first for an integer. */
BINNING_INLINE uint32_t bin_table32(const struct binning *b, uint32_t key, float x)
{
	const struct bin_table *const t = &b->table;
	const uint32_t *const guide = (const uint32_t *)(uintptr_t)t->at;
	const uint32_t *const below = guide + table_guide_words(t);
	const uint32_t first = (uint32_t)b->first, e = key - first;

	if (e > (uint32_t)b->span)
		return x != x ? cell_nan(b) : key < first ? cell_under(b) : cell_over(b);
	uint32_t bin = BINNING_LOAD(guide + table_entry32(t, x));
	for (uint32_t half = t->half; half > 0; half /= 2)
		bin += e > BINNING_LOAD(below + bin + half - 1) ? half : 0;
	return bin;
}

BINNING_INLINE uint32_t bin_table64(const struct binning *b, uint64_t key, double x)
{
	const struct bin_table *const t = &b->table;
	const uint32_t *const guide = (const uint32_t *)(uintptr_t)t->at;
	const uint64_t *const below =
		(const uint64_t *)(const void *)(guide + table_guide_words(t));
	const uint64_t e = key - b->first;

	if (e > b->span)
		return x != x ? cell_nan(b) : key < b->first ? cell_under(b) : cell_over(b);
	uint32_t bin = BINNING_LOAD(guide + table_entry64(t, x));
	for (uint32_t half = t->half; half > 0; half /= 2)
		bin += e > BINNING_LOAD(below + bin + half - 1) ? half : 0;
	return bin;
}

/* ---- integers ---- */

/* floor(d N / W) with d = e + value(first) - LO. */
BINNING_INLINE uint32_t bin_ratio(const struct binning *b, uint64_t e)
{
	const uint128_t width = (uint128_t)b->ratio.width[1] << 64 | b->ratio.width[0];
	const uint128_t offset = (uint128_t)b->ratio.offset[1] << 64 | b->ratio.offset[0];
	uint32_t k = (uint32_t)((double)e * b->ratio.scale + b->ratio.guess + 0.5);

	return k - (uint32_t)((uint128_t)e * b->bins + offset < width * k);
}

/* For linspace edges and a 64-bit integer, which may not be a binary64: compare as integers. */
BINNING_INLINE uint32_t bin_key64_linear(const struct binning *b, uint64_t key)
{
	double t = (key_value(b, key) - b->linear.lo) * b->linear.scale;
	uint32_t k = (uint32_t)(int32_t)(t + 0.5);
	uint32_t bin;

	if (k == 0)
		return 0;
	bin = k - (uint32_t)key_below(b, key, binning_edge(b, k));
	return bin < b->bins ? bin : b->bins - 1;
}

/*
 * r = key - q N, and q is floor(key / N) or one less: the multiplier is at least (2^w - N) / N, so
 * the product is below key / N by at most key / 2^w, which is less than one. So r is below 2 N, and
 * below 3 N after the addition.
 */
BINNING_INLINE uint32_t mod_reduce(const struct binning *b, uint32_t r)
{
	r += (uint32_t)b->mod.add;
	r = r >= b->bins ? r - b->bins : r;
	return r >= b->bins ? r - b->bins : r;
}

BINNING_INLINE uint32_t bin_mod_key64(const struct binning *b, uint64_t key)
{
	const uint64_t q = (uint64_t)((uint128_t)key * b->mod.multiplier >> 64);

	return mod_reduce(b, (uint32_t)key - (uint32_t)q * b->bins);
}

BINNING_INLINE uint32_t bin_key64(const struct binning *b, uint32_t kind, uint64_t key)
{
	uint64_t e = key - b->first;
	uint32_t bin;

	if (e > b->span)
		return key < b->first ? cell_under(b) : cell_over(b);
	switch (kind) {
	case BIN_SHIFT:
		return (uint32_t)((e + b->shift.base) >> b->shift.by);
	case BIN_RATIO:
		return bin_ratio(b, e);
	case BIN_LINEAR:
		return bin_key64_linear(b, key);
	case BIN_SEARCH:
		return bin_search(b, 1, key, 0);
	case BIN_MOD: /* for MOD, SLOT and RANK, every key is in the range */
		return bin_mod_key64(b, key);
	case BIN_SLOT:
		return (uint32_t)(key >> b->slot.shift) & b->slot.mask;
	case BIN_RANK:
		return bin_rank_key64(b, key, &bin);
	case BIN_TABLE:
		return bin_table64(b, key, (double)e);
	default:
		return b->bins;
	}
}

#endif

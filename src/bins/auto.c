/* SPDX-License-Identifier: MIT */
/* auto: the smallest k for an extent, the bins at a k, and coarser tables. */
#include "bins/auto.h"

#include <assert.h>
#include <math.h>

#define RANK_BITS 52 /* binary digits of a binary64 after its first */

uint32_t auto_bins_least(const struct sample_type *type)
{
	return type->kind == SAMPLE_UNSIGNED ? 1 : 2;
}

uint32_t auto_slots(uint32_t bins)
{
	uint32_t slots = 1;

	while (slots < bins)
		slots *= 2;
	return slots;
}

int auto_k_least(const struct sample_type *type)
{
	if (type->kind != SAMPLE_FLOAT)
		return 0;
	/* The exponent of the smallest normal number is 2 - 2^(bits of the exponent - 1). */
	const int mantissa = (int)type->mantissa;
	return 2 - (1 << ((int)type->bits - 2 - mantissa)) - mantissa;
}

/* The exponent of a unit in the last place of x. */
static int exponent_of_unit(const struct sample_type *type, double x)
{
	const int least = auto_k_least(type);
	int exponent;

	if (x == 0)
		return least;
	(void)frexp(x, &exponent); /* x < 2^exponent */
	exponent -= (int)type->mantissa + 1;
	return exponent > least ? exponent : least;
}

/* ---- ranks ---- */

/* Digits after a value's first that identify its bin, and joined bins as a power of two. */
static uint32_t digits_at(const struct auto_bins *bins, int k)
{
	const int most = bins->type.code_bytes == 8 ? RANK_BITS : 31;

	return (uint32_t)(k > RANK_BITS ? 0 : RANK_BITS - k < most ? RANK_BITS - k : most);
}

static uint32_t joined_at(int k)
{
	return (uint32_t)(k > RANK_BITS ? k - RANK_BITS : 0);
}

/* The rank of a float; a number between two of the type has the rank of the lower one. */
static int64_t rank_of(const struct sample_type *type, double x)
{
	const int unit = exponent_of_unit(type, x);
	const int64_t before = (int64_t)(unit - auto_k_least(type)) << type->mantissa;
	const double units = ldexp(x, -unit);
	const int64_t whole = (int64_t)units; /* towards zero */

	return (x < 0 ? -before : before) + whole - ((double)whole > units);
}

static int64_t bin_of_value(const struct auto_bins *bins, int128_t value, int k)
{
	const uint32_t digits = digits_at(bins, k);
	const uint64_t own = (uint64_t)(value < 0 ? ~value : value),
		       excess = rank_excess64(own, digits);
	const int64_t bin = (int64_t)(((excess << digits) + (own >> excess)) >> joined_at(k));

	return value < 0 ? ~bin : bin;
}

double auto_edge(const struct auto_bins *bins, int64_t bin, int k)
{
	const struct sample_type *const type = &bins->type;
	const bool real = type->kind == SAMPLE_FLOAT;
	const uint32_t digits = real ? type->mantissa : digits_at(bins, k);
	/* No overflow: k is at most the bits of a float, or for integers 52 + log2(64). */
	const uint128_t steps = (uint128_t)(bin < 0 ? -(int128_t)bin : bin)
				<< (real ? (uint32_t)k : joined_at(k));
	const int64_t excess = (int64_t)(steps >> digits) - 1, shift = excess > 0 ? excess : 0;
	const double own = ldexp((double)(uint64_t)(steps - ((uint128_t)shift << digits)),
				 (int)shift + auto_k_least(type));
	const double last = real ? sample_max_finite(type) : 0;
	const double past = real ? last + ldexp(1, exponent_of_unit(type, last))
				 : (double)(sample_max(type) + 1);

	return copysign(fmin(own, past), (double)bin);
}

/* ---- bins ---- */

int128_t auto_bin(const struct auto_bins *bins, uint64_t key, int k)
{
	const struct sample_type *const type = &bins->type;
	const bool real = type->kind == SAMPLE_FLOAT;

	if (bins->log)
		return real ? rank_of(type, sample_of_key(type, key)) >> k
			    : bin_of_value(bins, (int128_t)key + sample_min(type), k);
	if (!real)
		return (int128_t)key >> k;
	const double x = sample_of_key(type, key), j = floor(ldexp(x, -k));
	return x < 0 && j > -1 ? -1 : (int128_t)j; /* ldexp may underflow to -0 */
}

int128_t auto_coarser(const struct auto_bins *bins, int128_t bin, int from, int to)
{
	const bool whole = bins->log && bins->type.kind != SAMPLE_FLOAT;
	const int128_t own = bin < 0 ? ~bin : bin;

	if (!whole || from >= RANK_BITS)
		return bin >> (to - from < 100 ? to - from : 100);
	/*
	 * The first value of the bin, or of its mirror image from 0 on, is in the coarser bin too.
	 */
	const int128_t excess = (own >> digits_at(bins, from)) - 1, shift = excess > 0 ? excess : 0;
	const int64_t joined =
		bin_of_value(bins, (own - (shift << digits_at(bins, from))) << shift, to);
	return bin < 0 ? ~joined : joined;
}

/*
 * The exponent of one unit in the last place of the largest magnitude in an extent: of a float in
 * its own type, of an integer in binary64, in which edges are written; 0 or more for an integer.
 */
static int unit_of_extent(const struct sample_type *type, const struct extent *extent)
{
	if (type->kind == SAMPLE_FLOAT)
		return exponent_of_unit(type, fmax(fabs(sample_of_key(type, extent->least)),
						   fabs(sample_of_key(type, extent->greatest))));
	const int128_t least = (int128_t)extent->least + sample_min(type),
		       greatest = (int128_t)extent->greatest + sample_min(type),
		       largest = -least > greatest ? -least : greatest;
	const int unit = 64 - 53 - __builtin_clzll((uint64_t)largest | 1);
	return unit > 0 ? unit : 0;
}

int auto_k_grown(const struct auto_bins *bins, const struct extent *extent, int k)
{
	if (extent_is_none(extent))
		return k;
	assert(bins->most >= auto_bins_least(&bins->type));
	if (!bins->log) {
		const int unit = unit_of_extent(&bins->type, extent);
		k = k > unit ? k : unit;
	}
	while (auto_bin(bins, extent->greatest, k) - auto_bin(bins, extent->least, k) >=
	       (int128_t)bins->most)
		k++;
	return k;
}

int auto_k(const struct auto_bins *bins, const struct extent *extent)
{
	return auto_k_grown(bins, extent, bins->log ? 0 : auto_k_least(&bins->type));
}

struct extent auto_extent_of_code(const struct sample_type *type, uint32_t code)
{
	uint64_t key = code ^ (uint32_t)-sample_min(type);

	if (type->kind == SAMPLE_FLOAT) {
		const double value = sample_code(type, code);
		if (!isfinite(value))
			return EXTENT_NONE;
		key = sample_key(type, value);
	}
	return (struct extent){key, key};
}

uint32_t auto_slot(int128_t bin, uint32_t slots)
{
	return (uint32_t)((uint64_t)bin & (slots - 1));
}

static void rank_rule(struct binning *b, const struct auto_bins *bins, int k)
{
	const struct sample_type *const type = &bins->type;

	b->kind = BIN_RANK;
	b->rank.mask = b->bins - 1;
	if (type->kind != SAMPLE_FLOAT) {
		b->rank.digits = digits_at(bins, k);
		b->rank.shift = joined_at(k);
		return;
	}
	/* Floats below 32 bits are counted as words of 32 bits that begin with theirs. */
	b->rank.shift = (uint32_t)k + (type->bits < 32 ? 32 - type->bits : 0);
	b->rank.before = (uint32_t)((uint64_t)1 << 63 >> k);
}

void auto_rule(struct binning *b, const struct auto_bins *bins, int k)
{
	const struct sample_type *const type = &bins->type;
	const uint32_t slots = auto_slots(bins->most);
	const int bits = (int)type->bits;

	*b = (struct binning){.kind = BIN_SLOT, .bins = slots, .span = UINT64_MAX};
	if (type->kind != SAMPLE_FLOAT) {
		b->is_signed = type->kind == SAMPLE_SIGNED;
		b->bias = (uint64_t)-sample_min(type);
	}
	if (bins->log) {
		rank_rule(b, bins, k);
		return;
	}
	b->slot.slots = slots;
	b->slot.inverse = 1.0 / slots;
	b->slot.mask = slots - 1;
	if (type->kind == SAMPLE_FLOAT) {
		/* Two factors, because 2^1074 is not a binary64. */
		b->slot.scale[0] = ldexp(1, -k / 2);
		b->slot.scale[1] = ldexp(1, -k - -k / 2);
		return;
	}
	/*
	 * With one bin, k can be the number of bits, and C does not define a shift by that. With
	 * one slot, every shift has the same result.
	 */
	b->slot.shift = (uint32_t)(k < bits ? k : bits - 1);
}

/* ---- coarser ---- */

/* The slots of a table, with 32-bit or 64-bit counts; the other pointer is NULL. */
struct slots {
	uint32_t *narrow;
	uint64_t *wide;
};

static inline uint64_t empty(const struct slots *t, uint32_t slot)
{
	uint64_t n;

	if (t->narrow) {
		n = t->narrow[slot];
		t->narrow[slot] = 0;
	} else {
		n = t->wide[slot];
		t->wide[slot] = 0;
	}
	return n;
}

static inline void add(const struct slots *t, uint32_t slot, uint64_t n)
{
	if (t->narrow)
		t->narrow[slot] += (uint32_t)n;
	else
		t->wide[slot] += n;
}

static inline void reverse(const struct slots *t, uint32_t from, uint32_t to)
{
	for (; from + 1 < to; from++, to--) {
		const uint64_t low = empty(t, from), high = empty(t, to - 1);
		add(t, from, high);
		add(t, to - 1, low);
	}
}

/* Rotate the slots to the left, in place. */
static inline void rotate(const struct slots *t, uint32_t slots, uint32_t by)
{
	if (by == 0)
		return;
	reverse(t, 0, by);
	reverse(t, by, slots);
	reverse(t, 0, slots);
}

/*
 * Call j' the coarser bin of bin j. First move the counts of j to the slot of bin
 * first + (j' - first'). That bin is never after j, so going up from the first bin overwrites
 * nothing that is still needed. Then rotate all slots to where they belong.
 */
static inline void coarsen(const struct slots *t, const struct auto_bins *bins,
			   const struct extent *extent, int from, int to)
{
	if (extent_is_none(extent) || from >= to)
		return;
	const uint32_t slots = auto_slots(bins->most);
	const int128_t first = auto_bin(bins, extent->least, from),
		       last = auto_bin(bins, extent->greatest, from);
	const int128_t to_first = auto_coarser(bins, first, from, to);

	assert(last - first < (int128_t)slots);
	for (int128_t j = first; j <= last; j++) {
		const uint64_t n = empty(t, auto_slot(j, slots));
		if (n > 0)
			add(t, auto_slot(first + auto_coarser(bins, j, from, to) - to_first, slots),
			    n);
	}
	rotate(t, slots, auto_slot(first - to_first, slots));
}

void auto_coarsen32(uint32_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to)
{
	coarsen(&(struct slots){.narrow = table}, bins, extent, from, to);
}

void auto_coarsen64(uint64_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to)
{
	coarsen(&(struct slots){.wide = table}, bins, extent, from, to);
}

void auto_turn64(uint64_t *table, uint32_t slots, uint32_t by)
{
	rotate(&(struct slots){.wide = table}, slots, by);
}

/* SPDX-License-Identifier: MIT */
/* auto: the smallest k for an extent, slots, and tables made coarser. */
#include "bins/auto.h"

#include <assert.h>
#include <math.h>

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

int128_t auto_bin(const struct sample_type *type, uint64_t key, int k)
{
	if (type->kind != SAMPLE_FLOAT)
		return (int128_t)key >> k;
	const double x = sample_of_key(type, key), j = floor(ldexp(x, -k));
	return x < 0 && j > -1 ? -1 : (int128_t)j; /* a product that underflowed */
}

int auto_k_grown(int k, const struct extent *extent, uint32_t bins, const struct sample_type *type)
{
	assert(bins >= auto_bins_least(type));
	if (extent_is_none(extent))
		return k;
	if (type->kind == SAMPLE_FLOAT) {
		const double least = fabs(sample_of_key(type, extent->least));
		const double greatest = fabs(sample_of_key(type, extent->greatest));
		const int unit = exponent_of_unit(type, fmax(least, greatest));
		k = k > unit ? k : unit;
	}
	while (auto_bin(type, extent->greatest, k) - auto_bin(type, extent->least, k) >=
	       (int128_t)bins)
		k++;
	return k;
}

int auto_k(const struct extent *extent, uint32_t bins, const struct sample_type *type)
{
	return auto_k_grown(auto_k_least(type), extent, bins, type);
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

void auto_rule(struct binning *b, const struct sample_type *type, uint32_t slots, int k)
{
	const int bits = (int)type->bits;

	*b = (struct binning){.kind = BIN_SLOT, .bins = slots, .span = UINT64_MAX};
	b->slot.slots = slots;
	b->slot.inverse = 1.0 / slots;
	b->slot.mask = slots - 1;
	if (type->kind == SAMPLE_FLOAT) {
		/* Two factors, because no binary64 is 2^1074. */
		b->slot.scale[0] = ldexp(1, -k / 2);
		b->slot.scale[1] = ldexp(1, -k - -k / 2);
		return;
	}
	b->is_signed = type->kind == SAMPLE_SIGNED;
	b->bias = (uint64_t)-sample_min(type);
	/*
	 * With one bin k can be the number of bits, by which C does not allow a shift; with one
	 * slot any shift gives the same.
	 */
	b->slot.shift = (uint32_t)(k < bits ? k : bits - 1);
}

/* ---- coarser ---- */

/* A table of 32-bit or of 64-bit counts: one of the two is NULL. */
struct table {
	uint32_t *narrow;
	uint64_t *wide;
};

static inline uint64_t take(const struct table *t, uint32_t slot)
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

static inline void add(const struct table *t, uint32_t slot, uint64_t n)
{
	if (t->narrow)
		t->narrow[slot] += (uint32_t)n;
	else
		t->wide[slot] += n;
}

static inline void reverse(const struct table *t, uint32_t from, uint32_t to)
{
	for (; from + 1 < to; from++, to--) {
		const uint64_t low = take(t, from), high = take(t, to - 1);
		add(t, from, high);
		add(t, to - 1, low);
	}
}

/* To the left, in place. */
static inline void rotate(const struct table *t, uint32_t slots, uint32_t by)
{
	if (by == 0)
		return;
	reverse(t, 0, by);
	reverse(t, by, slots);
	reverse(t, 0, slots);
}

/*
 * First the counts of bin j move to where bin first + (j / 2^d - first / 2^d) was. That is never
 * after bin j, so a walk from the first bin on overwrites nothing that it still needs. Then all
 * slots are turned to their places.
 */
static inline void coarsen(const struct table *t, uint32_t slots, const struct sample_type *type,
			   const struct extent *extent, int from, int to)
{
	if (extent_is_none(extent) || from >= to)
		return;
	const int128_t first = auto_bin(type, extent->least, from),
		       last = auto_bin(type, extent->greatest, from);
	const int128_t to_first = auto_coarser(first, from, to);

	assert(last - first < (int128_t)slots);
	for (int128_t j = first; j <= last; j++) {
		const uint64_t n = take(t, auto_slot(j, slots));
		if (n > 0)
			add(t, auto_slot(first + auto_coarser(j, from, to) - to_first, slots), n);
	}
	rotate(t, slots, auto_slot(first - to_first, slots));
}

void auto_coarsen32(uint32_t *table, uint32_t slots, const struct sample_type *type,
		    const struct extent *extent, int from, int to)
{
	coarsen(&(struct table){.narrow = table}, slots, type, extent, from, to);
}

void auto_coarsen64(uint64_t *table, uint32_t slots, const struct sample_type *type,
		    const struct extent *extent, int from, int to)
{
	coarsen(&(struct table){.wide = table}, slots, type, extent, from, to);
}

void auto_turn64(uint64_t *table, uint32_t slots, uint32_t by)
{
	rotate(&(struct table){.wide = table}, slots, by);
}

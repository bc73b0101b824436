/* SPDX-License-Identifier: MIT */
/* auto: the smallest k for an extent, the bins at a k, and coarser tables. */
#include "bins/auto.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define RANK_BITS 52      /* binary digits of a binary64 after its first */
#define RANK_OF_HALF 1022 /* the rank of 1/2 as a binary64, in units of 2^52 */

uint32_t auto_bins_least(const struct auto_bins *bins)
{
	return (bins->type.kind == SAMPLE_UNSIGNED ? 1 : 2) + (uint32_t)bins->log;
}

/* W */
static uint32_t width(const struct auto_bins *bins)
{
	uint32_t slots = 1;

	while (slots < bins->most)
		slots *= 2;
	return slots;
}

/* Return the number of slots that precede the bins above 0: those below 0, and zero. */
static uint32_t slots_before(const struct auto_bins *bins)
{
	return !bins->log ? 0 : bins->type.kind == SAMPLE_UNSIGNED ? 1 : width(bins) + 1;
}

uint32_t auto_slots(const struct auto_bins *bins)
{
	return slots_before(bins) + width(bins);
}

int auto_k_least(const struct sample_type *type)
{
	if (type->kind != SAMPLE_FLOAT)
		return 0;
	/* The exponent of the smallest normal number is 2 - 2^(bits of the exponent - 1). */
	const int mantissa = (int)type->mantissa;
	return 2 - (1 << ((int)type->bits - 2 - mantissa)) - mantissa;
}

int auto_k_of_digits(const struct sample_type *type, uint32_t digits)
{
	return (int)((type->kind == SAMPLE_FLOAT ? type->mantissa : RANK_BITS) - digits);
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

/* ---- bins of ranks, from 0 up; the bins below 0 mirror them ---- */

/* Digits after a value's first that identify its bin, and the log2 of the powers of two joined. */
static uint32_t digits_at(const struct auto_bins *bins, int k)
{
	const int most = bins->type.code_bytes == 8 ? RANK_BITS : 31;

	return (uint32_t)(k > RANK_BITS ? 0 : RANK_BITS - k < most ? RANK_BITS - k : most);
}

static uint32_t joined_at(int k)
{
	return (uint32_t)(k > RANK_BITS ? k - RANK_BITS : 0);
}

/* At k = 52, the power 2^e has the number e + 1; beyond that, numbers follow the ranks. */
static uint32_t before_at(int k)
{
	return k > RANK_BITS ? RANK_OF_HALF : 0;
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
	const uint64_t finest = (excess << digits) + (own >> excess) + before_at(k);
	const int64_t bin = (int64_t)(finest >> joined_at(k));

	return value < 0 ? ~bin : bin;
}

/* The first integer in bin j of integers, j >= 0; of the last bin's successor, 2^64 at most. */
static uint128_t first_integer(const struct auto_bins *bins, int64_t bin, int k)
{
	const uint32_t digits = digits_at(bins, k);
	const int128_t wanted = ((int128_t)bin << joined_at(k)) - before_at(k),
		       finest = wanted > 0 ? wanted : 0;
	const int128_t excess = (finest >> digits) - 1, shift = excess > 0 ? excess : 0;

	return (uint128_t)(finest - (shift << digits)) << (shift < 64 ? shift : 64);
}

/* Return the lower edge of bin j of ranks, j >= 0. */
static double bin_begin(const struct auto_bins *bins, int64_t bin, int k)
{
	const struct sample_type *const type = &bins->type;

	if (type->kind != SAMPLE_FLOAT)
		return fmin((double)first_integer(bins, bin, k), (double)(sample_max(type) + 1));
	/* No overflow: k is at most the bits of a float. */
	const uint128_t rank = (uint128_t)bin << k;
	const int64_t excess = (int64_t)(rank >> type->mantissa) - 1,
		      shift = excess > 0 ? excess : 0;
	const double own = ldexp((double)(uint64_t)(rank - ((uint128_t)shift << type->mantissa)),
				 (int)shift + auto_k_least(type));
	const double last = sample_max_finite(type);

	return fmin(own, last + ldexp(1, exponent_of_unit(type, last)));
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

/* Which bin of 2^to contains bin j of 2^from? `to` is at least `from`. */
static int128_t coarser(const struct auto_bins *bins, int128_t bin, int from, int to)
{
	if (!bins->log || bins->type.kind == SAMPLE_FLOAT || from == to)
		return bin >> (to - from < 100 ? to - from : 100);
	/* The first value of the bin, or of its mirror image, is in the coarser bin too. */
	const int128_t own = (int128_t)first_integer(bins, (int64_t)(bin < 0 ? ~bin : bin), from);
	return bin_of_value(bins, bin < 0 ? ~own : own, to);
}

/* ---- spans ---- */

static int128_t length_of(const struct auto_run *run)
{
	return run->last - run->first + 1;
}

int128_t auto_span_bins(const struct auto_span *s)
{
	return length_of(&s->below) + s->zero + length_of(&s->above);
}

/* The key of zero, or of -0. */
static uint64_t key_of_zero(const struct sample_type *type, bool minus)
{
	return type->kind == SAMPLE_FLOAT ? sample_key(type, minus ? -0.0 : 0.0)
					  : (uint64_t)-sample_min(type);
}

bool auto_is_extent(const struct auto_bins *bins, const struct extent *e)
{
	const struct sample_type *const type = &bins->type;
	const bool real = type->kind == SAMPLE_FLOAT;
	const uint64_t minus = key_of_zero(type, true), zero = key_of_zero(type, false);
	const uint64_t least = real ? sample_key(type, -sample_max_finite(type)) : 0,
		       most = real ? sample_key(type, sample_max_finite(type))
				   : (uint64_t)(sample_max(type) - sample_min(type));

	if (extent_is_none(e))
		return extent_equal(e, &EXTENT_NONE);
	return least <= e->least && e->greatest <= most &&
	       (e->least >= minus || (e->least <= e->below && e->below < minus)) &&
	       (e->greatest <= zero || (zero < e->above && e->above <= e->greatest));
}

static struct auto_run run_of(const struct auto_bins *bins, uint64_t least, uint64_t greatest,
			      int k)
{
	return (struct auto_run){auto_bin(bins, least, k), auto_bin(bins, greatest, k)};
}

struct auto_span auto_span_of(const struct auto_bins *bins, const struct extent *extent, int k)
{
	const uint64_t minus = key_of_zero(&bins->type, true),
		       zero = key_of_zero(&bins->type, false);
	struct auto_span span = {.below = RUN_NONE, .above = RUN_NONE, .k = k};

	if (extent_is_none(extent))
		return span;
	if (!bins->log) {
		span.above = run_of(bins, extent->least, extent->greatest, k);
		return span;
	}
	if (extent->least < minus)
		span.below = run_of(bins, extent->least, extent->below, k);
	if (extent->greatest > zero)
		span.above = run_of(bins, extent->above, extent->greatest, k);
	span.zero = extent->least <= zero && extent->greatest >= minus;
	return span;
}

static struct auto_run run_coarser(const struct auto_bins *bins, const struct auto_run *run,
				   int from, int to)
{
	return length_of(run) == 0 ? RUN_NONE
				   : (struct auto_run){coarser(bins, run->first, from, to),
						       coarser(bins, run->last, from, to)};
}

static struct auto_run run_both(const struct auto_run *a, const struct auto_run *b)
{
	if (length_of(a) == 0 || length_of(b) == 0)
		return length_of(a) == 0 ? *b : *a;
	return (struct auto_run){a->first < b->first ? a->first : b->first,
				 a->last > b->last ? a->last : b->last};
}

static struct auto_span span_coarser(const struct auto_bins *bins, const struct auto_span *s, int k)
{
	return (struct auto_span){.below = run_coarser(bins, &s->below, s->k, k),
				  .zero = s->zero,
				  .above = run_coarser(bins, &s->above, s->k, k),
				  .k = k};
}

struct auto_span auto_span_both(const struct auto_bins *bins, const struct auto_span *a,
				const struct auto_span *b)
{
	/* This ends, because with a k of as many bits as the numbers there are auto_bins_least. */
	for (int k = a->k > b->k ? a->k : b->k;; k++) {
		const struct auto_span x = span_coarser(bins, a, k), y = span_coarser(bins, b, k);
		struct auto_span both = {.below = run_both(&x.below, &y.below),
					 .above = run_both(&x.above, &y.above),
					 .k = k};
		both.zero = x.zero || y.zero ||
			    (length_of(&both.below) > 0 && length_of(&both.above) > 0 && bins->log);
		if (auto_span_bins(&both) <= (int128_t)bins->most)
			return both;
	}
}

uint32_t auto_span_at(const struct auto_bins *bins, const struct auto_span *from, uint32_t i,
		      const struct auto_span *to)
{
	const int128_t before = length_of(&from->below), after = before + from->zero,
		       zero = length_of(&to->below);

	if (i < before)
		return (uint32_t)(coarser(bins, from->below.first + i, from->k, to->k) -
				  to->below.first);
	if (i < after)
		return (uint32_t)zero;
	return (uint32_t)(zero + to->zero - to->above.first +
			  coarser(bins, from->above.first + i - after, from->k, to->k));
}

double auto_edge(const struct auto_bins *bins, const struct auto_span *s, uint32_t i)
{
	const int128_t before = length_of(&s->below), after = before + s->zero;
	const double least =
		bins->type.kind == SAMPLE_FLOAT ? ldexp(1, auto_k_least(&bins->type)) : 1;

	if (before > 0 && i <= before)
		return 0 - bin_begin(bins, (int64_t) - (s->below.first + i), s->k);
	if (i < after)
		return 0;
	return fmax(bin_begin(bins, (int64_t)(s->above.first + i - after), s->k), least);
}

/* ---- the smallest k ---- */

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
	struct auto_span span;

	if (extent_is_none(extent))
		return k;
	assert(bins->most >= auto_bins_least(bins));
	if (!bins->log) {
		const int unit = unit_of_extent(&bins->type, extent);
		k = k > unit ? k : unit;
		k = bins->whole && k < 0 ? 0 : k;
	}
	while (span = auto_span_of(bins, extent, k), auto_span_bins(&span) > (int128_t)bins->most)
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
		const double value = sample_value(type, code);
		if (!isfinite(value))
			return EXTENT_NONE;
		key = sample_key(type, value);
	}
	return (struct extent){.least = key,
			       .greatest = key,
			       .below = key < key_of_zero(type, true) ? key : 0,
			       .above = key > key_of_zero(type, false) ? key : UINT64_MAX};
}

/* ---- the rule ---- */

static void rank_rule(struct binning *b, const struct auto_bins *bins, int k)
{
	const struct sample_type *const type = &bins->type;

	b->kind = BIN_RANK;
	b->rank.mask = width(bins) - 1;
	b->rank.above = slots_before(bins);
	if (type->kind != SAMPLE_FLOAT) {
		b->rank.digits = digits_at(bins, k);
		b->rank.shift = joined_at(k);
		b->rank.before = before_at(k);
		return;
	}
	/* Floats below 32 bits are counted as words of 32 bits that begin with theirs. */
	b->rank.shift = (uint32_t)k + (type->bits < 32 ? 32 - type->bits : 0);
	b->rank.before = (uint32_t)((uint64_t)1 << 63 >> k);
}

void auto_rule(struct binning *b, const struct auto_bins *bins, int k)
{
	const struct sample_type *const type = &bins->type;
	const uint32_t slots = auto_slots(bins);
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

bool auto_know(struct binning *b, const struct auto_bins *bins, const struct extent *extent, int k)
{
	const struct auto_span span = auto_span_of(bins, extent, k);
	const struct auto_run *const low = length_of(&span.below) > 0 ? &span.below : &span.above,
				     *const high = length_of(&span.above) > 0 ? &span.above : low;
	const bool real = bins->type.kind == SAMPLE_FLOAT,
		   fits = bins->type.code_bytes < 8 || (real ? k >= 32 : digits_at(bins, k) <= 25);

	if (!bins->log || !fits || length_of(low) == 0)
		return false;
	b->rank.low = (uint32_t)low->first;
	b->rank.span = (uint32_t)(high->last - low->first);
	b->rank.inner = (uint32_t)(low->last + 1);
	b->rank.gap = low == high ? 0 : (uint32_t)(high->first - low->last - 1);
	b->rank.unknown = !span.zero;
	return true;
}

/* ---- coarser ---- */

/* Slots with 32-bit or 64-bit counts; the other pointer is NULL. */
struct slots {
	uint32_t *narrow;
	uint64_t *wide;
};

static inline struct slots slots_from(const struct slots *t, uint32_t first)
{
	return (struct slots){t->narrow ? t->narrow + first : NULL,
			      t->wide ? t->wide + first : NULL};
}

/* Return the count of a slot and leave 0. */
static inline uint64_t slots_take(const struct slots *t, uint32_t slot)
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

static inline void slots_add(const struct slots *t, uint32_t slot, uint64_t n)
{
	if (t->narrow)
		t->narrow[slot] += (uint32_t)n;
	else
		t->wide[slot] += n;
}

static inline void reverse(const struct slots *t, uint32_t from, uint32_t to)
{
	for (; from + 1 < to; from++, to--) {
		const uint64_t low = slots_take(t, from), high = slots_take(t, to - 1);
		slots_add(t, from, high);
		slots_add(t, to - 1, low);
	}
}

/* Rotate the slots to the left, in place: slot `by`, which is below `slots`, becomes slot 0. */
static inline void slots_rotate(const struct slots *t, uint32_t slots, uint32_t by)
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
static inline void coarsen_run(const struct slots *t, const struct auto_bins *bins,
			       const struct auto_run *run, int from, int to)
{
	const uint32_t slots = width(bins);

	if (length_of(run) == 0)
		return;
	assert(length_of(run) <= (int128_t)slots);
	const int128_t to_first = coarser(bins, run->first, from, to);
	for (int128_t j = run->first; j <= run->last; j++) {
		const uint64_t n = slots_take(t, (uint32_t)j & (slots - 1));
		if (n > 0)
			slots_add(t,
				  (uint32_t)(run->first + coarser(bins, j, from, to) - to_first) &
					  (slots - 1),
				  n);
	}
	slots_rotate(t, slots, (uint32_t)(run->first - to_first) & (slots - 1));
}

static inline void coarsen(const struct slots *t, const struct auto_bins *bins,
			   const struct extent *extent, int from, int to)
{
	const struct slots above = slots_from(t, slots_before(bins));

	if (from >= to)
		return;
	const struct auto_span span = auto_span_of(bins, extent, from);
	coarsen_run(t, bins, &span.below, from, to);
	coarsen_run(&above, bins, &span.above, from, to);
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

/*
 * Rotated so that the last bin below 0 is in the slot before zero's, and the first one above 0 in
 * the slot after it, the bins lie side by side; histograms without a bin of zero have one sign.
 */
void auto_arrange64(uint64_t *table, const struct auto_bins *bins, const struct auto_span *span)
{
	const uint32_t before = slots_before(bins), slots = width(bins),
		       below = (uint32_t)length_of(&span->below);

	if (below > 0)
		slots_rotate(&(struct slots){.wide = table}, slots,
			     (uint32_t)(span->below.last + 1) & (slots - 1));
	slots_rotate(&(struct slots){.wide = table + before}, slots,
		     (uint32_t)span->above.first & (slots - 1));
	if (before > 0)
		memmove(table, table + before - (below > 0 || span->zero) - below,
			(size_t)auto_span_bins(span) * sizeof(*table));
}

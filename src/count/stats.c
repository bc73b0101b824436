/* SPDX-License-Identifier: MIT */
/*
 * stats: samples added to exact sums, and the figures of them.
 *
 * Integers are added as keys, value - sample_min, which are not negative: the deviation of the keys
 * is that of the samples, and the mean of the samples that of the keys plus sample_min.
 *
 * Of a float the mantissa is added, as a whole number, to the sums of its sign and exponent: 4096
 * pairs of sums for binary64, of which data touch a few dozen. No mantissa is shifted and no carry
 * is passed on for a single sample; that is done once for each pair, when the result is asked for.
 *
 * Most floats are added by blocks instead: where magnitudes are not too far apart, all samples of a
 * block are whole multiples of one unit, and their sums are added to those of the exponent that has
 * this unit.
 */
#include "count/stats.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "base/little.h"
#include "count/stats_loops.h"

/* How many blocks of floats are added sample by sample after one for which pick returned 0. */
#define APART 63u

/* ---- types ---- */

static unsigned bits_of_type(const struct sample_type *type)
{
	return type->bits;
}

static unsigned exponent_bits(const struct sample_type *type)
{
	return bits_of_type(type) - 1 - type->mantissa;
}

/*
 * How many struct stats_sums a channel has: one, or for a float one for each sign and exponent, in
 * the order of its bits.
 */
static size_t sums_of_type(const struct sample_type *type)
{
	return type->kind == SAMPLE_FLOAT ? (size_t)2 << exponent_bits(type) : 1;
}

static uint64_t sign_bit(const struct sample_type *type)
{
	return type->kind == SAMPLE_SIGNED ? (uint64_t)1 << (bits_of_type(type) - 1) : 0;
}

static const struct stats_loops *loops_best(void)
{
	static const struct stats_loops *const LOOPS[] = {
		&stats_loops_base,
#ifdef HAVE_X86_LOOPS
		&stats_loops_avx2,
		&stats_loops_avx512,
#endif
	};

	return LOOPS[isa_best()];
}

size_t stats_bytes(const struct sample_type *type, uint32_t channels)
{
	return channels * (sizeof(struct stats) + sums_of_type(type) * sizeof(struct stats_sums));
}

struct stats *stats_open(const struct sample_type *type, uint32_t channels)
{
	/* Zeroed by the system where it is large: sums that no sample touches take no memory. */
	struct stats *const stats = calloc(1, stats_bytes(type, channels));

	if (!stats)
		return NULL;
	struct stats_sums *const sums = (struct stats_sums *)(void *)(stats + channels);
	for (uint32_t c = 0; c < channels; c++)
		stats[c] = (struct stats){
			.type = *type,
			.loops = loops_best(),
			.extent = EXTENT_NONE,
			.sums = sums + c * sums_of_type(type),
		};
	return stats;
}

void stats_clear(struct stats *stats)
{
	memset(stats->sums, 0, sums_of_type(&stats->type) * sizeof(*stats->sums));
	*stats = (struct stats){.type = stats->type,
				.loops = stats->loops,
				.extent = EXTENT_NONE,
				.sums = stats->sums};
}

/* ---- sums ---- */

static inline void add_sum(struct stats_sums *s, uint128_t sum)
{
	const uint128_t all = ((uint128_t)s->sum[1] << 64 | s->sum[0]) + sum;

	s->sum[0] = (uint64_t)all;
	s->sum[1] = (uint64_t)(all >> 64);
}

static inline void add_square(struct stats_sums *s, uint128_t square)
{
	const uint128_t all = ((uint128_t)s->square[1] << 64 | s->square[0]) + square;

	s->square[0] = (uint64_t)all;
	s->square[1] = (uint64_t)(all >> 64);
	s->square[2] += all < square;
}

static inline void carry_if(bool carry, uint64_t *into)
{
	if (__builtin_expect(carry, 0))
		++*into;
}

/*
 * Adds one mantissa, below 2^53, or below 2^24 if narrow. Carries into the upper words are so rare
 * that a branch for them costs less than loading and storing those words for each sample.
 */
static inline void add_mantissa(struct stats_sums *s, uint64_t x, bool narrow)
{
	const uint128_t square = (uint128_t)x * x;
	const uint64_t low = (uint64_t)square;

	s->sum[0] += x;
	carry_if(s->sum[0] < x, &s->sum[1]);
	if (narrow) {
		s->square[0] += low;
		/* The third word stays 0: 2^64 squares below 2^48 do not reach it. */
		carry_if(s->square[0] < low, &s->square[1]);
		return;
	}
	const uint128_t all = ((uint128_t)s->square[1] << 64 | s->square[0]) + square;
	s->square[0] = (uint64_t)all;
	s->square[1] = (uint64_t)(all >> 64);
	carry_if(all < square, &s->square[2]);
}

/* Adds the same number n times. */
static void add_times(struct stats_sums *s, uint64_t x, uint64_t n)
{
	const uint128_t square = (uint128_t)x * x;
	const uint128_t low = (uint128_t)(uint64_t)square * n, high = (square >> 64) * n;

	add_sum(s, (uint128_t)x * n);
	add_square(s, low);
	add_square(s, high << 64);
	s->square[2] += (uint64_t)(high >> 64);
}

static void add_sums(struct stats_sums *to, const struct stats_sums *from)
{
	add_sum(to, (uint128_t)from->sum[1] << 64 | from->sum[0]);
	add_square(to, (uint128_t)from->square[1] << 64 | from->square[0]);
	to->square[2] += from->square[2];
}

/* ---- samples ---- */

/* Adds an infinity or a NaN n times. */
static void add_odd(struct stats *s, uint64_t bits, uint64_t n)
{
	const uint64_t mantissa = bits & (((uint64_t)1 << s->type.mantissa) - 1);

	*(mantissa != 0                              ? &s->nan
	  : bits >> (bits_of_type(&s->type) - 1) & 1 ? &s->below
						     : &s->above) += n;
}

/*
 * The mantissa of a float as a whole number. *odd: the float is an infinity or a NaN, and has none.
 */
static inline uint64_t mantissa_of(uint64_t bits, uint32_t mantissa, uint32_t exponent_mask,
				   bool *odd)
{
	const uint32_t exponent = (uint32_t)(bits >> mantissa) & exponent_mask;

	*odd = exponent == exponent_mask;
	return (bits & (((uint64_t)1 << mantissa) - 1)) | (uint64_t)(exponent > 0) << mantissa;
}

static inline void add_singly(struct stats *s, const unsigned char *p, size_t n, uint32_t bytes)
{
	const uint32_t mantissa = bytes == 4 ? 23 : 52, exponents = bytes == 4 ? 0xff : 0x7ff;
	uint64_t least = UINT64_MAX, greatest = 0;
	size_t finite = 0;

	for (size_t i = 0; i < n; i++) {
		bool odd;
		const uint64_t bits = word_at(p + i * bytes, bytes, false);
		const uint64_t m = mantissa_of(bits, mantissa, exponents, &odd);
		if (__builtin_expect(odd, 0)) {
			add_odd(s, bits, 1);
			continue;
		}
		const uint64_t key =
			bytes == 4 ? key32_of_float((uint32_t)bits) : key64_of_double(bits);
		finite++;
		least = key < least ? key : least;
		greatest = key > greatest ? key : greatest;
		add_mantissa(&s->sums[bits >> mantissa], m, bytes == 4);
	}
	extent_add(&s->extent, &(struct extent){least, greatest});
	s->number += finite;
}

/* Adds n floats, words in this machine's order, sample by sample. */
static void add_apart(struct stats *s, const unsigned char *words, size_t n)
{
	if (s->type.bytes == 4)
		add_singly(s, words, n, 4);
	else
		add_singly(s, words, n, 8);
}

void stats_add_bits(struct stats *s, uint64_t bits, uint64_t n)
{
	const struct sample_type *const type = &s->type;
	const uint32_t bytes = type->bytes;
	uint64_t key = bits ^ sign_bit(type), number = key;
	struct stats_sums *sums = s->sums;

	if (n == 0)
		return;
	if (type->kind == SAMPLE_FLOAT) {
		bool odd;
		number = mantissa_of(bits, type->mantissa, (1u << exponent_bits(type)) - 1, &odd);
		/* f8e4m3 has numbers where others have NaN */
		if (odd && (bytes > 1 || !isfinite(sample_code(type, (uint32_t)bits)))) {
			add_odd(s, bits, n);
			return;
		}
		key = bytes <= 2   ? auto_extent_of_code(type, (uint32_t)bits).least
		      : bytes == 4 ? key32_of_float((uint32_t)bits)
				   : key64_of_double(bits);
		sums += bits >> type->mantissa;
	}
	extent_add(&s->extent, &(struct extent){key, key});
	add_times(sums, number, n);
	s->number += n;
}

void stats_add_codes(struct stats *s, const uint32_t *code, size_t n, const uint64_t *count)
{
	const struct sample_type type = s->type;
	const uint32_t sign = (uint32_t)sign_bit(&type);
	uint128_t sum = 0, square = 0; /* of keys below 2^16, fewer than 2^64: they fit */
	uint64_t number = 0, least = UINT64_MAX, greatest = 0;

	for (size_t i = 0; i < n && type.kind == SAMPLE_FLOAT; i++)
		stats_add_bits(s, sample_swapped(&type, code[i]), count[code[i]]);
	if (type.kind == SAMPLE_FLOAT)
		return;
	for (size_t i = 0; i < n; i++) {
		const uint64_t key = sample_swapped(&type, code[i]) ^ sign, times = count[code[i]];
		least = key < least ? key : least;
		greatest = key > greatest ? key : greatest;
		number += times;
		sum += (uint128_t)key * times;
		square += (uint128_t)(key * key) * times;
	}
	s->number += number;
	extent_add(&s->extent, &(struct extent){least, greatest});
	add_sum(s->sums, sum);
	add_square(s->sums, square);
}

/* ---- blocks: words in this machine's order ---- */

/*
 * The powers of two that the numbers in stats_terms are worth, by [is a float][has 64 bits]. Those
 * of floats follow from the spans, and from the last digits that stats_loops.c fixes.
 */
static const struct {
	unsigned char sum[2], square[6];
} SHIFTS[2][2] = {{{{0, 16}, {0, 32}}, {{0, 32}, {0, 32, 33, 65, 64, 96}}},
		  {{{0}, {0, 44}}, {{0, 28}, {0, 43, 52, 96}}}};
#define UP 32u /* exponents; see add_terms */

/*
 * `minus` has the sums of negative numbers. Blocks of binary64 have numbers of up to 69 digits, for
 * which sums have no room: what is a multiple of 2^UP, or of its square, goes to the sums of a
 * larger exponent.
 */
static void add_terms(const struct stats *s, const struct stats_terms *t, struct stats_sums *plus,
		      struct stats_sums *minus)
{
	const bool real = s->type.kind == SAMPLE_FLOAT, wide = s->type.bytes == 8;
	int128_t parts[3] = {0}; /* the sum; the squares below 2^64, and from 2^64 on */

	for (unsigned i = 0; i < 2; i++)
		parts[0] += t->sum[i] * ((int128_t)1 << SHIFTS[real][wide].sum[i]);
	for (unsigned i = 0; i < 6; i++) {
		const unsigned shift = SHIFTS[real][wide].square[i];
		parts[1 + shift / 64] += t->square[i] * ((int128_t)1 << shift % 64);
	}
	parts[2] += parts[1] >> 64; /* carries or borrows; the whole is not negative */
	struct stats_sums *const to = parts[0] < 0 ? minus : plus;
	uint128_t sum = (uint128_t)(parts[0] < 0 ? -parts[0] : parts[0]);
	if (real && wide) {
		add_sum(to + UP, sum >> UP);
		add_square(plus + UP, (uint128_t)parts[2]);
		sum &= ((uint128_t)1 << UP) - 1;
		parts[2] = 0;
	}
	add_sum(to, sum);
	add_square(plus, (uint128_t)parts[2] << 64 | (uint64_t)parts[1]);
	plus->square[2] += (uint64_t)(parts[2] >> 64);
}

static void add_keys(struct stats *s, const unsigned char *words, size_t n)
{
	const bool wide = s->type.bytes == 8;
	const size_t whole = n / STATS_STEP * STATS_STEP;
	struct stats_terms terms;
	const struct extent extent = s->loops->keys[wide ? 2 : s->type.bytes - 3](
		words, whole, sign_bit(&s->type), &terms);

	extent_add(&s->extent, &extent);
	add_terms(s, &terms, s->sums, s->sums);
	s->number += whole;
	for (size_t i = whole; i < n; i++)
		stats_add_bits(s, word_at(words + i * (wide ? 8 : 4), wide ? 8 : 4, false), 1);
}

/*
 * Adds those of n floats singly whose magnitude, as bits without the sign, is one of `many` from
 * `low` on. The others, whose number is returned, become the first of `words`. Where more than an
 * eighth are to be added singly all are, and it returns 0.
 */
static inline size_t pick(struct stats *s, const unsigned char *from, unsigned char *words,
			  size_t n, uint64_t low, uint64_t many, uint32_t bytes)
{
	unsigned char single[STATS_BLOCK + 8];
	size_t i = 0, picked = 0;

	for (; i < n && picked <= n / 8; i++) {
		const unsigned char *const p = from + i * bytes;
		const uint64_t size = word_at(p, bytes, false) & UINT64_MAX >> (65 - 8 * bytes);
		memcpy(single + picked * bytes, p, bytes);
		memmove(words + (i - picked) * bytes, p, bytes); /* p itself, or before it */
		picked += size - low < many;
	}
	add_apart(s, single, picked);
	if (picked <= n / 8)
		return n - picked;
	add_apart(s, words, i - picked);
	add_apart(s, from + i * bytes, n - i);
	return 0;
}

/*
 * A block's exponent is that of its greatest magnitude, as in its bits, but at least `first`, and
 * it must be below `end`: then sums do not overflow, and their units do not underflow.
 */
static const struct {
	uint32_t first, end, span, bias;
} WINDOWS[2] = {{STATS_SPAN32 + 1, 255, STATS_SPAN32, 126}, {622, 1501, STATS_SPAN64, 1022}};

static void add_reals(struct stats *s, const unsigned char *words, size_t n)
{
	const bool wide = s->type.bytes == 8;
	const uint32_t bytes = s->type.bytes, mantissa = s->type.mantissa;
	const uint32_t first = WINDOWS[wide].first, end = WINDOWS[wide].end;
	const uint64_t half = (uint64_t)1 << (8 * bytes - 1);
	unsigned char own[8 * STATS_BLOCK];
	struct stats_terms terms;
	uint64_t small, low;
	uint32_t e;

	if (n < STATS_STEP || !s->loops->reals[wide] || s->apart > 0) {
		s->apart -= s->apart > 0;
		add_apart(s, words, n);
		return;
	}
	for (;; words = own) {
		const struct extent extent = s->loops->look[wide](words, n, &small);
		const int64_t plus = (int64_t)(extent.greatest - half),
			      minus = (int64_t)(half - 1 - extent.least);
		e = (uint32_t)((uint64_t)(plus > minus ? plus : minus) >> mantissa);
		e = e > first ? e : first;
		low = (uint64_t)(e - WINDOWS[wide].span) << mantissa;
		if (e < end && small >= 2 * low - 1) {
			extent_add(&s->extent, &extent);
			break;
		}
		const uint64_t from = e < end ? 1 : (uint64_t)end << mantissa,
			       many = e < end ? low - 1 : half;
		n = wide ? pick(s, words, own, n, from, many, 8)
			 : pick(s, words, own, n, from, many, 4);
		if (n == 0) {
			s->apart = APART;
			return;
		}
	}
	const size_t whole = n / STATS_STEP * STATS_STEP;
	struct stats_sums *const plus = s->sums + (e - WINDOWS[wide].span);
	s->loops->reals[wide](words, whole, (int)e - (int)WINDOWS[wide].bias, &terms);
	add_terms(s, &terms, plus, plus + sums_of_type(&s->type) / 2);
	s->number += whole;
	add_apart(s, words + whole * bytes, n - whole);
}

void stats_add_channels(struct stats *stats, uint32_t channels, const unsigned char *samples,
			size_t n)
{
	const struct sample_type *const type = &stats->type;
	const bool as_is = channels == 1 && type->bytes != 3 && !type->big;
	unsigned char own[8 * STATS_BLOCK];

	for (size_t records = n / channels, some; records > 0; records -= some) {
		some = records < STATS_BLOCK ? records : STATS_BLOCK;
		for (uint32_t c = 0; c < channels; c++) {
			if (!as_is)
				stats->loops->fetch(own, type, samples + c * type->bytes, some,
						    channels * type->bytes);
			(type->kind == SAMPLE_FLOAT ? add_reals : add_keys)(
				&stats[c], as_is ? samples : own, some);
		}
		samples += some * channels * type->bytes;
	}
}

void stats_add(struct stats *s, const unsigned char *samples, size_t n)
{
	stats_add_channels(s, 1, samples, n);
}

void stats_add_same(struct stats *s, const unsigned char *sample, uint64_t n)
{
	stats_add_bits(s, word_at(sample, s->type.bytes, s->type.big), n);
}

void stats_merge(struct stats *to, const struct stats *from)
{
	assert(from->type.kind == to->type.kind && from->type.bytes == to->type.bytes &&
	       from->type.mantissa == to->type.mantissa);
	to->number += from->number;
	to->below += from->below;
	to->above += from->above;
	to->nan += from->nan;
	extent_add(&to->extent, &from->extent);
	for (size_t i = 0; i < sums_of_type(&to->type); i++)
		add_sums(&to->sums[i], &from->sums[i]);
}

/* ---- whole numbers of a few thousand bits ----
 *
 * They are not negative. A result that does not fit is a bug, and asserted.
 *
 * A quotient r, either a/n or sqrt(a)/n, is never computed itself. Its first 61 or 62 binary digits,
 * q, are guessed and then checked: q is the largest whole number that is not above r / 2^t; and
 *
 *	q <= a/n / 2^t          means      q n 2^t <= a
 *	q <= sqrt(a)/n / 2^t    means      (q n)^2 2^(2t) <= a
 *
 * which compare whole numbers, because a is multiplied until t is at most 0. So q is the floor of r
 * / 2^t, and r is q 2^t only where the two sides are equal. Where they are not, r is between q 2^t
 * and (q + 1) 2^t, and rounds as (q + 1/2) 2^t does: every binary64, and every middle between two
 * of them, is a multiple of 2^(t + 1), because q has at least 61 digits and they have 53 and 54, or
 * fewer near 0.
 */

/*
 * 4352 bits. The largest number there is: 2^64 samples of binary64, each below 2^2098 units of the
 * smallest denormal, have a sum of squares below 2^4260; times their number it is below 2^4324.
 */
#define BIG_WORDS 68u
#define QUOTIENT_BITS 62 /* of q at most: 61 or 62, see quotient */

struct big {
	unsigned used;            /* words; the last of them is not 0 */
	uint64_t word[BIG_WORDS]; /* the least significant first; the rest is not set */
};

static void lengthen(struct big *a, unsigned words)
{
	assert(words <= BIG_WORDS);
	while (a->used < words)
		a->word[a->used++] = 0;
}

static void trim(struct big *a)
{
	while (a->used > 0 && a->word[a->used - 1] == 0)
		a->used--;
}

/* to += the number in these words, the least significant first, times 2^shift. */
static void big_add(struct big *to, const uint64_t *words, unsigned count, unsigned shift)
{
	unsigned at = shift / 64;
	const unsigned bits = shift % 64;
	uint64_t left = 0; /* of the word before: the bits that are shifted into this one */
	bool carry = false;

	while (count > 0 && words[count - 1] == 0)
		count--;
	for (unsigned i = 0; i < count || left > 0 || carry; i++, at++) {
		const uint64_t own = i < count ? words[i] : 0;
		const uint64_t word = own << bits | left;
		lengthen(to, at + 1);
		left = bits > 0 ? own >> (64 - bits) : 0;
		const uint128_t sum = (uint128_t)to->word[at] + word + carry;
		to->word[at] = (uint64_t)sum;
		carry = sum >> 64;
	}
	trim(to);
}

/* from -= what, which is not larger. */
static void big_subtract(struct big *from, const struct big *what)
{
	bool borrow = false;

	for (unsigned i = 0; i < from->used; i++) {
		const uint64_t word = i < what->used ? what->word[i] : 0;
		const uint128_t difference = (uint128_t)from->word[i] - word - borrow;
		from->word[i] = (uint64_t)difference;
		borrow = difference >> 64 != 0;
	}
	assert(!borrow);
	trim(from);
}

/* out = a b; out is neither of them. */
static void big_multiply(struct big *out, const struct big *a, const struct big *b)
{
	out->used = 0;
	lengthen(out, a->used + b->used);
	for (unsigned i = 0; i < a->used; i++) {
		uint64_t carry = 0;
		for (unsigned k = 0; k < b->used; k++) {
			const uint128_t sum =
				(uint128_t)b->word[k] * a->word[i] + out->word[i + k] + carry;
			out->word[i + k] = (uint64_t)sum;
			carry = (uint64_t)(sum >> 64);
		}
		out->word[i + b->used] = carry;
	}
	trim(out);
}

/* Below 0, 0 or above 0, as a is less than, equal to or greater than b. */
static int big_compare(const struct big *a, const struct big *b)
{
	if (a->used != b->used)
		return a->used < b->used ? -1 : 1;
	for (unsigned i = a->used; i-- > 0;)
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i] ? -1 : 1;
	return 0;
}

/* a -= b, or a = b - a where that is larger; returns true then. */
static bool distance(struct big *a, const struct big *b)
{
	if (big_compare(a, b) >= 0) {
		big_subtract(a, b);
		return false;
	}
	struct big larger = *b;
	big_subtract(&larger, a);
	*a = larger;
	return true;
}

/* Near a 2^exponent: the error is less than 2^-50 of that. */
static double real_of(const struct big *a, int exponent)
{
	const int top = (int)a->used, low = top > 3 ? top - 3 : 0;
	double near = 0;

	for (int i = top - 1; i >= low; i--)
		near = near * 0x1p64 + (double)a->word[i];
	return ldexp(near, 64 * low + exponent);
}

static int bit_length(uint64_t x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* out = q n 2^shift, or (q n)^2 2^shift. */
static void candidate(struct big *out, uint64_t q, uint64_t n, bool root, unsigned shift)
{
	const uint128_t product = (uint128_t)q * n;
	struct big factor = {.used = 0}, square;

	big_add(&factor, (uint64_t[]){(uint64_t)product, (uint64_t)(product >> 64)}, 2, 0);
	if (root)
		big_multiply(&square, &factor, &factor);
	out->used = 0;
	big_add(out, root ? square.word : factor.word, root ? square.used : factor.used, shift);
}

/*
 * The binary64 nearest to q 2^exponent or, with `more`, to a number between that and (q + 1)
 * 2^exponent; q < 2^62.
 */
static double nearest(uint64_t q, bool more, int exponent)
{
	int drop = bit_length(q) - 53; /* digits of q beyond 53 */

	if (drop < -1074 - exponent) /* digits of q below the smallest denormal */
		drop = -1074 - exponent;
	if (drop <= 0)
		return ldexp((double)q, exponent);
	if (drop > QUOTIENT_BITS)
		return 0; /* q is less than half of the smallest denormal */
	const uint64_t half = (uint64_t)1 << (drop - 1), rest = q & (2 * half - 1);
	q >>= drop;
	q += rest > half || (rest == half && (more || q % 2 == 1));
	return ldexp((double)q, exponent + drop);
}

/*
 * The binary64 nearest to a/n 2^unit or, with `root`, to sqrt(a)/n 2^unit, ties to even. 0 < n; the
 * result is below 2^1023.
 *
 * With d the digits of n and h those of a's root, or of a, before the point: r is from 2^(h - 1 -
 * d) to below 2^(h + 1 - d). So with t = h - d - 61 the quotient r / 2^t is from 2^60 to below
 * 2^62.
 */
static double quotient(const struct big *a, uint64_t n, bool root, int unit)
{
	struct big scaled, product, rest;

	assert(n > 0);
	if (a->used == 0)
		return 0;
	const int bits = 64 * ((int)a->used - 1) + bit_length(a->word[a->used - 1]);
	const int t = (root ? (bits + 1) / 2 : bits) - bit_length(n) - (QUOTIENT_BITS - 1);
	const int shift = root ? 2 * t : t;
	const unsigned up = shift > 0 ? (unsigned)shift : 0;
	scaled.used = 0;
	big_add(&scaled, a->word, a->used, shift < 0 ? (unsigned)-shift : 0);
	/* binary64 gets the first 50 digits right, and a step of Newton's method the others. */
	const double near = real_of(&scaled, -(int)up);
	uint64_t q = (uint64_t)((root ? sqrt(near) : near) / (double)n);
	candidate(&product, q, n, root, up);
	rest = scaled;
	const bool over = distance(&rest, &product);
	const double slope = (root ? 2 * (double)q * (double)n : 1) * (double)n;
	const uint64_t step = (uint64_t)(real_of(&rest, -(int)up) / slope);
	q = over ? q - step : q + step;
	/* What is left of q's error is rounding: one or two. */
	for (candidate(&product, q, n, root, up); big_compare(&product, &scaled) > 0; q--)
		candidate(&product, q - 1, n, root, up);
	for (;; q++) {
		candidate(&rest, q + 1, n, root, up);
		if (big_compare(&rest, &scaled) > 0)
			break;
		product = rest;
	}
	assert(q >> (QUOTIENT_BITS - 2) > 0);
	return nearest(q, big_compare(&product, &scaled) != 0, t + unit);
}

/*
 * ---- mean and deviation, each rounded once ----
 *
 *	mean = S1 / n        deviation = sqrt(n S2 - S1^2) / n
 *
 * where S1 is the sum and S2 the sum of the squares. The sums of a float are whole multiples of its
 * smallest denormal, those of squares of that denormal's square. So n S2 - S1^2 and S1 are whole
 * numbers and exact, and quotient rounds each once. n S2 - S1^2 is never negative: it is the
 * sum of (x - y)^2 over all pairs.
 */

/*
 * The sum as a magnitude and a sign, and the sum of squares, in units of the smallest difference of
 * two samples and of its square.
 */
struct totals {
	struct big sum, squares;
	bool negative;
};

static void totals_of_reals(struct totals *t, const struct stats *s)
{
	const size_t exponents = sums_of_type(&s->type) / 2;
	struct big minus = {.used = 0};

	for (size_t e = 0; e < exponents; e++) {
		const unsigned shift =
			e > 0 ? (unsigned)e - 1
			      : 0; /* denormals have the unit of the least normal ones */
		const struct stats_sums *const plus = &s->sums[e], *const less =
									   &s->sums[exponents + e];
		big_add(&t->sum, plus->sum, 2, shift);
		big_add(&minus, less->sum, 2, shift);
		big_add(&t->squares, plus->square, 3, 2 * shift);
		big_add(&t->squares, less->square, 3, 2 * shift);
	}
	t->negative = distance(&t->sum, &minus);
}

void stats_result(const struct stats *s, struct stats_result *r)
{
	const bool real = s->type.kind == SAMPLE_FLOAT;
	const int unit = auto_k_least(&s->type); /* the exponent of a float's smallest denormal */
	const uint64_t n = s->number;
	struct totals t = {.sum.used = 0, .squares.used = 0};
	struct big spread, square; /* n S2 - S1^2; S1^2 */

	*r = (struct stats_result){
		.number = n, .below = s->below, .above = s->above, .nan = s->nan};
	if (n == 0)
		return;
	if (real) {
		totals_of_reals(&t, s);
	} else {
		big_add(&t.sum, s->sums->sum, 2, 0);
		big_add(&t.squares, s->sums->square, 3, 0);
	}
	big_multiply(&spread, &t.squares, &(struct big){1, {n}});
	big_multiply(&square, &t.sum, &t.sum);
	big_subtract(&spread, &square);
	r->deviation = quotient(&spread, n, true, unit);
	if (real) {
		/* -0 becomes 0 */
		r->least_real = sample_of_key(&s->type, s->extent.least) + 0.0;
		r->greatest_real = sample_of_key(&s->type, s->extent.greatest) + 0.0;
	} else {
		/* The sum of the samples is that of their keys and n sample_min. */
		const uint128_t shift = (uint128_t)n * (uint128_t)-sample_min(&s->type);
		struct big moved = {.used = 0};
		big_add(&moved, (uint64_t[]){(uint64_t)shift, (uint64_t)(shift >> 64)}, 2, 0);
		t.negative = distance(&t.sum, &moved);
		r->least = (int128_t)s->extent.least + sample_min(&s->type);
		r->greatest = (int128_t)s->extent.greatest + sample_min(&s->type);
	}
	r->mean = quotient(&t.sum, n, false, unit);
	if (t.negative && r->mean > 0)
		r->mean = -r->mean;
}

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
 */
#include "count/stats.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/little.h"

#define BLOCK ((size_t)1 << 30) /* samples whose keys, below 2^32, have a sum below 2^64 */

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
			.extent = EXTENT_NONE,
			.sums = sums + c * sums_of_type(type),
		};
	return stats;
}

void stats_clear(struct stats *stats)
{
	memset(stats->sums, 0, sums_of_type(&stats->type) * sizeof(*stats->sums));
	*stats = (struct stats){.type = stats->type, .extent = EXTENT_NONE, .sums = stats->sums};
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

/* n times the same number. */
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

/*
 * A block of integers of 24 or 32 bits: the sum of the keys fits one word, and so do the sums of
 * the low and of the high halves of the squares.
 */
static inline void add_keys32(struct stats *s, const unsigned char *p, size_t n, uint32_t bytes,
			      bool big)
{
	const uint32_t flip = (uint32_t)sign_bit(&s->type);
	uint32_t least = UINT32_MAX, greatest = 0;
	uint64_t sum = 0, low = 0, high = 0;

	for (size_t i = 0; i < n; i++) {
		const uint32_t key = (uint32_t)word_at(p + i * bytes, bytes, big) ^ flip;
		const uint64_t square = (uint64_t)key * key;
		least = key < least ? key : least;
		greatest = key > greatest ? key : greatest;
		sum += key;
		low += (uint32_t)square;
		high += square >> 32;
	}
	s->number += n;
	extent_add(&s->extent, &(struct extent){least, greatest});
	add_sum(&s->sums[0], sum);
	add_square(&s->sums[0], ((uint128_t)high << 32) + low);
}

static inline void add_keys64(struct stats *s, const unsigned char *p, size_t n, uint32_t bytes,
			      bool big)
{
	const uint64_t flip = sign_bit(&s->type);
	uint64_t least = UINT64_MAX, greatest = 0;
	struct stats_sums sums = s->sums[0];

	for (size_t i = 0; i < n; i++) {
		const uint64_t key = word_at(p + i * bytes, bytes, big) ^ flip;
		least = key < least ? key : least;
		greatest = key > greatest ? key : greatest;
		add_sum(&sums, key);
		add_square(&sums, (uint128_t)key * key);
	}
	s->number += n;
	extent_add(&s->extent, &(struct extent){least, greatest});
	s->sums[0] = sums;
}

/* An infinity or NaN, n times. */
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

static inline void add_reals(struct stats *s, const unsigned char *p, size_t n, uint32_t bytes,
			     bool big)
{
	const uint32_t mantissa = bytes == 4 ? 23 : 52, exponents = bytes == 4 ? 0xff : 0x7ff;
	uint64_t least = UINT64_MAX, greatest = 0;
	size_t finite = 0;

	for (size_t i = 0; i < n; i++) {
		bool odd;
		const uint64_t bits = word_at(p + i * bytes, bytes, big);
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

void stats_add(struct stats *s, const unsigned char *samples, size_t n)
{
	const bool big = s->type.big, real = s->type.kind == SAMPLE_FLOAT;
	const uint32_t bytes = s->type.bytes;

	/* With constant arguments the compiler makes a loop of each. */
#define ADD(loop, bytes) \
	(big ? loop(s, samples, some, bytes, true) : loop(s, samples, some, bytes, false))
	for (size_t some; n > 0; n -= some, samples += some * bytes) {
		some = n < BLOCK ? n : BLOCK;
		if (bytes == 3)
			ADD(add_keys32, 3);
		else if (bytes == 4)
			real ? ADD(add_reals, 4) : ADD(add_keys32, 4);
		else
			real ? ADD(add_reals, 8) : ADD(add_keys64, 8);
	}
#undef ADD
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

void stats_add_channels(struct stats *stats, uint32_t channels, const unsigned char *samples,
			size_t n)
{
	unsigned char own[512 * 8]; /* samples of one channel */
	const uint32_t bytes = stats->type.bytes;
	const size_t most = sizeof(own) / bytes;

	if (channels == 1) {
		stats_add(stats, samples, n);
		return;
	}
	for (size_t records = n / channels, some; records > 0; records -= some) {
		some = records < most ? records : most;
		for (uint32_t c = 0; c < channels; c++) {
			for (size_t i = 0; i < some; i++)
				memcpy(own + i * bytes, samples + (i * channels + c) * bytes,
				       bytes);
			stats_add(&stats[c], own, some);
		}
		samples += some * channels * bytes;
	}
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
 * A quotient r, either a/n or sqrt(a)/n, is never computed itself. Its first 61 or 62 binary digits
 * q are found from the top one down. A digit belongs to q if q with that digit is not above r /
 * 2^t; and
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
#define QUOTIENT_BITS 62                  /* of q at most: 61 or 62, see quotient */
#define QUOTIENT_NEAR ((uint64_t)1 << 13) /* so near is what binary64 makes of q */

struct big {
	uint64_t word[BIG_WORDS]; /* the least significant first */
};

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
		assert(at < BIG_WORDS);
		left = bits > 0 ? own >> (64 - bits) : 0;
		const uint128_t sum = (uint128_t)to->word[at] + word + carry;
		to->word[at] = (uint64_t)sum;
		carry = sum >> 64;
	}
}

/* from -= what, which is not larger. */
static void big_subtract(struct big *from, const struct big *what)
{
	bool borrow = false;

	for (unsigned i = 0; i < BIG_WORDS; i++) {
		const uint128_t difference = (uint128_t)from->word[i] - what->word[i] - borrow;
		from->word[i] = (uint64_t)difference;
		borrow = difference >> 64 != 0;
	}
	assert(!borrow);
}

/* The number of words up to the last one that is not 0. */
static unsigned used(const struct big *a)
{
	unsigned n = BIG_WORDS;

	while (n > 0 && a->word[n - 1] == 0)
		n--;
	return n;
}

/* out = a b; out is neither of them. */
static void big_multiply(struct big *out, const struct big *a, const struct big *b)
{
	const unsigned as = used(a), bs = used(b);

	*out = (struct big){{0}};
	for (unsigned i = 0; i < as; i++) {
		uint64_t carry = 0;
		for (unsigned k = 0; k < bs || carry > 0; k++) {
			const uint128_t factor = k < bs ? b->word[k] : 0;
			if (i + k >= BIG_WORDS) {
				assert(carry == 0 && factor == 0);
				break;
			}
			const uint128_t sum = factor * a->word[i] + out->word[i + k] + carry;
			out->word[i + k] = (uint64_t)sum;
			carry = (uint64_t)(sum >> 64);
		}
	}
}

/* Below 0, 0 or above 0, as a is less than, equal to or greater than b. */
static int big_compare(const struct big *a, const struct big *b)
{
	for (unsigned i = BIG_WORDS; i-- > 0;)
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i] ? -1 : 1;
	return 0;
}

static int bit_length(uint64_t x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* out = q n 2^shift, or (q n)^2 2^shift. */
static void candidate(struct big *out, uint64_t q, uint64_t n, bool root, unsigned shift)
{
	const uint128_t product = (uint128_t)q * n;
	const struct big factor = {{(uint64_t)product, (uint64_t)(product >> 64)}};
	struct big square = factor;

	if (root)
		big_multiply(&square, &factor, &factor);
	*out = (struct big){{0}};
	big_add(out, square.word, 4, shift);
}

/*
 * The binary64 nearest to q 2^exponent or, with `more`, to a number between that and (q + 1)
 * 2^exponent; q < 2^62.
 */
static double nearest(uint64_t q, bool more, int exponent)
{
	int drop = bit_length(q) - 53; /* digits that have no room in 53 ... */

	if (drop < -1074 - exponent) /* ... or above the smallest denormal */
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
	const int words = (int)used(a);
	struct big scaled = {{0}}, product;

	assert(n > 0);
	if (words == 0)
		return 0;
	const int bits = 64 * (words - 1) + bit_length(a->word[words - 1]);
	const int t = (root ? (bits + 1) / 2 : bits) - bit_length(n) - (QUOTIENT_BITS - 1);
	const int shift = root ? 2 * t : t;
	big_add(&scaled, a->word, (unsigned)words, shift < 0 ? (unsigned)-shift : 0);
	/* In binary64 it has an error of less than 2^-50 of itself; so it is from q on. */
	const int top = (int)used(&scaled), low = top > 3 ? top - 3 : 0;
	double near = 0;
	for (int i = top - 1; i >= low; i--)
		near = near * 0x1p64 + (double)scaled.word[i];
	near = ldexp(near, 64 * low - (shift > 0 ? shift : 0));
	uint64_t q = (uint64_t)((root ? sqrt(near) : near) / (double)n) - QUOTIENT_NEAR;
	for (uint64_t step = QUOTIENT_NEAR; step > 0; step /= 2) {
		candidate(&product, q + step, n, root, shift > 0 ? (unsigned)shift : 0);
		if (big_compare(&product, &scaled) <= 0)
			q += step;
	}
	candidate(&product, q, n, root, shift > 0 ? (unsigned)shift : 0);
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

/* a -= b, or a = b - a where that is larger; returns true then. */
static bool distance(struct big *a, struct big *b)
{
	if (big_compare(a, b) >= 0) {
		big_subtract(a, b);
		return false;
	}
	big_subtract(b, a);
	*a = *b;
	return true;
}

static void totals_of_reals(struct totals *t, const struct stats *s)
{
	const size_t exponents = sums_of_type(&s->type) / 2;
	struct big minus = {{0}};

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
	const int unit = auto_k_least(&s->type); /* of a float: of its smallest denormal */
	const uint64_t n = s->number;
	struct totals t = {.negative = false};
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
	big_multiply(&spread, &t.squares, &(struct big){{n}});
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
		struct big moved = {{(uint64_t)shift, (uint64_t)(shift >> 64)}};
		t.negative = distance(&t.sum, &moved);
		r->least = (int128_t)s->extent.least + sample_min(&s->type);
		r->greatest = (int128_t)s->extent.greatest + sample_min(&s->type);
	}
	r->mean = quotient(&t.sum, n, false, unit);
	if (t.negative && r->mean > 0)
		r->mean = -r->mean;
}

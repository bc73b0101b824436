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

#include "base/big.h"
#include "base/little.h"

#define BLOCK ((size_t)1 << 30) /* samples whose keys, below 2^32, have a sum below 2^64 */

/* ---- types ---- */

static unsigned bits_of_type(const struct sample_type *type)
{
	return 8 * type->bytes;
}

static unsigned exponent_bits(const struct sample_type *type)
{
	return bits_of_type(type) - 1 - type->mantissa;
}

size_t stats_sums_of_type(const struct sample_type *type)
{
	return type->kind == SAMPLE_FLOAT ? (size_t)2 << exponent_bits(type) : 1;
}

static uint64_t sign_bit(const struct sample_type *type)
{
	return type->kind == SAMPLE_SIGNED ? (uint64_t)1 << (bits_of_type(type) - 1) : 0;
}

size_t stats_bytes(const struct sample_type *type, uint32_t channels)
{
	return channels *
	       (sizeof(struct stats) + stats_sums_of_type(type) * sizeof(struct stats_sums));
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
			.least = UINT64_MAX,
			.least_real = (double)INFINITY,
			.greatest_real = -(double)INFINITY,
			.sums = sums + c * stats_sums_of_type(type),
		};
	return stats;
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

static inline uint64_t load(const unsigned char *p, uint32_t bytes, bool big)
{
	uint64_t v;

	if (bytes == 3)
		return big ? (uint64_t)p[0] << 16 | (uint64_t)p[1] << 8 | p[2]
			   : (uint64_t)p[2] << 16 | (uint64_t)p[1] << 8 | p[0];
	if (bytes == 4) {
		const uint32_t w = little32(p);
		return big ? __builtin_bswap32(w) : w;
	}
	v = little64(p);
	return big ? __builtin_bswap64(v) : v;
}

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
		const uint32_t key = (uint32_t)load(p + i * bytes, bytes, big) ^ flip;
		const uint64_t square = (uint64_t)key * key;
		least = key < least ? key : least;
		greatest = key > greatest ? key : greatest;
		sum += key;
		low += (uint32_t)square;
		high += square >> 32;
	}
	s->number += n;
	s->least = least < s->least ? least : s->least;
	s->greatest = greatest > s->greatest ? greatest : s->greatest;
	add_sum(&s->sums[0], sum);
	add_square(&s->sums[0], ((uint128_t)high << 32) + low);
}

static inline void add_keys64(struct stats *s, const unsigned char *p, size_t n, uint32_t bytes,
			      bool big)
{
	const uint64_t flip = sign_bit(&s->type);
	uint64_t least = s->least, greatest = s->greatest;
	struct stats_sums sums = s->sums[0];

	for (size_t i = 0; i < n; i++) {
		const uint64_t key = load(p + i * bytes, bytes, big) ^ flip;
		least = key < least ? key : least;
		greatest = key > greatest ? key : greatest;
		add_sum(&sums, key);
		add_square(&sums, (uint128_t)key * key);
	}
	s->number += n;
	s->least = least;
	s->greatest = greatest;
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

static inline double value_of_bits(uint64_t bits, uint32_t bytes)
{
	double d;
	float f;

	if (bytes == 4) {
		const uint32_t low = (uint32_t)bits;
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	}
	memcpy(&d, &bits, sizeof(d));
	return d;
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
	double least = s->least_real, greatest = s->greatest_real;
	size_t finite = 0;

	for (size_t i = 0; i < n; i++) {
		bool odd;
		const uint64_t bits = load(p + i * bytes, bytes, big);
		const uint64_t m = mantissa_of(bits, mantissa, exponents, &odd);
		if (__builtin_expect(odd, 0)) {
			add_odd(s, bits, 1);
			continue;
		}
		const double value = value_of_bits(bits, bytes);
		struct stats_sums *const sums = &s->sums[bits >> mantissa];
		finite++;
		least = value < least ? value : least;
		greatest = value > greatest ? value : greatest;
		add_mantissa(sums, m, bytes == 4);
	}
	s->least_real = least;
	s->greatest_real = greatest;
	s->number += finite;
}

static void add_block(struct stats *s, const unsigned char *samples, size_t n)
{
	const bool big = s->type.big, real = s->type.kind == SAMPLE_FLOAT;

	/* With constant arguments the compiler makes a loop of each. */
#define ADD(loop, bytes) \
	(big ? loop(s, samples, n, bytes, true) : loop(s, samples, n, bytes, false))
	switch (s->type.bytes) {
	case 3:
		ADD(add_keys32, 3);
		break;
	case 4:
		real ? ADD(add_reals, 4) : ADD(add_keys32, 4);
		break;
	default:
		assert(s->type.bytes == 8);
		real ? ADD(add_reals, 8) : ADD(add_keys64, 8);
		break;
	}
#undef ADD
}

void stats_add(struct stats *s, const unsigned char *samples, size_t n)
{
	for (size_t some; n > 0; n -= some, samples += some * s->type.bytes) {
		some = n < BLOCK ? n : BLOCK;
		add_block(s, samples, some);
	}
}

/* n samples with these bits. */
static void add_bits(struct stats *s, uint64_t bits, uint64_t n)
{
	const uint32_t mantissa = s->type.mantissa;
	bool odd;

	if (n == 0)
		return;
	if (s->type.kind != SAMPLE_FLOAT) {
		const uint64_t key = bits ^ sign_bit(&s->type);
		s->least = key < s->least ? key : s->least;
		s->greatest = key > s->greatest ? key : s->greatest;
		add_times(&s->sums[0], key, n);
		s->number += n;
		return;
	}
	const uint64_t m = mantissa_of(bits, mantissa, (1u << exponent_bits(&s->type)) - 1, &odd);
	if (odd) {
		add_odd(s, bits, n);
		return;
	}
	const double value = s->type.bytes == 2 ? sample_half(&s->type, (uint32_t)bits)
						: value_of_bits(bits, s->type.bytes);
	s->least_real = value < s->least_real ? value : s->least_real;
	s->greatest_real = value > s->greatest_real ? value : s->greatest_real;
	add_times(&s->sums[bits >> mantissa], m, n);
	s->number += n;
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
	add_bits(s, load(sample, s->type.bytes, s->type.big), n);
}

void stats_add_code(struct stats *s, uint32_t code, uint64_t n)
{
	add_bits(s, code, n);
}

void stats_merge(struct stats *to, const struct stats *from)
{
	const size_t sums = stats_sums_of_type(&to->type);

	assert(from->type.kind == to->type.kind && from->type.bytes == to->type.bytes &&
	       from->type.mantissa == to->type.mantissa);
	to->number += from->number;
	to->below += from->below;
	to->above += from->above;
	to->nan += from->nan;
	to->least = from->least < to->least ? from->least : to->least;
	to->greatest = from->greatest > to->greatest ? from->greatest : to->greatest;
	to->least_real = from->least_real < to->least_real ? from->least_real : to->least_real;
	to->greatest_real =
		from->greatest_real > to->greatest_real ? from->greatest_real : to->greatest_real;
	for (size_t i = 0; i < sums; i++)
		add_sums(&to->sums[i], &from->sums[i]);
}

/*
 * ---- mean and deviation, each rounded once ----
 *
 *	mean = S1 / n        deviation = sqrt(n S2 - S1^2) / n
 *
 * where S1 is the sum and S2 the sum of the squares. The sums of a float are whole multiples of its
 * smallest denormal, those of squares of that denormal's square. So n S2 - S1^2 and S1 are whole
 * numbers and exact, and big.c rounds each quotient once. n S2 - S1^2 is never negative: it is the
 * sum of (x - y)^2 over all pairs.
 */

/* The smallest denormal of a float type is 2 to this power. */
static int unit_of(const struct sample_type *type)
{
	const int exponent_bits = (int)(8 * type->bytes - 1 - type->mantissa);
	const int bias = (1 << (exponent_bits - 1)) - 1;

	return 1 - bias - (int)type->mantissa;
}

/*
 * The sum as a magnitude and a sign, and the sum of squares, in units of the smallest difference of
 * two samples and of its square.
 */
struct totals {
	struct big sum, squares;
	bool negative;
};

static void totals_of_keys(struct totals *t, const struct stats_sums *s)
{
	big_add(&t->sum, s->sum, 2, 0);
	big_add(&t->squares, s->square, 3, 0);
}

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
	const size_t exponents = stats_sums_of_type(&s->type) / 2;
	struct big minus = {{0}};

	/* The last exponent is that of infinities and NaN, which are in no sum. */
	for (size_t e = 0; e < exponents - 1; e++) {
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

/* n S2 - S1^2 */
static void spread(struct big *out, const struct totals *t, uint64_t n)
{
	const struct big number = {{n}};
	struct big square;

	big_multiply(out, &t->squares, &number);
	big_multiply(&square, &t->sum, &t->sum);
	big_subtract(out, &square);
}

void stats_result(const struct stats *s, struct stats_result *r)
{
	const bool real = s->type.kind == SAMPLE_FLOAT;
	const int unit = real ? unit_of(&s->type) : 0;
	const uint64_t n = s->number;
	struct totals t = {.negative = false};
	struct big square;

	*r = (struct stats_result){
		.number = n, .below = s->below, .above = s->above, .nan = s->nan};
	if (n == 0)
		return;
	if (real)
		totals_of_reals(&t, s);
	else
		totals_of_keys(&t, &s->sums[0]);
	spread(&square, &t, n);
	r->deviation = big_root_quotient(&square, n, unit);
	if (real) {
		r->least_real = s->least_real + 0.0; /* -0 becomes 0 */
		r->greatest_real = s->greatest_real + 0.0;
	} else {
		/* The sum of the samples is that of their keys and n sample_min. */
		const uint128_t shift = (uint128_t)n * (uint128_t)-sample_min(&s->type);
		struct big moved = {{(uint64_t)shift, (uint64_t)(shift >> 64)}};
		t.negative = distance(&t.sum, &moved);
		r->least = (int128_t)s->least + sample_min(&s->type);
		r->greatest = (int128_t)s->greatest + sample_min(&s->type);
	}
	r->mean = big_quotient(&t.sum, n, unit);
	if (t.negative && r->mean > 0)
		r->mean = -r->mean;
}

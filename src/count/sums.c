/* SPDX-License-Identifier: MIT */
/* sums: mean and deviation from exact sums, and the sums as text. */
#include "count/sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Digits of 32 bits in the working memory of a sum, and of a sum of squares. */
#define SUM_DIGITS (STATS_DIGITS / 4 + 1)
#define SQUARE_DIGITS (STATS_DIGITS / 2 + 2)
#define MASK UINT32_MAX

struct sums {
	struct range {
		uint32_t first, n; /* place of the first digit, and number of digits */
		const uint32_t *digit;
	} sum, square;
	bool minus;        /* the sum is negative */
	uint32_t digits[]; /* of both */
};

/* A sum and a sum of squares in digits of 32 bits, the least significant first. */
struct digits {
	int128_t sum[SUM_DIGITS], square[SQUARE_DIGITS];
	size_t n, squares; /* digits of each */
	bool minus;        /* minus the sum; no digit is negative */
};

/* The exponent of a unit of the sum; squares have twice that. */
static int exponent_of(const struct sample_type *type)
{
	return auto_k_least(type) - (type->kind == SAMPLE_FLOAT);
}

/* Set n digits of 32 bits to a sum in digits of `bits` bits. The last digit has the sign. */
static void carry_digits(int128_t *to, size_t n, const int128_t *sum, unsigned bits)
{
	int128_t rest = 0;

	memset(to, 0, n * sizeof(*to));
	for (size_t i = 0; i < (n - 1) * 32 / bits; i++, rest >>= bits) {
		rest += sum[i];
		to[i * bits / 32] += (rest & ((1LL << bits) - 1)) << i * bits % 32;
	}
	to[n - 1] = rest;
}

/* Move carries up; the last digit has the sign. */
static void settle_digits(int128_t *digit, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		digit[i + 1] += digit[i] >> 32;
		digit[i] &= MASK;
	}
}

/* Make the digits of a sum of any sign positive. */
static void set_sign(struct digits *w)
{
	settle_digits(w->sum, w->n);
	settle_digits(w->square, w->squares);
	w->minus = w->sum[w->n - 1] < 0;
	for (size_t i = 0; i < w->n && w->minus; i++)
		w->sum[i] = -w->sum[i];
	settle_digits(w->sum, w->n);
}

/* Add a product times 2^(32 place). */
static void add_product(int128_t *digit, size_t place, uint64_t a, uint64_t b)
{
	const uint128_t x = (uint128_t)a * b;

	for (unsigned i = 0; i < 4; i++)
		digit[place + i] += (uint32_t)(x >> 32 * i);
}

/*
 * Set the sums of the values. For integers, subtract the offset of each key: the sum of k - o is
 * K - o n, and the sum of its squares is S - 2 o K + o o n.
 */
static void work_of(struct digits *w, const struct stats *s)
{
	const uint64_t offset = s->type.kind == SAMPLE_FLOAT ? 0 : (uint64_t)-sample_min(&s->type);
	uint128_t all = (uint128_t)s->number * offset;

	w->n = s->digits / 4 + 1;
	w->squares = s->digits / 2 + 1;
	carry_digits(w->sum, w->n, s->sum, 8);
	carry_digits(w->square, w->squares, s->square, 16);
	if (offset > 0) {
		for (size_t i = 0; i < w->n; i++)
			w->square[i] -= 2 * w->sum[i] * (int128_t)offset;
		add_product(w->square, 0, (uint64_t)all, offset);
		add_product(w->square, 2, (uint64_t)(all >> 64), offset);
		for (size_t i = 0; i < 4; i++, all >>= 32)
			w->sum[i] -= (uint32_t)all;
	}
	set_sign(w);
}

/*
 * ---- mean = S1 / n, deviation = sqrt(n S2 - S1^2) / n ----
 *
 * S1 is the sum, S2 the sum of the squares. n S2 - S1^2, the sum of (x - y)^2 over all pairs, is
 * computed exactly, because its terms may differ only in their last digits.
 */

/*
 * Divide a by n `times` times, once or twice. The quotient is the result times 2^(32 *place). The
 * result is rounded down to 65 to 96 bits, unless it is 0; each division removes up to two of the
 * eight digits.
 */
static uint128_t quotient_of(const int128_t *a, size_t digits, uint64_t n, int times, int *place)
{
	uint64_t q[8] = {0}; /* the first eight digits, the most significant first */
	unsigned i = 0;

	while (digits > 0 && a[digits - 1] == 0)
		digits--;
	for (unsigned k = 0; k < 8 && k < digits; k++)
		q[k] = (uint64_t)a[digits - 1 - k];
	for (; times > 0; times--) {
		uint128_t rest = 0;
		for (unsigned k = 0; k < 8; k++, rest %= n) {
			rest = rest << 32 | q[k];
			q[k] = (uint64_t)(rest / n);
		}
	}
	while (i < 4 && q[i] == 0)
		i++;
	*place = (int)digits - 3 - (int)i;
	return (uint128_t)q[i] << 64 | (uint128_t)q[i + 1] << 32 | q[i + 2];
}

/* Set sum, mean and deviation; return false if no samples have these sums. */
static bool moments(const struct digits *w, uint64_t number, int exponent, struct stats_result *r)
{
	int128_t spread[SQUARE_DIGITS] = {0}, digit[SQUARE_DIGITS + 1];
	const size_t squares = w->squares;
	int place;

	for (size_t i = 0; i < squares; i++)
		spread[i] = w->square[i] * number;
	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; k < w->n && w->sum[i] > 0; k++)
			spread[i + k] -= w->sum[i] * w->sum[k];
	carry_digits(digit, squares + 1, spread, 32);
	if (digit[squares] < 0)
		return false;
	const uint128_t variance = quotient_of(digit, squares, number, 2, &place);
	/* The integer near the root of variance 2^30, then a step of Newton's method. */
	const uint64_t near = (uint64_t)(sqrt((double)variance) * 0x1p15);
	const double rest = (double)(int128_t)((variance << 30) - (uint128_t)near * near);
	const double root = near > 0 ? (double)near + rest / (2 * (double)near) : 0;
	r->deviation = ldexp(root, 16 * place - 15 + exponent);
	const uint128_t total = quotient_of(w->sum, w->n, 1, 1, &place);
	r->total = ldexp((double)total, 32 * place + exponent);
	const uint128_t middle = quotient_of(w->sum, w->n, number, 1, &place);
	r->mean = ldexp((double)middle, 32 * place + exponent);
	/* Adding 0.0 turns -0 into 0. */
	if (w->minus) {
		r->total = -r->total + 0.0;
		r->mean = -r->mean + 0.0;
	}
	return true;
}

void stats_result(const struct stats *s, struct stats_result *r)
{
	struct digits w;

	*r = (struct stats_result){s->number, s->below, s->above, s->nan, s->zeros, .mean = 0};
	r->at_least = s->at_least;
	r->at_greatest = s->at_greatest;
	if (s->number == 0)
		return;
	work_of(&w, s);
	(void)moments(&w, s->number, s->exponent_0, r);
	if (s->type.kind == SAMPLE_FLOAT) {
		/* Adding 0.0 turns -0 into 0. */
		r->least_real = sample_of_key(&s->type, s->extent.least) + 0.0;
		r->greatest_real = sample_of_key(&s->type, s->extent.greatest) + 0.0;
		/* -0 and 0 are two keys, but one value. */
		if (r->at_least > 0 && r->least_real == 0)
			r->at_least = s->zeros;
		if (r->at_greatest > 0 && r->greatest_real == 0)
			r->at_greatest = s->zeros;
	} else {
		r->least = (int128_t)s->extent.least + sample_min(&s->type);
		r->greatest = (int128_t)s->extent.greatest + sample_min(&s->type);
	}
}

/* ---- sparse sums ---- */

/* The digits that a sum needs. */
static struct range range_of(const int128_t *digit, size_t n)
{
	size_t first = 0;

	while (first < n && digit[first] == 0)
		first++;
	while (n > first && digit[n - 1] == 0)
		n--;
	return (struct range){.first = (uint32_t)first, .n = (uint32_t)(n - first)};
}

static struct sums *sums_pack(const struct digits *w)
{
	struct range sum = range_of(w->sum, w->n), square = range_of(w->square, w->squares);
	struct sums *const s = malloc(sizeof(*s) + (sum.n + square.n) * sizeof(*s->digits));

	if (!s)
		return NULL;
	for (uint32_t i = 0; i < sum.n; i++)
		s->digits[i] = (uint32_t)w->sum[sum.first + i];
	for (uint32_t i = 0; i < square.n; i++)
		s->digits[sum.n + i] = (uint32_t)w->square[square.first + i];
	sum.digit = s->digits;
	square.digit = s->digits + sum.n;
	s->sum = sum;
	s->square = square;
	s->minus = w->minus && sum.n > 0;
	return s;
}

static void add_digits(struct digits *w, const struct sums *s)
{
	for (uint32_t i = 0; i < s->sum.n; i++)
		w->sum[s->sum.first + i] += s->minus ? -(int128_t)s->sum.digit[i] : s->sum.digit[i];
	for (uint32_t i = 0; i < s->square.n; i++)
		w->square[s->square.first + i] += s->square.digit[i];
}

/* Set w to the sum of one or two. */
static void sums_unpack(struct digits *w, const struct sums *a, const struct sums *b)
{
	*w = (struct digits){.n = SUM_DIGITS, .squares = SQUARE_DIGITS - 1};
	add_digits(w, a);
	if (b)
		add_digits(w, b);
	set_sign(w);
}

struct sums *sums_of(const struct stats *stats)
{
	struct digits w;

	work_of(&w, stats);
	return sums_pack(&w);
}

struct sums *sums_add(const struct sums *a, const struct sums *b)
{
	struct digits w;

	sums_unpack(&w, a, b);
	return sums_pack(&w);
}

bool sums_result(const struct sums *s, const struct sample_type *counted, uint64_t n,
		 struct stats_result *r)
{
	struct digits w;

	sums_unpack(&w, s, NULL);
	return moments(&w, n, exponent_of(counted), r);
}

/* ---- text ---- */

void sums_format(char text[SUMS_TEXT], const struct sums *s, const struct sample_type *counted,
		 bool square)
{
	const struct range sum = square ? s->square : s->sum;
	const unsigned shift = sum.n > 0 ? (unsigned)__builtin_ctz(sum.digit[0]) : 0;
	const int power =
		32 * (int)sum.first + (int)shift + (square ? 2 : 1) * exponent_of(counted);
	size_t used = (size_t)snprintf(text, SUMS_TEXT, s->minus && !square ? "-0x" : "0x");
	const size_t first = used;

	for (uint32_t i = sum.n; i-- > 0;) {
		const uint64_t next = i + 1 < sum.n ? sum.digit[i + 1] : 0,
			       digit = (next << 32 | sum.digit[i]) >> shift & MASK;
		if (digit > 0 || used > first)
			used += (size_t)snprintf(text + used, SUMS_TEXT - used,
						 used > first ? "%08lx" : "%lx",
						 (unsigned long)digit);
	}
	snprintf(text + used, SUMS_TEXT - used, sum.n > 0 ? "p%+d" : "0p+0", power);
}

/* Read a number below 2^(bits + exponent) to digits; the lowest is worth 2^exponent. */
static bool parse_sum(int128_t *digit, const char *text, int exponent, long bits)
{
	static const char HEX[] = "0123456789abcdef";

	if (strncmp(text, "0x", 2) != 0)
		return false;
	const size_t length = strspn(text += 2, HEX);
	if (length == 0 || text[length] != 'p')
		return false;
	const char *const power = text + length + 1;
	const size_t sign = *power == '-' || *power == '+',
		     digits = strspn(power + sign, "0123456789");
	if (digits == 0 || digits > 5 || power[sign + digits] != '\0')
		return false;
	long place = strtol(power, NULL, 10) - exponent;
	for (size_t i = length; i-- > 0; place += 4) {
		const uint64_t value = (uint64_t)(strchr(HEX, text[i]) - HEX);
		if (value == 0)
			continue;
		if (place < 0 || place + 64 - __builtin_clzl(value) > bits)
			return false;
		digit[place / 32] += (int128_t)(value << place % 32);
	}
	return true;
}

int sums_parse(struct sums **s, const struct sample_type *counted, uint64_t n, const char *sum,
	       const char *square)
{
	const bool minus = *sum == '-', real = counted->kind == SAMPLE_FLOAT;
	const int exponent = exponent_of(counted);
	/* No sum needs more bits than n samples of the largest magnitude. */
	const uint32_t mantissa = counted->mantissa + 1, powers = counted->bits - mantissa;
	const long each = real ? (1L << powers) + mantissa : (long)counted->bits,
		   times = n > 0 ? 64 - __builtin_clzl(n) : 0;
	struct digits w = {.n = SUM_DIGITS, .squares = SQUARE_DIGITS - 1, .minus = minus};

	*s = NULL;
	if (!parse_sum(w.sum, sum + minus, exponent, each + times) ||
	    !parse_sum(w.square, square, 2 * exponent, 2 * each + times))
		return 0;
	settle_digits(w.sum, w.n);
	settle_digits(w.square, w.squares);
	*s = sums_pack(&w);
	return *s ? 1 : -1;
}

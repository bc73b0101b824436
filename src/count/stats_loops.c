/* SPDX-License-Identifier: MIT */
/*
 * stats_loops: the loops of stats.h, compiled once for each instruction set, with ISA set to its
 * name. They use vectors explicitly, because compilers do not find the instructions.
 */
#include "count/stats.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "base/little.h"
#include "base/loops.h"
#include "bins/binning.h"

#if defined __FMA__ || !defined __x86_64__
#define HAVE_FMA true
#else
#define HAVE_FMA false
#endif
#ifdef __AVX512F__
#define VECTOR 64
#elif defined __AVX2__
#define VECTOR 32
#else
#define VECTOR 16
#endif
#define LANES ((size_t)VECTOR / 8)
typedef uint64_t words64 __attribute__((vector_size(VECTOR)));
typedef int64_t signed64 __attribute__((vector_size(VECTOR)));
typedef double reals64 __attribute__((vector_size(VECTOR)));

/* ---- samples to words ---- */

INLINE void fetch_each(unsigned char *words, const unsigned char *p, size_t n, size_t stride,
		       uint32_t bytes, bool big)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t word = word_at(p + i * stride, bytes, big);
		memcpy(words + (bytes == 8 ? 8 : 4) * i, &word, bytes == 8 ? 8 : 4);
	}
}

static void fetch(unsigned char *words, const struct sample_type *type, const unsigned char *p,
		  size_t n, size_t stride)
{
	const uint32_t bytes = type->code_bytes;

#ifdef __SSSE3__
	const __m128i places = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
	const size_t fours = bytes == 3 && stride == 3 && !type->big && n > 1 ? (n - 2) / 4 : 0;
#pragma GCC unroll 4
	for (size_t i = 0; i < fours; i++)
		_mm_storeu_si128(
			(void *)(words + 16 * i),
			_mm_shuffle_epi8(_mm_loadu_si128((const void *)(p + 12 * i)), places));
	n -= 4 * fours, p += 12 * fours, words += 16 * fours;
#endif
	if (bytes == 4 && stride == 4)
		fetch_each(words, p, n, 4, 4, type->big);
	else if (bytes == 8 && stride == 8)
		fetch_each(words, p, n, 8, 8, type->big);
	else
		fetch_each(words, p, n, stride, bytes, type->big);
}

/* ---- integers ---- */

/* The products of the low halves of words. */
INLINE words64 product(words64 a, words64 b)
{
#if VECTOR == 64
	return (words64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif VECTOR == 32
	return (words64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined __SSE2__
	return (words64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
	return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

/* Add words, modulo 2^64, to h[0] and their upper halves to h[1]. */
INLINE void halves_add(words64 h[2], words64 x)
{
	h[0] += x;
	h[1] += x >> 32;
}

/* Set part[0] to the sum of the lower halves and part[1] to the sum of the upper halves. */
INLINE void halves_end(const words64 h[2], int64_t part[2])
{
	uint64_t all = 0, upper = 0;

	for (size_t k = 0; k < LANES; k++) {
		all += h[0][k];
		upper += h[1][k];
	}
	part[0] = (int64_t)(all - (upper << 32));
	part[1] = (int64_t)upper;
}

/* A word is 2^32 h + l: a 64-bit key, or the two 32-bit keys h and l. */
INLINE void keys_of(const unsigned char *p, size_t n, uint64_t bias, struct stats_terms *t,
		    bool wide)
{
	words64 sum[2] = {{0}}, ll[2] = {{0}}, lh[2] = {{0}}, hh[2] = {{0}};

	for (size_t i = 0; i < n * (wide ? 8 : 4); i += VECTOR) {
		words64 x;
		memcpy(&x, p + i, sizeof(x));
		x ^= bias;
		halves_add(sum, x);
		halves_add(ll, product(x, x));
		if (wide)
			halves_add(lh, product(x, x >> 32));
		halves_add(hh, product(x >> 32, x >> 32));
	}
	halves_end(sum, t->part);
	halves_end(ll, t->part + 2);
	halves_end(lh, t->part + 4);
	halves_end(hh, t->part + 6);
}

static void keys(const unsigned char *p, size_t n, uint64_t bias, bool wide, struct stats_terms *t)
{
	wide ? keys_of(p, n, bias, t, true) : keys_of(p, n, bias << 32 | bias, t, false);
}

/* ---- cells of a digest ---- */

/* Integers of 24 bits are words of 32 bits too, so key - bias has their sign. */
static void cells32(const unsigned char *p, size_t n, const struct digest_rule *rule,
		    uint32_t *restrict indices)
{
	const uint32_t bias = (uint32_t)rule->bias, sign = bias > 0, zero = rule->zero,
		       shift = rule->shift, digits = rule->digits;

	for (size_t i = 0; i < n && rule->real; i++) {
		const uint32_t word = (uint32_t)word_at(p + 4 * i, 4, false);
		const uint32_t size = word & 0x7fffffffu, negative = 0u - (word >> 31);
		const int32_t rank = (int32_t)((size ^ negative) - negative);
		indices[i] = (uint32_t)(rank >> shift) + zero;
	}
	for (size_t i = 0; i < n && !rule->real; i++) {
		const uint32_t own = ((uint32_t)word_at(p + 4 * i, 4, false) ^ bias) - bias;
		const uint32_t negative = 0u - (own >> 31 & sign), value = own ^ negative;
		const uint32_t excess = rank_excess32(value, digits);
		indices[i] = (((excess << digits) + (value >> excess)) ^ negative) + zero;
	}
}

/* Vector units have no arithmetic shift of 64 bits, so half of 2^64 is added to ranks. */
static void cells64(const unsigned char *p, size_t n, const struct digest_rule *rule,
		    uint32_t *restrict indices)
{
	const uint64_t bias = rule->bias, sign = bias > 0, half = (uint64_t)1 << 63;
	const uint32_t zero = rule->zero, shift = rule->shift, digits = rule->digits;

	for (size_t i = 0; i < n && rule->real; i++) {
		const uint64_t word = word_at(p + 8 * i, 8, false);
		const uint64_t size = word & ~half, negative = 0u - (word >> 63);
		/* The number of negative cells, `zero`, is half >> shift. */
		indices[i] = (uint32_t)(((size ^ negative) - negative + half) >> shift);
	}
	for (size_t i = 0; i < n && !rule->real; i++) {
		const uint64_t own = (word_at(p + 8 * i, 8, false) ^ bias) - bias;
		const uint64_t negative = 0u - (own >> 63 & sign), value = own ^ negative;
		const uint64_t excess = rank_excess64(value, digits);
		indices[i] = (uint32_t)(((excess << digits) + (value >> excess)) ^ negative) + zero;
	}
}

static void cells(const unsigned char *p, size_t n, const struct digest_rule *rule, bool wide,
		  uint32_t *indices)
{
	wide ? cells64(p, n, rule, indices) : cells32(p, n, rule, indices);
}

/* ---- zeros ---- */

typedef uint32_t words32 __attribute__((vector_size(VECTOR)));

static uint64_t zeros(const unsigned char *p, size_t n, uint64_t mask, bool wide)
{
	const words64 masks = (words64){0} + (wide ? mask : mask << 32 | (uint32_t)mask);
	words64 found = {0}, x;
	words32 pairs = {0};
	uint64_t sum = 0;

	static_assert(STATS_STEP * 4 % VECTOR == 0, "a step is whole vectors");
	for (size_t i = 0; i < n * 8 && wide; i += VECTOR) {
		memcpy(&x, p + i, sizeof(x));
		found -= (words64)((x & masks) == 0);
	}
	for (size_t i = 0; i < n * 4 && !wide; i += VECTOR) {
		memcpy(&x, p + i, sizeof(x));
		pairs -= (words32)((words32)(x & masks) == 0);
	}
	found += ((words64)pairs & UINT32_MAX) + ((words64)pairs >> 32);
	for (size_t k = 0; k < LANES; k++)
		sum += found[k];
	return sum;
}

/* ---- floats ---- */

/*
 * A sum in two parts. `all` starts at a value so large that its exponent never changes; `rest` is
 * the sum of its rounding errors.
 */
struct parts {
	reals64 all, rest;
};

INLINE void parts_add(struct parts *s, reals64 x)
{
	const reals64 all = s->all + x;

	s->rest += x - (all - s->all);
	s->all = all;
}

#define UNROLL 2u /* vectors of independent additions */
static_assert(STATS_STEP % (UNROLL * LANES) == 0, "a step is whole vectors");

/* Set part[0] to `rest` in units of `least`, and part[1] to `all` in units of `unit`. */
INLINE bool parts_end(const struct parts s[UNROLL], double middle, double least, double unit,
		      int64_t part[2])
{
	double all = 0, rest = 0;

	for (size_t k = 0; k < UNROLL * LANES; k++) {
		all += s[k / LANES].all[k % LANES] - middle;
		rest += s[k / LANES].rest[k % LANES];
	}
	if (!isfinite(all))
		return false;
	part[0] = (int64_t)(rest / least);
	part[1] = (int64_t)(all / unit);
	return true;
}

/*
 * Let top be 1. All samples are multiples of 2^-69, because binary64 has 53 digits and the smallest
 * sample other than 0 is at least 2^-17. A rounded square is a multiple of 2^-86. Its rounding
 * error, a multiple of 2^-138 that a multiply-add computes, is added apart. For binary32, samples
 * are multiples of 2^-43 and squares of 2^-86, and no square is rounded.
 *
 * A block has 2^10 samples at most. So the sums of samples, squares (below 1) and errors (2^-54 at
 * most) are below 2^10, 2^10 and 2^-44. Starting at 1.5 2^11, 2^10 and 1.5 2^-43, they never leave
 * [2^11, 2^12], [2^10, 2^11] and [2^-43, 2^-42], whose units in the last place are 2^-41, 2^-42
 * and 2^-95.
 */
INLINE bool reals_of(const unsigned char *p, size_t n, double top, struct stats_terms *t, bool wide)
{
	const double two = top * top, least = top / (1 << STATS_SPAN(wide));
	const double middle = 0x1.8p11 * top, of_squares = 0x1p10 * two,
		     of_errors = 0x1.8p-43 * two;
	struct parts sum[UNROLL], square[UNROLL], error[UNROLL];
	/* The smallest sample but 0: its bits without the sign, doubled, minus one, minus 2^63. */
	signed64 smallest[UNROLL];
	const uint64_t bits = bits_of_double(least);

	for (size_t v = 0; v < UNROLL; v++) {
		sum[v] = (struct parts){(reals64){0} + middle, {0}};
		square[v] = (struct parts){(reals64){0} + of_squares, {0}};
		error[v] = (struct parts){(reals64){0} + of_errors, {0}};
		smallest[v] = (signed64){0} + INT64_MAX;
	}
	for (size_t i = 0; i < n; i += UNROLL * LANES) {
#pragma GCC unroll 2
		for (size_t v = 0; v < UNROLL; v++) {
			float single[LANES];
			reals64 x;
			memcpy(wide ? (void *)&x : single, p + (wide ? 8 : 4) * (i + v * LANES),
			       (wide ? 8 : 4) * LANES);
			for (size_t k = 0; k < LANES && !wide; k++)
				/* cppcheck-suppress uninitvar */
				x[k] = (double)single[k];
			const signed64 size = (signed64)(2 * (words64)x + INT64_MAX);
			const reals64 near = x * x;
			reals64 off = -near;
			for (size_t k = 0; k < LANES; k++)
				smallest[v][k] =
					size[k] < smallest[v][k] ? size[k] : smallest[v][k];
			parts_add(&sum[v], x);
			parts_add(&square[v], near);
			for (size_t k = 0; k < LANES && wide; k++)
				off[k] = __builtin_fma(x[k], x[k], off[k]);
			if (wide)
				parts_add(&error[v], off);
		}
	}
	for (size_t k = 0; k < UNROLL * LANES; k++)
		if (smallest[k / LANES][k % LANES] < (int64_t)(2 * bits + INT64_MAX))
			return false;
	t->part[6] = t->part[7] = 0;
	return parts_end(sum, middle, 0x1p-69 * top, 0x1p-41 * top, t->part) &&
	       parts_end(square, of_squares, 0x1p-86 * two, 0x1p-42 * two, t->part + 2) &&
	       parts_end(error, of_errors, 0x1p-138 * two, 0x1p-95 * two, t->part + 4);
}

static bool reals(const unsigned char *p, size_t n, double top, bool wide, struct stats_terms *t)
{
	return wide ? HAVE_FMA && reals_of(p, n, top, t, true) : reals_of(p, n, top, t, false);
}

const struct stats_loops FOR_ISA(stats_loops_) = {
	.fetch = fetch, .keys = keys, .reals = reals, .cells = cells, .zeros = zeros};

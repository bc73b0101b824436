/* SPDX-License-Identifier: MIT */
/*
 * stats_loops: the loops of stats_loops.h, compiled once for each instruction set with ISA set to
 * its name. They are written with vectors, and loops over the lanes of one, where compilers do not
 * find the instructions otherwise.
 */
#include "count/stats_loops.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "base/little.h"
#include "bins/binning.h"

#ifndef ISA
#define ISA base
#endif
#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)
#define INLINE static inline __attribute__((always_inline))

#if defined __FMA__ || !defined __x86_64__
#define HAVE_FMA
#endif
#ifdef __AVX512F__
#define VECTOR 64
#elif defined __AVX2__
#define VECTOR 32
#else
#define VECTOR 16
#endif
#define LANES ((size_t)VECTOR / 8)
typedef uint32_t words32 __attribute__((vector_size(VECTOR)));
typedef uint64_t words64 __attribute__((vector_size(VECTOR)));
typedef double reals __attribute__((vector_size(VECTOR)));

static_assert(STATS_BLOCK / (2 * LANES) <= 256, "the sum of so many keys of 24 bits has 32");

/* ---- samples to words ---- */

INLINE void fetch_each(unsigned char *words, const unsigned char *p, size_t n, size_t stride,
		       uint32_t bytes, bool big)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t wide = word_at(p + i * stride, bytes, big);
		const uint32_t word = (uint32_t)wide;
		if (bytes == 8)
			memcpy(words + 8 * i, &wide, sizeof(wide));
		else
			memcpy(words + 4 * i, &word, sizeof(word));
	}
}

static void fetch(unsigned char *words, const struct sample_type *type, const unsigned char *p,
		  size_t n, size_t stride)
{
	const uint32_t bytes = type->bytes;
	const bool big = type->big;

#ifdef __SSSE3__
	const char h = big ? 2 : 0, l = 2 - h, no = -1; /* the bytes of a word, and none */
	const __m128i places = _mm_setr_epi8(h, 1, l, no, h + 3, 4, l + 3, no, h + 6, 7, l + 6, no,
					     h + 9, 10, l + 9, no);
	for (; bytes == 3 && stride == 3 && n >= 18; n -= 16, p += 48, words += 64)
#pragma GCC unroll 4
		for (size_t k = 0; k < 4; k++) {
			__m128i four;
			memcpy(&four, p + 12 * k, sizeof(four));
			four = _mm_shuffle_epi8(four, places);
			memcpy(words + 16 * k, &four, sizeof(four));
		}
#endif
#define FETCH(size, order)                                           \
	(stride == size ? fetch_each(words, p, n, size, size, order) \
			: fetch_each(words, p, n, stride, size, order))
	if (bytes == 3)
		big ? FETCH(3, true) : FETCH(3, false);
	else if (bytes == 4)
		big ? FETCH(4, true) : FETCH(4, false);
	else
		big ? FETCH(8, true) : FETCH(8, false);
#undef FETCH
}

/* ---- integers ---- */

/* The products of the low halves of words, by the instruction that compilers do not find. */
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

INLINE uint64_t total64(words64 v)
{
	uint64_t all = 0;

	for (size_t k = 0; k < LANES; k++)
		all += v[k];
	return all;
}

/* What was added, less 2^32 times `high`, its upper halves. It fits, though `added` may wrap. */
INLINE int64_t low_of(words64 added, words64 high)
{
	return (int64_t)(total64(added) - (total64(high) << 32));
}

/* Narrow: keys below 2^24, whose sums and squares need no upper halves. */
INLINE struct extent keys_of_words(const unsigned char *p, size_t n, uint32_t flip,
				   struct stats_terms *t, bool narrow)
{
	struct extent extent = EXTENT_NONE;
	words32 least = (words32){0} - 1, greatest = {0}, sum = {0}, upper = {0};
	words64 square = {0}, high = {0};
	uint64_t all = 0, uppers = 0;

	for (size_t i = 0; i < n; i += 2 * LANES) {
		words32 x;
		memcpy(&x, p + 4 * i, sizeof(x));
		x ^= flip;
		for (size_t k = 0; k < 2 * LANES; k++) {
			least[k] = x[k] < least[k] ? x[k] : least[k];
			greatest[k] = x[k] > greatest[k] ? x[k] : greatest[k];
		}
		const words64 odd = (words64)x >> 32;
		const words64 a = product((words64)x, (words64)x), b = product(odd, odd);
		sum += x;
		square += a + b;
		if (!narrow) {
			upper += x >> 16;
			high += (a >> 32) + (b >> 32);
		}
	}
	for (size_t k = 0; k < 2 * LANES; k++) {
		extent_add(&extent, &(struct extent){least[k], greatest[k]});
		all += sum[k]; /* unless narrow, only the lower 32 bits of all are right */
		uppers += upper[k];
	}
	*t = (struct stats_terms){
		{(int64_t)(narrow ? all : (uint32_t)(all - (uppers << 16))), (int64_t)uppers},
		{low_of(square, high), (int64_t)total64(high)}};
	return extent;
}

static struct extent keys24(const unsigned char *p, size_t n, uint64_t flip, struct stats_terms *t)
{
	return keys_of_words(p, n, (uint32_t)flip, t, true);
}

static struct extent keys32(const unsigned char *p, size_t n, uint64_t flip, struct stats_terms *t)
{
	return keys_of_words(p, n, (uint32_t)flip, t, false);
}

static struct extent keys64(const unsigned char *p, size_t n, uint64_t flip, struct stats_terms *t)
{
	struct extent extent = EXTENT_NONE;
	words64 least = (words64){0} - 1, greatest = {0}, sum = {0}, upper = {0};
	words64 a = {0}, a_high = {0}, b = {0}, b_high = {0}, c = {0}, c_high = {0};

	for (size_t i = 0; i < n; i += LANES) {
		words64 x;
		memcpy(&x, p + 8 * i, sizeof(x));
		x ^= flip;
		for (size_t k = 0; k < LANES; k++) {
			least[k] = x[k] < least[k] ? x[k] : least[k];
			greatest[k] = x[k] > greatest[k] ? x[k] : greatest[k];
		}
		const words64 h = x >> 32;
		const words64 low = product(x, x), mixed = product(x, h), top = product(h, h);
		sum += x;
		upper += h;
		a += low;
		a_high += low >> 32;
		b += mixed;
		b_high += mixed >> 32;
		c += top;
		c_high += top >> 32;
	}
	for (size_t k = 0; k < LANES; k++)
		extent_add(&extent, &(struct extent){least[k], greatest[k]});
	*t = (struct stats_terms){{low_of(sum, upper), (int64_t)total64(upper)},
				  {low_of(a, a_high), (int64_t)total64(a_high), low_of(b, b_high),
				   (int64_t)total64(b_high), low_of(c, c_high),
				   (int64_t)total64(c_high)}};
	return extent;
}

/* ---- floats ---- */

/* Keys rise with the bits of positive numbers, and fall with those of negative ones. */
#define LOOK(bits, key)                                                                          \
	static struct extent look##bits(const unsigned char *p, size_t n, uint64_t *small)       \
	{                                                                                        \
		const uint##bits##_t sign = (uint##bits##_t)1 << (bits - 1);                     \
		uint##bits##_t least = UINT##bits##_MAX, most = 0, smallest = least;             \
		int##bits##_t positive = INT##bits##_MIN;                                        \
		for (size_t i = 0; i < n; i++) {                                                 \
			const uint##bits##_t word =                                              \
				(uint##bits##_t)word_at(p + bits / 8 * i, bits / 8, false);      \
			const uint##bits##_t size = 2 * word - 1;                                \
			least = word < least ? word : least;                                     \
			most = word > most ? word : most;                                        \
			positive =                                                               \
				(int##bits##_t)word > positive ? (int##bits##_t)word : positive; \
			smallest = size < smallest ? size : smallest;                            \
		}                                                                                \
		*small = smallest;                                                               \
		return (struct extent){key(most < sign ? least : most),                          \
				       key(least < sign ? (uint##bits##_t)positive : least)};    \
	}
LOOK(32, key32_of_float)
LOOK(64, key64_of_double)

INLINE double power(int exponent)
{
	const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/*
 * Sums in two parts: `all` begins with a number so large that the place of its last digit stays
 * the same, and what an addition to it rounds away goes to the rest.
 */
struct parts {
	reals all, rest;
};

INLINE struct parts parts_of(double middle)
{
	return (struct parts){.all = (reals){0} + middle, .rest = {0}};
}

/* x x + y, rounded once where a machine can; elsewhere x x must be exact. */
INLINE reals square_and(reals x, reals y)
{
#ifdef HAVE_FMA
	for (size_t k = 0; k < LANES; k++)
		y[k] = __builtin_fma(x[k], x[k], y[k]);
	return y;
#else
	return x * x + y;
#endif
}

/* Sums all lanes: terms[0], of the rests, is in units of 2^least, terms[1] in units of 2^unit. */
INLINE void parts_end(const struct parts *s, size_t n, double middle, int unit, int least,
		      int64_t terms[2])
{
	double all = 0, rest = 0;

	for (size_t k = 0; k < n * LANES; k++) {
		all += s[k / LANES].all[k % LANES] - middle;
		rest += s[k / LANES].rest[k % LANES];
	}
	terms[0] = (int64_t)(rest * power(-least));
	terms[1] = (int64_t)(all * power(-unit));
}

#define UNROLL 2u /* vectors whose additions do not wait for each other */
static_assert(STATS_STEP % (UNROLL * LANES) == 0, "a step is whole vectors");

/* Squares have 48 digits, and are exact. */
static void reals32(const unsigned char *p, size_t n, int e, struct stats_terms *t)
{
	const int unit = e - 24 - STATS_SPAN32;
	const double middle = power(2 * e + 10); /* its last digit is 2^(2e - 42) */
	struct parts square[UNROLL];
	reals sum[UNROLL];
	double all = 0;

	for (size_t v = 0; v < UNROLL; v++) {
		square[v] = parts_of(middle);
		sum[v] = (reals){0};
	}
	for (size_t i = 0; i < n; i += UNROLL * LANES) {
#pragma GCC unroll 2
		for (size_t v = 0; v < UNROLL; v++) {
			float single[LANES];
			reals x;
			memcpy(single, p + 4 * (i + v * LANES), sizeof(single));
			for (size_t k = 0; k < LANES; k++)
				/* cppcheck-suppress uninitvar */
				x[k] = (double)single[k];
			sum[v] += x;
			const reals more = square_and(x, square[v].all);
			square[v].rest += square_and(x, square[v].all - more);
			square[v].all = more;
		}
	}
	for (size_t k = 0; k < UNROLL * LANES; k++)
		all += sum[k / LANES][k % LANES];
	*t = (struct stats_terms){.sum = {(int64_t)(all * power(-unit))}};
	parts_end(square, UNROLL, middle, 2 * e - 42, 2 * unit, t->square);
}

#ifdef HAVE_FMA
INLINE void parts_add(struct parts *s, reals x)
{
	const reals all = s->all + x;

	s->rest += x - (all - s->all);
	s->all = all;
}

/* A square is added as the rounded square and what rounding took, which a multiply-add finds. */
static void reals64(const unsigned char *p, size_t n, int e, struct stats_terms *t)
{
	const int unit = e - 53 - STATS_SPAN64;
	/* The last digits are 2^(e - 41), 2^(2e - 42) and 2^(2e - 95). */
	const double middle = 1.5 * power(e + 11), of_squares = power(2 * e + 10),
		     of_errors = 1.5 * power(2 * e - 43);
	struct parts sum[UNROLL], square[UNROLL], error[UNROLL];

	for (size_t v = 0; v < UNROLL; v++) {
		sum[v] = parts_of(middle);
		square[v] = parts_of(of_squares);
		error[v] = parts_of(of_errors);
	}
	for (size_t i = 0; i < n; i += UNROLL * LANES) {
#pragma GCC unroll 2
		for (size_t v = 0; v < UNROLL; v++) {
			reals x;
			memcpy(&x, p + 8 * (i + v * LANES), sizeof(x));
			const reals near = x * x;
			parts_add(&sum[v], x);
			parts_add(&square[v], near);
			parts_add(&error[v], square_and(x, -near));
		}
	}
	parts_end(sum, UNROLL, middle, e - 41, unit, t->sum);
	parts_end(error, UNROLL, of_errors, 2 * e - 95, 2 * unit, t->square);
	parts_end(square, UNROLL, of_squares, 2 * e - 42, 2 * e - 86, t->square + 2);
}
#define REALS64 reals64
#else
#define REALS64 NULL
#endif

const struct stats_loops NAME(stats_loops_, ISA) = {
	.fetch = fetch,
	.keys = {keys24, keys32, keys64},
	.look = {look32, look64},
	.reals = {reals32, REALS64},
};

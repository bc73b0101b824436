/*
 * binning: in which cell a sample falls. The C compiler and nvcc compile this same text.
 *
 * The edges of the bins are the definition (edges.h). A formula here may guess, but where a
 * guess can be wrong the comparison with an edge decides, so every engine agrees on every bit.
 * No step may be contracted into a fused multiply-add: the build says -ffp-contract=off, and
 * device code uses the _rn intrinsics.
 *
 * A sample is read as one of three things:
 *   key32, key64   an integer type, its sign bit flipped, so that keys are unsigned and in
 *                  the order of the values;
 *   a binary64     a float type; every one of them converts exactly.
 *
 * The cells of a histogram of N bins are numbered
 *   0 .. N-1       the bins
 *   N              "edge": samples that equal HI where the last edge is closed, and nothing
 *                  else; struct edges says where it is folded when the counting is over
 *   N+1 N+2 N+3    under, over, NaN
 */
#ifndef GPUHIST_BINNING_H
#define GPUHIST_BINNING_H

#include <stdint.h>

#include "wide.h"

#ifdef __CUDACC__
#define BINNING_INLINE static __device__ __forceinline__
#define BINNING_MUL(a, b) __dmul_rn((a), (b))
#define BINNING_ADD(a, b) __dadd_rn((a), (b))
#else
#define BINNING_INLINE static inline __attribute__((always_inline))
#define BINNING_MUL(a, b) ((a) * (b))
#define BINNING_ADD(a, b) ((a) + (b))
#endif

enum bin_kind {
	BIN_SHIFT,  /* integers: every bin is 2^shift values wide */
	BIN_MAGIC,  /* integers: floor(d N / W) by one multiplication, exact for W <= 2^32 */
	BIN_RATIO,  /* integers: floor(d N / W) by a guess and a comparison in 128 bits */
	BIN_LINEAR, /* edges LO + i step in binary64: the nearest edge is guessed, then compared */
	BIN_SEARCH, /* the same edges where no guess can be trusted: bisection */
	BIN_NONE,   /* integers: no value lies in the range; every key from first on is "edge" */
	BIN_KINDS
};

/* All that a kernel or a counting loop has to know; plain data, passed by value to the GPU. */
struct binning {
	uint32_t kind;    /* enum bin_kind */
	uint32_t bins;    /* N */
	uint32_t shift;   /* SHIFT */
	uint32_t is_signed; /* keys of a signed type: value = key - 2^(bits-1) */
	uint64_t bias;    /* 2^(bits-1) for a signed type, else 0 */
	uint64_t first;   /* integers: smallest key in the range */
	uint64_t span;    /* integers: in the range when key - first <= span */
	uint64_t base;    /* SHIFT, MAGIC: d = key - first + base is the distance from LO */
	uint64_t magic;   /* MAGIC: ceil(2^64 N / W) */
	uint64_t width[2];  /* RATIO: W, low half first (no 128-bit member: alignment differs) */
	uint64_t offset[2]; /* RATIO: (value(first) - LO) N */
	double lo;        /* LINEAR, SEARCH: edge i is (i step + lo) unit; edge 0 and the ... */
	double last;      /* ... largest binary64 in the range */
	double step;
	double unit;      /* 1, or 2 where HI - LO overflows and lo, step are halved */
	double scale;     /* LINEAR, RATIO: bins per unit of the sample, for the guess */
	double guess;     /* RATIO: the guess at e = 0 */
	double hi;        /* SEARCH: edge N */
};

#define CELL_EXTRA 4u /* edge, under, over, NaN */

BINNING_INLINE uint32_t cell_under(const struct binning *b)
{
	return b->bins + 1;
}

BINNING_INLINE uint32_t cell_over(const struct binning *b)
{
	return b->bins + 2;
}

BINNING_INLINE uint32_t cell_nan(const struct binning *b)
{
	return b->bins + 3;
}

/* Edge i by numpy.linspace's formula; exact equality with its result is tested. */
BINNING_INLINE double binning_edge(const struct binning *b, uint32_t i)
{
	return BINNING_ADD(BINNING_MUL((double)(int32_t)i, b->step), b->lo);
}

/* Edge i where linspace has special cases: the last one, a step that underflows, an overflow. */
BINNING_INLINE double binning_edge_careful(const struct binning *b, uint32_t i)
{
	if (i == b->bins)
		return b->hi;
	if (b->step == 0)
		return BINNING_ADD(BINNING_MUL((double)i / (double)b->bins,
					       BINNING_ADD(b->hi, -b->lo)), b->lo);
	return BINNING_MUL(binning_edge(b, i), b->unit);
}

/* Is the integer that key stands for less than x? Exact, for any finite x. */
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

/*
 * The bin of x in [lo, last]: k is the edge nearest to x, up to an error far below one half
 * (edges.c proves the bound), so x lies in bin k or k - 1 and edge k decides. At k = 0 and at
 * k = N nothing is left to decide: x >= edge 0, and last lies below edge N or is closed.
 */
BINNING_INLINE uint32_t bin_nearest(const struct binning *b, double x)
{
	double t = BINNING_MUL(BINNING_ADD(x, -b->lo), b->scale);
#ifdef __CUDACC__
	/* Adding 1.5 * 2^52 rounds to whole; conversions run at a quarter of the rate. */
	double a = BINNING_ADD(t, 6755399441055744.0);
	double whole = BINNING_ADD(a, -6755399441055744.0);
	uint32_t k = (uint32_t)__double2loint(a);
#else
	uint32_t k = (uint32_t)(int32_t)(t + 0.5);
	double whole = (double)(int32_t)k;
#endif
	uint32_t bin = k - (uint32_t)(x < BINNING_ADD(BINNING_MUL(whole, b->step), b->lo));

	return bin < b->bins ? bin : b->bins - 1;
}

/* The largest i < N with edge i <= x, x in [lo, last]. */
BINNING_INLINE uint32_t bin_search(const struct binning *b, double x)
{
	uint32_t low = 0, high = b->bins; /* edge low <= x; high is past the answer */

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (x < binning_edge_careful(b, middle))
			high = middle;
		else
			low = middle;
	}
	return low;
}

BINNING_INLINE uint32_t bin_float(const struct binning *b, uint32_t kind, double x)
{
	int inside = x >= b->lo * b->unit && x <= b->last;

	/* A value from inside the range keeps the arithmetic below defined; it is dropped. */
	double safe = inside ? x : b->last;
	uint32_t bin = kind == BIN_LINEAR ? bin_nearest(b, safe) : bin_search(b, safe);
	uint32_t outside = x < b->last ? cell_under(b) : x > b->last ? cell_over(b) : cell_nan(b);
	return inside ? bin : outside;
}

/* floor(d N / W), d = e + value(first) - LO. */
BINNING_INLINE uint32_t bin_ratio(const struct binning *b, uint64_t e)
{
	const uint128_t width = (uint128_t)b->width[1] << 64 | b->width[0];
	const uint128_t offset = (uint128_t)b->offset[1] << 64 | b->offset[0];
	uint32_t k = (uint32_t)((double)e * b->scale + b->guess + 0.5);

	return k - (uint32_t)((uint128_t)e * b->bins + offset < width * k);
}

/* Linspace edges and a 64-bit integer, which binary64 may not hold: guess, then compare whole. */
BINNING_INLINE uint32_t bin_key64_linear(const struct binning *b, uint64_t key)
{
	double t = (key_value(b, key) - b->lo) * b->scale;
	uint32_t k = (uint32_t)(int32_t)(t + 0.5);
	uint32_t bin;

	if (k == 0)
		return 0;
	bin = k - (uint32_t)key_below(b, key, binning_edge(b, k));
	return bin < b->bins ? bin : b->bins - 1;
}

BINNING_INLINE uint32_t bin_key64_search(const struct binning *b, uint64_t key)
{
	uint32_t low = 0, high = b->bins;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (key_below(b, key, binning_edge_careful(b, middle)))
			high = middle;
		else
			low = middle;
	}
	return low;
}

BINNING_INLINE uint32_t bin_key64(const struct binning *b, uint32_t kind, uint64_t key)
{
	uint64_t e = key - b->first;

	if (e > b->span)
		return key < b->first ? cell_under(b) : cell_over(b);
	switch (kind) {
	case BIN_SHIFT:
		return (uint32_t)((e + b->base) >> b->shift);
	case BIN_RATIO:
		return bin_ratio(b, e);
	case BIN_LINEAR:
		return bin_key64_linear(b, key);
	case BIN_SEARCH:
		return bin_key64_search(b, key);
	default:
		return b->bins;
	}
}

/* floor(d m / 2^64) by two products of 32 bits, which vector units have. */
BINNING_INLINE uint32_t mulhi_32x64(uint32_t d, uint64_t m)
{
	return (uint32_t)(((uint64_t)d * (uint32_t)(m >> 32) + ((uint64_t)d * (uint32_t)m >> 32)) >> 32);
}

/* Exact; by way of a signed integer, whose conversion vector units have. */
BINNING_INLINE double key32_value(const struct binning *b, uint32_t key)
{
	return (double)(int32_t)(key ^ 0x80000000u) + (0x1p31 - (double)b->bias);
}

/* Types of up to 32 bits; no branch where the kind is a constant, so that loops vectorise. */
BINNING_INLINE uint32_t bin_key32(const struct binning *b, uint32_t kind, uint32_t key)
{
	uint32_t first = (uint32_t)b->first;
	uint32_t e = key - first;
	uint32_t outside = key < first ? cell_under(b) : cell_over(b);
	int inside = e <= (uint32_t)b->span;
	uint32_t bin;

	switch (kind) {
	case BIN_SHIFT:
		bin = (e + (uint32_t)b->base) >> b->shift;
		break;
	case BIN_MAGIC:
		bin = mulhi_32x64(e + (uint32_t)b->base, b->magic);
		break;
	case BIN_RATIO:
		bin = inside ? bin_ratio(b, e) : 0;
		break;
	case BIN_LINEAR:
	case BIN_SEARCH:
		return bin_float(b, kind, key32_value(b, key));
	default:
		bin = b->bins;
		break;
	}
	return inside ? bin : outside;
}

#endif

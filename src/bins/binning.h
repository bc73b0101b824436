/* SPDX-License-Identifier: MIT */
/*
 * binning: the cell of a sample. The C compiler and nvcc compile the same text. binning_rule.h has
 * the kinds of bins and their parameters, binning_more.h the rarer kinds and 64-bit integers.
 *
 * The edges of the bins are the definition (edges.h). A formula here may guess, but if the guess
 * can be wrong, a comparison with an edge follows, so all engines agree on every bit. No step may
 * be contracted into a fused multiply-add: the build uses -ffp-contract=off, and device code uses
 * the _rn intrinsics.
 *
 * A sample is read as one of these:
 *   key32, key64   an integer with its sign bit flipped, so that keys are unsigned and in the
 *                  order of the values
 *   a binary64     a float; every float type converts exactly
 * For explicit edges, floats have keys too: their bits, changed so that they rise with the values.
 *
 * The cells of a histogram with N bins are
 *   0 .. N-1       the bins
 *   N              "edge": samples equal to HI if the last bin includes it, or, if no value of
 *                  the type is in the range, some samples that are not; at the end it is added
 *                  to the cell that struct edges names
 *   N+1 N+2 N+3    under, over, NaN
 */
#ifndef GPUHIST_BINNING_H
#define GPUHIST_BINNING_H

#include "binning_more.h"

/* ---- floats ---- */

/*
 * The bin of x in [lo, last]. k is the edge nearest to x, with an error far below one half (proof
 * in edges.c), so x is in bin k or k - 1, and edge k decides. Nothing is left to decide at k = 0,
 * as x is not below edge 0, and at k = N, as `last` is below edge N or the last bin includes it.
 */
BINNING_INLINE uint32_t bin_nearest(const struct binning *b, double x)
{
	double t = BINNING_MUL(BINNING_ADD(x, -b->linear.lo), b->linear.scale);
#ifdef __CUDACC__
	/* Adding 1.5 * 2^52 rounds to a whole number; conversions have a quarter of the rate. */
	double a = BINNING_ADD(t, 6755399441055744.0);
	double whole = BINNING_ADD(a, -6755399441055744.0);
	uint32_t k = (uint32_t)__double2loint(a);
#else
	uint32_t k = (uint32_t)(int32_t)(t + 0.5);
	double whole = (double)(int32_t)k;
#endif
	uint32_t bin =
		k - (uint32_t)(x < BINNING_ADD(BINNING_MUL(whole, b->linear.step), b->linear.lo));

	return bin < b->bins ? bin : b->bins - 1;
}

BINNING_INLINE uint32_t bin_float(const struct binning *b, uint32_t kind, double x)
{
	if (kind == BIN_SLOT)
		return bin_slot_float(b, x);

	int begun = x >= b->linear.lo * b->linear.unit, inside = begun && x <= b->linear.last;

	/*
	 * The bin of an x out of range is dropped. A device computes it anyway, which saves two
	 * comparisons of binary64. In C, a value in the range keeps the arithmetic defined, and
	 * loops vectorise. gpu_check compares the two.
	 */
#ifdef __CUDACC__
	double safe = x;
	uint32_t outside = x <= b->linear.last ? cell_under(b) : begun ? cell_over(b) : cell_nan(b);
#else
	double safe = inside ? x : b->linear.last;
	uint32_t outside = x < b->linear.last   ? cell_under(b)
			   : x > b->linear.last ? cell_over(b)
						: cell_nan(b);
#endif
	uint32_t bin = kind == BIN_LINEAR ? bin_nearest(b, safe) : bin_search(b, 0, 0, safe);
	return inside ? bin : outside;
}

/* ---- integers of up to 32 bits ---- */

/* floor(d m / 2^64) by two products of 32-bit numbers, as vector units have no wider ones. */
BINNING_INLINE uint32_t mulhi_32x64(uint32_t d, uint64_t m)
{
	return (uint32_t)(((uint64_t)d * (uint32_t)(m >> 32) + ((uint64_t)d * (uint32_t)m >> 32)) >>
			  32);
}

BINNING_INLINE uint32_t bin_mod_key32(const struct binning *b, uint32_t key)
{
	const uint32_t q = (uint32_t)((uint64_t)key * (uint32_t)b->mod.multiplier >> 32);

	return mod_reduce(b, key - q * b->bins);
}

/* Exact; goes through a signed integer, because vector units have that conversion. */
BINNING_INLINE double key32_value(const struct binning *b, uint32_t key)
{
	return (double)(int32_t)(key ^ 0x80000000u) + (0x1p31 - (double)b->bias);
}

/* Types of up to 32 bits. If the kind is a constant, there is no branch, so loops vectorise. */
BINNING_INLINE uint32_t bin_key32(const struct binning *b, uint32_t kind, uint32_t key)
{
	uint32_t first = (uint32_t)b->first;
	uint32_t e = key - first;
	uint32_t outside = key < first ? cell_under(b) : cell_over(b);
	int inside = e <= (uint32_t)b->span;
	uint32_t bin;

	switch (kind) {
	case BIN_SHIFT:
		bin = (e + (uint32_t)b->shift.base) >> b->shift.by;
		break;
	case BIN_MAGIC:
		bin = mulhi_32x64(e + (uint32_t)b->magic.base, b->magic.multiplier);
		break;
	case BIN_RATIO:
		bin = inside ? bin_ratio(b, e) : 0;
		break;
	case BIN_LINEAR:
	case BIN_SEARCH:
		return bin_float(b, kind, key32_value(b, key));
	case BIN_MOD:
		return bin_mod_key32(b, key);
	case BIN_SLOT:
		return key >> b->slot.shift & b->slot.mask;
	case BIN_RANK:
		return bin_rank_key32(b, key, &bin);
	case BIN_TABLE:
		return bin_table32(b, key, (float)e);
	default:
		bin = b->bins;
		break;
	}
	return inside ? bin : outside;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cell: from a key to its cell: binning.h, with the kind of bins fixed at compile time where that
 * pays.
 *
 * BIN::cell(rule, key) is exact. Samples that are in no bin have four cells of their own after the
 * bins (binning.h), so no kernel branches on them and it costs nothing if there are very many.
 * BIN::all is the number of cells of one channel; BIN::ANY: BIN serves every kind. If BIN::GUESSES,
 * BIN::guess gives the same cell for a 4-byte key unless it sets `doubt`. BIN::PERM, BIN::FLIP:
 * whether the rule's perm and flip are applied. Codes are counted as they are stored; the host bins
 * them.
 */
#ifndef GPUHIST_CELL_CUH
#define GPUHIST_CELL_CUH

#include "reader.cuh"

template <u32 CODES> struct bin_code {
	enum { PERM = 0, FLIP = 0, GUESSES = 0, ANY = 0 };
	static INLINE u32 all(const struct rule &)
	{
		return CODES;
	}
	static INLINE u32 cell(const struct rule &, u32 key)
	{
		return key;
	}
};

/* 16-bit integers, by groups; each group is within one bin, to which the host adds it. */
struct bin_group {
	enum { PERM = 1, FLIP = 1, GUESSES = 0, ANY = 0 };
	static INLINE u32 all(const struct rule &r)
	{
		return group_count(&r.groups);
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		return group_of(&r.groups, key);
	}
};

/*
 * KIND: an enum bin_kind; or BIN_KINDS: the kind is read from the rule. Explicit edges are in the
 * memory of the device, at rule.bins.table.at: a sample takes a load from the guide and one for
 * each step of the bisection, at random addresses. Edges that are anywhere near regular take one
 * step, and small tables stay in L1.
 */
template <u32 KIND> struct bin_key {
	enum { PERM = 1, FLIP = 1, GUESSES = 0, ANY = KIND == BIN_KINDS };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		return bin_key32(&r.bins, KIND == BIN_KINDS ? r.bins.kind : KIND, key);
	}
	static INLINE u32 cell(const struct rule &r, u64 key)
	{
		return bin_key64(&r.bins, KIND == BIN_KINDS ? r.bins.kind : KIND, key);
	}
};

/*
 * Where binary64 runs at half the rate of binary32, the exact rule is faster than a guess in
 * binary32 that is sometimes in doubt. Elsewhere binary64 runs at a 64th of that rate. -DBIN_NARROW
 * compiles the guess in binary32 for every device, to test it.
 */
#if defined(__CUDA_ARCH__) && !defined(BIN_NARROW) && \
	(__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
enum { LINEAR_WIDE = 1 };
#else
enum { LINEAR_WIDE = 0 };
#endif

/*
 * bin_key for floats; in linear bins, floats of 4 bytes are guessed first. Explicit edges are
 * compared by their bits, without binary64 except for the guide of 8-byte floats.
 */
template <u32 KIND> struct bin_real {
	enum { PERM = 1, FLIP = 0, GUESSES = KIND == BIN_LINEAR, ANY = KIND == BIN_KINDS };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		if (KIND == BIN_KINDS && r.bins.kind == BIN_TABLE)
			return bin_table_float(&r.bins, __uint_as_float(key), key);
		if (KIND == BIN_KINDS && r.bins.kind == BIN_RANK)
			return bin_rank_single(&r.bins, key);
		return bin_float(&r.bins, KIND == BIN_KINDS ? r.bins.kind : KIND,
				 (double)__uint_as_float(key));
	}
	static INLINE u32 cell(const struct rule &r, u64 key)
	{
		const double x = __longlong_as_double((long long)key);

		if (KIND == BIN_KINDS && r.bins.kind == BIN_TABLE)
			return bin_table_double(&r.bins, x, key);
		if (KIND == BIN_KINDS && r.bins.kind == BIN_RANK)
			return bin_rank_double(&r.bins, key);
		return bin_float(&r.bins, KIND == BIN_KINDS ? r.bins.kind : KIND, x);
	}
	static INLINE u32 guess(const struct rule &r, u32 key, bool &doubt)
	{
		return LINEAR_WIDE ? guess_wide(r, key, doubt) : guess_narrow(r, key, doubt);
	}
	/* exact; in doubt only for samples out of range */
	static INLINE u32 guess_wide(const struct rule &r, u32 key, bool &doubt)
	{
		const double x = (double)__uint_as_float(key);

		doubt |= !(x >= r.bins.linear.lo && x <= r.bins.linear.last);
		return bin_nearest(&r.bins, x);
	}
	/*
	 * Let p be the distance from LO to x, in bins. Rounding p - 1/2 gives floor(p), unless p is
	 * so near to a whole number that the guess's error matters; set_guess (driver/kernel.c)
	 * bounds that error. -1 is under, N is over.
	 */
	static INLINE u32 guess_narrow(const struct rule &r, u32 key, bool &doubt)
	{
		const float x = __uint_as_float(key);
		const float big = 12582912.f; /* 1.5 * 2^23: adding it rounds to whole */
		const float t =
			fminf(fmaxf(fmaf(x, r.f_scale, r.f_offset), -1.f), (float)r.bins.bins);
		const float a = t + big;
		const u32 cell = __float_as_uint(a) - 0x4b400000u;

		doubt |= !(fabsf(t - (a - big)) < r.f_sure);
		doubt |= x != x;
		return cell < r.bins.bins ? cell
		       : (int)cell < 0    ? cell_under(&r.bins)
					  : cell_over(&r.bins);
	}
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cell: from a key to its cell: binning.h, with the kind of bins fixed at compile time where that
 * pays.
 *
 * BIN::cell(rule, key) is exact. Samples that are in no bin have four cells of their own after the
 * bins (binning.h), so no kernel branches on them and it costs nothing if there are very many.
 * BIN::all is the number of cells of one channel. BIN::bring copies what BIN::cell reads into the
 * block's shared memory; the block synchronises after it. If BIN::GUESSES, BIN::guess gives the
 * same cell for a 4-byte key unless it sets `doubt`. BIN::PERM, BIN::FLIP: whether the rule's perm
 * and flip are applied. Codes are counted as they are stored; the host bins them.
 */
#ifndef GPUHIST_CELL_CUH
#define GPUHIST_CELL_CUH

#include "reader.cuh"

/* What most of them have in common: a block copies nothing into its shared memory first. */
struct bin_bare {
	static INLINE void bring(const struct rule &)
	{
	}
};

template <u32 CODES> struct bin_code : bin_bare {
	enum { PERM = 0, FLIP = 0, GUESSES = 0 };
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
struct bin_group : bin_bare {
	enum { PERM = 1, FLIP = 1, GUESSES = 0 };
	static INLINE u32 all(const struct rule &r)
	{
		return group_count(&r.groups);
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		return group_of(&r.groups, key);
	}
};

/* KIND: an enum bin_kind, or BIN_KINDS: the kind is read from the rule */
template <u32 KIND> struct bin_key : bin_bare {
	enum { PERM = 1, FLIP = 1, GUESSES = 0 };
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
 * Explicit edges that do not fit shared memory beside the counters. Each sample takes a load from
 * the guide and one for each step of the bisection, at random addresses; edges that are anywhere
 * near regular take one step, and small tables stay in L1. The table is in the memory of the
 * device, at rule.bins.table.at.
 */
template <> struct bin_key<BIN_TABLE> : bin_bare {
	enum { PERM = 1, FLIP = 1, GUESSES = 0 };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		return bin_table_key32(&r.bins, key);
	}
	static INLINE u32 cell(const struct rule &r, u64 key)
	{
		return bin_table_key64(&r.bins, key);
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

/* The same for floats; the linear kind is guessed first. */
template <u32 KIND> struct bin_real : bin_bare {
	enum { PERM = 1, FLIP = 0, GUESSES = KIND == BIN_LINEAR };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		return bin_float(&r.bins, KIND == BIN_KINDS ? r.bins.kind : KIND,
				 (double)__uint_as_float(key));
	}
	static INLINE u32 cell(const struct rule &r, u64 key)
	{
		return bin_float(&r.bins, KIND == BIN_KINDS ? r.bins.kind : KIND,
				 __longlong_as_double((long long)key));
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

/*
 * Explicit edges and floats: compared by their bits, without binary64 except for the guide of
 * 8-byte floats.
 */
template <> struct bin_real<BIN_TABLE> : bin_bare {
	enum { PERM = 1, FLIP = 0, GUESSES = 0 };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		return bin_table_float(&r.bins, __uint_as_float(key), key);
	}
	static INLINE u32 cell(const struct rule &r, u64 key)
	{
		return bin_table_double(&r.bins, __longlong_as_double((long long)key), key);
	}
};

/*
 * Explicit edges in shared memory, for any number of them that fits beside the counters. A load at
 * random takes 3.7 clocks for 32 samples, and memory takes 7.3 to deliver them. A sample whose
 * entry of the guide holds no edge, as most do, takes one load, and one whose entry holds an edge
 * takes two. Where edges are crowded, each doubling takes one more; only the lanes that need it
 * take a step, and few lanes seldom use the same bank.
 */
INLINE void near_bring(const struct rule &r)
{
	extern __shared__ uint4 shared[];
	u32 *to = (u32 *)shared + r.near.at;

	for (u32 i = threadIdx.x; i < r.near.words; i += blockDim.x)
		to[i] = __ldg(r.near.from + i);
}

template <class KEY> INLINE u32 near_bin(const struct rule &r, KEY e, u32 entry)
{
	extern __shared__ uint4 shared[];
	const u32 *guide = (const u32 *)shared + r.near.at;
	const KEY *below = (const KEY *)(guide + r.near.guide);
	const u32 word = guide[entry];
	u32 bin = word & ((1u << NEAR_BIN_BITS) - 1), count = word >> NEAR_BIN_BITS;

	while (count > 0) {
		const u32 half = (count + 1) / 2;
		const bool above = e > below[bin + half - 1];

		bin += above ? half : 0;
		count = above ? count - half : half - 1;
	}
	return bin;
}

/* e, which is in the range, as an entry of the guide */
INLINE u32 near_ratio(u32 e)
{
	return __float_as_uint(__uint2float_rz(e | 1)) - 0x3f800000u;
}

INLINE u32 near_ratio(u64 e)
{
	return __float_as_uint(__ull2float_rz(e | 1)) - 0x3f800000u;
}

INLINE u32 near_value(const struct near &n, u32 bits)
{
	return (u32)(int)__fmul_rn(__fadd_rn(__uint_as_float(bits), -(float)n.lo), (float)n.scale);
}

INLINE u32 near_value(const struct near &n, u64 bits)
{
	return (u32)(int)__dmul_rn(__dadd_rn(__longlong_as_double((long long)bits), -n.lo),
				   n.scale);
}

struct near_key {
	enum { PERM = 1, FLIP = 1, GUESSES = 0 };
	static INLINE void bring(const struct rule &r)
	{
		near_bring(r);
	}
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	template <class KEY> static INLINE u32 cell(const struct rule &r, KEY key)
	{
		const KEY e = key - (KEY)r.bins.first;

		if (e > (KEY)r.bins.span)
			return key < (KEY)r.bins.first ? cell_under(&r.bins) : cell_over(&r.bins);
		return near_bin(r, e,
				r.near.by == NEAR_RATIO ? near_ratio(e) >> r.near.shift
							: (u32)(e >> r.near.shift));
	}
};

struct near_real {
	enum { PERM = 1, FLIP = 0, GUESSES = 0 };
	static INLINE void bring(const struct rule &r)
	{
		near_bring(r);
	}
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 key_of(u32 bits)
	{
		return key32_of_float(bits);
	}
	static INLINE u64 key_of(u64 bits)
	{
		return key64_of_double(bits);
	}
	static INLINE bool is_nan(u32 bits)
	{
		return bits << 1 > 0xff000000u;
	}
	static INLINE bool is_nan(u64 bits)
	{
		return bits << 1 > 0xffe0000000000000u;
	}
	template <class BITS> static INLINE u32 cell(const struct rule &r, BITS bits)
	{
		const BITS key = key_of(bits), e = key - (BITS)r.bins.first;

		if (e > (BITS)r.bins.span)
			return is_nan(bits)               ? cell_nan(&r.bins)
			       : key < (BITS)r.bins.first ? cell_under(&r.bins)
							  : cell_over(&r.bins);
		return near_bin(r, e,
				r.near.by == NEAR_VALUE ? near_value(r.near, bits)
							: (u32)(e >> r.near.shift));
	}
};

/* Any kind of bins at all, for the kernels that count channels. */
struct any_key : bin_bare {
	enum { PERM = 1, FLIP = 1, GUESSES = 0 };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	template <class KEY> static INLINE u32 cell(const struct rule &r, KEY key)
	{
		return r.bins.kind == BIN_TABLE ? bin_key<BIN_TABLE>::cell(r, key)
						: bin_key<BIN_KINDS>::cell(r, key);
	}
};

struct any_real : bin_bare {
	enum { PERM = 1, FLIP = 0, GUESSES = 0 };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	template <class BITS> static INLINE u32 cell(const struct rule &r, BITS bits)
	{
		return r.bins.kind == BIN_TABLE ? bin_real<BIN_TABLE>::cell(r, bits)
						: bin_real<BIN_KINDS>::cell(r, bits);
	}
};

#endif

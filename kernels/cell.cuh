/*
 * cell: in which cell a key falls: binning.h, with the kind of bins fixed at compile time
 * where that pays.
 *
 * BIN::cell(rule, key) is exact. Samples that are in no bin have cells of their own behind the
 * bins (binning.h), so no kernel branches on them and a flood of them costs nothing. BIN::all
 * is the number of cells. If BIN::GUESSES, BIN::guess is as good for 4-byte keys unless it
 * raises doubt. BIN::PERM, BIN::FLIP: whether the rule's perm and flip are applied; codes are
 * counted as they lie in memory, the host bins them.
 */
#ifndef GPUHIST_CELL_CUH
#define GPUHIST_CELL_CUH

#include "reader.cuh"

template <u32 CODES> struct bin_code {
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

/* 16-bit integers, by groups; the host adds each group to the bin that all of it lies in. */
struct bin_group {
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

/* KIND: enum bin_kind, or BIN_KINDS for whatever the rule says */
template <u32 KIND> struct bin_key {
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
 * Where binary64 runs at half the rate of binary32, the exact rule is faster than a guess that
 * must be doubted now and then; elsewhere it runs at a 64th. -DBIN_NARROW tests the guess.
 */
#if defined(__CUDA_ARCH__) && !defined(BIN_NARROW) &&                                                                    \
	(__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000)
enum { LINEAR_WIDE = 1 };
#else
enum { LINEAR_WIDE = 0 };
#endif

/* The same for floats; the linear kind is guessed first. */
template <u32 KIND> struct bin_real {
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
	/* exact but for samples outside */
	static INLINE u32 guess_wide(const struct rule &r, u32 key, bool &doubt)
	{
		const double x = (double)__uint_as_float(key);

		doubt |= !(x >= r.bins.lo && x <= r.bins.last);
		return bin_nearest(&r.bins, x);
	}
	/*
	 * Rounding x's place less a half is the floor, unless the place is within the error of
	 * a whole number, which the host knows (gpu_kernel.c). -1 is under, N is over.
	 */
	static INLINE u32 guess_narrow(const struct rule &r, u32 key, bool &doubt)
	{
		const float x = __uint_as_float(key);
		const float big = 12582912.f; /* 1.5 * 2^23: adding it rounds to whole */
		const float t = fminf(fmaxf(fmaf(x, r.f_scale, r.f_offset), -1.f), (float)r.bins.bins);
		const float a = t + big;
		const u32 cell = __float_as_uint(a) - 0x4b400000u;

		doubt |= !(fabsf(t - (a - big)) < r.f_sure);
		doubt |= x != x;
		return cell < r.bins.bins ? cell : (int)cell < 0 ? cell_under(&r.bins) : cell_over(&r.bins);
	}
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cell: maps a key to its cell (binning.h).
 *
 * BIN::cell(rule, key) is exact. Samples outside all bins have four cells after the bins, so no
 * kernel branches on them and any number of them costs nothing. BIN::all is the number of cells of
 * one channel. BIN::PERM and BIN::FLIP tell whether the rule's perm and flip apply. Codes are
 * counted as stored; the host bins them.
 *
 * bin_key<> and bin_real<> look at rule.bins.kind for each sample. With a kind as their argument
 * (BIN::KNOWN), the compiler knows it, and the rule has one channel.
 */
#ifndef GPUHIST_CELL_CUH
#define GPUHIST_CELL_CUH

#include "reader.cuh"

template <u32 CODES> struct bin_code {
	enum { PERM = 0, FLIP = 0, KNOWN = 0 };
	static INLINE u32 all(const struct rule &)
	{
		return CODES;
	}
	static INLINE u32 cell(const struct rule &, u32 key)
	{
		return key;
	}
};

/*
 * Integers. Explicit edges are in device memory, at rule.bins.table.at: a sample takes one load
 * from the guide and one for each step of the bisection, at random addresses. Roughly regular edges
 * take one step, and small tables stay in L1.
 */
template <u32 KIND = BIN_KINDS> struct bin_key {
	enum { PERM = 1, FLIP = 1, KNOWN = KIND != BIN_KINDS };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		return bin_key32(&r.bins, KNOWN ? KIND : r.bins.kind, key);
	}
	static INLINE u32 cell(const struct rule &r, u64 key)
	{
		return bin_key64(&r.bins, KNOWN ? KIND : r.bins.kind, key);
	}
};

/* Floats. Explicit edges are compared as bits; only the guide of 8-byte floats uses binary64. */
template <u32 KIND = BIN_KINDS> struct bin_real {
	enum { PERM = 1, FLIP = 0, KNOWN = KIND != BIN_KINDS };
	static INLINE u32 all(const struct rule &r)
	{
		return r.bins.bins + CELL_EXTRA;
	}
	static INLINE u32 cell(const struct rule &r, u32 key)
	{
		const u32 kind = KNOWN ? KIND : r.bins.kind;
		u32 bin;

		if (kind == BIN_TABLE)
			return bin_table32(&r.bins, key32_of_float(key), __uint_as_float(key));
		if (kind == BIN_RANK)
			return bin_rank_single(&r.bins, key, &bin);
		return bin_float(&r.bins, kind, (double)__uint_as_float(key));
	}
	static INLINE u32 cell(const struct rule &r, u64 key)
	{
		const double x = __longlong_as_double((long long)key);
		const u32 kind = KNOWN ? KIND : r.bins.kind;
		u32 bin;

		if (kind == BIN_TABLE)
			return bin_table64(&r.bins, key64_of_double(key), x);
		if (kind == BIN_RANK)
			return bin_rank_double(&r.bins, key, &bin);
		return bin_float(&r.bins, kind, x);
	}
};

/* Call f with a bin_key or bin_real of the rule's kind, if that is a usual one; else with BIN. */
template <int SIZE, class BIN, class F> INLINE void with_kind(const struct rule &r, F f)
{
	const u32 kind = r.channels == 1 ? r.bins.kind : (u32)BIN_KINDS;

	if constexpr (SIZE == 4 && BIN::FLIP) {
		if (kind == BIN_SHIFT)
			return f(bin_key<BIN_SHIFT>());
		if (kind == BIN_MAGIC)
			return f(bin_key<BIN_MAGIC>());
		if (kind == BIN_MOD)
			return f(bin_key<BIN_MOD>());
	} else if constexpr (SIZE == 4) {
		if (kind == BIN_LINEAR)
			return f(bin_real<BIN_LINEAR>());
	}
	f(BIN());
}

#endif

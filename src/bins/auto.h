/* SPDX-License-Identifier: MIT */
/*
 * auto: bins whose range comes from the samples.
 *
 * --auto makes bins that are 2^k wide and begin at multiples of 2^k, with the smallest k for which
 * the samples span at most N bins. --log=auto does the same with "ranks" instead of values.
 *
 * RANKS. The rank of a float is its position among all numbers of its type; 0 and -0 have rank 0.
 * The rank of an integer is the rank of the largest binary64 that is not above it, but bins that
 * contain no integer are left out. Up to k = 52, a bin is identified by the first binary digit of
 * its values and the 52 - k digits after it; a value that has fewer digits has a bin of its own.
 * Beyond k = 52, bins without such digits (0, 1, 2 to 3, 4 to 7 ...) are joined, 2^(k - 52) at a
 * time. The bins below 0 mirror the bins above it, except that an edge still belongs to the bin
 * above it.
 *
 * SLOTS. Bin j holds the values, keys or ranks from j 2^k up to (j + 1) 2^k. While samples are
 * counted, the final k is unknown; there is only a k for the samples seen so far. Bin j is counted
 * in slot j mod W of W slots; W is the smallest power of two that is not below N. Samples that span
 * at most N bins never share a slot. So a table needs no first bin, and a growing range costs
 * nothing while k stays the same. When k grows, auto_coarsen adds bin j to bin floor(j / 2^(to -
 * from)), or, for ranks of integers, to the bin that contains its values.
 *
 * INVARIANT. At any time, a table holds samples of a known extent (the keys of the least and the
 * greatest finite sample). They are counted at a k that is the auto_k of a subset of all samples,
 * and span at most N bins of 2^k. The auto_k of a subset is never larger than that of the whole,
 * and counts at k determine the counts at every larger k. So tables can be coarsened in any order:
 * the totals, coarsened to the auto_k of all samples, do not depend on the order of the samples, on
 * the worker that counted them, or on the engine.
 */
#ifndef GPUHIST_AUTO_H
#define GPUHIST_AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/binning.h"
#include "bins/sample.h"

/*
 * The keys (binning.h) of the least and the greatest finite sample; without one, least > greatest.
 * For a float of 4 bytes or fewer, the key is key32_of_float of its bits as binary32.
 */
struct extent {
	uint64_t least, greatest;
};

#define EXTENT_NONE ((struct extent){UINT64_MAX, 0})

static inline bool extent_is_none(const struct extent *extent)
{
	return extent->least > extent->greatest;
}

/* Extend an extent by another one; either may be EXTENT_NONE. */
static inline void extent_add(struct extent *extent, const struct extent *more)
{
	extent->least = more->least < extent->least ? more->least : extent->least;
	extent->greatest = more->greatest > extent->greatest ? more->greatest : extent->greatest;
}

/* The bins that --auto and --log=auto make. */
struct auto_bins {
	struct sample_type type;
	uint32_t most; /* limit of the number of bins; 0: the range is not from the samples */
	bool log;      /* bins of ranks, not of values */
};

/* The smallest limit that a type allows: negative values need a bin of their own. */
uint32_t auto_bins_least(const struct sample_type *type);

/* W, the slots of a table for up to `bins` bins, which are at most 2^28. */
uint32_t auto_slots(uint32_t bins);

/* The slot of a bin: bin mod W. */
uint32_t auto_slot(int128_t bin, uint32_t slots);

/* The smallest k for values: the exponent of a float type's smallest number, 0 for integers. */
int auto_k_least(const struct sample_type *type);

/*
 * Return the smallest k for which the extent spans at most bins->most bins; that is at least
 * auto_bins_least. k is at least 0 for integers and ranks, and for values of floats at least the
 * exponent of one unit in the last place of the largest finite magnitude. For EXTENT_NONE, return
 * the smallest k possible. auto_k_grown starts at a k that is the auto_k of some of the samples.
 */
int auto_k(const struct auto_bins *bins, const struct extent *extent);
int auto_k_grown(const struct auto_bins *bins, const struct extent *extent, int k);

/*
 * Return the bin of a finite sample's key. For values of integers, bins are numbered by keys: bin j
 * begins at key j 2^k, and its first value is a multiple of 2^k too. For values of floats, k must
 * be at least auto_k's lower bound.
 */
int128_t auto_bin(const struct auto_bins *bins, uint64_t key, int k);

/*
 * Return which bin of 2^to contains a bin of 2^from; `to` is at least `from`. Rounds down below 0
 * too. The numbers of bins are within 2^65.
 */
int128_t auto_coarser(const struct auto_bins *bins, int128_t bin, int from, int to);

/*
 * Return where a bin of ranks begins. Past the type's last number, that is the number that would
 * come next, or infinity for binary64.
 */
double auto_edge(const struct auto_bins *bins, int64_t bin, int k);

/* Make b the complete rule for counting samples in slots at k; b->bins becomes W. */
void auto_rule(struct binning *b, const struct auto_bins *bins, int k);

/*
 * Turn counts at k = from into counts at k = to, which is not smaller, in place. `table` has W
 * slots. `extent` contains all samples in it and spans at most W bins at k = from.
 */
void auto_coarsen32(uint32_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to);
void auto_coarsen64(uint64_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to);

/* Rotate the slots to the left: slot `by`, which is below `slots`, becomes slot 0. */
void auto_turn64(uint64_t *table, uint32_t slots, uint32_t by);

/* The extent of one code (sample_code) of an 8- or 16-bit type; EXTENT_NONE if it is not finite. */
struct extent auto_extent_of_code(const struct sample_type *type, uint32_t code);

#endif

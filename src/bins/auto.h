/* SPDX-License-Identifier: MIT */
/*
 * auto: bins whose range comes from the samples: 2^k wide, at multiples of 2^k, with the smallest
 * possible k; --log=auto has ranks instead of values.
 *
 * The rank of a float is its place in the order of all numbers of its type; 0 and -0 have 0. That
 * of an integer is the one that the binary64 next to it towards minus infinity has, but bins that
 * hold no whole number are left out: so if `digits` binary digits after a value's first tell bins
 * apart, 52 - k of them, a smaller value is a bin of its own. Beyond k = 52 it is such bins without
 * any digits (0, 1, 2 and 3, 4 to 7 ...) that are joined, 2^(k - 52) of them. Below 0 are the bins
 * from 0 on in reverse, and an edge belongs to the bin above it there too.
 *
 * Bin j holds the values, keys or ranks from j 2^k up to (j + 1) 2^k. While samples are counted the
 * final k is not known, only a k for those seen so far. They are counted in W slots, bin j in slot
 * j mod W, where W is the smallest power of two not below N. Samples that span at most N bins never
 * share a slot, so a table needs no first bin, and a range that grows costs nothing as long as k
 * does not. When k grows, bin j becomes bin floor(j / 2^(to - from)), or of integers' ranks the one
 * that holds its values, and the counts of bins that become one are added up: auto_coarsen does
 * that.
 *
 * The invariant, of every table at any time: it holds samples of a known extent (the keys of the
 * least and the greatest finite one), at a k that is auto_k of a part of all samples, and those
 * samples span at most N bins of 2^k. A part never has a larger auto_k than the whole, and counts
 * at k determine the counts at every larger k. So tables can be made coarser in any order and any
 * grouping: the totals, coarsened to the auto_k of all samples, are the same whatever the order of
 * the samples, their division among workers, and the engine.
 */
#ifndef GPUHIST_AUTO_H
#define GPUHIST_AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/binning.h"
#include "bins/sample.h"

/*
 * The extent of finite samples: keys (binning.h), which rise with the values. The key of a float of
 * 4 bytes or fewer is key32_of_float of its bits as binary32.
 */
struct extent {
	uint64_t least, greatest; /* least > greatest: there is no finite sample */
};

#define EXTENT_NONE ((struct extent){UINT64_MAX, 0})

static inline bool extent_is_none(const struct extent *extent)
{
	return extent->least > extent->greatest;
}

/* Adds one extent to another; either may be EXTENT_NONE. */
static inline void extent_add(struct extent *extent, const struct extent *more)
{
	extent->least = more->least < extent->least ? more->least : extent->least;
	extent->greatest = more->greatest > extent->greatest ? more->greatest : extent->greatest;
}

/* What the bins of --auto and --log=auto hold. */
struct auto_bins {
	struct sample_type type;
	uint32_t
		most; /* there may be at most so many; 0: the range does not come from the samples */
	bool log;     /* the bins are of ranks, not of values */
};

/* The fewest bins that `most` may allow: negative values need a bin of their own. */
uint32_t auto_bins_least(const struct sample_type *type);

/* W, the slots of a table of at most `bins` bins, up to 2^28; and the slot of bin j, j mod W. */
uint32_t auto_slots(uint32_t bins);
uint32_t auto_slot(int128_t bin, uint32_t slots);

/* The exponent of a float type's smallest number, 0 for integers: no k of values is smaller. */
int auto_k_least(const struct sample_type *type);

/*
 * The smallest k for which the extent spans at most bins->most bins, which are at least
 * auto_bins_least. For integers and ranks it is at least 0, for values of floats at least the
 * exponent of one unit in the last place of the largest finite magnitude. For EXTENT_NONE, that of
 * a table that holds nothing yet, it is the least k that there is. auto_k_grown is faster, where k
 * is known to be the auto_k of a part of the samples.
 */
int auto_k(const struct auto_bins *bins, const struct extent *extent);
int auto_k_grown(const struct auto_bins *bins, const struct extent *extent, int k);

/*
 * The bin j of a finite sample's key. For values of integers, bins are numbered by keys: bin j
 * begins at key j 2^k, which is a multiple of 2^k among the values too. For values of floats, k must
 * be at least auto_k's lower bound.
 */
int128_t auto_bin(const struct auto_bins *bins, uint64_t key, int k);

/*
 * The number that a bin of 2^from has among bins of 2^to, which are not narrower; rounds down below
 * 0 too. Numbers are within 2^65.
 */
int128_t auto_coarser(const struct auto_bins *bins, int128_t bin, int from, int to);

/*
 * For ranks: where bin j begins. Past the type's last number it is the number that would come next,
 * which is infinity for binary64.
 */
double auto_edge(const struct auto_bins *bins, int64_t bin, int k);

/* Makes b the whole rule that counts samples in slots at k; b->bins becomes W. */
void auto_rule(struct binning *b, const struct auto_bins *bins, int k);

/*
 * Makes counts at k = from counts at k = to, which is not smaller, in place. `table` is the W slots
 * without the cells after them; `extent` is that of the table's samples, or a larger one that spans
 * at most W bins at k = from.
 */
void auto_coarsen32(uint32_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to);
void auto_coarsen64(uint64_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to);

/* Turns the slots to the left: slot `by`, which is below `slots`, becomes slot 0. */
void auto_turn64(uint64_t *table, uint32_t slots, uint32_t by);

/* The extent of a code (sample_code) of an 8- or 16-bit type; EXTENT_NONE if it is not finite. */
struct extent auto_extent_of_code(const struct sample_type *type, uint32_t code);

#endif

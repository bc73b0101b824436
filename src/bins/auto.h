/* SPDX-License-Identifier: MIT */
/*
 * auto: bins whose range comes from the samples.
 *
 * --auto makes bins that are 2^k wide and begin at multiples of 2^k, with the smallest k for which
 * the samples span at most N bins. --log=auto does the same with "ranks" instead of values, for
 * each sign separately, and gives zero a bin of its own.
 *
 * RANKS. The rank of a positive float is its position among the positive numbers of its type, from
 * 1 on. The rank of a positive integer is the rank of the largest binary64 that is not above it. If
 * x has rank r, -x has rank -r, but binary64 are rounded down there too. Bin j holds the ranks from
 * j 2^k up to (j + 1) 2^k, so the bins below 0 mirror the bins above it, except that an edge
 * belongs to the bin above it.
 *
 * Most bins of integers would hold no integer. These are left out, so positive integers have these
 * bins ("digits" is the number of binary digits after a value's first that identify its bin):
 *
 *   k   digits  bins, by the integers that they hold             number of the first
 *   50  2       1, 2, 3, 4, 5, 6, 7, 8-9, 10-11, 12-13, ...      1
 *   51  1       1, 2, 3, 4-5, 6-7, 8-11, 12-15, 16-23, ...       1
 *   52  0       1, 2-3, 4-7, 8-15, 16-31, 32-63, ...             1
 *   53  0       1, 2-7, 8-31, 32-127, ...                        511
 *   54  0       1, 2-31, 32-511, ...                             255
 *
 * Up to k = 52, bins are numbered without gaps. Beyond that, a bin joins 2^(k - 52) powers of two
 * and has the number that its ranks give it: the power 2^e is number e + 1023, as in a binary64.
 *
 * ZERO. The bin of zero lies between the bins next to it: it begins where the bins below 0 end and
 * ends where those above 0 begin. On a side without samples, it ends next to 0: it begins at 0, or
 * ends at the type's smallest positive number. No bin above 0 begins below that number. Histograms
 * of one sign have no bin of zero, unless they have zeros.
 *
 * SLOTS. While samples are counted, the final k is unknown; there is only a k for the samples seen
 * so far. Bin j is counted in slot j mod W of W slots; W is the smallest power of two that is not
 * below N. Samples that span at most N bins never share a slot. So a table needs no first bin, and
 * a growing range costs nothing while k stays the same. With --log=auto, a table has W slots for
 * the bins below 0 (if the type has any), one for zero, and W for the bins above it. When k grows,
 * auto_coarsen adds bin j to bin floor(j / 2^(to - from)), or, for integers with --log=auto, to the
 * bin that contains its values.
 *
 * INVARIANT. At any time, a table holds samples of a known extent: the keys of the least and the
 * greatest finite sample and, with --log=auto, of the two samples next to zero, or of others in the
 * same bins. These four only move outwards and towards zero. The samples are counted at a k that is
 * the auto_k of a subset of all samples, and make at most N bins of 2^k. The auto_k of a subset is
 * never larger than the auto_k of the whole, and counts at k determine the counts at every larger
 * k. So tables can be coarsened in any order: the totals, coarsened to the auto_k of all samples,
 * do not depend on the order of the samples, on the worker that counted them, or on the engine.
 */
#ifndef GPUHIST_AUTO_H
#define GPUHIST_AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/binning.h"
#include "bins/sample.h"

/*
 * The keys (binning.h) of some finite samples; without any, least > greatest. For a float of 4
 * bytes or fewer, the key is key32_of_float of its bits as binary32.
 */
struct extent {
	uint64_t least, greatest;
	uint64_t below; /* --log=auto: the greatest negative sample; meaningless without one */
	uint64_t above; /* --log=auto: the least positive sample; meaningless without one */
};

#define EXTENT_OF(key) ((struct extent){(key), (key), 0, UINT64_MAX}) /* not for --log=auto */
#define EXTENT_NONE ((struct extent){UINT64_MAX, 0, 0, UINT64_MAX})

static inline bool extent_is_none(const struct extent *extent)
{
	return extent->least > extent->greatest;
}

static inline bool extent_equal(const struct extent *a, const struct extent *b)
{
	return a->least == b->least && a->greatest == b->greatest && a->below == b->below &&
	       a->above == b->above;
}

/* Extend an extent by another one; either may be EXTENT_NONE. */
static inline void extent_add(struct extent *extent, const struct extent *more)
{
	extent->least = more->least < extent->least ? more->least : extent->least;
	extent->greatest = more->greatest > extent->greatest ? more->greatest : extent->greatest;
	extent->below = more->below > extent->below ? more->below : extent->below;
	extent->above = more->above < extent->above ? more->above : extent->above;
}

/* The bins that --auto and --log=auto make. */
struct auto_bins {
	struct sample_type type;
	uint32_t most; /* limit of the number of bins; 0: the range is not from the samples */
	bool log;      /* --log=auto: bins of ranks, not of values */
	bool whole;    /* floats that are all whole numbers: values have a k of at least 0 */
};

/* Neighbouring bins, by their numbers; empty if last < first. */
struct auto_run {
	int128_t first, last;
};
#define RUN_NONE ((struct auto_run){0, -1})

/* The bins of a histogram, in this order. */
struct auto_span {
	struct auto_run below; /* --log=auto: the bins below 0, whose numbers are negative */
	bool zero;             /* --log=auto: there is a bin of zero */
	struct auto_run above; /* the bins above 0; --auto: all bins */
	int k;
};

/* The smallest limit that a type allows: one bin for each sign and, with --log=auto, for zero. */
uint32_t auto_bins_least(const struct auto_bins *bins);

/* The slots of a table for up to bins->most bins, which are at most 2^28. */
uint32_t auto_slots(const struct auto_bins *bins);

/* Can samples of the type have this extent? */
bool auto_is_extent(const struct auto_bins *bins, const struct extent *extent);

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

/* --log=auto: the k of bins that a value's first digit and this many binary digits after it name. */
int auto_k_of_digits(const struct sample_type *type, uint32_t digits);

/*
 * Return the bin of a finite sample's key; with --log=auto, not of zero. For values of integers,
 * bins are numbered by keys: bin j begins at key j 2^k, and its first value is a multiple of 2^k
 * too. For values of floats, k must be at least auto_k's lower bound.
 */
int128_t auto_bin(const struct auto_bins *bins, uint64_t key, int k);

/* The bins that the samples of an extent need at a k, which is at least auto_k's lower bound. */
struct auto_span auto_span_of(const struct auto_bins *bins, const struct extent *extent, int k);

int128_t auto_span_bins(const struct auto_span *span);

/* The bins for the samples of two histograms, at the smallest k that both allow. */
struct auto_span auto_span_both(const struct auto_bins *bins, const struct auto_span *a,
				const struct auto_span *b);

/* Return the index of the bin of `to` that contains bin i of `from`, which is finer. */
uint32_t auto_span_at(const struct auto_bins *bins, const struct auto_span *from, uint32_t i,
		      const struct auto_span *to);

/*
 * --log=auto: return the lower edge of bin i, or the upper edge of the last bin if i is past it.
 * Past the type's last number, that is the number that would come next, or infinity for binary64.
 */
double auto_edge(const struct auto_bins *bins, const struct auto_span *span, uint32_t i);

/* Make b the complete rule for counting samples in slots at k; b->bins becomes auto_slots. */
void auto_rule(struct binning *b, const struct auto_bins *bins, int k);

/*
 * --log=auto: store in the rule at k the bins that the extent covers. A sample in one of them does
 * not change the bins, so the loops need not update the extent. Return false if the loops cannot
 * use this: there are no bins, or too many for 32 bits.
 */
bool auto_know(struct binning *b, const struct auto_bins *bins, const struct extent *extent, int k);

/*
 * Turn counts at k = from into counts at k = to, which is not smaller, in place. `table` has
 * auto_slots. `extent` contains all samples in it and spans at most bins->most bins at k = from.
 */
void auto_coarsen32(uint32_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to);
void auto_coarsen64(uint64_t *table, const struct auto_bins *bins, const struct extent *extent,
		    int from, int to);

/* Move the counts of a span's bins from their slots to the beginning of the table, in order. */
void auto_arrange64(uint64_t *table, const struct auto_bins *bins, const struct auto_span *span);

/* The extent of a code (sample_value) of an 8- or 16-bit type; EXTENT_NONE if it is not finite. */
struct extent auto_extent_of_code(const struct sample_type *type, uint32_t code);

#endif

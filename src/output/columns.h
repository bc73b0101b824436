/* SPDX-License-Identifier: MIT */
/*
 * columns: the bins of a histogram as the columns of a picture, at most about 2,000 of them.
 *
 * A column is a run of whole bins, and its area is in proportion to the samples in it, whatever is joined:
 *
 *	equal bins and equal ratios    K bins a column; its height is what is in it, "samples per K bins"
 *	explicit edges                 at their true positions, bins joined that are narrower than a picture can
 *	                               show; its height is "samples per W", W the width of the narrowest column
 *
 * The last column may have fewer than K bins: what is in it counts in proportion. Where explicit edges are above
 * zero and the last is at least 1000 times the first, the axis is logarithmic, and heights are samples per decade.
 */
#ifndef GPUHIST_COLUMNS_H
#define GPUHIST_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "hist/hist.h"
#include "output/ticks.h"

#define COLUMNS_MOST 2000
#define COLUMNS_EXPLICIT 1000 /* bins that are narrower than this part of the axis are joined */

struct column {
	uint32_t first, end; /* bins first .. end - 1 */
	double from, to;     /* on the axis, 0 .. 1 */
	/* samples times this are the height; finite, and above 0 except for absurd edges */
	double scale;
};

struct columns {
	struct span span; /* the axis; undefined where there are no bins */
	uint32_t count;
	/* the K of equal bins; 0 for explicit edges that are not all equally far apart ... */
	uint32_t joined;
	double width;  /* ... and then this is the W, or 1, a decade, if span.log */
	uint32_t most; /* the most bins in one column */
	struct column column[COLUMNS_MOST + 8];
};

/* Makes the columns of an axis, which may have no bins, for all its channels. */
void columns_init(struct columns *columns, const struct axis *axis);

/* The samples in a column: the sum of its bins, which hist_audit bounds by 2^64 - 1. */
uint64_t columns_sum(const struct column *column, const struct hist *hist, uint32_t channel);

#endif

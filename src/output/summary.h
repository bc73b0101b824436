/* SPDX-License-Identifier: MIT */
/*
 * summary: what the bins of one channel show of its samples, exactly: the fullest bin, and where
 * quantiles are.
 */
#ifndef GPUHIST_SUMMARY_H
#define GPUHIST_SUMMARY_H

#include "hist/hist.h"

struct summary {
	uint64_t inside;     /* samples in bins */
	uint32_t mode;       /* the first of the bins that hold most ... */
	uint64_t mode_count; /* ... and its count; 0: all bins are empty */
	/*
	 * For hist_quantile_percent: among all samples but NaN, including under and over, the first
	 * bin up to which that many percent are counted. NONE if there are no samples, and for
	 * residues, which have no order.
	 */
	struct hist_quantile quantile[HIST_QUANTILES];
};

void summary_init(struct summary *summary, const struct hist *hist, uint32_t channel);

/*
 * A bin by its edges, "[LOWER, UPPER)", where the bracket shows whether the last bin is closed, or
 * the only value that it holds; edges of more than `digits` characters are rounded to six digits.
 * Quantiles may be "under" and "over".
 */
#define SUMMARY_TEXT (2 * NUMBER_TEXT + 4)
void summary_bin(char text[SUMMARY_TEXT], const struct axis *axis, uint32_t bin, size_t digits);
void summary_quantile(char text[SUMMARY_TEXT], const struct axis *axis,
		      const struct hist_quantile *quantile, size_t digits);

#endif

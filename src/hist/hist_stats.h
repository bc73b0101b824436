/* SPDX-License-Identifier: MIT */
/* hist_stats: the figures of a channel; only hist.c, hist_add.c and hist_keys.c use it. */
#ifndef GPUHIST_HIST_STATS_H
#define GPUHIST_HIST_STATS_H

#include "hist/hist.h"

/* Set the figures from the sums, whose digest moves to the histogram, and from the bins. */
void hist_stats_of_bins(struct hist *h, uint32_t channel, struct stats *sums,
			struct entropy_terms *terms);

/*
 * Set the figures from the counts of n different codes that were seen, and add these to the sums.
 */
void hist_stats_of_codes(struct hist *h, uint32_t channel, struct stats *sums,
			 const uint64_t *count, uint32_t n, struct hist_scratch *scratch);

/*
 * Add the figures of a histogram with the same axis and channels, so that hist_set_stats can
 * compute the figures of the sum; if one side has none, neither has the sum. -1: no memory.
 */
int hist_stats_add(struct hist *h, const struct hist *other, struct fail *fail);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * hist_stats: what --stats says of one channel: the exact figures of count/stats.h, and quantiles.
 *
 * Both are of finite samples alone. The quantile of q percent is the smallest sample that is not
 * below q percent of them: for 8- and 16-bit types its value; for others, whose samples are not
 * kept, the bin that holds it.
 */
#ifndef GPUHIST_HIST_STATS_H
#define GPUHIST_HIST_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "bins/number.h"
#include "bins/sample.h"
#include "count/stats.h"

struct hist;

#define HIST_QUANTILES 7
extern const unsigned hist_quantile_percent[HIST_QUANTILES];

enum hist_quantile_kind {
	QUANTILE_NONE,  /* there is no finite sample */
	QUANTILE_VALUE, /* it is `value` */
	QUANTILE_BIN,   /* it is in this bin */
	QUANTILE_UNDER, /* it is in no bin, but below or above them */
	QUANTILE_OVER,
};

struct hist_quantile {
	enum hist_quantile_kind kind;
	double value; /* VALUE: never -0 */
	uint32_t bin; /* BIN */
};

struct hist_stats {
	struct stats_result of;
	struct hist_quantile quantile[HIST_QUANTILES]; /* of hist_quantile_percent[i] */
};

/*
 * For an 8- or 16-bit type: made from the counts of its codes as they are in memory. Adds the codes
 * to sums, which must be empty.
 */
void hist_stats_of_codes(struct hist_stats *out, struct stats *sums, const struct sample_type *type,
			 const uint64_t *count);

/*
 * For other types: made from the sums of the samples, and from the bins of a channel whose
 * histogram is filled.
 */
void hist_stats_of_bins(struct hist_stats *out, const struct stats *sums, const struct hist *h,
			uint32_t channel);

/* The least and the greatest finite sample, as text. */
void hist_stats_format_least(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel);
void hist_stats_format_greatest(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel);

/* Quantile i as text: a number, or "[LOWER, UPPER)" of a bin, "under", "over". */
#define QUANTILE_TEXT (2 * NUMBER_TEXT + 4)
void hist_stats_format_quantile(char text[QUANTILE_TEXT], const struct hist *h, uint32_t channel,
				unsigned i);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * plot_rows: which bins a row of a picture holds, and what is said of a channel below it. All of it is exact, from the
 * counts alone: sums are 128 bits wide. Pure; nothing is allocated.
 */
#ifndef GPUHIST_PLOT_ROWS_H
#define GPUHIST_PLOT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/wide.h"
#include "hist/hist.h"

#define PLOT_ROWS_LEAST 4u   /* as many there may always be */
#define PLOT_ROWS_MOST 1000u /* more there never are */

/* The first sample in the order of the values, the last one, and those between, as summary.h has quantiles. */
enum { PLOT_LEAST, PLOT_Q5, PLOT_MEDIAN, PLOT_Q95, PLOT_GREATEST, PLOT_PLACES };

/* Of one channel. */
struct plot_figures {
	uint128_t samples;                    /* in bins, under, over, and NaN */
	uint32_t filled;                      /* bins that are not empty ... */
	uint32_t first, last;                 /* ... the first and the last of them, where there are any */
	uint32_t mode;                        /* the fullest bin, the first of several */
	uint64_t most;                        /* samples in it */
	uint32_t flows;                       /* how many of under, over and NaN there are */
	struct hist_quantile at[PLOT_PLACES]; /* NONE, UNDER, BIN or OVER */
};

/* Reads all counts of the channel, a few times. */
void plot_figures(struct plot_figures *f, const struct hist *hist, uint32_t channel);

/*
 * Bins are counted off in groups of `per`, of which the first may lack `lead` bins, and the last one some. The groups
 * from `skip` on have rows.
 */
struct plot_rows {
	uint32_t per;
	uint32_t lead;
	uint32_t skip;
	uint32_t rows;
};

/*
 * Rows for the bins from `first` to `last`, at most `most` of them, PLOT_ROWS_LEAST <= most <= PLOT_ROWS_MOST. Of bins
 * of AUTO, which nothing is beyond, groups begin at multiples of their own width, so that 0 is between two of them; of
 * others at the first bin. The number of bins is one that makes short labels and not many rows less than would fit.
 */
void plot_rows_join(struct plot_rows *rows, const struct axis *axis, uint32_t first, uint32_t last, uint32_t most);

/* The first bin of row r; of r = rows->rows, the one after the last row. */
uint32_t plot_rows_begin(const struct plot_rows *rows, const struct axis *axis, uint32_t r);

/*
 * For labels: the axis with whole groups. Row r begins at its edge (skip + r) * per. It borrows from the axis and is
 * not freed.
 */
struct edges plot_rows_edges(const struct plot_rows *rows, const struct axis *axis);

/* Adds each row's counts up. */
void plot_rows_sum(uint128_t sums[PLOT_ROWS_MOST], const struct plot_rows *rows, const struct hist *hist,
		   uint32_t channel);

#endif

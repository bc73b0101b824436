/* SPDX-License-Identifier: MIT */
/*
 * plot_rows: which bins a row of a picture holds, and the figures of a channel below it. Everything
 * is exact and made from the counts alone: sums are 128 bits wide. Pure; nothing is allocated.
 */
#ifndef GPUHIST_PLOT_ROWS_H
#define GPUHIST_PLOT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/wide.h"
#include "hist/hist.h"

#define PLOT_ROWS_LEAST 4u   /* there may always be this many */
#define PLOT_ROWS_MOST 1000u /* there are never more */

/*
 * The first sample in the order of the values, the last one, and quantiles between them, as in
 * summary.h.
 */
enum { PLOT_LEAST, PLOT_Q5, PLOT_MEDIAN, PLOT_Q95, PLOT_GREATEST, PLOT_PLACES };

/* The figures of one channel. */
struct plot_figures {
	uint128_t samples; /* in bins, under, over, and NaN */
	uint32_t filled;   /* bins that are not empty ... */
	/* ... the first and the last of them, where there are any */
	uint32_t first, last;
	uint32_t mode;                        /* the fullest bin, the first of several */
	uint64_t most;                        /* the number of samples in it */
	uint32_t flows;                       /* how many of under, over and NaN are not 0 */
	struct hist_quantile at[PLOT_PLACES]; /* NONE, UNDER, BIN or OVER */
};

/* Reads all counts of the channel, several times. */
void plot_figures(struct plot_figures *f, const struct hist *hist, uint32_t channel);

/*
 * Bins are counted off in groups of `per`; the first group may lack `lead` bins, and the last one
 * some. The groups from `skip` on have rows.
 */
struct plot_rows {
	uint32_t per;
	uint32_t lead;
	uint32_t skip;
	uint32_t rows;
};

/*
 * Rows for the bins from `first` to `last`, at most `most` of them, PLOT_ROWS_LEAST <= most <=
 * PLOT_ROWS_MOST. With AUTO, which has no samples beyond its bins, groups begin at multiples of
 * their own width, so that 0 is between two of them; otherwise at the first bin. The number of bins
 * for each row makes short labels, and not many rows fewer than would fit.
 */
void plot_rows_join(struct plot_rows *rows, const struct axis *axis, uint32_t first, uint32_t last,
		    uint32_t most);

/* The first bin of row r; for r = rows->rows, the bin after the last row. */
uint32_t plot_rows_begin(const struct plot_rows *rows, const struct axis *axis, uint32_t r);

/*
 * For labels: the axis extended to whole groups. Row r begins at its edge (skip + r) * per. It
 * borrows from the axis and is not freed.
 */
struct edges plot_rows_edges(const struct plot_rows *rows, const struct axis *axis);

/* Adds up each row's counts. */
void plot_rows_sum(uint128_t sums[PLOT_ROWS_MOST], const struct plot_rows *rows,
		   const struct hist *hist, uint32_t channel);

#endif

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

/* Where a sample is that was counted. */
enum plot_where { WHERE_NONE, WHERE_UNDER, WHERE_BIN, WHERE_OVER };

struct plot_place {
	enum plot_where where;
	uint32_t bin; /* of WHERE_BIN */
};

/* The first sample in the order of the values, the last one, and those between. As hist_stats has quantiles. */
enum { PLOT_LEAST, PLOT_Q5, PLOT_MEDIAN, PLOT_Q95, PLOT_GREATEST, PLOT_PLACES };

/* Of one channel. */
struct plot_figures {
	uint128_t samples;                 /* in bins, under, over, and NaN */
	uint32_t filled;                   /* bins that are not empty ... */
	uint32_t first, last;              /* ... the first and the last of them, where there are any */
	uint32_t mode;                     /* the fullest bin, the first of several */
	uint64_t most;                     /* samples in it */
	struct plot_place at[PLOT_PLACES]; /* of all samples but NaN; residues are in no order: NONE */
	uint32_t flows;                    /* how many of under, over and NaN there are */
};

/* Reads all counts of the channel, those of a bin at most twice. */
void plot_figures(struct plot_figures *f, const struct hist *hist, uint32_t channel);

/* Row r holds the bins first + r * per and those after it, `per` of them or up to the last one there is. */
struct plot_rows {
	uint32_t first;
	uint32_t per;
	uint32_t rows;
};

/*
 * Rows for the bins from `first` to `last`, at most `most` of them, PLOT_ROWS_LEAST <= most <= PLOT_ROWS_MOST. Every
 * row begins at a multiple of its number of bins: one that makes short labels, and so few rows less than would fit.
 */
void plot_rows_join(struct plot_rows *rows, const struct edges *edges, uint32_t first, uint32_t last, uint32_t most);

/* The bins of all rows are first .. end - 1. */
uint32_t plot_rows_end(const struct plot_rows *rows, uint32_t bins);

/* Adds each row's counts up. */
void plot_rows_sum(uint128_t sums[PLOT_ROWS_MOST], const struct plot_rows *rows, const struct hist *hist,
		   uint32_t channel);

#endif

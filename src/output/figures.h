/* SPDX-License-Identifier: MIT */
/* figures: the --stats columns of a table that has one line per row, and their names. */
#ifndef GPUHIST_OUTPUT_FIGURES_H
#define GPUHIST_OUTPUT_FIGURES_H

#include "hist/hist.h"

/*
 * Call put(line, text) for each column in turn, with the channel's figures or, if hist is NULL, the
 * column names. An undefined or unknown figure is "". A quantile has one column; with intervals,
 * two more columns give the ends of its bin.
 */
void figures_list(void (*put)(void *line, const char *text), void *line,
		  const struct quantiles *asked, bool intervals, const struct hist *hist,
		  uint32_t channel);

#endif

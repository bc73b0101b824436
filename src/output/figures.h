/* SPDX-License-Identifier: MIT */
/* figures: the columns of --stats in a table with a line for each row, and their names. */
#ifndef GPUHIST_OUTPUT_FIGURES_H
#define GPUHIST_OUTPUT_FIGURES_H

#include "hist/hist.h"

/*
 * Calls put(line, text) for each column in turn: with the figures of a channel, or, if hist is NULL,
 * with the names of the columns. A figure that does not exist or is not known is "". A quantile has
 * one column, or, with intervals, two more for the ends of its bin.
 */
void figures_list(void (*put)(void *line, const char *text), void *line,
		  const struct quantiles *asked, bool intervals, const struct hist *hist,
		  uint32_t channel);

#endif

/* SPDX-License-Identifier: MIT */
/* figures: the figures of --stats as text, for tables and documents. */
#ifndef GPUHIST_OUTPUT_FIGURES_H
#define GPUHIST_OUTPUT_FIGURES_H

#include "hist/hist.h"

enum figure {
	FIGURE_SAMPLES, /* all samples of the channel */
	FIGURE_COUNT,   /* finite samples */
	FIGURE_UNDER,
	FIGURE_OVER,
	FIGURE_BELOW, /* -inf */
	FIGURE_ABOVE, /* inf */
	FIGURE_NAN,
	FIGURE_ZEROS,
	/* from here on: of the finite samples */
	FIGURE_AT_LEAST,
	FIGURE_AT_GREATEST,
	FIGURE_NEVER_HIT,
	FIGURE_LEAST,
	FIGURE_GREATEST,
	FIGURE_MEAN,
	FIGURE_DEVIATION,
	FIGURE_ENTROPY,
};

/* Format a figure of a channel with statistics; "" if it is undefined or unknown. */
void figure_text(char text[NUMBER_TEXT], const struct hist *hist, uint32_t channel,
		 enum figure figure);

/*
 * For a table with one line per row: call put(line, text) for each column in turn, with the
 * channel's figures or, if hist is NULL, the column names.
 */
void figures_list(void (*put)(void *line, const char *text), void *line,
		  const struct quantiles *asked, const struct hist *hist, uint32_t channel);

#endif

/* SPDX-License-Identifier: MIT */
/* row_plot: a row of --each as a line of text, a strip of shades for each channel. */
#ifndef GPUHIST_EACH_ROW_PLOT_H
#define GPUHIST_EACH_ROW_PLOT_H

#include "each/row.h"

/* Make the strip of all rows, for row_spec.strip. */
void row_plot_strip(struct strip *strip, const struct row_spec *spec);

/* Write the lines above the first row. */
void row_plot_begin(struct output *out, const struct row_spec *spec);
void row_plot_write(struct output *out, const struct row_spec *spec, const struct row_place *row,
		    const struct hist *hist);

#endif

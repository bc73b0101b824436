/* SPDX-License-Identifier: MIT */
/*
 * table: the figures of rows as aligned columns that fit the width of a terminal.
 *
 *     tensor                         shape       min      max    mean     std  zeros    nan
 *     model.layers.0...proj.weight   4096x11008  -0.4062  0.3926  -1e-06  0.0198  <0.1%   0.0%
 *
 * Columns that do not fit are left out, those that the user did not name first.
 */
#ifndef GPUHIST_OUTPUT_TABLE_H
#define GPUHIST_OUTPUT_TABLE_H

#include "hist/hist.h"
#include "output/format.h"

/* The properties of a table. */
struct table {
	const struct canvas *canvas;
	const struct quantiles *asked;
	const char *name;  /* the title of the first column */
	bool names;        /* the first column holds names, not numbers */
	bool shape;        /* the second column holds a shape, and samples are not counted */
	bool bytes;        /* samples of up to 8 bits, whose entropy is shown */
	uint32_t channels; /* above 1: a column for the channel's number */
};

/* Write the names of the columns. */
void table_begin(struct output *out, const struct table *t);

/* Write the figures of a channel; shape may be NULL. */
void table_row(struct output *out, const struct table *t, const char *name, const char *shape,
	       const struct hist *hist, uint32_t channel);

#endif

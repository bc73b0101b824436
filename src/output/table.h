/* SPDX-License-Identifier: MIT */
/*
 * table: the figures of rows as aligned columns that fit the width of a terminal.
 *
 *     tensor                         shape       min      max    mean     std  zeros    nan
 *     model.layers.0...proj.weight   4096x11008  -0.4062  0.3926  -1e-06  0.0198  <0.1%   0.0%
 *
 * Quantiles that the user named and that do not fit are folded onto further lines of each row, with
 * the other columns that fit there. Columns that do not fit are left out, first those that are zero
 * in all rows. Names lose their common beginning and end; if they are still too long and would be
 * equal without their middle, each stands on lines of its own.
 */
#ifndef GPUHIST_OUTPUT_TABLE_H
#define GPUHIST_OUTPUT_TABLE_H

#include "hist/hist.h"
#include "output/format.h"

/* The properties of all rows, as far as they are known before the first is written. */
struct table_rows {
	size_t start, tail; /* bytes of the common beginning and end of names */
	bool apart;         /* names stand on lines of their own */
	uint32_t zero;      /* bits of enum figure_id: they are 0 in all rows */
};

/* The properties of a table. */
struct table {
	const struct canvas *canvas;
	const struct quantiles *asked;
	const struct table_rows *rows;
	const char *name;  /* the title of the first column */
	bool names;        /* the first column holds names, not numbers */
	bool shape;        /* the second column holds a shape, and samples are not counted */
	bool bytes;        /* samples of up to 8 bits, whose entropy and chi2 are shown */
	bool reals;        /* samples may be infinite */
	uint32_t channels; /* above 1: a column for the channel */
	const struct hist *series; /* names the channels */
};

/* Learn the common beginning and end of the names of all rows, and whether names fit. */
void table_know(struct table_rows *r, const struct table *t, const char *const *name, size_t n);

/* Write the names of the columns. */
void table_begin(struct output *out, const struct table *t);

/* Write the figures of a channel; shape may be NULL. */
void table_row(struct output *out, const struct table *t, const char *name, const char *shape,
	       const struct hist *hist, uint32_t channel);

#endif

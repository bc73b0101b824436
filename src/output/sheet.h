/* SPDX-License-Identifier: MIT */
/*
 * sheet: the model of a picture of rows (--each), which svg_sheet.c draws as panels, a heat map or,
 * with --stats, as lines or dots. As text, each/row_plot.c draws one strip after another, without a
 * sheet.
 *
 * A row is a strip: cells of equal length on the axis (ruler.h), each holding its samples divided
 * by its width, so flat data looks flat. A sheet holds at most SHEET_ROWS rows. When it is full,
 * neighbouring rows are joined in pairs, and from then on twice as many input rows form one row.
 */
#ifndef GPUHIST_OUTPUT_SHEET_H
#define GPUHIST_OUTPUT_SHEET_H

#include "hist/hist.h"
#include "output/format.h"
#include "output/picture.h"

/* ---- a strip ---- */

#define SHADES 15u
/* Colours from few samples to many, for 256-colour terminals and for SVG. */
extern const struct shade {
	unsigned terminal, rgb;
} RAMP[SHADES];

void strip_fill(double *value, const struct strip *strip, const struct hist *hist,
		uint32_t channel);

/*
 * The shades of n values, from 0 to `levels`, which is the largest value's; 0 only if the value is
 * 0. If they are logarithmic, they begin at the power of ten below the smallest value, as bars do.
 */
void strip_shades(unsigned *shade, const double *value, uint32_t n, unsigned levels,
		  bool logarithm);

/* Entropy of the bins in bits, 0 if they are empty. Call strip_begin first. */
double strip_entropy(const struct hist *hist, uint32_t channel);
void strip_begin(void);

/* ---- all rows ---- */

#define SHEET_ROWS 2000u
/* The numbers of a row for curves; the quantiles that the user named follow CURVE_COUNT. */
enum curve { CURVE_COUNT, CURVE_ENTROPY, CURVE_LEAST, CURVE_MEAN, CURVE_GREATEST, CURVE_WIDTH };

/* Do rows of the series have an entropy? */
bool sheet_has_entropy(const struct axis *axis, const struct hist *series);

/* Most bits that the entropy of a row can have, at least 1. */
double sheet_bits(const struct axis *axis, const struct hist *series);

struct sheet {
	const struct axis *axis;
	const struct canvas *canvas;
	uint32_t channels;
	struct strip strip;                /* the cells of a row */
	uint32_t width;                    /* numbers per channel in a row: cells, or CURVE_WIDTH */
	bool curves;                       /* the numbers are for curves, not cells */
	const struct quantiles *quantiles; /* curves: draw these; NULL: entropy and the others */
	uint64_t size;    /* records per row; 0: a row is an input, or there are several inputs */
	bool bytes;       /* records are bytes */
	bool named;       /* rows are inputs, keys or channels, which do not follow each other */
	const char *unit; /* rows are keys or channels: "key", "channel"; else NULL */
	const struct hist *series; /* names the channels of rows, or those that are rows */
	char *const *paths;        /* of inputs; NULL: rows are keys or channels */
	size_t files;              /* their number */
	const uint64_t *begin;     /* bytes: offset of the first row, once it is written */
	const char *options;       /* as in provenance */
	uint64_t count;            /* input rows added so far */
	uint64_t samples, out;     /* in all rows and channels; those in no bin */
	uint32_t rows;             /* rows to draw */
	uint64_t joined;           /* input rows per row; the last row may have fewer */
	uint64_t last;             /* input rows in the last row */
	uint32_t path[SHEET_ROWS]; /* of rows: the first input */
	double *value;             /* SHEET_ROWS x channels x width; owned; NULL: no row yet */
};

/* Begin an empty sheet; asked: quantiles of figures, else NULL. The caller describes the rows. */
void sheet_begin(struct sheet *s, const struct hist *series, uint32_t channels,
		 const struct quantiles *asked, const struct canvas *canvas, const char *options);

/*
 * Fill in the numbers of a row, SHEET_HEAD about all channels first (its samples, those in no bin,
 * its input), and return how many there are. Any thread may call it. sheet_add adds the numbers to
 * the sheet; -1: out of memory.
 */
#define SHEET_HEAD 3
#define SHEET_NUMBERS (SHEET_HEAD + LAYOUT_CHANNELS_FEW * (1 + QUANTILES_MAX))
size_t sheet_row(const struct sheet *s, double numbers[SHEET_NUMBERS], const struct hist *hist,
		 size_t path);
int sheet_add(struct sheet *s, const double *numbers);
static inline size_t sheet_numbers(const struct sheet *s)
{
	return SHEET_HEAD + (size_t)s->channels * s->width;
}

static inline const double *sheet_at(const struct sheet *s, uint32_t row, uint32_t channel)
{
	return s->value + ((size_t)row * s->channels + channel) * s->width;
}

void write_svg_sheet(struct output *out, const struct sheet *s); /* svg_sheet.c */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * sheet: the model of a picture of rows (--each). each/row.c paints it as lines of text, svg.c as a
 * heat map or, with --stats, as curves.
 *
 * A row is a strip: cells of equal width over all bins, each with its samples per bin, so flat data
 * looks flat. A sheet holds at most SHEET_ROWS rows. When one more comes, neighbours are joined in
 * pairs, and from then on twice as many rows are joined into one.
 */
#ifndef GPUHIST_OUTPUT_SHEET_H
#define GPUHIST_OUTPUT_SHEET_H

#include "hist/hist.h"
#include "output/format.h"
#include "output/picture.h"

/* ---- a strip ---- */

#define SHADES 15u
/* From few samples to many: colours of a terminal with 256, and the same for SVG. */
extern const struct shade {
	unsigned terminal, rgb;
} RAMP[SHADES];

void strip_fill(double *cell, uint32_t cells, const struct hist *hist, uint32_t channel);

/* How dark, from 0 to `levels`: 0 for nothing, and at least 1 for something. */
unsigned strip_shade(double value, double most, unsigned levels, bool logarithm);

/* The entropy of the bins in bits, 0 if they are empty. strip_begin must have been called. */
double strip_entropy(const struct hist *hist, uint32_t channel);
void strip_begin(void);

/* ---- all rows ---- */

#define SHEET_ROWS 2000u
enum figure {
	FIGURE_ENTROPY,
	FIGURE_LEAST,
	FIGURE_MEAN,
	FIGURE_GREATEST,
	FIGURE_COUNT,
	FIGURE_WIDTH
};

struct sheet {
	const struct axis *axis;
	const struct canvas *canvas;
	uint32_t channels;
	uint32_t width; /* numbers of a channel in a row: its cells, or FIGURE_WIDTH */
	bool figures;   /* they are figures */
	uint64_t size;  /* records of a row; 0: a row is an input, or there are several inputs */
	bool bytes;     /* these records are bytes */
	char *const *names;  /* of each row, if a row is an input; else NULL */
	const char *options; /* as in provenance */
	uint64_t count;      /* rows in all */
	uint64_t samples;    /* of all rows and channels */
	uint32_t rows;       /* rows that are drawn */
	uint64_t joined;     /* rows joined into each of these; the last may have fewer */
	uint64_t last;       /* rows in the last one */
	double *value;       /* rows x channels x width; owned */
	size_t room;         /* rows that fit */
};

/* The cells of a channel in a sheet with that many channels. */
uint32_t sheet_cells(const struct axis *axis, uint32_t channels);
/* The axis of cells, without ticks; bins of listed edges are numbered. */
struct scale sheet_scale(const struct axis *axis);

/*
 * Fills in the numbers of a row, its samples first, and returns how many there are. Any thread.
 * sheet_add adds them to the sheet. -1: no memory.
 */
#define SHEET_NUMBERS 512u
size_t sheet_row(const struct sheet *s, double numbers[SHEET_NUMBERS], const struct hist *hist);
int sheet_add(struct sheet *s, const double *numbers);
static inline size_t sheet_numbers(const struct sheet *s)
{
	return 1 + (size_t)s->channels * s->width;
}

static inline const double *sheet_at(const struct sheet *s, uint32_t row, uint32_t channel)
{
	return s->value + ((size_t)row * s->channels + channel) * s->width;
}

void write_svg_sheet(struct output *out, const struct sheet *s); /* svg.c */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ruler: the axis of values in a picture: which bins lie where, how wide they are, and the ticks.
 *
 * UNITS. A picture divides counts by the width of bins. On a logarithmic axis it is in
 * doublings, log2(upper / lower), so smooth data looks smooth; on a linear axis it is a number of
 * bins if all are equally wide, else a difference of values.
 *
 * The axis is logarithmic for bins of equal ratio (--log) and of equal ranks (--log=auto), and for
 * listed edges above 0 if their ratios vary less than their widths.
 *
 * ZERO. On a logarithmic axis, the bins that touch or hold 0 have no width. They are a "band" of
 * their own, apart from the numbers on either side by a gap, and their width counts as 1. With
 * --log=auto, a bin that ends at 0 ends with the number before 0 and so has a width.
 */
#ifndef GPUHIST_OUTPUT_RULER_H
#define GPUHIST_OUTPUT_RULER_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/axis.h"

/* ---- scales and ticks ---- */

#define TICKS_MAX 128u
#define TICK_TEXT 48

/* A number line from lo to hi, with its ticks. */
struct scale {
	double lo, hi;
	bool log; /* logarithmic */
	/*
	 * If it is logarithmic and lo <= 0 <= hi: the negative numbers end at -below, the positive
	 * ones begin at above; 0 if there are none. The band between them has these ends, and a gap
	 * of this width on each side that has numbers.
	 */
	double below, above, band[2], gap;
	bool whole, hex; /* ticks only at whole numbers; in hexadecimal */
	bool names;      /* ticks are labelled with names, which are any text */
	unsigned ticks;
	struct tick {
		double at;            /* position, from 0 at lo to 1 at hi */
		char text[TICK_TEXT]; /* from printf; "" for a minor tick */
	} tick[TICKS_MAX];
};

/* log2(b / a), even if they are so close or so far apart that their quotient is useless. */
double scale_doublings(double a, double b);

/* The largest power of ten below x > 0, at least the smallest normal number. */
double scale_below(double x);

/* Position of x, from 0 at lo to 1 at hi, clamped to that range; in the band, its middle. */
double scale_at(const struct scale *s, double x);

/*
 * Find about `most` round numbers: fewer if their labels would touch on a line of that many
 * characters, and one or none if lo and hi are too close.
 */
void scale_ticks(struct scale *s, unsigned most, unsigned characters);

/* ---- bins ---- */

struct ruler {
	const struct axis *axis;
	uint32_t first, end;     /* bins on the axis */
	uint32_t zero, positive; /* bins zero .. positive - 1 are the band, perhaps none */
	bool even;               /* bins have equal lengths on the axis */
	bool counted;            /* widths are numbers of bins */
	struct scale x;          /* no ticks yet */
};

/* Set zero and positive for bins that are ordered: which ones touch or hold 0. */
void ruler_zero(struct ruler *r, const struct axis *axis);

/*
 * After ruler_zero, make the axis of bins first .. end - 1. cells > 0: the axis has that many
 * cells, and the band and its gaps are whole cells.
 */
void ruler_make(struct ruler *r, uint32_t first, uint32_t end, uint32_t cells);

/* Position of the lower end of bins first .. end - 1 and of their upper end. */
void ruler_span(const struct ruler *r, uint32_t first, uint32_t end, double at[2]);

/* Their width, above 0. */
double ruler_width(const struct ruler *r, uint32_t first, uint32_t end);

/* ---- cells ---- */

/*
 * A strip cuts the axis into cells of equal length. A cell holds bins begin .. end; the first
 * and the last may be fractions. Its value is their count times its weight.
 */
#define STRIP_CELLS 400u
struct strip {
	struct ruler ruler;
	uint32_t cells;
	struct strip_cell {
		double begin, end, weight;
	} cell[STRIP_CELLS];
};

/* Make a strip of all bins, of at most `most` cells. */
void strip_make(struct strip *s, const struct axis *axis, uint32_t most);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * picture: the model of a histogram's picture. plot.c paints it as text, svg.c as SVG.
 *
 * BARS. Neighbouring bins are joined to bars, `per` bins in each from the first one on; the last bar
 * may hold fewer. Bars of --log=auto begin at zero, in both directions, so the first may hold fewer,
 * too, and the bins next to zero that hold nothing but zeros are one bar, the "middle".
 *
 * VALUES. A bar is as high as its value: samples per `per` bins, whatever number of bins it holds,
 * so flat data looks flat. With listed edges the value is samples per `unit` of the axis. The scale
 * of all channels is the largest value of any bar; samples out of range have no part in it.
 *
 * A picture has the same bytes everywhere: everything is computed by exact or correctly rounded
 * operations, except libm's logarithms, whose last bit differs from system to system. That bit
 * decides nothing: picture_round adds a little to what it rounds.
 */
#ifndef GPUHIST_OUTPUT_PICTURE_H
#define GPUHIST_OUTPUT_PICTURE_H

#include "hist/hist.h"

/* ---- scales and ticks ---- */

#define TICKS_MAX 128u
#define TICK_TEXT 48

/* Numbers from lo to hi along a line, and those written next to it. */
struct scale {
	double lo, hi;
	/*
	 * 0: the scale is linear. Above 0: it is logarithmic in both directions beyond +-turn, and
	 * linear in between; 0 < lo needs turn = lo, hi < 0 needs turn = -hi.
	 */
	double turn;
	bool whole, hex; /* only whole numbers are written; in hexadecimal */
	unsigned ticks;
	struct tick {
		double at; /* 0 .. 1, from lo to hi */
		char text
			[TICK_TEXT]; /* as printf has it; "": a small tick between two with texts */
	} tick[TICKS_MAX];
};

/* Where x is from lo to hi, 0 .. 1; numbers outside are at the nearer end. */
double scale_at(const struct scale *s, double x);

/*
 * Finds some `most` round numbers; fewer if their texts would touch on a line that is `room`
 * characters long, and one or none if lo and hi are too close.
 */
void scale_ticks(struct scale *s, unsigned most, unsigned room);

/* ---- bars ---- */

struct bar {
	uint32_t first, end; /* bins first .. end - 1 */
	double scale;        /* value / samples */
};

#define BARS_MOST 1024u
struct picture {
	const struct hist *hist;
	uint32_t first, end; /* picture_open: bins that hold something, of any channel, or all */
	uint32_t per;        /* bins of a bar */
	uint32_t bars;       /* 0 if there are no bins, or all are empty */
	struct bar *bar;
	double unit;    /* listed edges: the width that values are per, 1 for a decade; else 0 */
	struct scale x; /* the values from edge to edge of the bars; no ticks yet */
	/* Set by picture_count. */
	double least, most; /* values above 0, of all channels; most is 0 if there is none */
	uint64_t *sum;      /* samples in bar k of channel c: sum[c * bars + k] */
	struct facts {
		uint64_t samples; /* in all bins */
		uint32_t filled;  /* bins that hold something */
		uint32_t fullest; /* the first bin that holds `most` */
		uint64_t most;
	} facts[LAYOUT_CHANNELS_MAX];
};

/*
 * Begins a picture of at most `most` bars: of all bins, or from the first to the last that holds
 * something. picture_join makes the bars, and may be called again with fewer; then picture_count
 * counts them. -1: no memory, and there is nothing to free.
 */
int picture_open(struct picture *p, const struct hist *hist, bool all, uint32_t most);
void picture_join(struct picture *p, uint32_t most);
void picture_count(struct picture *p);
void picture_free(struct picture *p);

static inline uint64_t picture_sum(const struct picture *p, uint32_t channel, uint32_t k)
{
	return p->sum[(size_t)channel * p->bars + k];
}

/* Where bin i begins on the axis from the first bar to the last, 0 .. 1. */
double picture_place(const struct picture *p, uint32_t i);

/* Do all bars hold `per` bins? */
bool picture_is_even(const struct picture *p);

/* ---- numbers as text ---- */

/* Rounds x to a whole number: halves go up, and so does what logarithms left just below a half. */
double picture_round(double x);

/* The length in bytes of the first `characters` characters of a text; how many it has. */
size_t picture_cut(const char *text, size_t characters);
size_t picture_width(const char *text);

bool edge_is_whole(const char *text); /* a whole number, not longer than a 64-bit integer */
/* Edge i for the eye: a whole number in full, any other in six digits if it has many. */
void edge_text(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i);

/* A bin: "[LOWER, UPPER)", or the only value that is in it. */
#define BIN_TEXT (2 * NUMBER_TEXT + 4)
void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin);

/* Does a bin hold one whole number alone? */
bool bin_is_value(const struct axis *axis, uint32_t bin);

#endif

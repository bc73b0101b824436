/* SPDX-License-Identifier: MIT */
/*
 * picture: what -f plot and -f svg share: bins joined to rows or columns, what a channel holds, and
 * edges as text.
 *
 * A picture has the same bytes everywhere: everything is computed by exact or correctly rounded
 * operations, but for libm's logarithms, whose last bit differs from system to system. That bit
 * decides nothing: picture_round adds a little to what it rounds.
 */
#ifndef GPUHIST_OUTPUT_PICTURE_H
#define GPUHIST_OUTPUT_PICTURE_H

#include "hist/hist.h"

/*
 * A row or a column. All stripes hold the same number of bins, except the last one if the axis ends
 * inside it, and with --log=auto the first one and gaps.
 */
struct stripe {
	uint32_t first, end; /* bins first .. end - 1 */
	bool gap;            /* one row or column that stands for many empty bins */
	double scale;        /* height / samples: 1, except with listed edges in SVG */
};

#define STRIPES_MOST 1024
struct stripes {
	uint32_t per; /* bins of a stripe, but the last */
	uint32_t count;
	struct stripe stripe[STRIPES_MOST];
};

/*
 * Joins the bins first .. end - 1 to at most `most` stripes, 4 <= most <= STRIPES_MOST. Stripes
 * begin at multiples of `per` bins from bin 0; other bins fill up the first stripe and the last.
 */
void stripes_join(struct stripes *stripes, const struct axis *axis, uint32_t first, uint32_t end,
		  uint32_t most);

/*
 * Like stripes_join, for bins of --log=auto. Stripes begin at multiples of `per` bins from the
 * number 0, in both directions; many empty stripes in a row, most of all between the smallest
 * numbers of either sign, are joined to a gap.
 */
void stripes_join_ranks(struct stripes *stripes, const struct hist *hist, uint32_t first,
			uint32_t end, uint32_t most);

uint64_t stripe_sum(const struct stripe *stripe, const struct hist *hist, uint32_t channel);

/* The bins of a channel that hold something. */
struct filled {
	uint32_t bins;       /* how many bins hold something */
	uint64_t samples;    /* samples in all bins */
	uint32_t first, end; /* first bin that holds something, and one past the last */
	uint32_t fullest;    /* the first bin that holds `most` */
	uint64_t most;
};

void filled_bins(struct filled *filled, const struct hist *hist, uint32_t channel);

/* How many bytes the first `characters` characters of a text take. */
size_t picture_cut(const char *text, size_t characters);

/* Rounds x to a whole number: halves go up, as does what logarithms left just below a half. */
double picture_round(double x);

bool edge_is_whole(const char *text); /* a whole number, not longer than a 64-bit integer */
/* Edge i for the eye: a whole number in full, any other in six digits if it has many. */
void edge_text(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i);

/* A bin: "[LOWER, UPPER)", or the only value that is in it. */
#define BIN_TEXT (2 * NUMBER_TEXT + 4)
void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * picture: what -f plot and -f svg share: bins joined to rows or columns, what a channel holds, and
 * edges as text.
 *
 * A picture has the same bytes everywhere: everything is computed by exact or correctly rounded
 * operations, but for libm's logarithms, whose last bit differs from system to system. They decide
 * nothing alone: what is rounded to what is drawn (picture_round) is a little more than they say.
 */
#ifndef GPUHIST_OUTPUT_PICTURE_H
#define GPUHIST_OUTPUT_PICTURE_H

#include "hist/hist.h"

/*
 * A row or a column. All hold the same number of bins, but for the last where the axis ends inside
 * it; with --log=auto for the first, too, and for gaps.
 */
struct stripe {
	uint32_t first, end; /* bins first .. end - 1 */
	bool gap;            /* so many empty bins that one row or column stands for them */
	double scale;        /* samples times this are the height: 1 but for listed edges in SVG */
};

#define STRIPES_MOST 1024
struct stripes {
	uint32_t per; /* bins in each, but in the last */
	uint32_t count;
	struct stripe stripe[STRIPES_MOST];
};

/*
 * Joins the bins first .. end - 1, and those beside them that fill up the outer ones, to at most
 * `most` stripes, 4 <= most <= STRIPES_MOST. They begin at multiples of `per` bins from the first bin.
 */
void stripes_join(struct stripes *stripes, const struct axis *axis, uint32_t first, uint32_t end,
		  uint32_t most);

/*
 * The same for bins of --log=auto. Stripes begin at multiples of `per` bins from 0 on, in both
 * directions; empty ones that follow each other, most of all between the smallest numbers of either
 * sign, are joined to a gap.
 */
void stripes_join_ranks(struct stripes *stripes, const struct hist *hist, uint32_t first,
			uint32_t end, uint32_t most);

uint64_t stripe_sum(const struct stripe *stripe, const struct hist *hist, uint32_t channel);

/* The bins of a channel that hold something. */
struct filled {
	uint32_t bins;       /* how many */
	uint64_t samples;    /* in all of them */
	uint32_t first, end; /* the first of them, and the one after the last */
	uint32_t fullest;    /* the first of those that hold `most` */
	uint64_t most;
};

void filled_bins(struct filled *filled, const struct hist *hist, uint32_t channel);

/* How many bytes the first so many characters of a text are. */
size_t picture_cut(const char *text, size_t characters);

/* x to the nearest whole number; halves up, and what logarithms left just below a half. */
double picture_round(double x);

/* Edge i for the eye: whole numbers in full, others in six digits where their own are many. */
bool edge_is_whole(const char *text); /* and of no more digits than 64-bit integers have */
void edge_text(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i);

/* A bin: "[LOWER, UPPER)", or the only value that is in it. */
#define BIN_TEXT (2 * NUMBER_TEXT + 4)
void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin);

#endif

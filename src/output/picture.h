/* SPDX-License-Identifier: MIT */
/*
 * picture: what -f plot and -f svg share: bins joined to rows or columns, what a channel holds, and
 * round numbers on an axis.
 *
 * Everything is computed by exact or correctly rounded operations and without libm's logarithms,
 * whose last bit differs from system to system: a picture has the same bytes everywhere.
 */
#ifndef GPUHIST_OUTPUT_PICTURE_H
#define GPUHIST_OUTPUT_PICTURE_H

#include "hist/hist.h"

/*
 * A row or a column. All hold the same number of bins, but for the first and the last where the
 * axis ends inside one, which are drawn in proportion: as high as if they were whole.
 */
struct part {
	uint32_t first, end; /* bins first .. end - 1 */
	double scale;        /* samples times this are the height */
};

#define PARTS_MOST 1024
struct parts {
	uint32_t per; /* bins in each, but at the ends */
	uint32_t count;
	struct part part[PARTS_MOST];
};

/*
 * Joins the bins first .. end - 1, and those beside them that fill up the outer parts, to at most
 * `most` parts, 4 <= most <= PARTS_MOST. Parts begin at multiples of `per` bins from the first bin,
 * those of --auto at multiples of their own width; an end of less than half a part goes to its
 * neighbour.
 */
void parts_join(struct parts *parts, const struct axis *axis, uint32_t first, uint32_t end,
		uint32_t most);

uint64_t part_sum(const struct part *part, const struct hist *hist, uint32_t channel);

/* The bins of a channel that hold something. */
struct filled {
	uint32_t bins;       /* how many */
	uint32_t first, end; /* the first of them, and the one after the last */
	uint32_t fullest;    /* the first of those that hold `most` */
	uint64_t most;
};

void filled_bins(struct filled *filled, const struct hist *hist, uint32_t channel);

/* Edge i for the eye: whole numbers in full, others in six digits where their own are many. */
bool edge_is_whole(const char *text); /* and of no more digits than 64-bit integers have */
void edge_text(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i);

/* A bin: "[LOWER, UPPER)", or the only value that is in it. */
#define BIN_TEXT (2 * NUMBER_TEXT + 4)
void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin);

/* log2(x), 0 < x < infinity. */
double picture_log2(double x);

/* What an axis of a picture shows: finite numbers from lo to hi. */
struct span {
	double lo, hi;
	bool log;   /* 0 < lo */
	bool whole; /* only whole numbers are written beside it */
	bool exact; /* lo and hi are these, which binary64 may not hold */
	int128_t whole_lo, width;
};

/* How far x is from lo to hi, 0 .. 1; what is outside is at the nearer end. */
double span_at(const struct span *span, double x);

#define TICKS_MAX 128
#define TICK_TEXT (2 * NUMBER_TEXT)
struct tick {
	double at;
	char text[TICK_TEXT]; /* UTF-8; empty: a small tick between two that have texts */
};

struct ticks {
	unsigned count;
	int factor; /* the texts are to be multiplied by 10^factor */
	struct tick tick[TICKS_MAX];
};

/*
 * Finds some `most` numbers of 1, 2 or 5 times a power of ten from lo to hi; fewer where their
 * texts would touch on an axis that is `room` characters long, one or none where lo and hi are
 * close.
 */
void ticks_find(struct ticks *ticks, const struct span *span, unsigned most, unsigned room);

/* 10^n, UTF-8. */
void tick_power(char text[TICK_TEXT], int n);

#endif

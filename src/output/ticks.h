/* SPDX-License-Identifier: MIT */
/*
 * ticks: an axis of a picture: where numbers are on it, and which round ones are written beside it.
 *
 * Pure, and the same on every system: logarithms are computed here, because the last bit of libm's
 * differs. Round numbers are 1, 2 or 5 times a power of ten, and what is written of them is exact.
 */
#ifndef GPUHIST_TICKS_H
#define GPUHIST_TICKS_H

#include <stdbool.h>

#include "bins/number.h"
#include "bins/wide.h"

/* From lo to hi, lo < hi. hi may be infinite, which stands for 2^1024; with log, 0 < lo. */
struct span {
	double lo, hi;
	bool log;
};

/*
 * How far x is from lo to hi, as 0 .. 1; never less for a larger x. What is outside is at the
 * nearer end.
 */
double span_at(const struct span *span, double x);

/* For 0 < x. */
#define LOG2_OF_10 3.3219280948873623
double ticks_log2(double x);

#define TICKS_MAX 128
#define TICK_TEXT (2 * NUMBER_TEXT)
struct tick {
	double at;            /* position on the axis, 0 .. 1 */
	char text[TICK_TEXT]; /* UTF-8; empty: a small tick between two that have texts */
};

struct ticks {
	unsigned count;
	int factor; /* the texts are to be multiplied by 10^factor; 0: they are not */
	struct tick tick[TICKS_MAX];
};

/*
 * Finds round numbers from lo to hi in rising order, `most` or a few more; fewer if their texts
 * would not have two blanks between them on an axis that is `room` characters long. There may be
 * one or none if lo and hi are close together. counts: no tick is a fraction.
 */
void ticks_of_span(struct ticks *ticks, const struct span *span, unsigned most, size_t room,
		   bool counts);

/* The same from lo to lo + width, both exact: binary64 cannot tell large whole numbers apart. */
void ticks_of_whole(struct ticks *ticks, int128_t lo, int128_t width, unsigned most, size_t room);

/* 10^n as text, UTF-8. */
void ticks_power(char text[TICK_TEXT], int n);

#endif

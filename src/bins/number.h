/* SPDX-License-Identifier: MIT */
/* number: text to numbers and numbers to text, without losing a bit. */
#ifndef GPUHIST_NUMBER_H
#define GPUHIST_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/wide.h"

/*
 * Whole numbers below this magnitude are kept exactly; multiplied by 2^28 bins they fit 128 bits.
 */
#define WHOLE_LIMIT ((int128_t)1 << 96)

struct number {
	double value; /* the nearest binary64 */
	bool whole;   /* the text names an integer */
	bool exact;   /* the text names an integer below WHOLE_LIMIT, and `integer` is that */
	int128_t integer;
};

/*
 * Decimal ("-12", "1e6", "2.5", "12.50e1"), or hexadecimal as strtod reads it ("0xff", "0x1.8p1").
 * The text ends at length. -1 when the whole of it is not a finite number.
 */
int number_parse(struct number *n, const char *text, size_t length);

/*
 * Sizes, and counts of samples and bins: decimal or hexadecimal digits, then nothing, K M G T or
 * KiB MiB GiB TiB (powers of 1024), or KB MB GB TB (powers of 1000), the first letter in either
 * case. -1 when the text is none of these or passes 2^64 - 1.
 */
int number_parse_size(uint64_t *bytes, const char *text);

/* A plain decimal integer; -1 when the text is not one, or is above 2^64 - 1. */
int number_parse_count(uint64_t *count, const char *text);

#define NUMBER_TEXT 320 /* room for any of the texts below: a whole double has up to 309 digits */

/* The shortest decimal that reads back as x, or "inf", "-inf", "nan". Returns its length. */
size_t number_format(char text[NUMBER_TEXT], double x);

/* All digits of a double that is whole, without an exponent. */
size_t number_format_whole(char text[NUMBER_TEXT], double x);

size_t number_format_integer(char text[NUMBER_TEXT], int128_t x);
size_t number_format_count(char text[NUMBER_TEXT], uint64_t x);

#endif

/* SPDX-License-Identifier: MIT */
/* number: text to numbers, and numbers to text, without losing a bit. */
#ifndef GPUHIST_NUMBER_H
#define GPUHIST_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/wide.h"

/* Whole numbers below this magnitude are exact: times 2^28 bins, they still fit 128 bits. */
#define WHOLE_LIMIT ((int128_t)1 << 96)

struct number {
	double value;     /* the nearest binary64 */
	bool whole;       /* the number is an integer */
	bool exact;       /* the number is an integer below WHOLE_LIMIT */
	int128_t integer; /* if `exact`, the number */
};

/*
 * Read a decimal number ("-12", "1e6", "2.5", "12.50e1") or a hexadecimal one as strtod reads it
 * ("0xff", "0x1.8p1"). -1: the text of this length is not a finite number.
 */
int number_parse(struct number *n, const char *text, size_t length);

/*
 * Read a size: decimal or hexadecimal digits, then nothing, K M G T or KiB MiB GiB TiB (powers of
 * 1024), or KB MB GB TB (powers of 1000), the first letter in either case. Decimal digits may have
 * a point among them if the size is whole: 2.4MB. -1: the text is not a size, or is above 2^64 - 1.
 */
int number_parse_size(uint64_t *bytes, const char *text);

/* Read a plain decimal integer. -1: the text is not one, or is above 2^64 - 1. */
int number_parse_count(uint64_t *count, const char *text);

/* The functions below write a text and return its length. */
#define NUMBER_TEXT 320 /* enough for each: a whole double has up to 309 digits */

/* The shortest decimal that reads back as x, or "inf", "-inf", "nan". */
size_t number_format(char text[NUMBER_TEXT], double x);

/* All digits of a whole double, without an exponent. */
size_t number_format_whole(char text[NUMBER_TEXT], double x);

size_t number_format_integer(char text[NUMBER_TEXT], int128_t x);
size_t number_format_count(char text[NUMBER_TEXT], uint64_t x);

#endif

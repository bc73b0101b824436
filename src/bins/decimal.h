/* SPDX-License-Identifier: MIT */
/*
 * decimal: numbers in text, rounded once, to nearest, ties to even, to a sample of any type.
 *
 * Numbers of up to 19 digits with an exponent from -27 to 27 are exact in 128 bits. The C library
 * rounds all others.
 */
#ifndef GPUHIST_DECIMAL_H
#define GPUHIST_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/sample.h"
#include "bins/wide.h"

enum decimal_kind { DECIMAL_NUMBER, DECIMAL_NAN, DECIMAL_INFINITE };

struct decimal {
	enum decimal_kind kind;
	bool negative;
	bool hex;
	uint64_t digits;   /* up to 19 significant digits, or 16 hexadecimal ones */
	int32_t exponent;  /* the number is digits 10^exponent, or digits 2^exponent with `hex` */
	bool more;         /* a digit other than 0 follows `digits` */
	const char *text;  /* the number without its sign */
	const char *first; /* its first significant digit; NULL: it is 0 */
	int32_t places;    /* number of significant digits in the text */
};

/*
 * Read a number at text: decimal, hexadecimal (0x1.8p3), nan, na, null or inf, in any case. Return
 * the first byte after it, or NULL if it is none. The text must end with a byte that no number
 * contains, such as '\n'.
 */
const char *decimal_read(struct decimal *d, const char *text);

enum decimal_fit { DECIMAL_FITS, DECIMAL_FRACTION, DECIMAL_TOO_LARGE };

/* Set *magnitude if the number, of kind NUMBER, is whole and below 2^120. */
enum decimal_fit decimal_whole(const struct decimal *d, uint128_t *magnitude);

/* Set the low bits of *code to the number's code. Float types fit every number. */
enum decimal_fit decimal_code(const struct decimal *d, const struct sample_type *type,
			      uint64_t *code);

#endif

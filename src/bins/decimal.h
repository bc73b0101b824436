/* SPDX-License-Identifier: MIT */
/*
 * decimal: a number in text to a sample of any type, rounded once, to nearest, ties to even.
 *
 * Up to 19 digits with an exponent of at most 27 in either direction are exact in 128 bits; strtod
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
	uint64_t digits;   /* the first 19 significant digits, or the first 16 of a hexadecimal */
	int32_t exponent;  /* of 10, or of 2 for a hexadecimal: digits * base^exponent */
	bool more;         /* other digits than zeros follow those */
	const char *text;  /* after the sign */
	const char *first; /* first significant digit */
	int32_t places;    /* significant digits in the text from `first` on */
};

/*
 * Reads a number at text: decimal, hexadecimal (0x1.8p3), nan, na, null or inf, in any case. Returns the first
 * byte after it, or NULL. The text must end with a byte that no number contains, such as '\n'.
 */
const char *decimal_read(struct decimal *d, const char *text);

enum decimal_fit { DECIMAL_FITS, DECIMAL_FRACTION, DECIMAL_TOO_LARGE };

/* Compute the magnitude of a number of kind NUMBER, a whole one below 2^120. */
enum decimal_fit decimal_whole(const struct decimal *d, uint128_t *magnitude);

/* Make the code of the number in the type, in its low bits. FRACTION, TOO_LARGE: integers only. */
enum decimal_fit decimal_code(const struct decimal *d, const struct sample_type *type,
			      uint64_t *code);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * exact: numbers with more bits than a float has. They are rounded only here, once, to the nearest
 * number of a type, ties to even.
 */
#ifndef GPUHIST_EXACT_H
#define GPUHIST_EXACT_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/wide.h"

/*
 * The number bits 2^exponent, or, with `more`, a number between that and (bits + 1) 2^exponent. The
 * highest bit is set unless the number is 0.
 */
struct exact {
	uint64_t bits;
	int exponent;
	bool more;
};

/* x 2^exponent, or, with `more`, a number between that and (x + 1) 2^exponent. */
struct exact exact_of(uint128_t x, int exponent, bool more);

/* digits 10^power, for powers from -27 to 27. */
struct exact exact_decimal(uint64_t digits, int power);

/*
 * The code of the nearest number of a float type with this many bits of mantissa and exponent. If
 * the number is too large for the type, return the code of infinity or a larger code.
 */
uint64_t exact_code(struct exact x, unsigned mantissa, unsigned exponent);

/* The binary64 nearest to x. */
double exact_double(struct exact x);

/* The binary64 nearest to n / d. */
double exact_ratio(int128_t n, uint64_t d);

/* The upper half of the 256 bits of a product. */
static inline uint128_t exact_mul_high(uint128_t a, uint128_t b)
{
	const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64),
		       b0 = (uint64_t)b;
	const uint128_t left = (uint128_t)a1 * b0, right = (uint128_t)a0 * b1,
			low = (uint128_t)a0 * b0;
	const uint128_t middle = (low >> 64) + (uint64_t)left + (uint64_t)right;

	return (uint128_t)a1 * b1 + (left >> 64) + (right >> 64) + (middle >> 64);
}

#endif

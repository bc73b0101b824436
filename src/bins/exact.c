/* SPDX-License-Identifier: MIT */
/* exact: numbers with more bits than a float has, rounded once. */
#include "bins/exact.h"

#include "bins/binning.h"

/* The number of leading zeros of x; 0 for 0. */
static int zeros_of(uint128_t x)
{
	const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;

	return high > 0 ? __builtin_clzll(high) : low > 0 ? 64 + __builtin_clzll(low) : 0;
}

struct exact exact_of(uint128_t x, int exponent, bool more)
{
	const int up = zeros_of(x);

	x <<= up;
	return (struct exact){(uint64_t)(x >> 64), exponent - up + 64, more || (uint64_t)x != 0};
}

/* n 2^exponent / d; d is not 0. */
static struct exact exact_quotient(uint128_t n, uint64_t d, int exponent)
{
	/* With a dividend of 128 bits, the quotient has at least 64. */
	const int up = zeros_of(n);
	const uint128_t dividend = n << up, quotient = dividend / d;

	return exact_of(quotient, exponent - up, quotient * d != dividend);
}

struct exact exact_decimal(uint64_t digits, int power)
{
	uint64_t five = 1; /* 5^27 is below 2^63 */

	for (int i = power < 0 ? -power : power; i > 0; i--)
		five *= 5;
	return power < 0 ? exact_quotient(digits, five, power)
			 : exact_of((uint128_t)digits * five, power, false);
}

uint64_t exact_code(struct exact x, unsigned mantissa, unsigned exponent)
{
	const int bias = (1 << (exponent - 1)) - 1;
	const int stored = x.exponent + 63 + bias; /* the code's exponent, if above 0 */
	const int down = 63 - (int)mantissa + (stored < 1 ? 1 - stored : 0);

	if (x.bits == 0 || down > 64)
		return 0;
	if (stored > 2 * bias + 1)
		/* Not the code of the largest exponent: in f8e4m3 that begins with numbers. */
		return (uint64_t)(2 * bias + 2) << mantissa;
	const uint64_t half = (uint64_t)1 << (down - 1), rest = x.bits & (half + (half - 1)),
		       code = x.bits >> (down - 1) >> 1;
	const bool up = rest > half || (rest == half && (x.more || code % 2 == 1));
	return code + up + (stored > 1 ? (uint64_t)(stored - 1) << mantissa : 0);
}

double exact_double(struct exact x)
{
	const uint64_t code = exact_code(x, 52, 11), infinity = (uint64_t)0x7ff << 52;

	return double_of_bits(code < infinity ? code : infinity);
}

double exact_ratio(int128_t n, uint64_t d)
{
	const uint128_t magnitude = n < 0 ? -(uint128_t)n : (uint128_t)n;
	const uint128_t whole = (uint128_t)1 << 53; /* all whole numbers up to here are binary64 */
	const double x = magnitude <= whole && d <= whole
				 ? (double)magnitude / (double)d
				 : exact_double(exact_quotient(magnitude, d, 0));

	return n < 0 ? -x : x;
}

/* SPDX-License-Identifier: MIT */
/* exact: numbers with more bits than a binary64, rounded once. */
#include "bins/exact.h"

#include <string.h>

struct exact exact_of(uint128_t x, int exponent, bool more)
{
	const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
	const int up = high > 0 ? __builtin_clzll(high) : low > 0 ? 64 + __builtin_clzll(low) : 0;

	x <<= up;
	return (struct exact){(uint64_t)(x >> 64), exponent - up + 64, more || (uint64_t)x != 0};
}

struct exact exact_quotient(uint128_t n, uint64_t d, int exponent)
{
	/* With 128 bits of a dividend the quotient has 64 or more. */
	const uint64_t high = (uint64_t)(n >> 64), low = (uint64_t)n;
	const int up = high > 0 ? __builtin_clzll(high) : low > 0 ? 64 + __builtin_clzll(low) : 0;
	const uint128_t quotient = (n << up) / d;

	return exact_of(quotient, exponent - up, quotient * d != n << up);
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
	const int stored = x.exponent + 63 + bias; /* the exponent's bits; below 1: subnormal */
	const int down = 63 - (int)mantissa + (stored < 1 ? 1 - stored : 0);

	if (x.bits == 0 || down > 64)
		return 0;
	if (stored > 2 * bias + 1)
		return (uint64_t)(2 * bias + 1) << mantissa;
	const uint64_t half = (uint64_t)1 << (down - 1), rest = x.bits & (half | (half - 1));
	const uint64_t kept = down < 64 ? x.bits >> down : 0;
	const bool up = rest > half || (rest == half && (x.more || kept % 2 == 1));
	return kept + up + (stored > 1 ? (uint64_t)(stored - 1) << mantissa : 0);
}

double exact_double(struct exact x)
{
	const uint64_t code = exact_code(x, 52, 11), infinite = (uint64_t)0x7ff << 52;
	double real;

	memcpy(&real, code < infinite ? &code : &infinite, sizeof(real));
	return real;
}

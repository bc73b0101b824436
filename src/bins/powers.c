/* SPDX-License-Identifier: MIT */
/*
 * powers: edges of equal ratio.
 *
 * Edge i is the binary64 nearest to lo (hi/lo)^(i/bins), on every system; the last bit of libm's
 * pow differs between systems. The power is 2^x with x = log2(lo) + i (log2(hi) - log2(lo)) / bins.
 * It is computed in integers of 128 bits: numbers from 1 up to 2 have 127 bits after the point
 * ("ones"), logarithms 116. Everything is made of root[j] = 2^(2^-j), found by square roots. A
 * power is the product of the roots that its bits name. A logarithm is found bit by bit: a bit is
 * set if the product with its root is not above the number.
 *
 * Errors, in units of 2^-127 and relative to values of 1 and more: a root is truncated by less than
 * 1, a product by less than 2. root[j] inherits half of the error of the root before it, so each is
 * off by less than 2. A logarithm takes at most 116 products, each off by less than 4 with its
 * root: 464, below 2^-118, and below 1.5 2^-118 as a logarithm; truncated to 116 bits, 2^-115. x
 * adds two of them, with factors that sum to one, and is truncated: 2^-114. A power of it inherits
 * 2^-114 too, and the error of 64 roots and products, at most 2^-119. The total is below 2^-113.
 *
 * A power is never exactly halfway between two binary64 numbers: such a midpoint has an odd
 * mantissa of 54 digits, and its power of `bins` has more digits than the product lo^(bins-i) hi^i
 * can have. So an edge is the nearest binary64 unless its power is within 2^-110 of a midpoint,
 * which is to be expected once in 2^56 edges.
 */
#include <math.h>

#include "bins/edges.h"
#include "bins/exact.h"

#define POINT 116u /* bits of a logarithm after its point */
#define ONE ((uint128_t)1 << 127)
#define LN2_64 0xb17217f7d1cf79acu /* ln 2, in units of 2^-64 */

/* Return the square root of twice `half`, rounded down, bit by bit. */
static uint128_t square_root(uint128_t half)
{
	uint128_t s = ONE;

	for (uint128_t bit = ONE >> 1; bit > 0; bit >>= 1)
		if (exact_mul_high(s | bit, s | bit) <= half)
			s |= bit;
	return s;
}

static void set_roots(uint128_t root[POINT + 1])
{
	uint128_t half = ONE; /* half of the number to take the root of, first of 2 */

	for (uint32_t j = 1; j <= POINT; j++) {
		root[j] = square_root(half);
		half = root[j] >> 1;
	}
}

/* Return the fraction of the logarithm to base 2 of a positive x; *whole gets its whole part. */
static uint128_t logarithm(const uint128_t root[POINT + 1], double x, int *whole)
{
	const uint128_t ones = (uint128_t)(uint64_t)ldexp(frexp(x, whole), 53) << 75;
	uint128_t product = ONE, bits = 0;

	--*whole;
	for (uint32_t j = 1; j <= POINT; j++) {
		const uint128_t half = exact_mul_high(product, root[j]);
		if (half > ones >> 1)
			continue;
		product = half << 1;
		bits |= (uint128_t)1 << (POINT - j);
	}
	return bits;
}

/* Return 2^fraction; the fraction has POINT bits. */
static uint128_t power(const uint128_t root[POINT + 1], uint128_t fraction)
{
	/* The bits after the first 64, in units of 2^-128. */
	const uint64_t rest = (uint64_t)fraction << (128 - POINT);
	uint128_t product = ONE;

	for (uint32_t j = 1; j <= 64; j++)
		if (fraction >> (POINT - j) & 1)
			product = exact_mul_high(product, root[j]) << 1; /* still below 2 */
	/* 2^r is 1 + r ln 2, with an error below r^2 / 4. */
	const uint64_t above = (uint64_t)((uint128_t)rest * LN2_64 >> 64); /* in units of 2^-128 */
	return product + exact_mul_high(product, above);
}

void powers_edges(double *edges, double lo, double hi, uint32_t bins)
{
	uint128_t root[POINT + 1];
	int lo_whole, hi_whole;

	set_roots(root);
	const uint128_t lo_part = logarithm(root, lo, &lo_whole),
			hi_part = logarithm(root, hi, &hi_whole);
	/* Below 2^128: the whole parts differ by at most 2098. */
	const uint128_t span = ((uint128_t)(hi_whole - lo_whole) << POINT) + hi_part - lo_part;
	const uint128_t step = span / bins, rest = span % bins;

	edges[0] = lo;
	for (uint32_t i = 1; i < bins; i++) {
		const uint128_t x = lo_part + step * i + rest * i / bins;
		const uint128_t ones = power(root, x & (((uint128_t)1 << POINT) - 1));
		edges[i] = exact_double(exact_of(ones, lo_whole + (int)(x >> POINT) - 127, true));
	}
	edges[bins] = hi;
}

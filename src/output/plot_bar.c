/* SPDX-License-Identifier: MIT */
/* plot_bar: shares and logarithms in whole numbers. */
#include "output/plot_bar.h"

/* log2(n) in units of 2^-32, rounded down; n > 0. */
static uint64_t log2_of(uint128_t n)
{
	const uint64_t high = (uint64_t)(n >> 64);
	const int bits = high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)n);
	/* n = mantissa 2^(bits - 63), and the mantissa's top bit is set. */
	uint64_t mantissa = (uint64_t)(bits > 63 ? n >> (bits - 63) : n << (63 - bits));
	uint64_t result = (uint64_t)bits << 32;

	/* The square of 1 <= x < 2 is 2 or more where the next bit of its logarithm is 1. */
	for (int bit = 31; bit >= 0; bit--) {
		const uint128_t square = (uint128_t)mantissa * mantissa;
		const bool one = (square >> 127) != 0;
		mantissa = (uint64_t)(square >> (one ? 64 : 63));
		result |= (uint64_t)one << bit;
	}
	return result;
}

unsigned plot_bar_length(uint128_t count, uint128_t most, unsigned units, bool log)
{
	if (count == 0)
		return 0;
	const uint128_t part = log ? log2_of(count + 1) : count,
			whole = log ? log2_of(most + 1) : most;
	const unsigned length = (unsigned)((part * units + whole / 2) / whole);
	return length > 0 ? length : 1;
}

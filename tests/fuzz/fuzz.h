/* SPDX-License-Identifier: MIT */
/*
 * fuzz: shared by the harnesses: bytes taken from the fuzzer's input, a check that ends the
 * process, and a slow division that finds the nearest binary64.
 */
#ifndef GPUHIST_FUZZ_H
#define GPUHIST_FUZZ_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/wide.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Turn a wrong answer into a crash, because the fuzzer keeps the input of a crash. */
#define REQUIRE(condition, ...)                                                         \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
			fprintf(stderr, __VA_ARGS__);                                   \
			fprintf(stderr, "\n");                                          \
			abort();                                                        \
		}                                                                       \
	} while (0)

struct bytes { /* the rest of the input */
	const uint8_t *data;
	size_t size;
};

/* Return the next n bytes, little endian; zeros after the end. */
static inline uint64_t take(struct bytes *b, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n && b->size > 0; i++, b->data++, b->size--)
		v |= (uint64_t)*b->data << 8 * i;
	return v;
}

static inline double take_double(struct bytes *b)
{
	const uint64_t bits = take(b, 8);
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* Return the nearest binary64 to n / d, ties to even, by long division, a bit at a time. */
static inline double plain_ratio(int128_t n, uint64_t d)
{
	const uint128_t magnitude = n < 0 ? -(uint128_t)n : (uint128_t)n;
	uint64_t digits = 0; /* 53 bits from the highest one set, then one that rounds */
	uint128_t rest = 0;
	int kept = 0, exponent = 0; /* of the last bit kept */
	int top = 127;

	if (n == 0)
		return 0;
	while ((magnitude >> top & 1) == 0)
		top--;
	/* The bits of the quotient, from the first down, past the point until there are enough. */
	for (int bit = top; bit >= 0 || (kept < 54 && bit >= -160); bit--) {
		rest = rest << 1 | (bit >= 0 ? magnitude >> bit & 1 : 0);
		const bool one = rest >= d;
		rest -= one ? d : 0;
		if (kept == 54) {
			rest |= one ? (uint128_t)1 << 100 : 0; /* not zero: sticky */
			if (one)
				break;
			continue;
		}
		if (kept == 0 && !one)
			continue;
		digits = digits << 1 | one;
		kept++;
		exponent = bit;
	}
	if (kept == 54) {
		const bool half = digits & 1;
		digits >>= 1;
		exponent++;
		digits += half && (rest != 0 || (digits & 1));
	}
	return ldexp(n < 0 ? -(double)digits : (double)digits, exponent);
}

#endif

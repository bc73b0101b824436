/* SPDX-License-Identifier: MIT */
/* part: computes the borders of slices. */
#include "source/part.h"

#include "bins/wide.h"

#define STRIPE ((uint32_t)1 << 20)
/* Smaller slices are not rounded, so that rounding changes no slice by more than a sixteenth. */
#define STRIPES_LEAST 16u

/* The end of slice i. It rises with i up to all records; rounding down keeps the order. */
static uint64_t border(uint64_t records, uint32_t bytes, uint32_t i, uint32_t n)
{
	const uint64_t at = (uint64_t)((uint128_t)records * i / n);

	if (i == n || STRIPE % bytes != 0 ||
	    records / n < (uint64_t)STRIPES_LEAST * (STRIPE / bytes))
		return at;
	return at - at % (STRIPE / bytes);
}

struct share part_of(uint64_t records, uint32_t record_bytes, uint32_t k, uint32_t n)
{
	return (struct share){.begin = border(records, record_bytes, k - 1, n),
			      .end = border(records, record_bytes, k, n)};
}

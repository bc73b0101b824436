/* SPDX-License-Identifier: MIT */
/* minmax: the lesser and the larger of two numbers, clamping, rounding up. */
#ifndef GPUHIST_MINMAX_H
#define GPUHIST_MINMAX_H

#include <stdint.h>

#define PAGE 4096u /* bytes of a page of memory */

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* n, or the nearest number from least to most. */
static inline uint64_t within(uint64_t n, uint64_t least, uint64_t most)
{
	return n < least ? least : lesser(n, most);
}

/* n, or the next multiple of `to`. */
static inline uint64_t round_up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

#endif

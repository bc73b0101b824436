/* SPDX-License-Identifier: MIT */
/* stats_loops: what stats.c and stats_loops.c share: sums of blocks of samples. */
#ifndef GPUHIST_STATS_LOOPS_H
#define GPUHIST_STATS_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "bins/sample.h"

#define STATS_BLOCK 1024u /* samples of a block at most */
#define STATS_STEP 16u    /* a block is a multiple of this many samples */

/*
 * The sum of a block of samples and that of their squares, each as a few whole numbers, each worth
 * a power of two (SHIFTS in stats.c). Integers are added as keys, floats as multiples of a unit.
 */
struct stats_terms {
	int64_t sum[2], square[6];
};

/*
 * The loops of an instruction set, each for samples of up to 32 bits and of 64. All but fetch take
 * words in this machine's order, which need no alignment.
 */
struct stats_loops {
	/* Samples that are `stride` bytes apart become words, those of 24 bits words of 32. */
	void (*fetch)(unsigned char *words, const struct sample_type *type,
		      const unsigned char *samples, size_t n, size_t stride);
	/* Sums integers of 24, 32 and 64 bits, which `flip` makes keys; returns their extent. */
	struct extent (*keys[3])(const unsigned char *words, size_t n, uint64_t flip,
				 struct stats_terms *terms);
	/*
	 * Returns the extent of floats by keys, infinities and NaN too. *small is the smallest
	 * magnitude but 0: its bits without the sign, doubled, less one. Takes any number of words.
	 */
	struct extent (*look[2])(const unsigned char *words, size_t n, uint64_t *small);
	/*
	 * Sums floats that are 0, or below 2^exponent and at least 2^-(span + 1) times that. Their
	 * unit is the last digit of the least of them. Where a block has less than 2^53 units, one
	 * sum in binary64 is exact. Where it has more there are two: the last digit of the first is
	 * fixed, and the other takes what is below that digit. NULL: it would be slow.
	 */
	void (*reals[2])(const unsigned char *words, size_t n, int exponent,
			 struct stats_terms *terms);
};
#define STATS_SPAN32 19
#define STATS_SPAN64 16

extern const struct stats_loops stats_loops_base, stats_loops_avx2, stats_loops_avx512;

#endif

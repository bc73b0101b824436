/* SPDX-License-Identifier: MIT */
/*
 * stats: number, extremes, mean and deviation of samples, whatever the order of the samples.
 *
 * The sum of the samples and the sum of their squares are integers that are never rounded, so
 * adding, splitting and merging are associative to the bit; only stats_result rounds. A struct
 * stats belongs to one thread; each worker has its own, and they are merged in the totals.
 */
#ifndef GPUHIST_STATS_H
#define GPUHIST_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "bins/sample.h"
#include "count/cells.h"

#define STATS_DIGITS 272u /* of the longest sum, one of binary64 */

struct stats {
	struct sample_type type;
	const struct stats_loops *loops;
	cells_extent_fn *extent_of; /* of a block of words */
	uint64_t bias;              /* an integer's bits ^ bias are its key; a float's infinity */
	int unit;                   /* the exponent of place 0 (stats.c) */
	uint32_t digits;            /* of a sum of this type */
	uint32_t apart;             /* blocks of floats still to be added one by one */
	uint64_t but_sign;          /* the bits that are all 0 in a zero: a float's sign is not */
	uint64_t zeros;             /* finite samples that are 0 or -0 */
	uint64_t number;            /* of finite samples */
	uint64_t below, above, nan; /* -inf, inf, NaN */
	struct extent extent;       /* of finite samples, by keys (auto.h) */
	/* Digit i is worth 2^(8 i), of squares 2^(16 i). An addition changes it by up to 2^65. */
	int128_t sum[STATS_DIGITS], square[STATS_DIGITS];
};

/* An array of empty statistics, one for each channel; the caller frees it. NULL: no memory. */
struct stats *stats_open(const struct sample_type *type, uint32_t channels);

/* Empties the statistics of one channel. */
void stats_clear(struct stats *stats);

/* Adds n samples with these bits, after any change of byte order. */
void stats_add_bits(struct stats *stats, uint64_t bits, uint64_t n);

/* For types of 24 bits and more: adds n interleaved samples, the first of the first channel. */
void stats_add_channels(struct stats *stats, uint32_t channels, const unsigned char *samples,
			size_t n);

/* For codes (count.h), as in memory, in order of value: code[i] was counted count[code[i]] times. */
void stats_add_codes(struct stats *stats, const uint16_t *code, size_t n, const uint64_t *count);

/* Adds what `from` holds; both are of the same type. */
void stats_merge(struct stats *to, const struct stats *from);

/* Figures of the finite samples. If `number` is 0, extremes, mean and deviation mean nothing. */
struct stats_result {
	uint64_t number, below, above, nan; /* of finite samples, -inf, inf, NaN */
	uint64_t zeros;                     /* finite samples that are 0 or -0 */
	int128_t least, greatest;           /* of an integer type */
	double least_real, greatest_real;   /* of a float type; never -0 */
	/* within one unit in the last place, never -0; the deviation is a population's */
	double mean, deviation;
};

void stats_result(const struct stats *stats, struct stats_result *result);

/* ---- the loops of an instruction set, over a block of words of 4 bytes, or 8 if `wide` ---- */

#define STATS_BLOCK 1024u /* samples of a block at most */
#define STATS_STEP 16u    /* keys, reals and zeros take a multiple of this many samples */

/* Two parts of the sum, six of the sum of squares; PLACES in stats.c has what each is worth. */
struct stats_terms {
	int64_t part[8];
};

struct stats_loops {
	/* Turns samples that are `stride` bytes apart into words. */
	void (*fetch)(unsigned char *words, const struct sample_type *type,
		      const unsigned char *samples, size_t n, size_t stride);
	/* Sums integers, which `bias` turns into keys. */
	void (*keys)(const unsigned char *words, size_t n, uint64_t bias, bool wide,
		     struct stats_terms *terms);
	/*
	 * Sums floats below `top`, a power of two. False: one of them is infinite, NaN, or neither 0
	 * nor at least 2^-STATS_SPAN of it; or the instruction set has no loop for this size.
	 */
	bool (*reals)(const unsigned char *words, size_t n, double top, bool wide,
		      struct stats_terms *terms);
	/* Counts the words whose bits of `mask` are all 0. */
	uint64_t (*zeros)(const unsigned char *words, size_t n, uint64_t mask, bool wide);
};
#define STATS_SPAN(wide) ((wide) ? 17 : 20)
#define STATS_UNIT 69 /* the sum of floats is a multiple of 2^-STATS_UNIT of `top` */

extern const struct stats_loops stats_loops_base, stats_loops_avx2, stats_loops_avx512;

#endif

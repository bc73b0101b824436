/* SPDX-License-Identifier: MIT */
/*
 * stats: number, extremes, mean and deviation of samples: exact, and independent of the order in
 * which the samples come.
 *
 * A struct stats holds the sum of the samples and that of their squares as whole numbers that are
 * never rounded, so that adding, splitting and merging are associative to the bit. Only
 * stats_result rounds, once. A struct stats belongs to one thread; each worker has its own, and
 * they are merged in the totals (counts.h).
 *
 * An array of them, one for each channel, is one block of memory: stats_open, then free.
 */
#ifndef GPUHIST_STATS_H
#define GPUHIST_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "bins/sample.h"

/*
 * Sums of whole numbers and of their squares. Integer samples are added as their keys, value -
 * sample_min; floats of one sign and exponent as their mantissas, and parts of blocks of floats in
 * the same unit. Each number is below 2^64 and there are fewer than 2^64 of them, so the sum is
 * below 2^128 and that of the squares below 2^192: neither overflows.
 */
struct stats_sums {
	uint64_t sum[2];    /* the least significant word first */
	uint64_t square[3]; /* the least significant word first */
};

struct stats {
	struct sample_type type;
	const struct stats_loops *loops;
	uint64_t number;            /* of finite samples */
	uint64_t below, above, nan; /* -inf, inf, NaN */
	struct extent extent;       /* of finite samples, by keys (auto.h) */
	uint32_t apart; /* blocks of floats that are still to be added sample by sample */
	/* one for integers; for floats one for each sign and exponent */
	struct stats_sums *sums;
};

/* Bytes that stats_open takes. */
size_t stats_bytes(const struct sample_type *type, uint32_t channels);

/* An array of empty statistics, one for each channel; the caller frees it. NULL: no memory. */
struct stats *stats_open(const struct sample_type *type, uint32_t channels);

/* Empties the statistics of one channel. */
void stats_clear(struct stats *stats);

/*
 * For types of 24 bits and more. stats_add adds n samples that follow one another in memory,
 * stats_add_same n samples that equal the one at `sample`.
 */
void stats_add(struct stats *stats, const unsigned char *samples, size_t n);
void stats_add_same(struct stats *stats, const unsigned char *sample, uint64_t n);

/*
 * Adds n interleaved samples, of which the first is of the first channel, to the statistics of each
 * channel.
 */
void stats_add_channels(struct stats *stats, uint32_t channels, const unsigned char *samples,
			size_t n);

/*
 * All types: adds n samples with these bits, a number of the type's size, after any change of byte
 * order.
 */
void stats_add_bits(struct stats *stats, uint64_t bits, uint64_t n);

/*
 * 8- and 16-bit types: adds the counts of n codes, as they are in memory; code[i] was counted
 * count[code[i]] times.
 */
void stats_add_codes(struct stats *stats, const uint32_t *code, size_t n, const uint64_t *count);

/* Adds what `from` holds; both are of the same type. */
void stats_merge(struct stats *to, const struct stats *from);

/*
 * The figures of the samples. Infinities and NaN have counts of their own and are in no other
 * figure.
 */
struct stats_result {
	/* of finite samples; where it is 0, extremes, mean and deviation mean nothing */
	uint64_t number;
	uint64_t below, above, nan;       /* -inf, inf, NaN */
	int128_t least, greatest;         /* of an integer type */
	double least_real, greatest_real; /* of a float type; never -0 */
	/* the nearest binary64, ties to even, never -0; the deviation is a population's */
	double mean, deviation;
};

void stats_result(const struct stats *stats, struct stats_result *result);

#endif

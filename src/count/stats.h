/* SPDX-License-Identifier: MIT */
/*
 * stats: number, extremes, mean and deviation of samples, exactly, whatever the order in which they come.
 *
 * A struct stats holds the sum of the samples and that of their squares as whole numbers that nothing is ever
 * rounded out of, so that adding, splitting and merging are associative to the bit. Only stats_result rounds,
 * once. It belongs to one thread; a worker has its own, and they are merged in the totals (counts.h).
 *
 * An array of them, one for each channel, is one piece of memory: stats_open, free.
 */
#ifndef GPUHIST_STATS_H
#define GPUHIST_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

/*
 * Sums of whole numbers: of integer samples their keys, value - sample_min; of floats the mantissas of
 * one sign and exponent. A number is below 2^64 and there are less than 2^64 of them, so their sum is
 * below 2^128 and that of their squares below 2^192: neither overflows.
 */
struct stats_sums {
	uint64_t sum[2];    /* the least significant word first */
	uint64_t square[3]; /* the same */
};

struct stats {
	struct sample_type type;
	uint64_t number;                  /* of finite samples */
	uint64_t below, above, nan;       /* -inf, inf, NaN */
	uint64_t least, greatest;         /* keys of an integer type, where number > 0 */
	double least_real, greatest_real; /* of a float type; inf and -inf before there are samples */
	struct stats_sums *sums;          /* one for integers; for floats one for each sign and exponent */
};

/* How many struct stats_sums a channel has: one, or for a float one for each sign and exponent, in the order of its
 * bits. */
size_t stats_sums_of_type(const struct sample_type *type);

/* Bytes that stats_open takes. */
size_t stats_bytes(const struct sample_type *type, uint32_t channels);

/* An array of empty statistics, one for each channel: the caller's to free. NULL: no memory. */
struct stats *stats_open(const struct sample_type *type, uint32_t channels);

/* Types of 24 bits and more: adds n samples that follow one another in memory; n that equal the one there. */
void stats_add(struct stats *stats, const unsigned char *samples, size_t n);
void stats_add_same(struct stats *stats, const unsigned char *sample, uint64_t n);

/* n samples that are of one channel after the other, from the first on, to the statistics of each. */
void stats_add_channels(struct stats *stats, uint32_t channels, const unsigned char *samples, size_t n);

/* Types of 8 and 16 bits: adds n samples with this code, as a number of its type's size, whatever the byte order. */
void stats_add_code(struct stats *stats, uint32_t code, uint64_t n);

/* Adds what `from` holds, of the same type. */
void stats_merge(struct stats *to, const struct stats *from);

/* What is said of the samples. Infinities and NaN are in none of it but their own counts. */
struct stats_result {
	uint64_t number;                  /* of finite samples; the rest of these holds nothing where it is 0 */
	uint64_t below, above, nan;       /* -inf, inf, NaN */
	int128_t least, greatest;         /* of an integer type */
	double least_real, greatest_real; /* of a float type; never -0 */
	double mean, deviation;           /* the nearest binary64, ties to even, never -0; of a population */
};

void stats_result(const struct stats *stats, struct stats_result *result);

#endif

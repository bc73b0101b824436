/* SPDX-License-Identifier: MIT */
/*
 * sums: the exact sums of the samples of a channel and of their squares, for documents.
 *
 * Adding them rounds nothing, so mean and deviation do not depend on the order of documents. Only
 * the digits from the first to the last that is not 0 take memory.
 */
#ifndef GPUHIST_SUMS_H
#define GPUHIST_SUMS_H

#include "count/stats.h"

struct sums;

/* Free the results with free(). NULL: no memory. */
struct sums *sums_of(const struct stats *stats);
struct sums *sums_add(const struct sums *a, const struct sums *b); /* of the same type */

/* Set sum, mean and deviation of n samples, at least one. False: no samples have these sums. */
bool sums_result(const struct sums *s, const struct sample_type *counted, uint64_t n,
		 struct stats_result *r);

/*
 * Write one of the sums: a whole number in hexadecimal digits times a power of two, such as
 * -0x1f3p-1074. The number is odd, or 0.
 */
#define SUMS_TEXT (STATS_DIGITS * 4 + 32)
void sums_format(char text[SUMS_TEXT], const struct sums *s, const struct sample_type *counted,
		 bool square);

/* Read the sums of n samples. 0: they cannot have these sums. -1: no memory. */
int sums_parse(struct sums **s, const struct sample_type *counted, uint64_t n, const char *sum,
	       const char *square);

#endif

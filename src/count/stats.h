/* SPDX-License-Identifier: MIT */
/*
 * stats: number, extremes, mean and deviation of samples, whatever their order.
 *
 * The sum of the samples and the sum of their squares are integers that are never rounded, so
 * adding and merging are associative to the bit; only stats_result rounds. A struct stats belongs
 * to one thread. Each worker has its own, and they are merged into the totals. They may include a
 * digest of the samples, for quantiles. If the memory for all digests runs out, workers count in
 * the totals' digests (stats_share_digest).
 */
#ifndef GPUHIST_STATS_H
#define GPUHIST_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "bins/auto.h"
#include "bins/sample.h"
#include "count/cells.h"
#include "count/digest.h"

#define STATS_DIGITS 272u /* digits of the longest sum, for binary64 */
#define STATS_FEW 16u     /* channels of stats_add_channels; more are added across, in bytes */

struct stats {
	_Alignas(int128_t) struct sample_type type; /* sums follow the last struct (stats_open) */
	const struct stats_loops *loops;
	cells_extent_fn *extent_of; /* finds the extent of a block of words */
	uint64_t bias;              /* integers: bits ^ bias are the key; floats: infinity's bits */
	int exponent_0;             /* exponent of place 0 (stats.c) */
	uint32_t digits;            /* digits of a sum of this type */
	uint32_t one_by_one;        /* number of blocks still to be added one sample at a time */
	uint64_t magnitude;         /* mask of the bits that are 0 in 0 and -0 */
	uint64_t zeros;             /* number of finite samples that are 0 or -0 */
	uint64_t number;            /* number of finite samples */
	uint64_t below, above, nan; /* number of samples that are -inf, inf, NaN */
	struct extent extent;       /* extent of the finite samples */
	uint64_t at_least, at_greatest; /* codes: number of samples at its ends */
	struct digest digest;           /* stats_keep_digest; else {0} */
	struct stats *total;            /* stats_share_digest: the totals; else NULL */
	struct lock *lock;              /* of the totals, if there are any */
	/* An addition changes a digit by up to 2^65; carries wait for stats_result. */
	int128_t *sum;    /* digit i is worth 2^(8 i); in the memory of stats_open */
	int128_t *square; /* digit i is worth 2^(16 i) */
};

/* Bytes that the statistics of a channel take, without a digest. */
size_t stats_bytes(const struct sample_type *type);

/* Make an array of empty statistics, one for each channel. NULL: no memory. */
struct stats *stats_open(const struct sample_type *type, uint32_t channels);
void stats_close(struct stats *stats, uint32_t channels); /* accepts NULL */

/*
 * For types of more than 16 bits: keep a digest of each channel too, of samples or (wide) of merged
 * statistics. *memory may be NULL, as in struct digest. -1: no memory; call stats_close.
 */
int stats_keep_digest(struct stats *stats, uint32_t channels, uint32_t digits, bool wide,
		      struct digest_memory *memory);

/*
 * For empty statistics with a digest: from now on, count in the digest of the totals, whose lock
 * is free. The first samples are still listed here, as long as all of the totals' are listed too.
 */
void stats_share_digest(struct stats *stats, struct stats *total, struct lock *lock);

/* Empty the statistics of one channel. */
void stats_clear(struct stats *stats);

/* Add n samples with these bits, in the byte order of the machine. */
void stats_add_bits(struct stats *stats, uint64_t bits, uint64_t n);

/* For types of 24 bits and more: add n interleaved samples, beginning with the first channel. */
void stats_add_channels(struct stats *stats, uint32_t channels, const unsigned char *samples,
			size_t n);

/*
 * The same for more than STATS_FEW channels, from channel `first` on, as many samples as possible
 * at once. If the digests list samples, they must be whole records. For codes of 16 bits, `words`
 * gives the word of each code, and samples at the extremes are counted; else it is NULL.
 */
void stats_add_across(struct stats *stats, uint32_t channels, uint32_t first,
		      const unsigned char *samples, size_t n, const uint32_t *words);

/* Add n samples with this key (bins/auto.h). */
void stats_add_key(struct stats *stats, uint64_t key, uint64_t n);

/*
 * For integers of more than 16 bits: add times[i] samples of word i (`loops` below), for all i < n,
 * which is at most STATS_BLOCK. The words rise, and span less than 2^16.
 */
void stats_add_words(struct stats *stats, const unsigned char *words, const uint32_t *times,
		     size_t n);

/*
 * Read the finite samples of a digest as values and counts, STATS_BLOCK at a time. Start with an
 * *index of 0. Return the number of values; 0 at the end. A value stands for all samples of its
 * cell, but 0 only for zeros.
 */
size_t stats_words(const struct stats *stats, uint32_t *index, unsigned char *words,
		   uint32_t *times);

/* Add n codes (count.h), in the order of values; code[i] was counted count[code[i]] times. */
void stats_add_codes(struct stats *stats, const uint16_t *code, size_t n, const uint64_t *count);

/* Add the statistics `from`, of the same type; if `to` has a digest, it is wide. */
void stats_merge(struct stats *to, const struct stats *from);

/* Figures of the finite samples. If `number` is 0, extremes, mean and deviation are undefined. */
struct stats_result {
	uint64_t number;                  /* number of finite samples */
	uint64_t below, above, nan;       /* number of samples that are -inf, inf, NaN */
	uint64_t zeros;                   /* number of finite samples that are 0 or -0 */
	uint64_t at_least, at_greatest;   /* number of samples that equal them; 0: not known */
	int128_t least, greatest;         /* extremes, for integer types */
	double least_real, greatest_real; /* extremes, for float types; never -0 */
	double total;                     /* sum; within one unit in the last place; never -0 */
	double mean;                      /* within one unit in the last place; never -0 */
	double deviation;                 /* of the population; within one unit in the last place */
};

void stats_result(const struct stats *stats, struct stats_result *result); /* sums.c */

/* The number of all samples. */
static inline uint64_t stats_samples(const struct stats_result *r)
{
	return r->number + r->below + r->above + r->nan;
}

/* ---- the loops of an instruction set, over a block of words of 4 bytes, or 8 with `wide` ---- */

#define STATS_BLOCK 1024u /* limit of the samples of a block */
#define STATS_STEP 16u    /* keys, reals and zeros take a multiple of this many samples */

/* Two parts of the sum and six of the sum of squares; PLACES in stats.c gives their places. */
struct stats_terms {
	int64_t part[8];
};

struct stats_loops {
	/* Turn samples that are `stride` bytes apart into words. */
	void (*fetch)(unsigned char *words, const struct sample_type *type,
		      const unsigned char *samples, size_t n, size_t stride);
	/* Sum the keys of integers. */
	void (*keys)(const unsigned char *words, size_t n, uint64_t bias, bool wide,
		     struct stats_terms *terms);
	/*
	 * Sum floats below `top`, a power of two. Return false if one of them is infinite, NaN, or
	 * not 0 but below 2^-STATS_SPAN of `top`, or if there is no loop for this size.
	 */
	bool (*reals)(const unsigned char *words, size_t n, double top, bool wide,
		      struct stats_terms *terms);
	/* Find the index in a digest of each word (digest_count). */
	void (*cells)(const unsigned char *words, size_t n, const struct digest_rule *rule,
		      bool wide, uint32_t *indices);
	/* Count the words that have no bit of `mask` set. */
	uint64_t (*zeros)(const unsigned char *words, size_t n, uint64_t mask, bool wide);
};
#define STATS_SPAN(wide) ((wide) ? 17 : 20)
#define STATS_UNIT 69 /* the sum of floats is a multiple of top 2^-STATS_UNIT */

extern const struct stats_loops stats_loops_base, stats_loops_avx2, stats_loops_avx512;

#endif

/* SPDX-License-Identifier: MIT */
/*
 * counter: the counts of one worker, as the files of this directory share them.
 *
 *   count.c        chooses how to count, opens and closes counters, and calls the others
 *   count_bins.c   bins: cells of samples, and the tables that count them
 *   count_small.c  with statistics: small integers, which are counted as codes first
 *   count_keys.c   --by: cells and statistics of keys
 *   fractions.c    which channels have numbers that are not whole
 */
#ifndef GPUHIST_COUNTER_H
#define GPUHIST_COUNTER_H

#include <string.h>

#include "base/inline.h"
#include "count/count.h"

#define COUNT_BLOCK 512u /* samples binned, then counted, while their cells are in L1 */

/* The rule of a counter's bins: the job's, or one for the samples seen so far. */
struct counter_bins {
	struct binning binning;
	int k;                /* k of that rule */
	struct extent extent; /* auto_bins.most > 0: of the samples counted, or of others in the
				 same bins */
	bool knows;           /* the loops can tell whether bins are known (auto_know) */
};

/* Small integers that wait for small_settle. */
struct counter_small {
	uint32_t *table;      /* c->small.cells: their counts; else NULL */
	uint64_t samples;     /* their number */
	struct extent within; /* their extent */
	size_t pass;    /* samples to count without a look, after a block that was not small */
	size_t wait;    /* blocks passed the last time; 0 after a small block */
	uint32_t *base; /* first entry of channel i % channels */
};

/* --by with statistics: samples that are kept until a block of their key is full. */
struct counter_kept {
	unsigned char *samples; /* room for each key, from the first on; NULL: keep none */
	uint32_t *n;            /* their number for each key, less than room */
	uint32_t room;
};

struct counter {
	const struct counting *c;
	struct counts *counts;
	uint64_t pending;    /* samples counted since the last flush, at most 2^32 - 1 */
	uint32_t *table;     /* c->tables tables */
	uint64_t *hot;       /* SHARED: entries of cell << 32 | count, in table's memory */
	struct stats *stats; /* counting_adds_stats: statistics of each channel; else NULL */
	uint64_t digested;   /* samples added to stats since they were flushed */
	uint64_t unchecked;  /* the same since check_digests */
	uint64_t interval;   /* the same from one check to the next */
	bool derives;        /* samples are added to stats only; bins_derive finds their cells */
	uint64_t derived;    /* samples in stats whose cells have not been found */
	struct counter_bins bins;
	struct counter_small small;
	struct counter_kept kept;
	uint32_t channel; /* PRIVATE, SHARED: channel of the next sample; 0 after whole records */
	uint32_t base[];  /* PRIVATE, SHARED: first cell of channel i % channels */
};

#define HOT_ENTRIES 1024u /* COUNT_SHARED: 8 KiB of L1 */

/* ---- count_bins.c ---- */

/*
 * Make the rule fit more samples, of this extent; counts of a finer rule are first flushed to the
 * totals. With COUNT_SHARED, the totals become coarser at once, as no other counter adds to them
 * then.
 */
void bins_cover(struct counter *counter, const struct extent *more);

/* Count samples. The words in `ranks`, mostly the samples themselves, give their cells. */
void bins_add(struct counter *counter, const unsigned char *samples, const unsigned char *ranks,
	      size_t n);

/* Count times[i] samples of word i (stats.h) of a channel, up to STATS_BLOCK words. */
void bins_add_words(struct counter *counter, uint32_t channel, const unsigned char *words,
		    const uint32_t *times, size_t n);

/* Find the cells of samples that only the statistics hold so far. */
void bins_derive(struct counter *counter);

/* Add the tables, of bins or codes, to the totals. */
void bins_flush(struct counter *counter);

/* ---- count_small.c ---- */

/* Count small integers apart, if the type allows it and has statistics. */
void small_choose(struct counting *c);

/* Allocate their tables. -1: no memory. */
int small_open(struct counter *counter);

/*
 * Count the first of n samples apart, up to a block that is not small. Return their number. If it
 * is less than n, count small.pass samples otherwise.
 */
size_t small_add(struct counter *counter, const unsigned char *samples, size_t n);

/* Add the small integers to the bins and the statistics. */
void small_settle(struct counter *counter);

/* ---- count_keys.c ---- */

/* Allocate the tables of keys. -1: no memory. */
int keyed_open(struct counter *counter);

/* Add the private cells of the keys so far: no worker uses counts_add_cell for these. */
void keyed_flush(struct counter *counter);

/* Add all samples kept to the statistics. */
void keyed_flush_stats(struct counter *counter);

/* ---- fractions.c ---- */

/*
 * Note which channels have numbers that are not whole, or beyond 2^53. The samples are whole
 * records, except of many channels.
 */
void fractions_find(struct counter *counter, const unsigned char *samples, size_t n);

/* ---- loops ---- */

/*
 * Add base[i] to cells[i]. Groups of a constant size become vectors at any level of optimisation.
 */
static inline void add_base(uint32_t *restrict cells, const uint32_t *restrict base, size_t n)
{
	enum { GROUP = 16 };
	size_t i = 0;

	for (; i + GROUP <= n; i += GROUP)
		for (size_t k = i; k < i + GROUP; k++)
			cells[k] += base[k];
	for (; i < n; i++)
		cells[i] += base[i];
}

/* Add one to each of n cells in 1, 2 or 4 tables, which are s entries apart. */
INLINE void add_cells(uint32_t *t, size_t s, unsigned tables, const uint32_t *cells, size_t n)
{
	uint64_t two, more; /* pairs of cells, in any order */
	size_t i = 0;

	if (tables == 4) {
		for (; i + 4 <= n; i += 4) {
			memcpy(&two, cells + i, sizeof(two));
			memcpy(&more, cells + i + 2, sizeof(more));
			t[(uint32_t)two]++;
			t[s + (two >> 32)]++;
			t[2 * s + (uint32_t)more]++;
			t[3 * s + (more >> 32)]++;
		}
	} else if (tables == 2) {
		for (; i + 2 <= n; i += 2) {
			t[cells[i]]++;
			t[s + cells[i + 1]]++;
		}
	}
	for (; i < n; i++)
		t[cells[i]]++;
}

/* Look up the words to count for n codes of 8 or 16 bits. */
static inline void codes_widen(uint32_t *restrict words, const uint32_t *restrict table,
			       const unsigned char *p, size_t n, uint32_t bytes)
{
	for (size_t i = 0; i < n && bytes == 1; i++)
		words[i] = table[p[i]];
	for (size_t i = 0; i < n && bytes == 2; i++)
		words[i] = table[p[2 * i] | p[2 * i + 1] << 8];
}

#endif

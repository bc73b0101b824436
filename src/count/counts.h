/* SPDX-License-Identifier: MIT */
/*
 * counts: the totals of a run: exact 64-bit counts of cells, one struct for all workers. Any engine
 * adds to it from any thread; only counts.c uses its lock.
 *
 * Cells and samples are counted separately, so that the audit (hist.h) can compare them. While the
 * lock is free they agree, except between counts_add_cell and counts_add_samples.
 */
#ifndef GPUHIST_COUNTS_H
#define GPUHIST_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/lock.h"
#include "bins/auto.h"
#include "bins/sample.h"
#include "count/keys.h"
#include "count/stats.h"

#define COUNTS_LOCKS 64u

struct counts {
	uint64_t *cell;          /* owned, until counts_take gives it to the caller */
	size_t cells;            /* number of cells */
	uint64_t samples;        /* number of samples counted in cell */
	struct stats *stats;     /* --stats: statistics of each channel, owned; else NULL */
	struct keys *keys;       /* --by: the keys, each with its cells; borrowed; else NULL */
	uint32_t stats_channels; /* channels with statistics */
	/*
	 * counting.finds_whole: bit c is set if channel c has a number that is not whole, or is
	 * beyond 2^53. Keys and many channels have bit 0 together. Atomic.
	 */
	uint64_t fractions;
	bool lost;                            /* the digests in stats exceed their memory; atomic */
	struct lock lock;                     /* of all but stats; used only by counts.c */
	struct lock stats_lock[COUNTS_LOCKS]; /* of channels c, c + COUNTS_LOCKS, ... of stats */
	struct auto_bins auto_bins; /* counts_set_auto: the bins of each table in cell; else zero */
	struct extent extent; /* counts_set_auto: extent of the samples in cell, or a larger one */
	int k;                /* counts_set_auto: k of all tables in cell */
};

/*
 * Make zeroed totals. They have all the memory they need, in huge pages if they are large; with
 * keys (--by), which never use most cells, a cell takes no memory until it is used.
 */
int counts_init(struct counts *counts, size_t cells, struct keys *keys, struct fail *fail);

/*
 * After counts_init: add statistics of each channel, for types of more than 16 bits with a digest,
 * unless `digits` is 0; a binned type is given as its sample_type_counted. Workers fill them
 * (counts_add_stats), but for codes hist.c computes them from the counts at the end. The digests of
 * all workers share *memory; NULL: without a limit.
 */
int counts_keep_stats(struct counts *counts, const struct sample_type *type, uint32_t channels,
		      uint32_t digits, struct digest_memory *memory, struct fail *fail);

/* Add a worker's statistics of all channels, unless they are NULL; charge the totals' digests. */
void counts_add_stats(struct counts *counts, const struct stats *stats);

/* Let the digests of a worker's empty statistics use the memory of the totals' (stats.h). */
void counts_share_digests(struct counts *counts, struct stats *stats);

/* -1: the digests of the totals, or the keys, exceed their limit (STATUS_LIMIT). Any thread. */
int counts_check(const struct counts *counts, struct fail *fail);

/* Free the cells, unless counts_take did, and the statistics. */
void counts_free(struct counts *counts);

/* A view of the tables in which an engine has counted: tables of 32 bits, or one of 64 bits. */
struct tables {
	uint64_t samples;     /* samples in all tables; for 32 bits: fewer than 2^32 */
	uint32_t *narrow;     /* 32-bit counts, or NULL */
	unsigned tables;      /* number of 32-bit tables */
	size_t cells;         /* cells of the only 32-bit table; 0: all */
	size_t stride;        /* entries from one 32-bit table to the next */
	uint32_t channels;    /* table t has the cells of channel t % channels; 1: all cells */
	uint64_t *wide;       /* 64-bit counts of all cells, or NULL */
	bool shared;          /* one narrow table: others may use counts_add_cell meanwhile */
	int k;                /* counts_set_auto: k of the tables */
	struct extent extent; /* counts_set_auto: extent of their samples */
};

/*
 * Add the tables to the totals. After counts_set_auto, the finer side is first coarsened in place,
 * so the tables hold nothing useful afterwards. A view without tables makes the totals as coarse as
 * its extent requires.
 */
void counts_add(struct counts *counts, const struct tables *tables);

/* Add counts of the same cells without their statistics; no other thread uses `from`. */
static inline void counts_add_counts(struct counts *to, const struct counts *from)
{
	counts_add(to, &(struct tables){.samples = from->samples, .wide = from->cell});
}

/* For counts that no other thread uses: add counts and statistics, and zero `from`. */
void counts_move(struct counts *to, struct counts *from);

/* For counts that no other thread uses: swap cells, samples and statistics. */
void counts_swap(struct counts *a, struct counts *b);

/*
 * For totals that are still empty: take the range from the samples. From now on, cell is one or
 * more tables of auto_slots + CELL_EXTRA cells.
 */
void counts_set_auto(struct counts *counts, const struct auto_bins *bins);

/* After counts_set_auto: the k of the totals and the extent of their samples so far. */
void counts_auto(struct counts *counts, int *k, struct extent *extent);

/*
 * Add to one cell of a table that all workers share, atomically and without the lock. The caller
 * reports the samples by counts_add_samples. While workers do this, no thread may use counts_add,
 * with two exceptions: `shared` tables, and keys, if all workers add the same first keys by
 * counts_add and the other keys by counts_add_cell.
 */
static inline void counts_add_cell(struct counts *counts, size_t cell, uint64_t n)
{
	__atomic_fetch_add(&counts->cell[cell], n, __ATOMIC_RELAXED);
}
void counts_add_samples(struct counts *counts, uint64_t samples);

/*
 * Copy the totals, without statistics, to counts with the same number of cells. No thread may be
 * between counts_add_cell and counts_add_samples.
 */
void counts_copy(struct counts *copy, struct counts *counts);

/*
 * Take the cells of a finished run and the number of samples; the caller frees the cells. No thread
 * may add afterwards.
 */
uint64_t *counts_take(struct counts *counts, uint64_t *samples);

#endif

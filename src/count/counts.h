/* SPDX-License-Identifier: MIT */
/*
 * counts: the totals of a run: exact 64-bit counts of cells, one struct for all workers. Any engine
 * adds to it from any thread; no other file knows its lock.
 *
 * Cells and samples are two tallies of the same work, kept apart so that the audit (hist.h) can
 * compare them. While the lock is free they agree, except for counts_add_cell whose samples were
 * not announced yet.
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
#include "count/stats.h"

struct counts {
	uint64_t *cell; /* owned, until counts_take hands it to the caller */
	size_t cells;
	uint64_t samples;        /* counted into cell */
	struct stats *stats;     /* --stats: of each channel, freed by counts_free; else NULL */
	uint32_t stats_channels; /* how many channels have statistics */
	struct lock lock;        /* used by counts.c alone */
	/* If the range comes from the samples, the extent of those in cell, or a larger one. */
	struct extent extent;
	struct auto_bins auto_bins; /* what all tables in cell count by, if most is not 0 */
	int k;                      /* the k of all tables in cell, if auto_bins.most is not 0 */
};

/*
 * Zeroed totals. All memory is taken in this call; large tables come in huge pages where possible.
 */
int counts_init(struct counts *counts, size_t cells, struct fail *fail);

/*
 * After counts_init: statistics of each channel are kept too. Workers add to them the samples that
 * stats_add can read; those of codes are made from the counts at the end (hist.h).
 */
int counts_keep_stats(struct counts *counts, const struct sample_type *type, uint32_t channels,
		      struct fail *fail);

/* Merges a worker's statistics, of all channels, into those of the run. */
void counts_add_stats(struct counts *counts, const struct stats *stats);

/* Frees what counts_init or counts_take left, and zeroes the struct. */
void counts_free(struct counts *counts);

/*
 * A view of the tables that an engine has counted in: either `tables` tables of 32 bits or one of
 * 64 bits.
 */
struct tables {
	uint64_t samples;  /* in all tables; of 32 bits: fewer than 2^32 */
	uint32_t *narrow;  /* 32-bit counts, or NULL */
	unsigned tables;   /* of 32-bit counts */
	size_t stride;     /* entries from one of these to the next */
	uint32_t channels; /* table t has the cells of channel t % channels; 1: the cells of all */
	uint64_t *wide;    /* 64-bit counts of all cells, or NULL */
	bool shared;       /* wide: added atomically, as others may use counts_add_cell meanwhile */
	/* counts_set_auto: the k that the tables were counted at, and the extent of their samples. */
	int k;
	struct extent extent;
};

/*
 * Adds the tables to the totals. After counts_set_auto, whichever is finer is made coarser first, so
 * the tables hold nothing useful afterwards; a view without tables makes the totals as coarse as its
 * extent requires.
 */
void counts_add(struct counts *counts, const struct tables *tables);

/*
 * For counts of the same cells that one thread alone uses, except `to` of counts_add_counts.
 * counts_add_counts adds `from` to `to`, but no statistics. counts_move adds statistics too, and
 * zeroes `from`. counts_swap exchanges cells, samples and statistics; counts_clear zeroes them.
 */
static inline void counts_add_counts(struct counts *to, const struct counts *from)
{
	counts_add(to, &(struct tables){.samples = from->samples, .wide = from->cell});
}
void counts_move(struct counts *to, struct counts *from);
void counts_swap(struct counts *a, struct counts *b);
void counts_clear(struct counts *counts);

/*
 * For totals that are still empty: from now on their range comes from the samples, and cell is one
 * or more tables of auto_slots(most) + CELL_EXTRA cells.
 */
void counts_set_auto(struct counts *counts, const struct auto_bins *bins);

/*
 * For a table so large that all workers share it: adds to one cell, atomically and without the
 * lock. The caller announces the samples by counts_add_samples. While workers add in this way, no
 * thread may use counts_add but for `shared` tables.
 */
static inline void counts_add_cell(struct counts *counts, size_t cell, uint64_t n)
{
	__atomic_fetch_add(&counts->cell[cell], n, __ATOMIC_RELAXED);
}
void counts_add_samples(struct counts *counts, uint64_t samples);

/*
 * *copy, with as many cells (counts_init), becomes what the totals are now, without statistics. No
 * thread may be between counts_add_cell and counts_add_samples.
 */
void counts_copy(struct counts *copy, struct counts *counts);

/*
 * The table of a finished run and the number of its samples; the caller frees the table. No thread
 * may add any more; counts is left empty.
 */
uint64_t *counts_take(struct counts *counts, uint64_t *samples);

#endif

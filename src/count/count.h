/* SPDX-License-Identifier: MIT */
/*
 * count: samples in memory to exact 64-bit counts of cells, on the CPU.
 *
 *   struct counts    the totals, one for the whole run; any engine adds to it (counts.h)
 *   struct counting  how to count this job's samples: chosen once, then const
 *   struct counter   one worker's share, private to it until it is flushed
 *
 * What a "cell" is depends on the job. For 8- and 16-bit types it is the code itself, as it is in
 * memory, read as little endian; hist.c bins the codes when all is counted. For other types it is
 * the cell of binning.h. Each channel has cells of its own, all of one channel before those of the
 * next.
 */
#ifndef GPUHIST_COUNT_H
#define GPUHIST_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/xxh64.h"
#include "bins/edges.h"
#include "bins/sample.h"
#include "count/cells.h"
#include "count/counts.h"
#include "count/layout.h"

enum count_method {
	COUNT_BYTES,   /* 256 codes, in 8 to 64 tables; a sample's position decides which */
	COUNT_CODES,   /* 65,536 codes in two tables, or one for each channel */
	COUNT_PRIVATE, /* cells in 1 to 4 tables of 32 bits */
	COUNT_SHARED,  /* too many cells for that: straight into counts.cell */
};

struct counting {
	struct sample_type type;
	struct binning binning;
	enum count_method method;
	cells_fn *cells_of;   /* PRIVATE, SHARED: samples of 24 bits and more to cells */
	struct layout layout; /* where samples are in the bytes that gather_add is given */
	uint32_t bytes;       /* in an input, of a group of samples (sample.h) */
	uint32_t channels;    /* interleaved: sample i is of channel i % channels */
	size_t cells_each;    /* cells of one channel */
	size_t cells;    /* cells of all channels: those of channel c begin at c * cells_each */
	unsigned tables; /* each counter's own: of a channel if cells are codes, else of all */
	struct auto_bins auto_bins; /* cells are bins whose range comes from the samples; else 0 */
	cells_extent_fn *extent;    /* auto_bins.most > 0: finds the extent of samples; else NULL */
	/* --stats: every code keeps a counter of its own, on a GPU too; see counting_adds_stats */
	bool stats;
	bool alone;    /* SHARED: no other thread adds to counts.cell, so no atomics are needed */
	size_t memory; /* bytes that each counter takes */
};

struct counter;

/* The number of cells that a type and its bins need, for each channel. */
size_t counting_cells(const struct sample_type *type, const struct edges *edges);

/*
 * How a worker counts: in tables of its own, or, with `shared`, straight into the totals, unless
 * cells are codes. layout may be NULL: one channel without gaps. `alone` is left false, which is
 * always right; a caller that knows better may set it before any counter is opened.
 */
void counting_init_layout(struct counting *c, const struct sample_type *type,
			  const struct edges *edges, const struct layout *layout, bool shared);

/*
 * Has statistics of this many channels kept too; the caller calls counts_keep_stats as well, before
 * or after.
 */
void counting_keep_stats(struct counting *c, uint32_t channels);

/*
 * Do workers add samples to statistics of their own? For codes they need not: those statistics are
 * made from the counts. Where they do, the worker that took a sample adds it once, by stats_add,
 * whichever engine counts it.
 */
static inline bool counting_adds_stats(const struct counting *c)
{
	return c->stats && c->type.code_bytes > 2;
}

/* One for each worker; NULL when memory is short. Both arguments must outlive it. */
struct counter *counter_open(const struct counting *c, struct counts *counts);

/*
 * Counts n whole samples that follow one another; the first is of the first channel, the last of
 * the last channel.
 */
void counter_add(struct counter *counter, const unsigned char *samples, size_t n);

/*
 * Adds the counts that it holds to the totals, but not its statistics, and continues with empty
 * tables.
 */
void counter_flush(struct counter *counter);

/* As counter_flush, and adds the statistics too. */
void counter_flush_all(struct counter *counter);

/* Adds everything that it holds to the totals, statistics too, and frees it. Takes NULL. */
void counter_close(struct counter *counter);

/*
 * Counts the samples of whole records (of rows, where there are rows), laid out as c->layout says.
 * If hash is not NULL, adds all bytes to it, those between samples too. The counter was opened for
 * c.
 */
void gather_add(const struct counting *c, struct counter *counter, const unsigned char *records,
		size_t bytes, struct xxh64 *hash);

/* Adds the samples that gather_add would count to the statistics of each channel. */
void gather_stats(const struct counting *c, struct stats *stats, const unsigned char *records,
		  size_t bytes);

#endif

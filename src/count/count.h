/* SPDX-License-Identifier: MIT */
/*
 * count: samples in memory to exact 64-bit counts of cells, on the CPU.
 *
 *   struct counts    the totals, one for the whole run; any engine adds to it (counts.h)
 *   struct counting  how to count this job's samples: chosen once, then const
 *   struct counter   the counts of one worker, private until they are flushed to the totals
 *
 * The meaning of a "cell" depends on the type. For types of up to 16 bits, it is a code: the bytes
 * in memory, read as little endian. hist.c bins the codes at the end. For other types, and for
 * binned ones (sample.h), it is a cell of binning.h. Each channel has its own cells, which follow
 * the cells of the channel before.
 */
#ifndef GPUHIST_COUNT_H
#define GPUHIST_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/xxh64.h"
#include "bins/edges.h"
#include "bins/sample.h"
#include "count/cells.h"
#include "count/counts.h"
#include "count/layout.h"
#include "count/load.h"

enum count_method {
	COUNT_BYTES,   /* 256 codes, in 8 to 64 tables, chosen by the sample's position */
	COUNT_CODES,   /* 65,536 codes, in two tables or one for each channel */
	COUNT_PRIVATE, /* cells in 1 to 4 tables of 32 bits */
	COUNT_SHARED,  /* too many cells for that: straight into counts.cell */
};

/* With statistics: how small integers are counted apart (count_small.c). */
struct counting_small {
	struct binning rule;     /* their rule */
	cells_fn *cells;         /* finds their cells; NULL: they are not counted apart */
	cells_extent_fn *extent; /* finds the extent of samples */
};

struct counting {
	struct sample_type type;    /* of the samples in the input */
	struct sample_type counted; /* their type while counting (sample_type_counted) */
	const uint32_t *words;      /* a binned type: the word to count for each code; borrowed */
	const uint32_t *ranks;      /* the words that give its cells; NULL: `words` do; borrowed */
	const uint32_t *code_cells; /* --by, a binned type: counting_code_cells; borrowed */
	struct binning binning;
	enum count_method method;
	cells_fn *cells_of;   /* PRIVATE, SHARED: finds the cells of samples */
	struct layout layout; /* positions of samples in the bytes given to gather_add */
	uint32_t bytes;       /* bytes of a group of samples (sample.h) in an input */
	struct load load;     /* from numbers in an input to samples */
	uint32_t channels;    /* sample i belongs to channel i % channels */
	size_t channel_cells; /* number of cells of a channel */
	size_t cells;         /* number of cells; channel c begins at c * channel_cells */
	unsigned tables;      /* tables of a counter, each for one channel of codes, or for all */
	size_t stride;        /* entries from one table to the next */
	struct auto_bins auto_bins; /* for cells that are bins with a range from the samples */
	cells_extent_fn *extent;    /* auto_bins.most > 0: finds the extent of samples; else NULL */
	bool finds_whole;           /* keep counts.fractions, for floats of more than 16 bits */
	bool stats;                 /* --stats (see counting_adds_stats) */
	cells_fn *word_cells;       /* stats: finds the cells of words (stats.h) */
	cells_extent_fn *word_extent; /* stats: finds the extent of words */
	int derived_k; /* bins of this k or more follow from the digests; 0: they never do */
	struct counting_small small; /* small integers, which are counted apart */
	uint32_t digits;             /* of the digests of statistics; 0: there are none */
	struct digest_memory *pages; /* memory that these digests share; NULL: no limit */
	struct keys *keys;           /* --by: the keys; shared by all counters; NULL: none */
	uint32_t private;            /* --by: keys from this index up are counted in the totals */
	bool alone;    /* SHARED: only one thread adds to counts.cell, without atomics */
	size_t memory; /* bytes that each counter allocates */
};

struct counter;

/* The number of cells that a type and its bins need for each channel. */
size_t counting_cells(const struct sample_type *type, const struct edges *edges);

/*
 * Choose how to count. With `shared`, bins are counted straight into the totals, otherwise in
 * tables of each worker, as codes always are. A layout of NULL is one channel without gaps. `alone`
 * is set to false, which is safe unless a shared table takes its range from the samples; the caller
 * may set it to true before it opens a counter. For a binned type, it sets `words` and `ranks`.
 */
void counting_init(struct counting *c, const struct sample_type *type, const struct edges *edges,
		   const struct layout *layout, bool shared);

/* Count NaN for these values of floats of 32 and 64 bits, and in magnitudes. */
void counting_set_missing(struct counting *c, const struct missing *missing);

/*
 * Count statistics of each channel too, and digests with that many digits. The caller also calls
 * counts_keep_stats.
 */
void counting_keep_stats(struct counting *c, uint32_t digits);

/* Do not count small integers apart. Return the bytes that each counter saves. */
size_t counting_leave_small(struct counting *c);

/*
 * Count by keys, which have cells of their own. A counter has the cells of the first keys, as many
 * as fit into these bytes. The caller sets `keys`.
 */
void counting_keep_keys(struct counting *c, uint64_t bytes);

/* Make a table of the cells of all codes of a binned type. NULL: no memory. */
uint32_t *counting_code_cells(const struct counting *c);

/*
 * Must a counter add each sample to statistics? For codes it need not, because hist.c computes the
 * statistics from the counts.
 */
static inline bool counting_adds_stats(const struct counting *c)
{
	return c->stats && !sample_is_code(&c->type);
}

/* Open the counter of one worker. Both arguments must outlive it. NULL: no memory. */
struct counter *counter_open(const struct counting *c, struct counts *counts);

/*
 * Count n adjacent samples, fewer than 2^31. With few channels (layout.h), they are whole records;
 * with more, a record may continue in the next call.
 */
void counter_add(struct counter *counter, const unsigned char *samples, size_t n);

/*
 * For --by: count up to KEYED adjacent samples. Sample i belongs to key index[i]. The function may
 * overwrite `index`.
 */
#define KEYED 2048u
void counter_add_keyed(struct counter *counter, const unsigned char *samples, uint32_t *index,
		       size_t n);

/* Count up to KEYED records in one pass. False: they need counter_add_keyed. */
bool counter_add_records(struct counter *counter, const unsigned char *records, size_t n);

/*
 * Add the counts to the totals, and empty the tables. The statistics stay, unless bins are derived
 * from them.
 */
void counter_flush(struct counter *counter);

/* Like counter_flush, and add the statistics too. */
void counter_flush_all(struct counter *counter);

/* Add the counts and the statistics to the totals, and free the counter, which may be NULL. */
void counter_close(struct counter *counter);

/*
 * Count the samples of whole records, or of whole rows if the layout has rows. If hash is not NULL,
 * add all bytes to it, including the bytes between samples.
 */
void gather_add(struct counter *counter, const unsigned char *records, size_t bytes,
		struct xxh64 *hash);

#endif

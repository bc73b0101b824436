/* SPDX-License-Identifier: MIT */
/*
 * digest: counts of neighbouring values at a fixed resolution, from which quantiles are computed.
 *
 * Bins are chosen for the picture. A digest has "cells" of its own, so that quantiles do not
 * depend on the bins. A cell holds 2^k neighbouring keys of --log=auto (bins/auto.h): each power of
 * two is cut into 2^digits equal cells. Cell 0 begins at 0, and negative values have negative
 * cells. Integers with up to `digits` binary digits after their first have a cell each. For types
 * of up to 16 bits, a cell is a value.
 *
 * A run keeps its first DIGEST_FEW finite samples themselves, as a list of keys (bins/auto.h), so
 * that their quantiles are exact. If there are more, all of them "spill" into the cells. Whether
 * they do depends only on the total number of samples, not on threads or the order of adding.
 *
 * All cells of a type have a counter, in memory that takes no pages until it is used. `touched`
 * has a byte for each block of 128 cells; only touched blocks are cleared, added and written. With
 * more than STATS_FEW channels, counters are bytes: four times as many fit the cache.
 */
#ifndef GPUHIST_COUNT_DIGEST_H
#define GPUHIST_COUNT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

#define DIGEST_FINE 10u  /* digits of a run: a cell is at most 1/1024 of its values wide */
#define DIGEST_ROUGH 7u  /* digits of a row of --each */
#define DIGEST_FEW 4096u /* samples that a run lists */
#define DIGEST_BLOCK 128 /* cells that share a byte of `touched` */

/* The cells of a type at a resolution. */
struct digest_rule {
	bool real;        /* the type is a float */
	uint32_t digits;  /* binary digits after a value's first; 16 bits or fewer: all of them */
	uint32_t shift;   /* floats: a cell is rank >> shift */
	uint64_t bias;    /* integers: bits ^ bias is the key, and key - bias the value */
	uint32_t zero;    /* index of cell 0: the number of negative cells */
	uint32_t indices; /* number of all cells, including the cells of infinities and NaNs */
	uint32_t few;     /* number of samples that are listed: DIGEST_FEW or 0 */
};

/* The memory that the digests of a run share: a part of -M. */
#define DIGEST_SHARE 4u
struct digest_memory {
	uint64_t most; /* limit in bytes */
	uint64_t used; /* bytes in use; atomic */
};

struct digest {
	struct digest_rule rule;
	struct digest_memory *memory; /* NULL: no limit */
	uint64_t charged;             /* this digest's share of memory->used */
	unsigned char *touched;       /* a byte for each block; NULL: there is no digest */
	uint32_t *narrow;             /* counts of samples; fewer than 2^32 in all */
	unsigned char *low;           /* digest_use_bytes: narrow lacks these counts; else NULL */
	uint64_t *wide;               /* counts that were added */
	uint64_t *value;  /* the keys of the samples listed; sorted if counts are wide */
	uint32_t listed;  /* their number */
	bool lists;       /* all finite samples are listed, and no cell is used */
	uint64_t pending; /* samples that digest_count has counted */
	uint64_t next;    /* --by: `pending` at which to charge again */
};

/* The rule of a type of more than 16 bits for these digits, or of a smaller one. */
struct digest_rule digest_rule(const struct sample_type *type, uint32_t digits);

/* Make an empty digest, of samples or (wide) of other digests. -1: no memory. */
int digest_open(struct digest *d, const struct digest_rule *rule, bool wide);
void digest_close(struct digest *d); /* accepts {0} */

/* For an empty digest of samples: count in bytes, and add their overflows to narrow. */
void digest_use_bytes(struct digest *d);

void digest_clear(struct digest *d);

/* Bytes of address space that a digest of this rule takes at most. */
uint64_t digest_bytes(const struct digest_rule *rule, bool wide);

/* Charge the pages in use to d->memory. False: the digests of the run use more than they may. */
bool digest_charge(struct digest *d);

/* Remove a digest's pages from the memory of its run. */
void digest_uncharge(struct digest *d);

/* Release the pages of an empty digest. */
void digest_shrink(struct digest *d);

/* Count the cells with these indices (stats_loops.cells). */
void digest_count(struct digest *d, const uint32_t *indices, size_t n);

/* List n keys. False: the list would be too long; call digest_spill. */
bool digest_list(struct digest *d, const uint64_t *keys, size_t n);

/* Move the listed samples to the cells; all later samples go there, too. */
void digest_spill(struct digest *d);

/* Add n to a cell of a digest that lists no samples. */
void digest_add(struct digest *d, int64_t cell, uint64_t n);

/* For a wide digest: add all of a digest of the same type that is no coarser. */
void digest_merge(struct digest *to, const struct digest *from);

/*
 * Find the first cell at or after *index that is not empty, and its count. False: all are empty. If
 * samples are listed, *index is an index in the list, and becomes the last one of its value.
 */
bool digest_next(const struct digest *d, uint32_t *index, uint64_t *count);

/* The number of samples in all cells. */
uint64_t digest_sum(const struct digest *d);

/* The cell with an index. */
static inline int64_t digest_cell(const struct digest_rule *rule, uint32_t index)
{
	return (int64_t)index - rule->zero;
}

/* The bits of a finite value in the cell with an index, which is not 0 if the type is a float. */
uint64_t digest_word(const struct digest_rule *rule, uint32_t index);

/* The cell of a whole number, 0 or more. */
static inline int64_t digest_of_whole(uint64_t value, uint32_t digits)
{
	uint64_t excess = 0;

	while (value >> excess >> (digits + 1) > 0)
		excess++;
	return (int64_t)((excess << digits) + (value >> excess));
}

/*
 * For integers of more than 16 bits: the least absolute value of a cell, 0 or more, and the number
 * of its values. A negative cell ~c holds the values ~v of cell c.
 */
static inline uint64_t digest_first(const struct digest_rule *rule, int64_t cell, uint64_t *values)
{
	const uint64_t own = (uint64_t)(cell < 0 ? ~cell : cell), steps = own >> rule->digits;
	const uint64_t excess = steps > 1 ? steps - 1 : 0;

	*values = (uint64_t)1 << excess;
	return (own - (excess << rule->digits)) << excess;
}

#endif

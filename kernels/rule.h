/* SPDX-License-Identifier: MIT */
/*
 * rule: a kernel's parameters, in plain C for the host and the device: how bytes become a key, and
 * how a key becomes a cell.
 */
#ifndef GPUHIST_RULE_H
#define GPUHIST_RULE_H

#include <stdint.h>

#include "bins/binning.h"

/*
 * 16-bit integers with no border of a bin between them form one group, so that few bins or a narrow
 * range need few counters: group = (place mul + add) / 2^32, where place = key - low, clamped to 0
 * .. last.
 */
struct groups {
	int32_t low, last;
	uint32_t mul, add;
};

struct rule {
	struct binning bins;  /* how a key becomes a cell */
	struct groups groups; /* set by groups.c */
	/* __byte_perm selectors from stored to native order, see reader::keys */
	uint32_t perm[4];
	uint32_t flip[2]; /* xored onto native words: the sign bits of signed types */
	float f_scale;    /* f32: the guess x f_scale + f_offset is x in bins above LO, less 0.5 */
	float f_offset;
	/* f32: a guess nearer than this to a whole number is sure to be that bin; 0: never */
	float f_sure;
	/* interleaved channels; each has all cells, which follow those of the channel before */
	uint32_t channels;
};

/* Half of the 16-bit codes, which two blocks count together (shared.cuh). */
#define PAIR_CODES 32768u

#ifdef __CUDACC__
#define RULE_INLINE static __host__ __device__ __forceinline__
#else
#define RULE_INLINE static inline
#endif

RULE_INLINE uint32_t group_at(const struct groups *g, int32_t place)
{
	return (uint32_t)(((uint64_t)(uint32_t)place * g->mul + g->add) >> 32);
}

RULE_INLINE uint32_t group_of(const struct groups *g, uint32_t key)
{
	const int32_t above = (int32_t)key - g->low, place = above < 0 ? 0 : above;

	return group_at(g, place < g->last ? place : g->last);
}

RULE_INLINE uint32_t group_count(const struct groups *g)
{
	return group_at(g, g->last) + 1;
}

/*
 * The index of a cell in a table in shared memory: cell (1 + 1/32 + 1/1024). So cells that are a
 * multiple of 16, 32, ... or 32,768 apart (samples shifted left, a coarse grid, hot codes at powers
 * of two) are in different banks. Without this, 32 such cells take 32 clocks.
 */
RULE_INLINE uint32_t spread(uint32_t cell)
{
	return cell * 1057 >> 10;
}

/* The words of such a table; cells < 2^21, or the product overflows. */
RULE_INLINE uint32_t spread_words(uint32_t cells)
{
	return cells ? spread(cells - 1) + 1 : 0;
}

/*
 * Samples with gaps between them: `samples` of each record are side by side, and `records` records
 * form a row. They are first packed, in their order, and then counted.
 */
struct gather {
	uint64_t n;       /* samples in all */
	uint32_t samples; /* of a record */
	uint32_t records; /* of a row */
	uint32_t record;  /* bytes from one record of a row to the next */
	uint32_t offset;  /* bytes before the first sample of a record */
	uint32_t pitch;   /* bytes from one row to the next */
};

/* The offset of sample i. */
RULE_INLINE uint64_t gather_at(const struct gather *g, uint32_t i, uint32_t bytes)
{
	const uint32_t record = i / g->samples, row = record / g->records;

	return (uint64_t)row * g->pitch + (uint64_t)(record - row * g->records) * g->record +
	       g->offset + (uint64_t)(i - record * g->samples) * bytes;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * rule: a kernel's parameters, in plain C for the host and the device: how to turn bytes into a key
 * and a key into a cell.
 */
#ifndef GPUHIST_RULE_H
#define GPUHIST_RULE_H

#include <stdint.h>

#include "../../src/bins/binning.h"

#define KERNEL_THREADS 1024 /* threads of a block */

struct rule {
	struct binning bins; /* how a key becomes a cell */
	uint32_t perm[4];    /* __byte_perm selectors from stored to native order (reader::keys) */
	uint32_t flip[2];    /* xored onto native words: the sign bits of signed types */
	uint32_t channels;   /* interleaved channels, each with its own cells, one after another */
	uint32_t resident;   /* far: counters have 64 bits, not 32 */
};

/*
 * The 64-bit words of an extent (bins/auto.h), as numbers that only grow: a minimum as its
 * complement.
 */
enum { EXTENT_LEAST, EXTENT_GREATEST, EXTENT_BELOW, EXTENT_ABOVE, EXTENT_WORDS };

#ifdef __CUDACC__
#define RULE_INLINE static __host__ __device__ __forceinline__
#else
#define RULE_INLINE static inline
#endif

/*
 * The index of a cell in a table in shared memory: cell (1 + 1/32 + 1/1024). This puts cells that
 * are a multiple of 16, 32, ... or 32,768 apart (samples shifted left, a coarse grid, hot codes at
 * powers of two) in different banks. Otherwise 32 such cells take 32 clocks.
 */
RULE_INLINE uint32_t spread(uint32_t cell)
{
	return cell * 1057 >> 10;
}

/* Words of such a table. cells must be < 2^21, or the product overflows. */
RULE_INLINE uint32_t spread_words(uint32_t cells)
{
	return cells ? spread(cells - 1) + 1 : 0;
}

/* far.cuh: entries of a block's table, and the entry of a cell there. Each block has its own. */
enum { FAR_LOG2 = 12, FAR_ENTRIES = 1 << FAR_LOG2 };

RULE_INLINE uint32_t far_entry(uint32_t cell, uint32_t block)
{
	return cell * (0x9e3779b1u + block * 0x85ebca6au) >> (32 - FAR_LOG2);
}

/*
 * The rule for unsigned 32-bit samples in little-endian order and bins of equal width: bin i begins
 * at first + i * width and ends at the next bin. width is at least 1; the bins end by 2^32.
 */
RULE_INLINE struct rule rule_even(uint32_t first, uint32_t width, uint32_t bins)
{
	struct rule r = {{0}, {0x3210, 0, 0, 0}, {0, 0}, 1, 0};

	r.bins.bins = bins;
	r.bins.first = first;
	r.bins.span = (uint64_t)bins * width - 1;
	r.bins.kind = width == 1 ? BIN_SHIFT : BIN_MAGIC;
	if (width > 1)
		r.bins.magic.multiplier = UINT64_MAX / width + 1; /* 2^64 / width, rounded up */
	return r;
}

/*
 * Samples with gaps between them: each record has `samples` adjacent samples, each row `records`
 * records. They are packed in order before they are counted.
 */
struct gather {
	uint64_t n;       /* samples in all */
	uint32_t samples; /* samples of a record */
	uint32_t records; /* records of a row */
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

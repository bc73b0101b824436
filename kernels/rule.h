/* SPDX-License-Identifier: MIT */
/*
 * rule: a kernel's parameters, in plain C for the host and the device: how bytes become a key,
 * how a key becomes a cell, and how the work of split, plan and count_parts is laid out.
 */
#ifndef GPUHIST_RULE_H
#define GPUHIST_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "bins/binning.h"

#ifdef __CUDACC__
#define DEVICE_POINTER(type) type *
#else
#define DEVICE_POINTER(type) uint64_t /* CUdeviceptr */
#endif

/*
 * 16-bit integers with no border of a bin between them form one group, so that few bins or a narrow
 * range need few counters: group = (place mul + add) / 2^32, where place = key - low, clamped to 0
 * .. last.
 */
struct groups {
	int32_t low, last;
	uint32_t mul, add;
};

/*
 * Explicit edges in shared memory, after the counters: a guide of their own, finer than
 * bin_table's, so that most entries hold no edge, and the keys as in bin_table. An entry is bin |
 * count << NEAR_BIN_BITS.
 */
#define NEAR_BIN_BITS 20
#define NEAR_COUNT_MOST 4095u

/*
 * How a distance e from the first key becomes an entry g of the guide; in each way g never falls as
 * e rises.
 */
enum near_by {
	NEAR_KEY,   /* g = e >> shift */
	NEAR_VALUE, /* floats: g = floor((x - lo) scale) */
	/*
	 * integers: g = (the bits of e + 1 as a binary32, rounded down, less those of 1) >> shift
	 */
	NEAR_RATIO,
};

struct near {
	uint32_t by; /* enum near_by */
	uint32_t shift;
	double lo, scale;
	uint32_t guide; /* entries, an even number; keys follow */
	uint32_t words; /* of 32 bits, in all */
	/* the first of them in the block's shared memory, as an index of words; even */
	uint32_t at;
	DEVICE_POINTER(const uint32_t) from; /* where they are in the device's memory */
};

struct rule {
	struct binning bins;  /* how a key becomes a cell */
	struct groups groups; /* set by gpu_group.c */
	/* __byte_perm selectors from stored to native order, see reader::keys */
	uint32_t perm[4];
	uint32_t flip[2]; /* xored onto native words: the sign bits of signed types */
	float f_scale;    /* f32: x is about x f_scale + f_offset + 0.5 bins above LO ... */
	float f_offset;
	/* ... and nearer than this to a whole number plus a half it is that bin; 0: never */
	float f_sure;
	/* interleaved; each has all of the cells, one channel's after those of the one before */
	uint32_t channels;
	struct near near; /* made by near_table.c */
};

/*
 * The cells are cut into buckets of `width`. A tile of samples is sorted by bucket and written
 * as 16 bits a sample, its cell within the bucket; then bucket after bucket is counted.
 */
struct parts {
	uint32_t tile_vecs; /* 16-byte (48 for 3-byte samples) pieces in a tile */
	uint32_t tiles;     /* at least 1 */
	uint32_t room;      /* 16-byte entries of a sorted tile, below 65,536 */
	uint32_t buckets;
	uint32_t width;     /* a multiple of 4096 below 65,535 */
	uint32_t mul, shr;  /* cell / width = (cell >> 12) * mul >> shr */
	uint32_t copies;    /* of each bucket's cursor: a power of two up to 32 */
	uint32_t gap;       /* empty 16-bit entries after each cursor's own: 2 if copies > 1 */
	uint32_t lanes;     /* that walk one part together */
	uint32_t unit;      /* samples in a unit of work, about */
	uint32_t units_max; /* entries of parts_memory.units */
};

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

/* The arrays of split, plan and count_parts in device memory. */
struct parts_memory {
	DEVICE_POINTER(uint4) codes;    /* tiles * room */
	DEVICE_POINTER(uint16_t) start; /* (buckets + 1) rows of tiles: a bucket's first uint4 */
	DEVICE_POINTER(uint32_t) total; /* buckets: samples in all; cleared before split */
	DEVICE_POINTER(uint4) units;    /* units_max: bucket, first run, step, tiles in a run */
	DEVICE_POINTER(uint32_t) count; /* 2: units listed, units taken */
};

#endif

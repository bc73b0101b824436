/*
 * rule: what a kernel is told, in plain C for both sides: how bytes become a key, how a key
 * becomes a cell, and how the work of count_parts is laid out.
 */
#ifndef GPUHIST_RULE_H
#define GPUHIST_RULE_H

#include <stddef.h>
#include <stdint.h>

#include "../src/binning.h"

/*
 * 16-bit integers that need not be told apart are one group, so that the counters of few bins, or
 * of a narrow range, are few: group = (place mul + add) / 2^32, place = key - low held to 0 .. last.
 */
struct groups {
	int32_t low, last;
	uint32_t mul, add;
};

struct rule {
	struct binning bins;  /* the one arithmetic */
	struct groups groups; /* gpu_group.c */
	uint32_t perm[4];     /* byte selectors from stored to native order, see struct reader */
	uint32_t flip[2];     /* xored onto native words: the sign bits of signed types */
	float f_scale;        /* f32: x lies about at x f_scale + f_offset + 0.5 bins from LO ... */
	float f_offset;
	float f_sure;         /* ... and where that is nearer than this to a whole number plus a
			         half, the whole number is the bin; 0: never sure */
};

/*
 * The cells are cut into buckets of `width`. A tile of samples is sorted by bucket and written
 * as 16 bits a sample, its cell within the bucket; then bucket after bucket is counted.
 */
struct parts {
	uint32_t tile_vecs;  /* 16-byte (48 for 3-byte samples) pieces in a tile */
	uint32_t tiles;      /* at least 1 */
	uint32_t room;       /* 16-byte places in a sorted tile, below 65,536 */
	uint32_t buckets;
	uint32_t width;      /* a multiple of 4096 below 65,535 */
	uint32_t mul, shr;   /* cell / width = (cell >> 12) * mul >> shr */
	uint32_t copies;     /* of each bucket's cursor: a power of two up to 32 */
	uint32_t gap;        /* empty places behind each cursor's own: 2 if copies > 1 */
	uint32_t lanes;      /* that walk one part together */
	uint32_t unit;       /* samples worth a block's while */
	uint32_t units_max;  /* room in units */
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
 * Where a cell lies in a table in shared memory: cell (1 + 1/32 + 1/1024), so that cells a
 * multiple of 16, 32, ... or 32,768 apart (samples shifted left, a coarse grid, hot codes at
 * powers of two) get different banks. Without it 32 such cells take 32 clocks.
 */
RULE_INLINE uint32_t spread(uint32_t cell)
{
	return cell * 1057 >> 10;
}

/* Words of such a table; cells < 2^21, or the product overflows. */
RULE_INLINE uint32_t spread_words(uint32_t cells)
{
	return cells ? spread(cells - 1) + 1 : 0;
}

#ifdef __CUDACC__
#define DEVICE_POINTER(type) type *
#else
#define DEVICE_POINTER(type) uint64_t /* CUdeviceptr */
#endif

/* Where the parts lie in device memory. */
struct parts_memory {
	DEVICE_POINTER(uint4) codes;    /* tiles * room */
	DEVICE_POINTER(uint16_t) start; /* (buckets + 1) rows of tiles: a bucket's first uint4 */
	DEVICE_POINTER(uint32_t) total; /* buckets: samples in all; cleared before split */
	DEVICE_POINTER(uint4) units;    /* units_max: bucket, first run, step, tiles in a run */
	DEVICE_POINTER(uint32_t) count; /* 2: units listed, units taken */
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cells: samples in memory to the numbers of their cells (binning.h), a block at a time.
 *
 * One function for each way of reading a sample and each kind of bins, in one table for each
 * instruction set that the compiler was asked for; cells_choose takes the best that this
 * machine can run.
 */
#ifndef GPUHIST_CELLS_H
#define GPUHIST_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "bins/binning.h"
#include "bins/sample.h"

/* How a sample is stored in memory and what it becomes. */
enum cells_load {
	LOAD_KEY24,
	LOAD_KEY24_BIG,
	LOAD_KEY32,
	LOAD_KEY32_BIG,
	LOAD_KEY64,
	LOAD_KEY64_BIG,
	LOAD_F32,
	LOAD_F32_BIG,
	LOAD_F64,
	LOAD_F64_BIG,
	LOAD_KEY16, /* this and those after it: extents alone */
	LOAD_KEY16_BIG,
	LOAD_F16,
	LOAD_F16_BIG,
	LOADS
};

/* cells[i] = the cell of sample i, i < n. The samples need no alignment. */
typedef void cells_fn(const struct binning *b, const unsigned char *samples, size_t n,
		      uint32_t *cells);

/* For types of 24 bits and more (smaller ones are counted by code). Never NULL. */
cells_fn *cells_choose(const struct sample_type *type, const struct binning *b);

/*
 * The largest of n little-endian 32-bit samples, 0 if n is 0. Where a sample is its own cell (the
 * main job: bin = value) nothing else has to be known of a block.
 */
typedef uint32_t cells_max_fn(const unsigned char *samples, size_t n);
cells_max_fn *cells_max_choose(void);

/*
 * How many bytes, in whole strides, hold nothing but copies of the first sample; 0 where the first
 * stride holds something else. `sample` is the size of one, 1, 2, 3, 4 or 8 bytes.
 */
#define CELLS_STRIDE 192u /* three vectors of 64 bytes, and whole samples of every size */
typedef size_t cells_repeat_fn(const unsigned char *samples, size_t bytes, uint32_t sample);
cells_repeat_fn *cells_repeat_choose(void);

/*
 * The extent of n samples (auto.h) of 16 bits and more; bias is that of the binning. Keys of floats
 * of 16 bits are made of their bits as those of binary32 are, and bias is what infinity's bits are.
 */
typedef struct extent cells_extent_fn(const unsigned char *samples, size_t n, uint64_t bias);
cells_extent_fn *cells_extent_choose(const struct sample_type *type);

/*
 * The name of the instruction set whose functions are chosen: the best one of this machine, unless
 * another is forced.
 */
const char *cells_isa(void);

/*
 * Chooses another instruction set by its name from now on; NULL: the best one again. -1, and the
 * best is chosen, when the program or the machine does not have it. Call it before any thread is
 * started.
 */
int cells_force(const char *isa);

/* The tables, one per instruction set; NULL where a kind makes no sense for a type. */
typedef cells_fn *cells_table[LOADS][BIN_KINDS];
extern const cells_table cells_table_base, cells_table_avx2, cells_table_avx512;
typedef cells_extent_fn *cells_extents[LOADS];
extern const cells_extents cells_extents_base, cells_extents_avx2, cells_extents_avx512;
cells_max_fn cells_max_base, cells_max_avx2, cells_max_avx512;
cells_repeat_fn cells_repeat_base, cells_repeat_avx2, cells_repeat_avx512;

#endif

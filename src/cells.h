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

#include "binning.h"
#include "sample.h"

/* How a sample lies in memory and what it becomes. */
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
	LOADS
};

/* cells[i] = the cell of sample i, i < n. The samples need no alignment. */
typedef void cells_fn(const struct binning *b, const unsigned char *samples, size_t n,
		      uint32_t *cells);

/* For types of 24 bits and more (smaller ones are counted by code). Never NULL. */
cells_fn *cells_choose(const struct sample_type *type, const struct binning *b);

/*
 * The largest of n little-endian 32-bit samples, 0 for none. Where a sample is its own cell
 * (the main job: bin = value) this is all that has to be known of a block.
 */
typedef uint32_t cells_max_fn(const unsigned char *samples, size_t n);
cells_max_fn *cells_max_choose(void);

/* The name of the instruction set that cells_choose takes. */
const char *cells_isa(void);

/* The tables, one per instruction set; NULL where a kind makes no sense for a type. */
typedef cells_fn *cells_table[LOADS][BIN_KINDS];
extern const cells_table cells_table_base, cells_table_avx2, cells_table_avx512;
cells_max_fn cells_max_base, cells_max_avx2, cells_max_avx512;

#endif

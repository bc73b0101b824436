/* SPDX-License-Identifier: MIT */
/*
 * cells: samples in memory to the numbers of their cells (binning.h), a block at a time.
 *
 * One function for each way of reading a sample and each kind of bins, in one table for each
 * instruction set that the compiler was asked for.
 */
#ifndef GPUHIST_CELLS_H
#define GPUHIST_CELLS_H

#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "bins/binning.h"
#include "bins/sample.h"

/*
 * How a sample is stored in memory, the bits of a word that holds it, and what it becomes: keys or
 * a float.
 */
#define CELLS_LOADS(X)          \
	X(KEY24, 32, KEY32)     \
	X(KEY24_BIG, 32, KEY32) \
	X(KEY32, 32, KEY32)     \
	X(KEY32_BIG, 32, KEY32) \
	X(KEY64, 64, KEY64)     \
	X(KEY64_BIG, 64, KEY64) \
	X(F32, 32, FLOAT)       \
	X(F32_BIG, 32, FLOAT)   \
	X(F64, 64, FLOAT)       \
	X(F64_BIG, 64, FLOAT)

#define CELLS_LOAD_MEMBER(load, ...) LOAD_##load,
enum cells_load { CELLS_LOADS(CELLS_LOAD_MEMBER) LOADS };
#undef CELLS_LOAD_MEMBER

/* cells[i] = the cell of sample i, i < n. The samples need no alignment. */
typedef void cells_fn(const struct binning *b, const unsigned char *samples, size_t n,
		      uint32_t *cells);

/*
 * Returns the extent of n samples, by keys (auto.h). bias is the binning's for integers, and the
 * bits of infinity for floats.
 */
typedef struct extent cells_extent_fn(const unsigned char *samples, size_t n, uint64_t bias);

/* The loops of an instruction set. */
struct cells_isa {
	cells_fn *cells[LOADS][BIN_KINDS]; /* NULL where a kind makes no sense for a type */
	cells_extent_fn *extent[LOADS];
};
extern const struct cells_isa cells_base, cells_avx2, cells_avx512;

/* The loops of the instruction set that isa_best names. */
const struct cells_isa *cells_best(void);

/* How samples of the type, of 24 bits or more, are loaded. */
enum cells_load cells_load(const struct sample_type *type);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cells: samples in memory to the numbers of their cells (binning.h), a block at a time.
 *
 * There is a function for each way to load a sample and each kind of bins, in a table for each
 * instruction set that was compiled in.
 */
#ifndef GPUHIST_CELLS_H
#define GPUHIST_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "bins/binning.h"
#include "bins/sample.h"

/* Each way to load a sample, the bits of the word that holds it, and its group of loops. */
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

/*
 * Set cells[i] to the cell of sample i, for n samples, which need no alignment. With bins of ranks,
 * return whether all samples are in known bins (auto_know); otherwise true.
 */
typedef bool cells_fn(const struct binning *b, const unsigned char *samples, size_t n,
		      uint32_t *cells);

/*
 * Return the extent of n samples. bias is the binning's for integers, infinity's bits for floats.
 */
typedef struct extent cells_extent_fn(const unsigned char *samples, size_t n, uint64_t bias);

/* The loops of an instruction set. */
struct cells_isa {
	cells_fn *cells[LOADS][BIN_KINDS]; /* NULL: samples of this load never have such bins */
	cells_extent_fn *extent[LOADS][2]; /* [1]: with the samples next to zero, for --log=auto */
};
extern const struct cells_isa cells_base, cells_avx2, cells_avx512;

/* The loops for the instruction set that isa_best chooses. */
const struct cells_isa *cells_best(void);

/* The load for a type of 24 bits or more, and for its words (stats.h). */
enum cells_load cells_load(const struct sample_type *type);
enum cells_load cells_load_of_words(const struct sample_type *type);

#endif

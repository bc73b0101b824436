/* SPDX-License-Identifier: MIT */
/*
 * table: explicit edges as arithmetic: struct bin_table of bin_kinds.h and the memory that it
 * points to.
 *
 * Every sample type has keys in the order of its values (binning.h), so an edge of binary64 is
 * equivalent to the smallest key whose value is not below it. Only those keys are compared; nothing
 * is rounded.
 */
#ifndef GPUHIST_TABLE_H
#define GPUHIST_TABLE_H

#include <stdbool.h>

#include "bins/binning.h"
#include "bins/sample.h"

enum table_fold { TABLE_NONE, TABLE_UNDER, TABLE_OVER }; /* which samples the cell "edge" holds */

/*
 * Makes b the binning of b->bins bins between the edges, which rise and are finite. *words is the
 * memory that b->table points to; the caller frees it after the last use of b. Where no sample of
 * the type is in the range, the samples below it or those above it are in the cell "edge"; *fold
 * says which. -1: no memory.
 */
int table_init(struct binning *b, uint32_t **words, enum table_fold *fold, const double *edges,
	       bool closed, const struct sample_type *type);

#endif

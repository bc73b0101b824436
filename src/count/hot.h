/* SPDX-License-Identifier: MIT */
/*
 * hot: samples added to one table of 64-bit counters that all workers share, where there are too
 * many cells for tables of their own.
 *
 * What would make the shared table slow is a cell that many samples fall in, because its line would
 * bounce between the cores. So each worker has a small direct-mapped cache of cells with their
 * counts, and a cell's count goes to the shared table only when another cell takes its slot. The
 * additions of a block wait until all of their lines were prefetched.
 */
#ifndef GPUHIST_HOT_H
#define GPUHIST_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/counts.h"

/* Entries of a cache, cell << 32 | count; zeroed, it is empty. 8 KiB, a part of L1. */
#define HOT_SLOTS 1024u

/*
 * Adds one for each of n cells. The caller flushes before it has added 2^32 samples. alone: no
 * other thread adds to counts->cell, so no atomics are needed.
 */
void hot_add(uint64_t *hot, struct counts *counts, const uint32_t *cells, size_t n, bool alone);

/* Adds n to one cell. */
void hot_add_same(uint64_t *hot, struct counts *counts, uint32_t cell, size_t n);

/* Adds all counts to the shared table and empties the cache. */
void hot_flush(uint64_t *hot, struct counts *counts);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * tally: a number that one thread adds to, and any thread may read at any time without a lock. Two
 * tallies read one after the other may be from different moments.
 */
#ifndef GPUHIST_BASE_TALLY_H
#define GPUHIST_BASE_TALLY_H

#include <stdint.h>

/* Only one thread may call it, so no locked instruction is needed. */
static inline void tally_add(uint64_t *tally, uint64_t n)
{
	__atomic_store_n(tally, *tally + n, __ATOMIC_RELAXED);
}

static inline uint64_t tally_read(const uint64_t *tally)
{
	return __atomic_load_n(tally, __ATOMIC_RELAXED);
}

#endif

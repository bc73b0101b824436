/* SPDX-License-Identifier: MIT */
/* huge: large buffers, in huge pages if possible, for fewer page faults and TLB misses. */
#ifndef GPUHIST_HUGE_H
#define GPUHIST_HUGE_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/minmax.h"

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_SMALL_ALIGN ((size_t)64) /* alignment of smaller buffers: a cache line */

/*
 * At the start of the program: have free() return large buffers to the system at once. Otherwise
 * glibc keeps them for allocations of the same thread, twice as much as -M allows.
 */
static inline void huge_returns(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, (int)HUGE_PAGE);
#endif
}

/* Bytes that huge_alloc allocates for a request of `bytes`. */
static inline size_t huge_size(size_t bytes)
{
	const size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : HUGE_SMALL_ALIGN;

	return round_up(bytes, align);
}

/* Allocate an uninitialized buffer; release it with free(). */
static inline void *huge_alloc(size_t bytes)
{
	const size_t size = huge_size(bytes);
	void *const p = aligned_alloc(size >= HUGE_PAGE ? HUGE_PAGE : HUGE_SMALL_ALIGN, size);

	if (p && size >= HUGE_PAGE)
		(void)madvise(p, size, MADV_HUGEPAGE);
	return p;
}

/* Bytes that huge_grow allocates for `bytes`: small buffers get an eighth more, for growth. */
static inline size_t huge_grown(uint64_t bytes)
{
	return bytes == 0 ? 0 : huge_size((size_t)(bytes < HUGE_PAGE ? bytes + bytes / 8 : bytes));
}

/* Grow *buffer to at least n bytes, keeping its first `keep`. False: no memory, no change. */
static inline bool huge_grow(unsigned char **buffer, size_t *capacity, size_t n, size_t keep)
{
	if (*capacity >= n)
		return true;
	const size_t more = huge_grown(n);
	unsigned char *const grown = more < HUGE_PAGE ? malloc(more) : huge_alloc(more);
	if (!grown)
		return false;
	if (keep > 0)
		memcpy(grown, *buffer, keep);
	free(*buffer);
	*buffer = grown;
	*capacity = more;
	return true;
}

/*
 * From this size on, calloc maps fresh pages, which are zero already and take no memory until they
 * are touched.
 */
#define HUGE_CALLOC_MAPS ((size_t)64 << 20)

/* Allocate zeroed bytes, for random access: huge pages save most of the TLB misses. */
static inline void *huge_zeroed(size_t bytes)
{
	const bool fresh = bytes >= HUGE_CALLOC_MAPS;
	unsigned char *const p = fresh ? calloc(1, bytes) : huge_alloc(bytes);

	if (!p || !fresh)
		return p ? memset(p, 0, bytes) : NULL;
	const size_t lead = (HUGE_PAGE - (size_t)((uintptr_t)p % HUGE_PAGE)) % HUGE_PAGE;
	(void)madvise(p + lead, (bytes - lead) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
	return p;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * part: computes the records of an input that belong to a slice (--part=K/N), from numbers alone.
 * Pure.
 *
 * For any N, the slices 1 to N together hold every record once: each begins at the end of the one
 * before it.
 */
#ifndef GPUHIST_PART_H
#define GPUHIST_PART_H

#include <stdint.h>

/* A run of records. */
struct share {
	uint64_t begin; /* number of the first record */
	uint64_t end;   /* number of the record after the last */
};

/*
 * Return slice k, from 1, of n. If slices are large and a MiB is a whole number of records,
 * borders are whole MiB after the first record, the stripe borders of a parallel file system.
 */
struct share part_of(uint64_t records, uint32_t record_bytes, uint32_t k, uint32_t n);

#endif

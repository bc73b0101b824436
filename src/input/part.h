/* SPDX-License-Identifier: MIT */
/*
 * part: computes the records of a slice (--part=K/N), from numbers alone. Pure.
 *
 * For any N, the slices 1 to N together hold every record once: each begins at the end of the one
 * before it. The beginning of an input, or an input without records, also belongs to exactly one
 * slice: the slice of the next record, or else the last slice.
 */
#ifndef GPUHIST_INPUT_PART_H
#define GPUHIST_INPUT_PART_H

#include <stdbool.h>
#include <stdint.h>

/* A run of records. */
struct share {
	uint64_t begin; /* number of the first record */
	uint64_t end;   /* number of the record after the last */
	uint64_t all;   /* records of all slices */
	bool last;      /* it is the last slice */
};

/*
 * Return slice k, from 1, of n. If slices are large and a MiB is a whole number of records,
 * borders are whole MiB after the first record; in a single file these are the stripe borders of a
 * parallel file system.
 */
struct share part_of(uint64_t records, uint32_t record_bytes, uint32_t k, uint32_t n);

/* Does the slice own this record? Exactly one slice owns each number up to `all`, included. */
bool part_owns(const struct share *p, uint64_t record);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * part: which of all records a slice has: --part=K/N, in numbers alone.
 *
 * Together the slices 1..N hold every record once, whatever N is: each begins where the one before
 * it ends. What is not a record, such as the beginning of an input or an input without records,
 * belongs to one slice too: to that of the next record, or to the last slice if there is none.
 */
#ifndef GPUHIST_INPUT_PART_H
#define GPUHIST_INPUT_PART_H

#include <stdbool.h>
#include <stdint.h>

/* The records from `begin` on, up to `end`. */
struct share {
	uint64_t begin, end;
	uint64_t all; /* records of all slices */
	bool last;    /* it is the last slice */
};

/*
 * Slice k, from 1, of n. Where slices are large, and a MiB is a whole number of records, borders
 * are at whole MiB from the first record on: for a single file, these are the borders of a parallel
 * file system's stripes.
 */
struct share part_of(uint64_t records, uint32_t record_bytes, uint32_t k, uint32_t n);

/*
 * Is this record the slice's own? For each number up to that of all records, exactly one slice says
 * yes.
 */
bool part_owns(const struct share *p, uint64_t record);

#endif

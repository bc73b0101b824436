/* SPDX-License-Identifier: MIT */
/*
 * part: which records a slice of all records is: --part=K/N, in numbers alone.
 *
 * The slices of 1..N hold every record once, whatever N is: each begins where the one before it ends. What is no
 * record, as the beginning of an input or an input without records, belongs to one slice too: to that of the record
 * which comes next, or to the last slice where none does.
 */
#ifndef GPUHIST_INPUT_PART_H
#define GPUHIST_INPUT_PART_H

#include <stdbool.h>
#include <stdint.h>

/* The records from `begin` on, up to `end`. */
struct part {
	uint64_t begin, end;
	uint64_t all; /* records of all slices */
	bool last;    /* no slice follows */
};

/*
 * The slice k, from 1, of n. Where slices are large, and records fill a MiB, borders are whole MiB from the first
 * record on: of one file, these are the borders of a parallel file system's stripes.
 */
struct part part_of(uint64_t records, uint32_t record_bytes, uint32_t k, uint32_t n);

/* Is this record its own? One slice says so of each number up to that of all records. */
bool part_owns(const struct part *p, uint64_t record);

#endif

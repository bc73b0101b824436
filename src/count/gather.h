/* SPDX-License-Identifier: MIT */
/*
 * gather: whole records to samples that can be counted: the bytes between samples are left out.
 *
 * What is handed to the counter follows on without a gap and begins with a sample of the first channel. Samples
 * that are so already go to it as they are; long runs of them (rows of a picture) one by one, from where they
 * are; short ones are first copied, some KiB at a time, to a place in the nearest cache.
 */
#ifndef GPUHIST_GATHER_H
#define GPUHIST_GATHER_H

#include "count/count.h"

/*
 * Counts the samples of whole records (rows, where there are rows), as c->layout has them, and adds all bytes,
 * those between samples too, to a checksum if it is not NULL. The counter is of the same counting.
 */
void gather_add(const struct counting *c, struct counter *counter, const unsigned char *records, size_t bytes,
		struct xxh64 *hash);

/* The same samples to the statistics of each channel, and nothing else. */
void gather_stats(const struct counting *c, struct stats *stats, const unsigned char *records, size_t bytes);

#endif

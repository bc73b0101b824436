/* SPDX-License-Identifier: MIT */
/*
 * gather: whole records to samples that can be counted; the bytes between samples are left out.
 *
 * The counter gets samples without gaps, beginning with the first channel. Samples that have no
 * gaps go to it as they are. Long runs of samples (rows of a picture) go to it one by one, from
 * where they are. Short runs are first copied, some KiB at a time, to a buffer in L1.
 */
#ifndef GPUHIST_GATHER_H
#define GPUHIST_GATHER_H

#include "count/count.h"

/*
 * Counts the samples of whole records (of rows, where there are rows), laid out as c->layout says.
 * If hash is not NULL, adds all bytes to it, those between samples too. The counter was opened for
 * c.
 */
void gather_add(const struct counting *c, struct counter *counter, const unsigned char *records,
		size_t bytes, struct xxh64 *hash);

/* Adds the same samples to the statistics of each channel, and counts nothing. */
void gather_stats(const struct counting *c, struct stats *stats, const unsigned char *records,
		  size_t bytes);

#endif

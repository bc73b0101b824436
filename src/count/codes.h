/* SPDX-License-Identifier: MIT */
/* codes: 16-bit samples, of one channel or several, to counts of their 65,536 codes. */
#ifndef GPUHIST_CODES_H
#define GPUHIST_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries from one table to the next: constant, so that all tables need one register. */
#define CODES_STRIDE (65536u + 16u)

/*
 * Adds n samples to two tables. Of one channel, samples alternate between the tables and a code's
 * count is the sum of its two entries; of two channels, the first table is that of the first
 * channel.
 */
void codes_add(uint32_t *tables, const unsigned char *p, size_t n);

/*
 * The same of any number of interleaved channels, with a table for each; n is a multiple of them.
 */
bool codes_by_words(uint32_t channels); /* four samples at a time, and twice as fast */
void codes_add_channels(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels);

#endif

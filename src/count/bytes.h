/* SPDX-License-Identifier: MIT */
/* bytes: 8-bit samples, of one channel or several, to counts of their 256 codes. */
#ifndef GPUHIST_BYTES_H
#define GPUHIST_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define BYTES_TABLES 8u /* of one channel */
/* Entries from one table to the next: constant, so that eight tables need one register. */
#define BYTES_STRIDE (256u + 16u)

/*
 * Adds n samples to BYTES_TABLES tables; a code's count is the sum of its entries. No entry grows
 * by more than n.
 */
void bytes_add(uint32_t *tables, const unsigned char *p, size_t n);

/*
 * The same for 2 to 64 interleaved channels; n is a multiple of them. There are
 * bytes_tables(channels) tables; table t has samples of channel t % channels.
 */
unsigned bytes_tables(uint32_t channels);
void bytes_add_channels(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * codes: samples of 8 and 16 bits, in one or more channels, to counts of their codes. A code is the
 * sample's bytes in memory, read as little endian.
 *
 * Each function adds n samples, in whole records, to tables; no entry grows by more than n. The
 * distance between tables is constant, so that all of them need only one register.
 */
#ifndef GPUHIST_CODES_H
#define GPUHIST_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_STRIDE (256u + 16u)
#define CODES_STRIDE (65536u + 16u)

/* Count bytes in bytes_tables(channels) tables; table t has samples of channel t % channels. */
unsigned bytes_tables(uint32_t channels);
void bytes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels);

/* Count 16-bit samples. A single channel alternates between two tables, several have one each. */
void codes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels);

/* ---- bytes by positional population counts, without a store for each byte (positional.c) ---- */

/* Does counting n bytes of that many interleaved channels pay on this machine? */
bool positional_pays(size_t n, uint32_t channels);

/*
 * Add n bytes, the first of channel 0, to the counts of each channel. The counts of a channel begin
 * `stride` entries after the counts of the channel before. Call it only if positional_pays says so.
 */
void positional_add(uint32_t *counts, size_t stride, const unsigned char *p, size_t n,
		    uint32_t channels);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * codes: samples of 8 and 16 bits, of one channel or several, to counts of their codes, as they are
 * in memory, read as little endian.
 *
 * Each function adds n samples, whole records, to tables, and no entry grows by more than n. The
 * distance of tables is constant, so that all of them need one register.
 */
#ifndef GPUHIST_CODES_H
#define GPUHIST_CODES_H

#include <stddef.h>
#include <stdint.h>

#define BYTES_STRIDE (256u + 16u)
#define CODES_STRIDE (65536u + 16u)

/*
 * There are bytes_tables(channels) tables. With one channel, a code's count is the sum of its
 * entries in all tables; with more, table t has samples of channel t % channels.
 */
unsigned bytes_tables(uint32_t channels);
void bytes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels);

/* Samples of a single channel alternate between two tables; of several, each has a table. */
void codes_add(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels);

#endif

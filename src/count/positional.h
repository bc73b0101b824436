/* SPDX-License-Identifier: MIT */
/* positional: bytes to counts by positional population counts, without a store for each byte. */
#ifndef GPUHIST_POSITIONAL_H
#define GPUHIST_POSITIONAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does counting n bytes of that many interleaved channels pay on this machine? */
bool positional_pays(size_t n, uint32_t channels);

/*
 * Add n bytes, the first of channel 0, to the counts of each channel, which begin `stride` entries
 * after those of the channel before. Call it only if positional_pays says so.
 */
void positional_add(uint32_t *counts, size_t stride, const unsigned char *p, size_t n,
		    uint32_t channels);

#endif

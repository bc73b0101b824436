/* SPDX-License-Identifier: MIT */
/* little: reads unaligned words in either byte order; this machine is little-endian. */
#ifndef GPUHIST_LITTLE_H
#define GPUHIST_LITTLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/inline.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "gpuhist is for 64-bit little-endian Linux"
#endif

static inline uint32_t little32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t little64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Read a word of 2, 3, 4 or 8 bytes; big: big-endian. */
INLINE uint64_t word_at(const unsigned char *p, uint32_t bytes, bool big)
{
	uint16_t half;

	if (bytes == 8)
		return big ? __builtin_bswap64(little64(p)) : little64(p);
	if (bytes == 4)
		return big ? __builtin_bswap32(little32(p)) : little32(p);
	if (bytes == 3)
		return (uint32_t)p[big ? 2 : 0] | (uint32_t)p[1] << 8 |
		       (uint32_t)p[big ? 0 : 2] << 16;
	memcpy(&half, p, sizeof(half));
	if (big)
		half = (uint16_t)(half << 8 | half >> 8);
	return half;
}

#endif

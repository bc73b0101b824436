/* SPDX-License-Identifier: MIT */
/* little: little-endian words anywhere in memory. */
#ifndef GPUHIST_LITTLE_H
#define GPUHIST_LITTLE_H

#include <stdint.h>
#include <string.h>

static inline uint32_t little32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

static inline uint64_t little64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

#endif

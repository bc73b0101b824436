/* SPDX-License-Identifier: MIT */
/*
 * xxh64: the checksum of a zstd frame: the low half of XXH64 over all decoded bytes (RFC 8878).
 *
 * A stripe waits for the multiplications of the one before it and leaves most of the processor idle
 * meanwhile, so a thread that counts the bytes can add the stripes in the same loop (count.c).
 */
#ifndef GPUHIST_XXH64_H
#define GPUHIST_XXH64_H

#include <stddef.h>
#include <stdint.h>

#include "base/little.h"

#define XXH64_STRIPE 32u /* bytes: eight for each lane */
#define XXH64_PRIME1 0x9e3779b185ebca87u
#define XXH64_PRIME2 0xc2b2ae3d27d4eb4fu

struct xxh64 {
	uint64_t lane[4];
	uint64_t bytes;                   /* so far; those after the last whole stripe are in ... */
	unsigned char rest[XXH64_STRIPE]; /* ... this one */
};

void xxh64_begin(struct xxh64 *h);
void xxh64_add(struct xxh64 *h, const unsigned char *p, size_t n);
uint64_t xxh64_end(const struct xxh64 *h);

static inline uint64_t xxh64_turn(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static inline uint64_t xxh64_round(uint64_t lane, uint64_t word)
{
	return xxh64_turn(lane + word * XXH64_PRIME2, 31) * XXH64_PRIME1;
}

static inline void xxh64_stripe(uint64_t lane[4], const unsigned char *p)
{
	for (unsigned i = 0; i < 4; i++)
		lane[i] = xxh64_round(lane[i], little64(p + 8 * i));
}

#endif

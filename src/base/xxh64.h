/* SPDX-License-Identifier: MIT */
/*
 * xxh64: the checksum of a zstd frame: the low half of XXH64 over all decoded bytes (RFC 8878,
 * 3.1.1).
 *
 * Four lanes take eight bytes each of every stripe. A stripe waits for the multiplications of the
 * one before it and leaves most of the processor idle meanwhile, so a thread that reads the bytes
 * for another reason can add the stripes in the same loop (count.c).
 */
#ifndef GPUHIST_XXH64_H
#define GPUHIST_XXH64_H

#include <stddef.h>
#include <stdint.h>

#include "base/little.h"

#define XXH64_STRIPE 32u
#define XXH64_PRIME1 0x9e3779b185ebca87u
#define XXH64_PRIME2 0xc2b2ae3d27d4eb4fu

struct xxh64_lanes {
	uint64_t lane[4];
};

struct xxh64 {
	struct xxh64_lanes lanes;
	uint64_t bytes; /* so far; those after the last whole stripe are in ... */
	unsigned char rest[XXH64_STRIPE];
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

static inline void xxh64_stripe(struct xxh64_lanes *l, const unsigned char *p)
{
	l->lane[0] = xxh64_round(l->lane[0], little64(p));
	l->lane[1] = xxh64_round(l->lane[1], little64(p + 8));
	l->lane[2] = xxh64_round(l->lane[2], little64(p + 16));
	l->lane[3] = xxh64_round(l->lane[3], little64(p + 24));
}

#endif

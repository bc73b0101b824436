/* SPDX-License-Identifier: MIT */
/* xxh64: the checksum of a zstd frame: the low half of XXH64 over all decoded bytes (RFC 8878). */
#ifndef GPUHIST_XXH64_H
#define GPUHIST_XXH64_H

#include <stddef.h>
#include <stdint.h>

#define XXH64_STRIPE 32u /* bytes, eight per lane */

struct xxh64 {
	uint64_t lane[4];
	uint64_t bytes;                   /* bytes added so far */
	unsigned char rest[XXH64_STRIPE]; /* bytes after the last whole stripe */
};

void xxh64_begin(struct xxh64 *h);
void xxh64_add(struct xxh64 *h, const unsigned char *p, size_t n);
uint64_t xxh64_end(const struct xxh64 *h);

#endif

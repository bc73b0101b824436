/* SPDX-License-Identifier: MIT */
/* xxh64: bytes to stripes, and the checksum made of the lanes at the end. */
#include "base/xxh64.h"

#include <string.h>

#define PRIME3 0x165667b19e3779f9u
#define PRIME4 0x85ebca77c2b2ae63u
#define PRIME5 0x27d4eb2f165667c5u

void xxh64_begin(struct xxh64 *h)
{
	*h = (struct xxh64){
		.lane = {XXH64_PRIME1 + XXH64_PRIME2, XXH64_PRIME2, 0, 0 - XXH64_PRIME1}};
}

void xxh64_add(struct xxh64 *h, const unsigned char *p, size_t n)
{
	const size_t held = h->bytes % XXH64_STRIPE;
	uint64_t lane[4]; /* in registers */

	memcpy(lane, h->lane, sizeof(lane));
	h->bytes += n;
	if (held + n < XXH64_STRIPE) {
		if (n > 0)
			memcpy(h->rest + held, p, n);
		return;
	}
	if (held > 0) {
		const size_t missing = XXH64_STRIPE - held;
		memcpy(h->rest + held, p, missing);
		xxh64_stripe(lane, h->rest);
		p += missing;
		n -= missing;
	}
	for (; n >= XXH64_STRIPE; n -= XXH64_STRIPE, p += XXH64_STRIPE)
		xxh64_stripe(lane, p);
	memcpy(h->rest, p, n);
	memcpy(h->lane, lane, sizeof(lane));
}

uint64_t xxh64_end(const struct xxh64 *h)
{
	const uint64_t *const lane = h->lane;
	const unsigned char *p = h->rest;
	size_t n = h->bytes % XXH64_STRIPE;
	uint64_t v = PRIME5;

	if (h->bytes >= XXH64_STRIPE) {
		v = xxh64_turn(lane[0], 1) + xxh64_turn(lane[1], 7) + xxh64_turn(lane[2], 12) +
		    xxh64_turn(lane[3], 18);
		for (unsigned i = 0; i < 4; i++)
			v = (v ^ xxh64_round(0, lane[i])) * XXH64_PRIME1 + PRIME4;
	}
	v += h->bytes;
	for (; n >= 8; n -= 8, p += 8)
		v = xxh64_turn(v ^ xxh64_round(0, little64(p)), 27) * XXH64_PRIME1 + PRIME4;
	if (n >= 4) {
		v = xxh64_turn(v ^ little32(p) * XXH64_PRIME1, 23) * XXH64_PRIME2 + PRIME3;
		n -= 4;
		p += 4;
	}
	for (; n > 0; n--, p++)
		v = xxh64_turn(v ^ *p * PRIME5, 11) * XXH64_PRIME1;
	v = (v ^ v >> 33) * XXH64_PRIME2;
	v = (v ^ v >> 29) * PRIME3;
	return v ^ v >> 32;
}

/* SPDX-License-Identifier: MIT */
/*
 * xxh64: against published values and libzstd, which writes it after its frames; all lengths, all
 * ways to cut, with each instruction set.
 */
#include "base/xxh64.h"

#include <stdlib.h>

#include "base/isa.h"
#include "check.h"
#include "pack.h"

#define MOST 1100 /* some blocks of those that wide instructions add */

/* The four bytes that libzstd puts after a frame of these bytes. */
static uint32_t judged(const unsigned char *bytes, size_t n)
{
	struct pack p = {.state = 1};
	uint32_t v;

	pack_frame(&p, bytes, n, 1, true, true, 0);
	const unsigned char *end = p.data + p.bytes - 4;
	v = end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 | (uint32_t)end[3] << 24;
	free(p.data);
	return v;
}

static uint64_t whole(const void *bytes, size_t n)
{
	struct xxh64 h;

	xxh64_begin(&h);
	xxh64_add(&h, bytes, n);
	return xxh64_end(&h);
}

static void all(void)
{
	uint64_t state = 20260101;
	unsigned char bytes[MOST];
	struct xxh64 h;

	/* Published, all 64 bits. */
	CHECK(whole(NULL, 0) == 0xef46db3751d8e999u, "%llx", (unsigned long long)whole(NULL, 0));
	CHECK(whole("a", 1) == 0xd24ec4f1a98c6e5bu, "%llx", (unsigned long long)whole("a", 1));
	CHECK(whole("abc", 3) == 0x44bc2cf5ad770999u, "%llx", (unsigned long long)whole("abc", 3));

	for (size_t i = 0; i < MOST; i++)
		bytes[i] = (unsigned char)(check_random(&state) >> 56);
	for (size_t n = 0; n <= MOST; n++)
		CHECK((uint32_t)whole(bytes, n) == judged(bytes, n), "%zu bytes", n);

	/* Cut in two anywhere, then in many pieces, empty ones too. */
	for (size_t at = 0; at <= MOST; at++) {
		xxh64_begin(&h);
		xxh64_add(&h, bytes, at);
		CHECK(h.bytes == at && xxh64_end(&h) == whole(bytes, at), "cut at %zu", at);
		xxh64_add(&h, bytes + at, MOST - at);
		CHECK(xxh64_end(&h) == whole(bytes, MOST), "cut at %zu", at);
	}
	for (unsigned round = 0; round < 2000; round++) {
		xxh64_begin(&h);
		for (size_t at = 0, some; at < MOST; at += some) {
			some = check_random(&state) % (round % 2 ? 70 : 700);
			some = some < MOST - at ? some : MOST - at;
			xxh64_add(&h, bytes + at, some);
		}
		CHECK(xxh64_end(&h) == whole(bytes, MOST), "round %u", round);
	}

	/* Every bit changes the result. */
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		const uint64_t before = whole(bytes, MOST);
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		CHECK((uint32_t)whole(bytes, MOST) != (uint32_t)before, "bit %zu", bit);
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
}

int main(void)
{
	for (enum isa isa = ISA_BASE; isa < ISAS; isa++)
		if (isa_force(isa_name(isa)) == 0)
			all();
	return check_report();
}

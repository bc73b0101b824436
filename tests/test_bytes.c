/* SPDX-License-Identifier: MIT */
/* bytes: every length and alignment, runs of any length at any offset, against the obvious loop. */
#include "count/codes.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MOST 4096u
#define TABLES 8u /* bytes_tables(1) */

static uint64_t state = 0x6279746573;
static unsigned char room[MOST + 16];

static void one(const unsigned char *p, size_t n, const char *what)
{
	/* A block of exactly this size, so that the address sanitizer sees a read past it. */
	unsigned char *const copy = malloc(n + 1);
	uint32_t tables[TABLES * BYTES_STRIDE] = {0}, expected[256] = {0};

	memcpy(copy + 1, p, n);
	bytes_add(tables, copy + 1, n, 1);
	free(copy);
	for (size_t i = 0; i < n; i++)
		expected[p[i]]++;
	for (unsigned v = 0; v < 256; v++) {
		uint32_t sum = 0;
		for (unsigned t = 0; t < TABLES; t++)
			sum += tables[t * BYTES_STRIDE + v];
		CHECK(sum == expected[v], "%s, %zu bytes: %u of %u, not %u", what, n, sum, v,
		      expected[v]);
	}
	for (unsigned t = 0; t < TABLES; t++)
		for (unsigned i = 256; i < BYTES_STRIDE; i++)
			CHECK(tables[t * BYTES_STRIDE + i] == 0, "%s: entry %u of table %u", what,
			      i, t);
}

/* Runs whose lengths are up to `longest`. */
static void make_runs(unsigned longest)
{
	for (size_t i = 0; i < MOST;) {
		const unsigned char value = (unsigned char)(check_random(&state) >> 40);
		uint64_t length = 1 + check_random(&state) % longest;
		for (; length > 0 && i < MOST; length--)
			room[i++] = value;
	}
}

int main(void)
{
	static const unsigned LONGEST[] = {1, 2, 8, 20, 64, 150, 1000};

	for (unsigned k = 0; k < sizeof(LONGEST) / sizeof(LONGEST[0]); k++) {
		make_runs(LONGEST[k]);
		for (size_t n = 0; n <= 300; n++)
			one(room + check_random(&state) % (MOST - 300), n, "runs");
		one(room, MOST, "runs");
	}
	/*
	 * One byte that differs, at each offset of several groups; then a second one in the group's
	 * middle.
	 */
	for (size_t i = 0; i < 400; i++) {
		memset(room, 0x55, MOST);
		room[i] = 0xaa;
		one(room, 400, "one differs");
		room[i / 64 * 64 + 32] = 0;
		one(room, 400, "two differ");
	}
	memset(room, 0xff, MOST);
	for (size_t n = 0; n <= 300; n++)
		one(room, n, "equal");
	return check_report();
}

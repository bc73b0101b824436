/* SPDX-License-Identifier: MIT */
/*
 * The loop of positional.c, with its instructions in plain C (tests/soft/immintrin.h), compared
 * with a table. On a machine that has the instructions, all other tests run the real ones.
 */
#ifndef HAVE_X86_LOOPS
#define HAVE_X86_LOOPS
#endif
#define positional_add soft_add
#define positional_pays soft_pays
#include "count/positional.c"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

enum { MOST = 70000, STRIDE = 272, ROOM = 128 };
static unsigned char data[MOST + ROOM];
static uint64_t state = 1;

static uint32_t draw(void)
{
	return (uint32_t)(check_random(&state) >> 32);
}

/* Are the counts of n bytes from `from` on right, and nothing beyond the tables touched? */
static int right(unsigned from, size_t n, uint32_t channels)
{
	static uint32_t got[CHANNELS_MOST * STRIDE + 1], want[CHANNELS_MOST * STRIDE + 1];

	for (size_t i = 0; i <= CHANNELS_MOST * STRIDE; i++)
		got[i] = want[i] = (uint32_t)i * 2654435761u;
	soft_add(got, STRIDE, data + from, n, channels);
	for (size_t i = 0; i < n; i++)
		want[i % channels * STRIDE + data[from + i]]++;
	return memcmp(got, want, sizeof(got)) == 0;
}

static void fill(unsigned kind, unsigned value)
{
	for (size_t i = 0; i < sizeof(data); i++) {
		const unsigned noise = draw() & 255;

		switch (kind) {
		case 0:
			data[i] = (unsigned char)noise;
			break;
		case 1:
			data[i] = (unsigned char)value;
			break;
		case 2: /* two values in turn, then in runs: carries from every plane */
			data[i] = (unsigned char)(i / (1 + value) % 2 ? value : value ^ 64);
			break;
		case 3:
			data[i] = (unsigned char)i;
			break;
		default: /* a bell around `value` */
			data[i] = (unsigned char)(value + (noise & 7) + (noise >> 3 & 7) +
						  (noise >> 6));
		}
	}
}

int main(void)
{
	fill(0, 0);
	for (size_t n = 0; n <= 600; n++)
		for (unsigned from = 0; from < VECTOR; from += 1 + (unsigned)n % 7)
			CHECK(right(from, n, 1), "%zu bytes from %u", n, from);
	for (unsigned kind = 0; kind < 5; kind++)
		for (unsigned k = 0; k < 20; k++) {
			const uint32_t channels = 1 + draw() % CHANNELS_MOST;
			const size_t n = draw() % MOST / channels * channels;

			fill(kind, draw() & 255);
			CHECK(right(draw() % VECTOR, n, 1), "kind %u, job %u", kind, k);
			CHECK(right(draw() % VECTOR, n, channels), "kind %u, job %u, %u channels",
			      kind, k, channels);
		}
	for (unsigned value = 0; value < 256; value++) {
		fill(1, value);
		CHECK(right(value % VECTOR, 4096 + value, 1), "all bytes are %u", value);
	}
	/* Lengths that end at a plane's last carry, and one byte more or less. */
	fill(1, 200);
	for (size_t n = UNITS_MOST * UNIT - 2; n <= UNITS_MOST * UNIT + 2; n++)
		CHECK(right(0, n, 1), "%zu bytes of one value", n);
	CHECK(!soft_pays(PAYS - 1, 1) && !soft_pays((size_t)1 << 20, CHANNELS_MOST + 1), "it pays");
	return check_report();
}

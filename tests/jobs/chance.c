/* SPDX-License-Identifier: MIT */
/* chance: random numbers. */

#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *what)
{
	fprintf(stderr, "random_jobs: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint64_t chance_state;

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void chance_begin(uint64_t seed, uint64_t number)
{
	chance_state = mix(seed) ^ mix(number + 1);
}

uint64_t draw(void)
{
	return mix(chance_state += UINT64_C(0x9e3779b97f4a7c15));
}

/* The remainder is slightly biased, which does not matter here. */
uint64_t below(uint64_t n)
{
	return draw() % n;
}

bool once_in(uint64_t n)
{
	return below(n) == 0;
}

uint64_t draw_magnitude(unsigned bits)
{
	unsigned length = (unsigned)below(bits + 1);

	return length ? draw() >> (64 - length) : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * sample: write samples like a 10-bit ADC's, in 32 bits each: noise around the middle.
 * usage: sample MIB > FILE       (seeded: always the same bytes)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static uint32_t block[1 << 18]; /* 1 MiB */
	uint64_t x = 88172645463325252u;

	for (long left = argc > 1 ? strtol(argv[1], NULL, 10) : 64; left > 0; left--) {
		for (size_t i = 0; i < sizeof(block) / sizeof(block[0]); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			block[i] = (uint32_t)((x & 255) + (x >> 8 & 255) + (x >> 16 & 255) +
					      (x >> 24 & 255));
		}
		if (fwrite(block, sizeof(block), 1, stdout) != 1)
			return 1;
	}
	return fflush(stdout) != 0;
}

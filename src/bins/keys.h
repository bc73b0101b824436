/* SPDX-License-Identifier: MIT */
/* keys: from the key of a float (binning.h) back to its value. */
#ifndef GPUHIST_KEYS_H
#define GPUHIST_KEYS_H

#include <stdint.h>
#include <string.h>

/*
 * The value that has this key: a binary32, as which every float of 2 or 4 bytes is read, or a
 * binary64.
 */
static inline double value_of_float_key(unsigned bits, uint64_t key)
{
	float f;
	double d;

	if (bits == 32) {
		const uint32_t word =
			key & 0x80000000u ? (uint32_t)key ^ 0x80000000u : ~(uint32_t)key;
		memcpy(&f, &word, sizeof(f));
		return (double)f;
	}
	const uint64_t word = key >> 63 ? key ^ (uint64_t)1 << 63 : ~key;
	memcpy(&d, &word, sizeof(d));
	return d;
}

#endif

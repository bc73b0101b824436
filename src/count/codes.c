/* SPDX-License-Identifier: MIT */
/* codes: the loops over 16-bit samples. */
#include "count/codes.h"

#include <string.h>

#include "base/little.h"

void codes_add(uint32_t *tables, const unsigned char *p, size_t n)
{
	uint32_t *const t = tables, *const u = t + CODES_STRIDE;
	size_t i = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; i + 4 <= n; i += 4) {
		uint64_t w;
		memcpy(&w, p + 2 * i, sizeof(w));
		t[w & 65535]++;
		u[w >> 16 & 65535]++;
		t[w >> 32 & 65535]++;
		u[w >> 48]++;
	}
#endif
	for (; i < n; i++)
		(i % 2 ? u : t)[p[2 * i] | p[2 * i + 1] << 8]++;
}

/* Groups of `words` words, each of whole records; returns how many samples that were. */
__attribute__((always_inline)) static inline size_t add_code_groups(uint32_t *table,
								    const unsigned char *p,
								    size_t n, unsigned words,
								    unsigned channels)
{
	uint32_t(*const t)[CODES_STRIDE] = (uint32_t(*)[CODES_STRIDE])(void *)table;
	const size_t group = 4 * words;
	size_t i = 0;

	for (; i + group <= n; i += group) {
#pragma GCC unroll 3
		for (unsigned k = 0; k < words; k++) {
			const uint64_t w = little64(p + 2 * i + 8 * k);
			t[4 * k % channels][w & 65535]++;
			t[(4 * k + 1) % channels][w >> 16 & 65535]++;
			t[(4 * k + 2) % channels][w >> 32 & 65535]++;
			t[(4 * k + 3) % channels][w >> 48]++;
		}
	}
	return i;
}

bool codes_by_words(uint32_t channels)
{
	return channels <= 4 || channels == 6 || channels == 8;
}

void codes_add_channels(uint32_t *tables, const unsigned char *p, size_t n, uint32_t channels)
{
	size_t i = channels == 3   ? add_code_groups(tables, p, n, 3, 3)
		   : channels == 4 ? add_code_groups(tables, p, n, 1, 4)
		   : channels == 6 ? add_code_groups(tables, p, n, 3, 6)
		   : channels == 8 ? add_code_groups(tables, p, n, 2, 8)
				   : 0;

	while (i < n) {
		uint32_t *t = tables;
		for (uint32_t c = 0; c < channels; c++, t += CODES_STRIDE, i++)
			t[p[2 * i] | p[2 * i + 1] << 8]++;
	}
}

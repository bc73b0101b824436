/* SPDX-License-Identifier: MIT */
/* write_raw: the counters and nothing else, little endian, one channel after another. */
#include "output/write.h"

/* counters that are converted together: a call for each would take longer than everything else */
#define BLOCK 4096u

/* A loop for each size, which compilers can vectorise. */
static void put(unsigned char *to, const uint64_t *count, uint32_t n, uint64_t most, uint32_t bytes)
{
#define PUT(BYTES)                                                               \
	for (uint32_t i = 0; i < n; i++) {                                       \
		const uint64_t clipped = count[i] < most ? count[i] : most;      \
		for (uint32_t k = 0; k < (BYTES); k++)                           \
			to[i * (BYTES) + k] = (unsigned char)(clipped >> 8 * k); \
	}
	switch (bytes) {
	case 1:
		PUT(1)
		break;
	case 2:
		PUT(2)
		break;
	case 4:
		PUT(4)
		break;
	default:
		PUT(8)
	}
#undef PUT
}

void write_raw(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const uint32_t bytes = counter_bytes(style->counter);
	const uint64_t most = counter_max(style->counter);
	unsigned char block[BLOCK * sizeof(uint64_t)];

	(void)from;
	for (uint32_t c = 0; c < hist->channels; c++)
		for (uint32_t i = 0, n; i < bins && !output_failed(out); i += n) {
			uint64_t count[BLOCK];
			n = bins - i < BLOCK ? bins - i : BLOCK;
			for (uint32_t k = 0; k < n; k++)
				count[k] = hist_count(hist, c, i + k);
			put(block, count, n, most, bytes);
			output_write(out, block, (size_t)n * bytes);
		}
}

/* SPDX-License-Identifier: MIT */
/* write_raw: the counters and nothing else, little endian, channel after channel. */
#include "output/write.h"

void write_raw(struct output *out, const struct hist *hist, const struct style *style, const struct provenance *from)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const uint32_t bytes = counter_bytes(style->counter);

	(void)from;
	for (uint32_t c = 0; c < hist->channels; c++)
		for (uint32_t i = 0; i < bins && !output_failed(out); i++) {
			const uint64_t count = counter_clip(style->counter, hist_count(hist, c, i));
			unsigned char le[8];
			for (uint32_t k = 0; k < bytes; k++)
				le[k] = (unsigned char)(count >> 8 * k);
			output_write(out, le, bytes);
		}
}

/* write_raw: the counters and nothing else, little endian. */
#include "write.h"

void write_raw(struct output *out, const struct job *job, const struct hist *hist)
{
	const uint32_t bytes = counter_bytes(job->counter);

	for (uint32_t i = 0; i < hist->bins && !output_failed(out); i++) {
		const uint64_t count = write_clip(job, hist->count[i]);
		unsigned char le[8];
		for (uint32_t k = 0; k < bytes; k++)
			le[k] = (unsigned char)(count >> 8 * k);
		output_write(out, le, bytes);
	}
}

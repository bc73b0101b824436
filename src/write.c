/* write: the table of writers. */
#include "write.h"

write_fn *write_choose(enum format format)
{
	static write_fn *const WRITERS[] = {
		[FORMAT_CSV] = write_text,
		[FORMAT_TSV] = write_text,
		[FORMAT_RAW] = write_raw,
		[FORMAT_JSON] = write_json,
	};

	return WRITERS[format];
}

uint64_t write_clip(const struct job *job, uint64_t count)
{
	const uint64_t max = counter_max(job->counter);

	return count < max ? count : max;
}

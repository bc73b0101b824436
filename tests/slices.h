/* SPDX-License-Identifier: MIT */
/* slices: a source that is to be cut into slices. For tests. */
#ifndef GPUHIST_SLICES_H
#define GPUHIST_SLICES_H

#include "readers.h"
#include "input/part.h"

static char *const ONE[] = {"f"}, *const STDIN[] = {"-"};

static inline struct source_spec spec_of(char *const *paths, size_t count, uint32_t k, uint32_t n)
{
	return (struct source_spec){.paths = paths,
				    .path_count = count,
				    .record = 4,
				    .limit = UINT64_MAX,
				    .part = k,
				    .parts = n,
				    .threads = 2,
				    .headers = true,
				    .type_said = true};
}

static inline unsigned char *noise(size_t bytes)
{
	unsigned char *data = malloc(bytes);
	uint64_t state = 11;

	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		const uint64_t v = check_random(&state);
		memcpy(data + i, &v, 8);
	}
	return data;
}

#endif

/* SPDX-License-Identifier: MIT */
/* take: the next records of a source, copied, and given back immediately. For tests. */
#ifndef GPUHIST_TAKE_H
#define GPUHIST_TAKE_H

#include "input/source.h"

static inline int take_copy(struct reader *r, void *buffer, size_t cap, size_t *got,
			    struct fail *fail)
{
	const struct want want = {.room = buffer, .cap = cap};
	struct chunk chunk;

	*got = 0;
	if (source_take(r, &want, &chunk, fail) != 0)
		return -1;
	*got = chunk.bytes;
	source_done(r, &chunk, chunk.bytes);
	return 0;
}

#endif

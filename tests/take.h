/* SPDX-License-Identifier: MIT */
/* take: open a source; copy its next records and return them at once. For tests. */
#ifndef GPUHIST_TAKE_H
#define GPUHIST_TAKE_H

#include "input/source_open.h"

/* A test's requests to a source. */
struct setup {
	struct source_spec open;
	struct source_use use;
	bool headers; /* the type is not given: headers may give it, and text is refused */
};

/* Open and start it; 0 threads mean one, 0 bytes of memory 256 MiB. On failure *s is NULL. */
static inline int setup_open(struct source **s, const struct setup *setup, struct fail *fail)
{
	struct source_spec open = setup->open;
	struct source_use use = setup->use;

	use.threads += use.threads == 0;
	use.memory += use.memory == 0 ? (uint64_t)256 << 20 : 0;
	if (!setup->headers)
		open.typed = open.type_said = true;
	open.raw |= use.limit == 0; /* nothing is read */
	open.memory = use.memory;
	if (source_open(s, &open, fail) != 0)
		return -1;
	if (source_start(*s, &use, fail) == 0)
		return 0;
	source_close(*s);
	*s = NULL;
	return -1;
}

static inline int take_copy(struct reader *r, void *buffer, size_t cap, size_t *got,
			    struct fail *fail)
{
	const struct want want = {.buffer = buffer, .cap = cap};
	struct chunk chunk;

	*got = 0;
	if (source_take(r, &want, &chunk, fail) != 0)
		return -1;
	*got = chunk.bytes;
	source_done(r, &chunk);
	return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * zstd_peek: the first decoded bytes of an input that was just opened. By the thread that opened
 * it, without the lock.
 */
#ifndef GPUHIST_ZSTD_PEEK_H
#define GPUHIST_ZSTD_PEEK_H

#include "input/source_input.h"

struct peek;

/* On failure *out is NULL. */
int peek_open(struct peek **out, struct source *s, struct input *in, struct fail *fail);

/*
 * The next n bytes; *got < n: they end there, or cannot be decoded, which is no failure here, or
 * would have to be waited for and must not be. Never reads more of a stream than it must, but for
 * what is there already. 1: the source was stopped.
 */
int peek_read(struct peek *p, unsigned char *to, size_t n, bool wait, size_t *got,
	      struct fail *fail);

/* Is there no more to decode, and nothing wrong? */
bool peek_ended(const struct peek *p);

/* Did they end because of what is wrong with a frame, which its reader will find too? */
bool peek_failed(const struct peek *p);

/* Takes NULL. */
void peek_close(struct peek *p);

#endif

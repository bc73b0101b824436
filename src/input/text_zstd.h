/* SPDX-License-Identifier: MIT */
/*
 * text_zstd: decodes text inside zstd, in order, on the thread that reads it. Frames need not end
 * with a line. Used by one thread at a time, without a lock.
 */
#ifndef GPUHIST_INPUT_TEXT_ZSTD_H
#define GPUHIST_INPUT_TEXT_ZSTD_H

#include "base/fail.h"
#include "input/bytes.h"

struct text_zstd;

/*
 * Makes a decoder if the input begins with zstd's magic number; else *out is NULL. Waits for no
 * byte that cannot change that. 1: the source was stopped.
 */
int text_zstd_open(struct text_zstd **out, struct bytes *b, uint64_t memory, bool no_check,
		   struct fail *fail);
void text_zstd_close(struct text_zstd *z); /* accepts NULL */

/* Decodes 1 to cap bytes, 0 only at the end. 1: the source was stopped. */
int text_zstd_read(struct text_zstd *z, unsigned char *to, size_t cap, size_t *got,
		   struct fail *fail);

/* The offset of the next packed byte. */
uint64_t text_zstd_at(const struct text_zstd *z);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * zstd_reader: decodes the first bytes of a compressed input, on the calling thread, without a lock
 * (content.c).
 */
#ifndef GPUHIST_ZSTD_READER_H
#define GPUHIST_ZSTD_READER_H

#include "zstd/zstd_stream.h"

struct zstd_reader;

struct zstd_reader_rules {
	uint64_t window; /* bytes of the largest window */
	bool no_check;   /* do not verify checksums */
	/*
	 * Keep the packed bytes of a stream, starting with the first frame that holds data, this
	 * many at most, for decoding them again. Empty frames before it may be of any length,
	 * and are dropped.
	 */
	uint64_t keep;
};

/*
 * Does the input begin with zstd's magic number? Wait for no byte that cannot change that. 1: the
 * source was stopped.
 */
int zstd_reader_detect(struct bytes *b, bool *is_zstd, struct fail *fail);

/* NULL, and *fail is set: no memory. */
struct zstd_reader *zstd_reader_open(struct bytes *b, const struct zstd_reader_rules *rules,
				     struct fail *fail);
void zstd_reader_close(struct zstd_reader *z); /* accepts NULL */

/*
 * Decode 1 to cap bytes. *got is 0 if the input has ended or its rest cannot be decoded. -1: bytes
 * cannot be read or kept, or no memory. 1: the source was stopped.
 */
int zstd_reader_read(struct zstd_reader *z, unsigned char *to, size_t cap, size_t *got,
		     struct fail *fail);

enum zstd_state zstd_reader_state(const struct zstd_reader *z);

#endif

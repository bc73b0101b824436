/* SPDX-License-Identifier: MIT */
/*
 * frames: finds the frames of a compressed input by their headers and block headers, three bytes in
 * 50,000, without decoding them. The thread with the input's turn calls these functions, without a
 * lock. They wait only for the bytes of a header: the next bytes of a stream may never come.
 */
#ifndef GPUHIST_ZSTD_FRAMES_H
#define GPUHIST_ZSTD_FRAMES_H

#include <zstd_errors.h>

#include "base/fail.h"
#include "bytes/bytes.h"
#include "zstd/zstd_frame.h"

/* Decoded bytes of the longest frame of a stream that is followed to its end before decoding. */
#define FIND_MAX ((uint64_t)16 << 20)

enum find {
	FIND_BAD = -1, /* *fail tells why */
	FIND_FRAME,    /* found */
	FIND_NONE,     /* no frame follows */
	FIND_FAR,      /* the frame's end was not reached */
	FIND_STOPPED,  /* the source was stopped */
};

/* Find the header of the next frame of data, at *pos or later; set *pos to the frame's offset. */
enum find frames_next(struct bytes *b, uint64_t *pos, struct frame *f, struct fail *fail);

/*
 * Read the header at an offset, of any kind; *got: bytes available there. With `there`, use only
 * bytes already read.
 */
enum find frames_header(struct bytes *b, uint64_t offset, bool there, struct frame *f,
			enum frame_kind *kind, size_t *got, struct fail *fail);

/*
 * Follow blocks to the end of a frame, and set its `packed_bytes` and `bound`, or up to `most`
 * packed bytes of the frame. FIND_FAR: the frame continues after these, or, with `there`, after the
 * bytes already read.
 */
enum find frames_walk(struct bytes *b, struct frame *f, uint64_t most, bool there,
		      struct fail *fail);

/* Set *fail to why the frame at an offset is bad, and return -1. */
int frames_bad(const struct bytes *b, uint64_t offset, struct fail *fail, const char *why);

/*
 * The damage to a frame looks different to each reader: a false length may lead beyond the end of
 * the input, or to a block that cannot be decoded. The message does not.
 */
#define FRAMES_DAMAGED "it is damaged, or the input ends inside it"
#define FRAMES_CHECKSUM "its checksum is wrong"
static inline const char *frames_why(size_t code) /* of libzstd */
{
	return ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong ? FRAMES_CHECKSUM
								    : FRAMES_DAMAGED;
}

#endif

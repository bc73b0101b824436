/* SPDX-License-Identifier: MIT */
/*
 * frames: the frames of a compressed input, found by their headers and those of their blocks, three
 * bytes in 50,000, without decoding them. Called by the thread that has the input's turn, without a
 * lock. No more of a stream is waited for than a header needs: what follows may never come.
 */
#ifndef GPUHIST_INPUT_FRAMES_H
#define GPUHIST_INPUT_FRAMES_H

#include "base/fail.h"
#include "input/bytes.h"
#include "input/zstd_frame.h"

/* The longest frame of a stream, decoded, whose end is looked for before it is decoded. */
#define FIND_MAX ((uint64_t)16 << 20)

enum find { FIND_FRAME, FIND_NONE, FIND_FAR, FIND_STOPPED, FIND_BAD = -1 };

/*
 * Finds the header of the next frame of data, from *pos on, and sets *pos to the frame's offset.
 * FIND_NONE: there is none.
 */
enum find frames_next(struct bytes *b, uint64_t *pos, struct frame *f, struct fail *fail);

/*
 * Reads the header at an offset, whatever it is; *got: bytes that are there. With `there` only
 * bytes that were read already count.
 */
enum find frames_header(struct bytes *b, uint64_t offset, bool there, struct frame *f,
			enum frame_kind *kind, size_t *got, struct fail *fail);

/*
 * Follows blocks to the end of a frame, which makes its `stored` known, or for `most` packed bytes.
 * FIND_FAR: the frame goes on after these, or, with `there`, after the bytes that were read.
 */
enum find frames_walk(struct bytes *b, struct frame *f, uint64_t most, bool there,
		      struct fail *fail);

/* Sets *fail and returns -1. */
int frames_bad(const struct bytes *b, uint64_t offset, struct fail *fail, const char *why);

#define FRAMES_TRUNCATED "the input ends inside it"

#endif

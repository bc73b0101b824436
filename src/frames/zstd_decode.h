/* SPDX-License-Identifier: MIT */
/*
 * zstd_decode: decodes jobs of CALLS and STEPS with libzstd. Needs no lock: one thread at a time
 * decodes a job, and it uses nothing but the job and its input's bytes.
 */
#ifndef GPUHIST_ZSTD_DECODE_H
#define GPUHIST_ZSTD_DECODE_H

#include "frames/zstd_job.h"

/* Begin with the job's first frame, from its first byte. The buffers are an earlier job's. */
void decoder_begin(struct zstd_job *j);

/* Return the memory of a decoder for a cut; its buffers may be larger already. */
uint64_t decoder_takes(const struct zstd_stream *z, const struct cut *c);

/* Copy the packed bytes of a job FROM_MEMORY from the stream's buffer. */
int decoder_hand_over(struct zstd_job *j, struct fail *fail);

/*
 * Must a frame of CALLS be decoded in steps? In one call libzstd does not notice a block that is
 * longer than the format allows, if it fits the buffer; a checksum would.
 */
bool frame_in_steps(const struct frame *f, bool no_check);

/*
 * Decode up to cap bytes into a piece. With `prompt`, do not wait for more of a stream once the
 * piece has bytes. True: the job has ended; j->fail says whether it failed.
 */
bool decoder_fill(struct zstd_job *j, struct zstd_piece *p, size_t cap, bool prompt);

/* Return the packed bytes of the job that are decoded. */
uint64_t decoder_used(const struct zstd_job *j);

#endif

/* SPDX-License-Identifier: MIT */
/* zstd_decode: jobs of CALLS and STEPS, decoded by libzstd. */
#ifndef GPUHIST_ZSTD_DECODE_H
#define GPUHIST_ZSTD_DECODE_H

#include "input/zstd_job.h"

/* What CALLS and STEPS decode with; a job keeps it for the next ones. */
struct decoder *decoder_new(void); /* NULL: no memory */
void decoder_free(struct decoder *d);
void decoder_begin(struct decoder *d);
uint64_t decoder_takes(const struct decoder *d, const struct cut *c);

/* A job FROM_MEMORY takes its packed bytes, which were read of a stream. */
int decoder_hand_over(struct zstd_job *j, struct fail *fail);

/*
 * In one call libzstd does not see a block that is longer than the format allows, if there is room
 * for it: must a frame of CALLS be decoded in steps, as no checksum covers it?
 */
bool frame_in_steps(const struct frame *f, bool no_check);

/* The input goes on where its open frame has ended; a stream gets back what was read after it. */
void job_close_open(struct zstd_job *j);

#endif

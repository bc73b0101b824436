/* SPDX-License-Identifier: MIT */
/*
 * course_ours: the kernel that the program chooses for u32 into bins of one value each, launched as
 * the program launches it, for a bench whose own kernels are launched by the runtime.
 */
#ifndef COURSE_OURS_H
#define COURSE_OURS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OURS_EXTRA 4u /* counters after those of the bins: samples that are in none of them */

/* All return NULL, or what failed, in words. */

/*
 * The driver and the program's kernels, on device 0, whose primary context is current from then on.
 */
const char *ours_open(void);

/* Chooses for so many bins, and up to so many samples in a launch. */
const char *ours_choose(uint32_t bins, uint64_t samples);

/*
 * Queues the count. counts: bins + OURS_EXTRA, cleared. stream: a cudaStream_t, NULL for the
 * default one.
 */
const char *ours_count(const uint32_t *data, uint64_t n, uint32_t *counts, void *stream);

/* The name of the kernel that was chosen. */
const char *ours_name(void);

#ifdef __cplusplus
}
#endif

#endif

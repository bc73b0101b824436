/* SPDX-License-Identifier: MIT */
/*
 * gpu_resident: counters that stay on the device for the whole run, if there are too many to fetch
 * with each chunk.
 *
 * All chunks are counted into one table of 64-bit counters, so that no counter wraps. It is cleared
 * when the device is opened, and takes 8 bytes a cell, 2 GiB for 2^28 bins. If the device has less
 * memory free, the GPU's start fails and says so.
 *
 * A chunk is committed when the device has counted it: the number of committed samples grows, and
 * the lane returns the chunk to the source. When all workers have ended, gpu_resident_fetch() adds
 * the table to the totals. Its counters must sum to the number of committed samples.
 *
 * From the first commit on, only the table has the counts of the returned chunks. If the GPU fails
 * after that, the table is lost and the run fails. run_job() then starts over on the CPU, if all
 * inputs are files. So under auto, a job that reads a stream gets no such table (run_prepare.c).
 * Before the first commit, the CPU can count the chunks still in their slots, as after any GPU
 * failure.
 */
#ifndef GPUHIST_GPU_RESIDENT_H
#define GPUHIST_GPU_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "count/counts.h"
#include "gpu/gpu.h"

/* Are the counters resident? Any thread. */
bool gpu_is_resident(const struct gpu *gpu);

/* Commit a chunk of `samples` samples. Any thread. */
void gpu_resident_commit(struct gpu *gpu, uint64_t samples);

/* Has the GPU failed with samples in its table? Any thread. */
bool gpu_resident_lost(const struct gpu *gpu);

/*
 * Add the table, if there is one, to the totals. Call it when no lane is open and nobody else uses
 * the totals. Return -1 if the table is lost; the totals are then useless.
 */
int gpu_resident_fetch(struct gpu *gpu, struct counts *totals);

#endif

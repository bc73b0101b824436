/* SPDX-License-Identifier: MIT */
/*
 * gpu_table: counters that stay on the device for the whole run, if they are too many to be fetched
 * with each chunk.
 *
 * All chunks are counted into one table of 64-bit counters, so that no counter wraps. It is cleared
 * when the device is opened, and takes 8 bytes a cell, 2 GiB for 2^28 bins. If the device has less
 * memory free, the GPU's start fails and says so.
 *
 * A chunk is committed when the device has counted it: its samples are added to the table's, and
 * the lane gives it back to the source. When all workers have ended, gpu_table_fetch() adds the
 * table to the totals, once. The sum of its counters must be the number of the samples committed.
 *
 * From its first commit on, the table alone has the counts of what was given back. If the GPU fails
 * after that, before or during the fetch, the table is lost, and the run fails. run_job() then
 * begins again from the first byte, on the cores, if all inputs are files. So under auto a job that
 * reads a stream gets no such table (run.c). Before the first commit a failed GPU is like any other:
 * the CPU counts the chunks that are still in their slots.
 */
#ifndef GPUHIST_GPU_TABLE_H
#define GPUHIST_GPU_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "count/counts.h"
#include "gpu/gpu.h"

/* The device has counted a chunk of so many samples. Any thread. */
void gpu_table_commit(struct gpu *gpu, uint64_t samples);

/* Has the GPU failed with samples in its table? Any thread. */
bool gpu_table_lost(const struct gpu *gpu);

/*
 * When no lane is open any more, and nobody else uses the totals: adds the table, if there is one.
 * -1: it is lost, and the totals are of no use.
 */
int gpu_table_fetch(struct gpu *gpu, struct counts *totals);

#endif

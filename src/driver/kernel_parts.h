/* SPDX-License-Identifier: MIT */
/*
 * kernel_parts: the shapes and the memory of the kernels that count any number of cells: samples
 * are sorted into buckets whose counters fit a block's shared memory, then counted bucket by
 * bucket. Pure: no driver is called.
 */
#ifndef GPUHIST_KERNEL_PARTS_H
#define GPUHIST_KERNEL_PARTS_H

#include "driver/kernel.h"

/*
 * Lays out the work on n samples for a plan whose cells, sample, sms and shared_most are set. -1:
 * the buckets do not fit the shared memory of a block.
 */
int parts_lay_out(struct parts *parts, const struct kernel_plan *plan, size_t n);

/*
 * The arrays that the kernels share, one after another from the address `at` on; returns the bytes
 * they take.
 */
size_t parts_place(struct parts_memory *memory, const struct parts *parts, CUdeviceptr at);

/* Bytes of shared memory for a block of the kernel that sorts. */
size_t parts_split_shared(const struct parts *parts);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * count: the kernels that count. A name such as whole_4_key gives the way of keeping counters, the
 * size of a sample and how it becomes a cell. gpu_helper/kernel.c chooses one; each counts every
 * kind of bins and any number of channels.
 */
#ifndef GPUHIST_COUNT_CUH
#define GPUHIST_COUNT_CUH

#include "extent.cuh"
#include "far.cuh"
#include "gather.cuh"
#include "whole.cuh"

#define COUNT(way, SIZE, suffix, ...)                                                            \
	extern "C" __global__ void __launch_bounds__(KERNEL_THREADS, 1) way##_##SIZE##_##suffix( \
		const void *data, u64 n, const __grid_constant__ struct rule r, void *out)       \
	{                                                                                        \
		count_##way<SIZE, __VA_ARGS__>(data, n, r, out);                                 \
	}

#define BOTH(SIZE, suffix, ...)                 \
	COUNT(whole, SIZE, suffix, __VA_ARGS__) \
	COUNT(far, SIZE, suffix, __VA_ARGS__)

BOTH(1, code, bin_code<256>)
COUNT(far, 2, code, bin_code<65536>)
BOTH(3, key, bin_key<>)
BOTH(4, key, bin_key<>)
BOTH(8, key, bin_key<>)
BOTH(4, real, bin_real<>)
BOTH(8, real, bin_real<>)

#define GATHER(SIZE)                                                        \
	extern "C" __global__ void __launch_bounds__(KERNEL_THREADS)        \
		gather_##SIZE(const unsigned char *from, unsigned char *to, \
			      const __grid_constant__ struct gather g)      \
	{                                                                   \
		gather_samples<SIZE>(from, to, g);                          \
	}

GATHER(1)
GATHER(2)
GATHER(3)
GATHER(4)
GATHER(8)

#define EXTENT(SIZE, suffix, REAL)                                                                \
	extern "C" __global__ void __launch_bounds__(KERNEL_THREADS, 1) extent_##SIZE##_##suffix( \
		const void *data, u64 n, const __grid_constant__ struct rule r, u64 *out)         \
	{                                                                                         \
		find_extent<SIZE, REAL>(data, n, r, out);                                         \
	}

EXTENT(3, key, false)
EXTENT(4, key, false)
EXTENT(8, key, false)
EXTENT(4, real, true)
EXTENT(8, real, true)

#endif

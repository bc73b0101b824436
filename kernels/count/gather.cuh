/* SPDX-License-Identifier: MIT */
/* gather: packs samples that have gaps between them, or that are not aligned to their size. */
#ifndef GPUHIST_GATHER_CUH
#define GPUHIST_GATHER_CUH

#include "reader.cuh"

/*
 * Each thread copies a sample, whose address takes one or two 32-bit divisions. For samples far
 * apart, memory delivers 32-byte sectors; for neighbours, the same lines serve a warp. The packed
 * samples are written once and read once, mostly from L2. The worst case, one byte at a time, is
 * limited by instructions: about 1 T samples/s, still twenty times the bus.
 *
 * Launch: any grid; n < 2^32. Both pointers may have any alignment; `to` must hold n samples.
 */
template <int SIZE>
__device__ __forceinline__ void gather_samples(const u8 *from, u8 *to, const struct gather &g)
{
	const u64 step = (u64)gridDim.x * blockDim.x;

	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < g.n; i += step) {
		const u8 *p = from + gather_at(&g, (u32)i, SIZE);
		u8 *q = to + i * SIZE;
		const bool whole = (((u64)p | (u64)q) & (SIZE - 1)) == 0;

		if (SIZE == 4 && whole) {
			*(u32 *)q = *(const u32 *)p;
		} else if (SIZE == 8 && whole) {
			*(u64 *)q = *(const u64 *)p;
		} else if (SIZE == 2 && whole) {
			*(u16 *)q = *(const u16 *)p;
		} else {
#pragma unroll
			for (int k = 0; k < SIZE; k++)
				q[k] = p[k];
		}
	}
}

#endif

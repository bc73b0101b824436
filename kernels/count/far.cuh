/* SPDX-License-Identifier: MIT */
/*
 * far: counts any number of cells in global memory, in 64-bit counters if rule.resident.
 *
 * With many cells, global memory takes 16 to 100 billion additions per second, ten times the rate
 * of the bus; with few cells, a tenth of that or less. So each block keeps the cells that it meets
 * first in shared memory. These include nearly all hot cells, because 4096 entries hold every cell
 * that a block meets early in a chunk. In the worst case another cell takes a hot cell's entry in
 * every block: all of its samples then go to one word of global memory, at 1.3 billion per second.
 */
#ifndef GPUHIST_FAR_CUH
#define GPUHIST_FAR_CUH

#include "cell.cuh"

enum { FAR_LOG2 = 12, FAR_ENTRIES = 1 << FAR_LOG2 };

/*
 * Add counts to out, which need not be cleared. data and n are as for count_whole.
 * Launch: up to 1024 threads, any grid.
 */
template <int SIZE, class BIN>
__device__ __forceinline__ void count_far(const void *data, u64 n, const struct rule &r, void *out)
{
	__shared__ u32 tag[FAR_ENTRIES], hits[FAR_ENTRIES]; /* a cell, and its count so far */
	const u32 none = ~0u;                               /* the number of no cell */
	const u32 tid = threadIdx.x, nt = blockDim.x;
	const reader<SIZE> in(data, n);
	const auto add = [&](u32 cell, u32 more) {
		if (r.resident)
			atomicAdd((unsigned long long *)out + cell, (unsigned long long)more);
		else
			atomicAdd((u32 *)out + cell, more);
	};
	const auto count = [&](u32 cell) {
		const u32 e = cell * 0x9e3779b1u >> (32 - FAR_LOG2);
		u32 own = ((volatile u32 *)tag)[e];

		if (own == none) {
			own = atomicCAS(tag + e, none, cell);
			own = own == none ? cell : own;
		}
		if (own == cell)
			atomicAdd(hits + e, 1u);
		else
			add(cell, 1u);
	};

	for (u32 e = tid; e < FAR_ENTRIES; e += nt) {
		tag[e] = none;
		hits[e] = 0;
	}
	__syncthreads();
	in.template each_cell<false, BIN>(r, count);
	__syncthreads();
	for (u32 e = tid; e < FAR_ENTRIES; e += nt)
		if (hits[e])
			add(tag[e], hits[e]);
}

#endif

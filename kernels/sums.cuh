/* SPDX-License-Identifier: MIT */
/* sums: the sum of each piece of the counters of a table that stays on the device. */
#ifndef GPUHIST_SUMS_CUH
#define GPUHIST_SUMS_CUH

#include "reader.cuh"

/*
 * sums[b] = the sum of the counters from b * piece up to (b + 1) * piece, as far as they exist.
 * Launch: a block for each piece, of 32 to 1024 threads.
 */
__device__ __forceinline__ void sum_piece(const u32 *table, u64 cells, u32 piece, u64 *sums)
{
	__shared__ u32 low[32], high[32]; /* of each warp: shuffles move 32 bits */
	const u64 from = (u64)blockIdx.x * piece, to = min(from + piece, cells);
	const u32 tid = threadIdx.x, lane = tid & 31;
	u64 sum = 0;

	for (u64 i = from + tid; i < to; i += blockDim.x)
		sum += table[i];
	for (u32 k = 16; k > 0; k /= 2) {
		const u32 l = __shfl_xor_sync(~0u, (u32)sum, k),
			  h = __shfl_xor_sync(~0u, (u32)(sum >> 32), k);

		sum += (u64)h << 32 | l;
	}
	if (lane == 0) {
		low[tid >> 5] = (u32)sum;
		high[tid >> 5] = (u32)(sum >> 32);
	}
	__syncthreads();
	if (tid == 0) {
		sum = 0;
		for (u32 w = 0; w < blockDim.x / 32; w++)
			sum += (u64)high[w] << 32 | low[w];
		sums[blockIdx.x] = sum;
	}
}

#endif

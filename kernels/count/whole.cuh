/* SPDX-License-Identifier: MIT */
/*
 * whole: keeps all counters in shared memory, if they fit.
 *
 * The throughput of shared memory decides the design (measured on an H200): an atomic costs one
 * clock for each pass over the busiest bank. atomicAdd(p, 1) with an unused result merges lanes
 * with equal addresses in one pass. With a variable addend or a used result it merges nothing:
 * 32 equal lanes cost 32 clocks. Lanes spread at random over the banks cost 3.66.
 */
#ifndef GPUHIST_WHOLE_CUH
#define GPUHIST_WHOLE_CUH

#include "cell.cuh"

/*
 * Read the data once, with one shared atomic per sample and one global atomic per cell and block.
 * 32 samples take 1 clock if equal, 3.7 if noise, and 32 if in 32 cells of one bank: 0.26 T
 * samples/s.
 *
 * data may have any alignment; n may be 0 and must be < 2^32; out holds the cells of all channels.
 * Launch: KERNEL_THREADS threads, 4 * spread_words(cells) bytes of shared memory, and a block for
 * each multiprocessor.
 */
template <int SIZE, class BIN>
__device__ __forceinline__ void count_whole(const void *data, u64 n, const struct rule &r,
					    void *out)
{
	extern __shared__ uint4 shared[];
	u32 *const table = (u32 *)shared;
	const u32 all = BIN::all(r) * r.channels, tid = threadIdx.x, nt = blockDim.x;
	const reader<SIZE> in(data, n);
	const auto count = [&](u32 cell) { atomicAdd(table + spread(cell), 1u); };

	for (u32 i = tid; i < spread_words(all); i += nt)
		table[i] = 0;
	__syncthreads();
	in.template each_cell<true, BIN>(r, count);
	__syncthreads();
	for (u32 c = tid; c < all; c += nt) {
		const u32 sum = table[spread(c)];

		if (sum)
			atomicAdd((u32 *)out + c, sum);
	}
}

#endif

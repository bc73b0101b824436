/* SPDX-License-Identifier: MIT */
/*
 * far: any number of cells, straight to a table in global memory.
 *
 * Global memory takes 16 to 100 billion additions a second if the cells are many, ten times what a
 * bus delivers; but data in a few cells gets a tenth of that, or less. So each block keeps the
 * cells that it meets first in shared memory. Nearly all hot cells are among them, because 4096
 * entries have room for everything that a block meets early.
 */
#ifndef GPUHIST_FAR_CUH
#define GPUHIST_FAR_CUH

#include "shared.cuh"

enum { FAR_LOG2 = 12, FAR_ENTRIES = 1 << FAR_LOG2 };

/* Launch: up to 1024 threads, any grid. The counts are added to out, which need not be clear. */
template <int SIZE, class BIN>
__device__ __forceinline__ void count_far(const void *data, u64 n, const struct rule &r, u32 *out)
{
	__shared__ u32 kept[FAR_ENTRIES], met[FAR_ENTRIES];
	const u32 none = ~0u, tid = threadIdx.x, nt = blockDim.x; /* no cell has that number */
	const reader<SIZE> in(data, n);
	const auto count = [&](u32 cell) {
		const u32 e = cell * 0x9e3779b1u >> (32 - FAR_LOG2);
		u32 own = ((volatile u32 *)kept)[e];

		if (own == none) {
			own = atomicCAS(kept + e, none, cell);
			own = own == none ? cell : own;
		}
		if (own == cell)
			atomicAdd(met + e, 1u);
		else
			atomicAdd(out + cell, 1u);
	};

	for (u32 e = tid; e < FAR_ENTRIES; e += nt) {
		kept[e] = none;
		met[e] = 0;
	}
	__syncthreads();
	in.template each<false, 1>((u64)blockIdx.x * nt + tid, in.vecs, gridDim.x * nt,
				   [&](const typename reader<SIZE>::vec &v, u64 i) {
					   in.template cells_of_channels<BIN>(r, v, i, count);
				   });
	if (blockIdx.x == 0 && tid < in.head + in.tail)
		count(in.template edge<BIN>(r, tid));
	__syncthreads();
	for (u32 e = tid; e < FAR_ENTRIES; e += nt)
		if (met[e])
			atomicAdd(out + kept[e], met[e]);
}

#endif

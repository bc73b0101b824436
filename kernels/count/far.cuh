/* SPDX-License-Identifier: MIT */
/*
 * far: a histogram aggregated in shared memory: it counts any number of cells in global memory, in
 * 64-bit counters if rule.resident, behind a small table in each block.
 *
 * Global memory takes 16 to 100 billion additions per second to many cells, which is above the rate
 * of the bus, but only 1.3 billion to one cell. So each block aggregates the cells that it meets
 * first, in 4096 entries of shared memory. These include nearly all hot cells. A hot cell
 * could be kept out in three ways:
 *
 * - Noise before it takes all entries. So entries are emptied after each of a block's first 16
 *   loads, and then after every 16th. A launch of 4 MiB gives a block of a large device two loads.
 * - Noise between its samples always comes first, as in records of one noisy number and three
 *   constant ones. So each warp begins at a different sample of its load.
 * - Another hot cell shares its entry. So each block has a hash of its own, and the two share an
 *   entry in few blocks.
 *
 * The limit is the bus, which carries 55 GB/s, and every input reaches it: the slowest ones found
 * are counted at 80 GB/s (noise in 2^24 cells; an H200, launches of 4 MiB).
 */
#ifndef GPUHIST_FAR_CUH
#define GPUHIST_FAR_CUH

#include "cell.cuh"

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
	const u32 step = gridDim.x * nt;
	const u32 turn = (tid / 32 + blockIdx.x) % reader<SIZE>::PER;
	const reader<SIZE> in(data, n);
	const u32 vecs = (u32)in.vecs;
	const auto add = [&](u32 cell, u32 more) {
		if (r.resident)
			atomicAdd((unsigned long long *)out + cell, (unsigned long long)more);
		else
			atomicAdd((u32 *)out + cell, more);
	};
	const auto count = [&](u32 cell) {
		const u32 e = far_entry(cell, blockIdx.x);
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
	const auto empty = [&] {
		__syncthreads();
		for (u32 e = tid; e < FAR_ENTRIES; e += nt) {
			if (hits[e])
				add(tag[e], hits[e]);
			tag[e] = none;
			hits[e] = 0;
		}
		__syncthreads();
	};
	u32 i = blockIdx.x * nt + tid, loads = 0;
	typename reader<SIZE>::vec v = {};
	const auto fetch = [&](u32 j) {
		if (j < vecs)
			v = in.template load<false>(j);
	};

	for (u32 e = tid; e < FAR_ENTRIES; e += nt)
		hits[e] = 0;
	empty();
	if (i < in.head + in.tail)
		count(in.template edge<BIN>(r, i));
	fetch(i);
	for (; i - tid < vecs; i += step) { /* the same rounds for all threads of the block */
		typename reader<SIZE>::key_t key[reader<SIZE>::PER];

		in.template keys<BIN::PERM, BIN::FLIP>(r, v, key);
		in.rotate(key, turn);
		if (SIZE != 3) /* the next load arrives while these keys are counted */
			fetch(i + step);
		if (i < vecs)
			in.template cells<BIN>(r, key, i, turn, count);
		if (SIZE == 3) /* 16 keys and a load would be too many registers */
			fetch(i + step);
		if (++loads <= 16 || loads % 16 == 0)
			empty();
	}
	empty();
}

#endif

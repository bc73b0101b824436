/* SPDX-License-Identifier: MIT */
/*
 * whole: a privatized histogram: each block has all counters in shared memory of its own, and adds
 * them to global memory at the end. For as many cells as fit.
 *
 * The limit is the rate at which memory is read; whole_4_key and whole_4_real reach it (4.3 to
 * 4.6 TB/s on an H200, with bins of equal width or by modulo). The throughput of shared memory
 * decided the design: an atomic costs one clock for each pass over the busiest bank. atomicAdd(p, 1)
 * with an unused result merges lanes with equal addresses in one pass. With a variable addend or a
 * used result it merges nothing: 32 equal lanes cost 32 clocks. Lanes spread at random over the
 * banks cost 3.66.
 */
#ifndef GPUHIST_WHOLE_CUH
#define GPUHIST_WHOLE_CUH

#include "cell.cuh"

/*
 * Read the data once, with one shared atomic per sample and one global atomic per cell and block.
 * 32 samples take 1 clock if equal, 3.7 if noise, and 32 if in 32 cells of one bank: 0.26 T
 * samples/s. For the usual kinds of bins, the compiler knows the kind, so that a sample takes few
 * instructions and four loads are in flight.
 *
 * data must be aligned to the samples; n may be 0 and must be < 2^32; out holds the cells of all
 * channels. Launch: KERNEL_THREADS threads, 4 * spread_words(cells) bytes of shared memory, and a
 * block for each multiprocessor.
 */
template <int SIZE, class BIN>
__device__ __forceinline__ void count_whole(const void *data, u64 n, const struct rule &r,
					    void *out)
{
	extern __shared__ uint4 shared[];
	u32 *const table = (u32 *)shared;
	const u32 all = BIN::all(r) * r.channels, tid = threadIdx.x, nt = blockDim.x;
	const u64 first = (u64)blockIdx.x * nt + tid, step = (u64)gridDim.x * nt;
	const reader<SIZE> in(data, n);
	const auto count = [&](u32 cell) { atomicAdd(table + spread(cell), 1u); };

	for (u32 i = tid; i < spread_words(all); i += nt)
		table[i] = 0;
	__syncthreads();
	with_kind<SIZE, BIN>(r, [&](auto bin) {
		typedef decltype(bin) known;
		const auto count_vec = [&](const auto &v, u64 i) {
			typename reader<SIZE>::key_t key[reader<SIZE>::PER];

			in.template keys<known::PERM, known::FLIP>(r, v, key);
			in.template cells<known>(r, key, i, 0, count);
		};
		constexpr int DEEP = known::KNOWN ? 4 : SIZE == 3 ? 1 : 2;

		in.template each<true, DEEP>(first, in.vecs, step, count_vec);
	});
	if (first < in.head + in.tail)
		count(in.template edge<BIN>(r, tid));
	__syncthreads();
	for (u32 c = tid; c < all; c += nt) {
		const u32 sum = table[spread(c)];

		if (sum)
			atomicAdd((u32 *)out + c, sum);
	}
}

#endif

/* SPDX-License-Identifier: MIT */
/* extent: finds the least and the greatest finite sample. */
#ifndef GPUHIST_EXTENT_CUH
#define GPUHIST_EXTENT_CUH

#include "reader.cuh"

INLINE u32 ordered(u32 bits)
{
	return key32_of_float(bits);
}

INLINE u64 ordered(u64 bits)
{
	return key64_of_double(bits);
}

/*
 * Reads the data once. Each thread keeps a minimum and a maximum in registers; a tree in shared
 * memory and two global atomics per block follow. out[0] becomes the greatest complement of a key,
 * out[1] the greatest key. The caller clears both, which means EXTENT_NONE (auto.h).
 *
 * Launch: 1024 threads, 16 bytes of shared memory per thread; any grid.
 */
template <int SIZE, bool REAL>
__device__ __forceinline__ void find_extent(const void *data, u64 n, const struct rule &r, u64 *out)
{
	extern __shared__ uint4 shared[];
	typedef typename key_of<SIZE>::type key_t;
	typedef typename reader<SIZE>::vec vec;
	const reader<SIZE> in(data, n);
	const u32 tid = threadIdx.x;
	u64 *greatest = (u64 *)shared, *complement = greatest + blockDim.x;
	key_t least = (key_t) ~(key_t)0, most = 0;
	const auto look = [&](const vec &v, int samples) {
		key_t key[reader<SIZE>::PER];

		in.template keys<true, !REAL>(r, v, key);
#pragma unroll
		for (int k = 0; k < reader<SIZE>::PER; k++) {
			const key_t top =
				SIZE == 8 ? (key_t)0xffe0000000000000u : (key_t)0xff000000u;
			const bool counts = k < samples && (!REAL || (key_t)(key[k] << 1) < top);
			const key_t own = !REAL ? key[k] : ordered(key[k]);

			least = counts && own < least ? own : least;
			most = counts && own > most ? own : most;
		}
	};

	in.template each<true, 4>((u64)blockIdx.x * blockDim.x + tid, in.vecs,
				  (u64)gridDim.x * blockDim.x,
				  [&](const vec &v, u64) { look(v, reader<SIZE>::PER); });
	if (blockIdx.x == 0 && tid < in.head + in.tail)
		look(in.edge_vec(tid), 1);
	greatest[tid] = most;
	/* The complement has 64 bits even for 32-bit keys. */
	complement[tid] = least > most ? 0 : ~(u64)least;
	__syncthreads();
	for (u32 half = blockDim.x / 2; half > 0; half /= 2) {
		if (tid < half) {
			greatest[tid] = max(greatest[tid], greatest[tid + half]);
			complement[tid] = max(complement[tid], complement[tid + half]);
		}
		__syncthreads();
	}
	if (tid == 0 && complement[0] | greatest[0]) {
		atomicMax((unsigned long long *)out, (unsigned long long)complement[0]);
		atomicMax((unsigned long long *)(out + 1), (unsigned long long)greatest[0]);
	}
}

#endif

/* SPDX-License-Identifier: MIT */
/* extent: finds the least and the greatest finite sample, and the two next to zero. */
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
 * Read the data once. Each thread keeps the four samples in registers; a tree in shared memory and
 * four global atomics per block follow. `out` becomes the words of EXTENT_WORDS, which only
 * grow. The caller clears them, which means EXTENT_NONE (auto.h).
 *
 * The samples next to zero are found as in count/cells_loops.c: as their distances from zero, less
 * 1, which are unsigned numbers.
 *
 * Launch: 1024 threads, 32 bytes of shared memory per thread; any grid.
 */
template <int SIZE, bool REAL>
__device__ __forceinline__ void find_extent(const void *data, u64 n, const struct rule &r, u64 *out)
{
	extern __shared__ uint4 shared[];
	typedef typename key_of<SIZE>::type key_t;
	typedef typename reader<SIZE>::vec vec;
	const reader<SIZE> in(data, n);
	const u32 tid = threadIdx.x;
	u64 *found = (u64 *)shared; /* EXTENT_WORDS for each thread */
	const key_t half = (key_t)1 << (sizeof(key_t) * 8 - 1);
	const key_t infinity = SIZE == 8 ? (key_t)0x7ff0000000000000u : (key_t)0x7f800000u;
	const key_t bias = (key_t)r.bins.bias;
	key_t least = (key_t) ~(key_t)0, most = 0, up = least, down = least;
	const auto look = [&](const vec &v, int samples) {
		key_t key[reader<SIZE>::PER];

		in.template keys<true, !REAL>(r, v, key);
#pragma unroll
		for (int k = 0; k < reader<SIZE>::PER; k++) {
			const bool counts =
				k < samples && (!REAL || (key_t)(key[k] & ~half) < infinity);
			const key_t own = !REAL ? key[k] : ordered(key[k]);
			const key_t over = (REAL ? key[k] : key[k] - bias) - 1;
			const key_t under = (REAL ? key[k] ^ half : bias - key[k]) - 1;

			least = counts && own < least ? own : least;
			most = counts && own > most ? own : most;
			up = counts && over < up ? over : up;
			down = counts && under < down ? under : down;
		}
	};

	in.template each<true, 4>((u64)blockIdx.x * blockDim.x + tid, in.vecs,
				  (u64)gridDim.x * blockDim.x,
				  [&](const vec &v, u64) { look(v, reader<SIZE>::PER); });
	if (blockIdx.x == 0 && tid < in.head + in.tail)
		look(in.edge_vec(tid), 1);
	const key_t zero = REAL ? half : bias;
	/* Complements have 64 bits even for 32-bit keys. */
	found[EXTENT_LEAST * blockDim.x + tid] = least > most ? 0 : ~(u64)least;
	found[EXTENT_GREATEST * blockDim.x + tid] = most;
	found[EXTENT_BELOW * blockDim.x + tid] =
		down < (REAL ? infinity - 1 : bias) ? zero - REAL - 1 - down : 0;
	found[EXTENT_ABOVE * blockDim.x + tid] = most > zero ? ~(u64)(zero + 1 + up) : 0;
	__syncthreads();
	for (u32 half_way = blockDim.x / 2; half_way > 0; half_way /= 2) {
		for (u32 w = 0; w < EXTENT_WORDS && tid < half_way; w++) {
			u64 *const word = found + w * blockDim.x + tid;
			*word = max(*word, word[half_way]);
		}
		__syncthreads();
	}
	if (tid < EXTENT_WORDS)
		atomicMax((unsigned long long *)(out + tid),
			  (unsigned long long)found[tid * blockDim.x]);
}

#endif

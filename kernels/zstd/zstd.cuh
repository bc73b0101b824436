/* SPDX-License-Identifier: MIT */
/* zstd: the kernels that decode zstd blocks, as gpu_helper/unpack.c launches them. */
#ifndef GPUHIST_ZSTD_CUH
#define GPUHIST_ZSTD_CUH

#include "unpack.cuh"

/* For a group of batches of zstd blocks: one CTA for each block (x) of each batch (y). */
#define UNPACK_GROUP_OF(name, THREADS, function)                    \
	extern "C" __global__ void __launch_bounds__(THREADS)       \
		name(const __grid_constant__ struct unpack_group g) \
	{                                                           \
		const struct unpack_memory &m = g.of[blockIdx.y];   \
		if (blockIdx.x < batch_of(m)->blocks)               \
			function(m);                                \
	}

UNPACK_GROUP_OF(unpack_sequences, 64, read_sequences)
UNPACK_GROUP_OF(unpack_literals, 32, read_literals)
UNPACK_GROUP_OF(unpack_place, 256, place_sequences)

/* For one batch of zstd blocks. */
#define UNPACK(name, THREADS, function)                              \
	extern "C" __global__ void __launch_bounds__(THREADS)        \
		name(const __grid_constant__ struct unpack_memory m) \
	{                                                            \
		function(m);                                         \
	}

UNPACK(unpack_chain, 32, chain_blocks)
UNPACK(unpack_keep, 256, keep_bytes)

extern "C" __global__ void __launch_bounds__(256)
	unpack_resolve(const __grid_constant__ struct unpack_memory m, u32 from)
{
	resolve_matches(m, from);
}

#endif

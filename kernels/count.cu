/* SPDX-License-Identifier: MIT */
/*
 * count: the kernels that the program contains, by name. A name gives the way of keeping counters,
 * the size of a sample and the kind of bins: whole_4_magic. driver/kernel.c chooses among them.
 *
 * One kernel for each size counts every kind of bins and any number of channels. Beside it there
 * are kernels of their own for what most jobs ask: bytes, 16-bit integers, and 32-bit samples in
 * equal bins, of one channel.
 */
#include "extent.cuh"
#include "far.cuh"
#include "gather.cuh"
#include "sums.cuh"
#include "unpack.cuh"

/*
 * Blocks of 1024 threads to be resident together; 1 where a multiprocessor has room for one only.
 */
#if defined(__CUDA_ARCH__) &&                                                   \
	(__CUDA_ARCH__ < 800 || __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || \
	 __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
#define RESIDENT(blocks) 1
#else
#define RESIDENT(blocks) (blocks)
#endif

/* DEEP: loads in flight before the first is used. */
#define SHARED(name, SIZE, KEEP, DEEP, BLOCKS, MANY, ...)                                      \
	extern "C" __global__ void __launch_bounds__(1024, RESIDENT(BLOCKS))                   \
		name(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out, \
		     u32 copies)                                                               \
	{                                                                                      \
		count_shared<SIZE, __VA_ARGS__, KEEP, DEEP, MANY>(data, n, r, out, copies);    \
	}

#define FAR(name, SIZE, ...)                                                                   \
	extern "C" __global__ void __launch_bounds__(1024, 1)                                  \
		name(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out) \
	{                                                                                      \
		count_far<SIZE, __VA_ARGS__>(data, n, r, out);                                 \
	}

/* Every kind of bins, any number of channels. */
#define ANY(SIZE, suffix, ...)                                                \
	SHARED(whole_##SIZE##_##suffix, SIZE, WHOLE, 1, 1, true, __VA_ARGS__) \
	FAR(far_##SIZE##_##suffix, SIZE, __VA_ARGS__)

SHARED(striped_1_code, 1, STRIPED, 4, 1, false, bin_code<256>)
SHARED(striped_1_code_channels, 1, STRIPED, 4, 1, true, bin_code<256>)
ANY(1, code, bin_code<256>)

SHARED(striped_2_group, 2, STRIPED, 4, 1, false, bin_group)
SHARED(striped_2_group_channels, 2, STRIPED, 4, 1, true, bin_group)
SHARED(whole_2_group, 2, WHOLE, 4, 1, false, bin_group)
SHARED(whole_2_group_channels, 2, WHOLE, 4, 1, true, bin_group)
FAR(far_2_code, 2, bin_code<65536>)

SHARED(whole_4_shift, 4, WHOLE, 4, 1, false, bin_key<BIN_SHIFT>)
SHARED(whole_4_magic, 4, WHOLE, 4, 2, false, bin_key<BIN_MAGIC>)
SHARED(whole_4_linear, 4, WHOLE, 4, 1, false, bin_real<BIN_LINEAR>)
ANY(3, key, bin_key<BIN_KINDS>)
ANY(4, key, bin_key<BIN_KINDS>)
ANY(8, key, bin_key<BIN_KINDS>)
ANY(4, real, bin_real<BIN_KINDS>)
ANY(8, real, bin_real<BIN_KINDS>)

extern "C" __global__ void __launch_bounds__(1024, 1)
	pair_2_code(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out)
{
	count_pair(data, n, r, out);
}

extern "C" __global__ void __launch_bounds__(1024)
	sum_pieces(const u32 *table, u64 cells, u32 piece, u64 *sums)
{
	sum_piece(table, cells, piece, sums);
}

#define GATHER(SIZE)                                                        \
	extern "C" __global__ void __launch_bounds__(1024)                  \
		gather_##SIZE(const unsigned char *from, unsigned char *to, \
			      const __grid_constant__ struct gather g)      \
	{                                                                   \
		gather_samples<SIZE>(from, to, g);                          \
	}

GATHER(1)
GATHER(2)
GATHER(3)
GATHER(4)
GATHER(8)

#define EXTENT(SIZE, suffix, REAL)                                                        \
	extern "C" __global__ void __launch_bounds__(1024, 1) extent_##SIZE##_##suffix(   \
		const void *data, u64 n, const __grid_constant__ struct rule r, u64 *out) \
	{                                                                                 \
		find_extent<SIZE, REAL>(data, n, r, out);                                 \
	}

EXTENT(3, key, false)
EXTENT(4, key, false)
EXTENT(8, key, false)
EXTENT(4, real, true)
EXTENT(8, real, true)

/* Blocks of zstd frames: a group of batches, a CTA for each block (x) of each batch (y). */
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

/* Blocks of zstd frames: one batch. */
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

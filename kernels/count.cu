/* SPDX-License-Identifier: MIT */
/*
 * count: the kernels that the program contains, by name. A name gives the way of keeping counters,
 * the size of a sample and the kind of bins: whole_4_magic. driver/kernel.c chooses among them.
 */
#include "extent.cuh"
#include "far.cuh"
#include "gather.cuh"
#include "parts.cuh"
#include "sums.cuh"

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

#define SHARED(name, SIZE, KEEP, DEEP, BLOCKS, OF, ...)                                        \
	extern "C" __global__ void __launch_bounds__(1024, RESIDENT(BLOCKS))                   \
		name(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out, \
		     u32 copies)                                                               \
	{                                                                                      \
		count_shared<SIZE, __VA_ARGS__, KEEP, DEEP, OF>(data, n, r, out, copies);      \
	}

#define PAIR(name, SIZE, ...)                                                                  \
	extern "C" __global__ void __launch_bounds__(1024, 1)                                  \
		name(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out) \
	{                                                                                      \
		count_pair<SIZE, __VA_ARGS__>(data, n, r, out);                                \
	}

#define SPLIT(name, SIZE, DEEP, OF, ...)                                             \
	extern "C" __global__ void __launch_bounds__(1024, 1)                        \
		name(const void *data, u64 n, const __grid_constant__ struct rule r, \
		     const __grid_constant__ struct parts s,                         \
		     const __grid_constant__ struct parts_memory m)                  \
	{                                                                            \
		split<SIZE, __VA_ARGS__, DEEP, OF>(data, n, r, s, m);                \
	}

#define FAR(name, SIZE, DEEP, OF, ...)                                                         \
	extern "C" __global__ void __launch_bounds__(1024, 1)                                  \
		name(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out) \
	{                                                                                      \
		count_far<SIZE, __VA_ARGS__, DEEP, OF>(data, n, r, out);                       \
	}

/* Every way for one size and kind. DEEP: loads in flight before the first is used. */
#define WAYS(SIZE, suffix, DEEP, BLOCKS, ...)                                                \
	SHARED(whole_##SIZE##_##suffix, SIZE, WHOLE, DEEP, BLOCKS, one_channel, __VA_ARGS__) \
	FAR_WAYS(SIZE, suffix, __VA_ARGS__)

#define FAR_WAYS(SIZE, suffix, ...)                                       \
	PAIR(pair_##SIZE##_##suffix, SIZE, __VA_ARGS__)                   \
	SPLIT(split_##SIZE##_##suffix, SIZE, 8, one_channel, __VA_ARGS__) \
	FAR(far_##SIZE##_##suffix, SIZE, 1, one_channel, __VA_ARGS__)

/* Explicit edges are in shared memory if a single block has all counters there. */
#define EDGES(SIZE, suffix, DEEP, NEAR, ...)                                     \
	SHARED(whole_##SIZE##_##suffix, SIZE, WHOLE, DEEP, 1, one_channel, NEAR) \
	FAR_WAYS(SIZE, suffix, __VA_ARGS__)

/*
 * Interleaved channels: one kernel for all kinds of bins; in split there is one load in flight,
 * which keeps it small.
 */
#define INTERLEAVED(SIZE, suffix, DEEP, ...)                                                    \
	SHARED(whole_##SIZE##_##suffix##_channels, SIZE, WHOLE, DEEP, 1, channels, __VA_ARGS__) \
	SPLIT(split_##SIZE##_##suffix##_channels, SIZE, 1, channels, __VA_ARGS__)               \
	FAR(far_##SIZE##_##suffix##_channels, SIZE, 1, channels, __VA_ARGS__)

SHARED(striped_1_code, 1, STRIPED, 4, 1, one_channel, bin_code<256>)
SHARED(striped_2_group, 2, STRIPED, 4, 1, one_channel, bin_group)
SHARED(whole_2_group, 2, WHOLE, 4, 1, one_channel, bin_group)
FAR_WAYS(2, code, bin_code<65536>)
WAYS(3, shift, 2, 1, bin_key<BIN_SHIFT>)
WAYS(3, magic, 2, 1, bin_key<BIN_MAGIC>)
WAYS(3, any, 2, 1, bin_key<BIN_KINDS>)
WAYS(3, mod, 2, 1, bin_key<BIN_MOD>)
EDGES(3, table, 2, near_key, bin_key<BIN_TABLE>)
WAYS(4, shift, 4, 1, bin_key<BIN_SHIFT>)
WAYS(4, magic, 4, 2, bin_key<BIN_MAGIC>)
WAYS(4, any, 4, 1, bin_key<BIN_KINDS>)
WAYS(4, mod, 4, 1, bin_key<BIN_MOD>)
EDGES(4, table, 4, near_key, bin_key<BIN_TABLE>)
WAYS(8, shift, 4, 1, bin_key<BIN_SHIFT>)
WAYS(8, any, 4, 1, bin_key<BIN_KINDS>)
WAYS(8, mod, 4, 1, bin_key<BIN_MOD>)
EDGES(8, table, 4, near_key, bin_key<BIN_TABLE>)
WAYS(4, linear, 4, 1, bin_real<BIN_LINEAR>)
WAYS(4, real, 4, 1, bin_real<BIN_KINDS>)
EDGES(4, edges, 4, near_real, bin_real<BIN_TABLE>)
WAYS(8, linear, 4, 1, bin_real<BIN_LINEAR>)
WAYS(8, real, 4, 1, bin_real<BIN_KINDS>)
EDGES(8, edges, 4, near_real, bin_real<BIN_TABLE>)
SHARED(striped_1_code_channels, 1, STRIPED, 4, 1, channels, bin_code<256>)
SHARED(striped_2_group_channels, 2, STRIPED, 4, 1, channels, bin_group)
SHARED(whole_2_group_channels, 2, WHOLE, 4, 1, channels, bin_group)
INTERLEAVED(1, code, 4, bin_code<256>)
SPLIT(split_2_code_channels, 2, 8, channels, bin_code<65536>)
FAR(far_2_code_channels, 2, 1, channels, bin_code<65536>)
INTERLEAVED(3, key, 1, any_key)
INTERLEAVED(4, key, 4, any_key)
INTERLEAVED(8, key, 4, any_key)
INTERLEAVED(4, real, 4, any_real)
INTERLEAVED(8, real, 4, any_real)

extern "C" __global__ void __launch_bounds__(1024)
	plan_parts(const __grid_constant__ struct parts s,
		   const __grid_constant__ struct parts_memory m)
{
	plan(s, m);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
	count_parts_of_all(const __grid_constant__ struct parts s,
			   const __grid_constant__ struct parts_memory m, u32 all, u32 *out)
{
	count_parts<4>(s, m, all, out);
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

/*
 * count: the kernels that the program carries, by name. A name is a way of keeping counters,
 * the size of a sample, and its kind of bins: whole_4_magic. gpu_kernel.c chooses.
 */
#include "parts.cuh"

/* Blocks of 1024 threads that may be resident, where a multiprocessor has room for so many. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 800 || __CUDA_ARCH__ == 860 ||                   \
			       __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
#define RESIDENT(blocks) 1
#else
#define RESIDENT(blocks) (blocks)
#endif

#define SHARED(name, SIZE, KEEP, DEEP, BLOCKS, ...)                                              \
	extern "C" __global__ void __launch_bounds__(1024, RESIDENT(BLOCKS))                      \
	name(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out, u32 copies) \
	{                                                                                         \
		count_shared<SIZE, __VA_ARGS__, KEEP, DEEP>(data, n, r, out, copies);             \
	}

#define PAIR(name, SIZE, ...)                                                                    \
	extern "C" __global__ void __launch_bounds__(1024, 1)                                     \
	name(const void *data, u64 n, const __grid_constant__ struct rule r, u32 *out)            \
	{                                                                                         \
		count_pair<SIZE, __VA_ARGS__>(data, n, r, out);                                   \
	}

#define SPLIT(name, SIZE, ...)                                                                   \
	extern "C" __global__ void __launch_bounds__(1024, 1)                                     \
	name(const void *data, u64 n, const __grid_constant__ struct rule r,                      \
	     const __grid_constant__ struct parts s, const __grid_constant__ struct parts_memory m) \
	{                                                                                         \
		split<SIZE, __VA_ARGS__, 8>(data, n, r, s, m);                                    \
	}

/* Every way for one size and kind. DEEP: loads in flight before the first is used. */
#define WAYS(SIZE, suffix, DEEP, BLOCKS, ...)                                                    \
	SHARED(whole_##SIZE##_##suffix, SIZE, WHOLE, DEEP, BLOCKS, __VA_ARGS__)                   \
	PAIR(pair_##SIZE##_##suffix, SIZE, __VA_ARGS__)                                           \
	SPLIT(split_##SIZE##_##suffix, SIZE, __VA_ARGS__)

SHARED(striped_1_code, 1, STRIPED, 4, 1, bin_code<256>)
SHARED(striped_2_group, 2, STRIPED, 4, 1, bin_group)
SHARED(whole_2_group, 2, WHOLE, 4, 1, bin_group)
PAIR(pair_2_code, 2, bin_code<65536>)
SPLIT(split_2_code, 2, bin_code<65536>)
WAYS(3, shift, 2, 1, bin_key<BIN_SHIFT>)
WAYS(3, magic, 2, 1, bin_key<BIN_MAGIC>)
WAYS(3, any, 2, 1, bin_key<BIN_KINDS>)
WAYS(4, shift, 4, 1, bin_key<BIN_SHIFT>)
WAYS(4, magic, 4, 2, bin_key<BIN_MAGIC>)
WAYS(4, any, 4, 1, bin_key<BIN_KINDS>)
WAYS(8, shift, 4, 1, bin_key<BIN_SHIFT>)
WAYS(8, any, 4, 1, bin_key<BIN_KINDS>)
WAYS(4, linear, 4, 1, bin_real<BIN_LINEAR>)
WAYS(4, real, 4, 1, bin_real<BIN_KINDS>)
WAYS(8, linear, 4, 1, bin_real<BIN_LINEAR>)
WAYS(8, real, 4, 1, bin_real<BIN_KINDS>)

extern "C" __global__ void __launch_bounds__(1024)
plan_parts(const __grid_constant__ struct parts s, const __grid_constant__ struct parts_memory m)
{
	plan(s, m);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
count_parts_of_all(const __grid_constant__ struct parts s,
		   const __grid_constant__ struct parts_memory m, u32 all, u32 *out)
{
	count_parts<4>(s, m, all, out);
}

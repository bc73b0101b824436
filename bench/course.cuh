/* SPDX-License-Identifier: MIT */
/*
 * course: the kernels with which courses on GPUs teach histograms, each in the form that such a
 * course gives it. course.cu times them; tests/course_check.cpp runs the same text, launches
 * included, on the host.
 *
 * All count samples of 32 bits that are below the number of bins into counters of 32 bits that were
 * cleared before. Where threads read samples one by one, they do so without any more loads in
 * flight than the compiler finds.
 *
 * What the program's own kernel does in another way (kernels/shared.cuh): a block is 1024 threads
 * and the only one of its multiprocessor, with a single copy of the counters; each thread has four
 * loads of 16 bytes in flight; and a sample is an atomic +1 in shared memory whose result is not
 * used, which merges lanes that have the same counter. So equal samples cost one clock a warp and
 * random ones 3.7, where memory takes 7.3 to bring them.
 */
#ifndef COURSE_CUH
#define COURSE_CUH

#include <cstddef>
#include <cstdint>

typedef uint32_t u32;
typedef uint64_t u64;

/*
 * A host that plays the device has its own way to launch, to clear and to allow a block more than
 * 48 KiB.
 */
#ifndef LAUNCH
#define LAUNCH(kernel, grid, threads, bytes, ...) kernel<<<grid, threads, bytes>>>(__VA_ARGS__)
#define CLEAR(pointer, bytes) cudaMemsetAsync(pointer, 0, bytes)
#define ALLOW(kernel, bytes) \
	cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)(bytes))
#endif

struct course {
	const u32 *data; /* aligned to 16 bytes */
	u64 n;           /* at least 1 */
	u32 bins;
	u32 limit;    /* where saturating counters end */
	u32 *counts;  /* bins; cleared */
	u32 *sorted;  /* n, for kernels that bring the samples into another order ... */
	u32 *parts;   /* ... and PARTS_WORDS for what they know of their parts */
	unsigned sms; /* multiprocessors */
};

static __device__ u64 thread_of_all()
{
	return blockIdx.x * (u64)blockDim.x + threadIdx.x;
}

static __device__ u64 all_threads()
{
	return gridDim.x * (u64)blockDim.x;
}

/* ---- 1 to 6: atomics in global memory ---- */

/* A thread for each sample. */
template <bool SATURATE> __global__ void add_each(const u32 *data, u64 n, u32 limit, u32 *counts)
{
	const u64 i = thread_of_all();

	if (i >= n)
		return;
	const u32 x = data[i];
	atomicAdd(counts + x, 1u);
	if (SATURATE)
		atomicMin(counts + x, limit);
}

/* The part of `items` that this thread has, if each has as many that follow one another. */
static __device__ u64 slice(u64 items, u64 *end)
{
	const u64 each = (items + all_threads() - 1) / all_threads();
	const u64 first = min(items, thread_of_all() * each);

	*end = min(items, first + each);
	return first;
}

/* The lanes of a warp read places that are far apart: a line of the cache for each. */
template <int DEEP> __global__ void add_slices(const u32 *data, u64 n, u32 *counts)
{
	u64 end, i = slice(n, &end);

	for (; i + DEEP <= end; i += DEEP) {
		u32 v[DEEP];
#pragma unroll
		for (int k = 0; k < DEEP; k++)
			v[k] = data[i + k];
#pragma unroll
		for (int k = 0; k < DEEP; k++)
			atomicAdd(counts + v[k], 1u);
	}
	for (; i < end; i++)
		atomicAdd(counts + data[i], 1u);
}

static __global__ void add_vectors(const u32 *data, u64 n, u32 *counts)
{
	u64 end;

	for (u64 i = slice(n / 4, &end); i < end; i++) {
		const uint4 v = ((const uint4 *)data)[i];
		atomicAdd(counts + v.x, 1u);
		atomicAdd(counts + v.y, 1u);
		atomicAdd(counts + v.z, 1u);
		atomicAdd(counts + v.w, 1u);
	}
	if (thread_of_all() < n % 4)
		atomicAdd(counts + data[n / 4 * 4 + thread_of_all()], 1u);
}

/* The lanes of a warp read samples that are side by side. */
static __global__ void add_interleaved(const u32 *data, u64 n, u32 *counts)
{
	for (u64 i = thread_of_all(); i < n; i += all_threads())
		atomicAdd(counts + data[i], 1u);
}

/* ---- 7: counters of each block in shared memory ---- */

enum saturate { EXACT, IN_BLOCKS, EVERYWHERE };

/*
 * EVERYWHERE: the least of the limit and a sum is that of the limit and the sum of counters that
 * were cut at the limit, so merging such counters by adding and cutting is right. IN_BLOCKS: merged
 * by adding alone it is wrong.
 */
template <enum saturate SATURATE>
__global__ void own_copy(const u32 *data, u64 n, u32 bins, u32 limit, u32 *counts)
{
	extern __shared__ uint4 shared[];
	u32 *own = (u32 *)shared;

	for (u32 c = threadIdx.x; c < bins; c += blockDim.x)
		own[c] = 0;
	__syncthreads();
	for (u64 i = thread_of_all(); i < n; i += all_threads()) {
		const u32 x = data[i];
		atomicAdd(own + x, 1u);
		if (SATURATE != EXACT)
			atomicMin(own + x, limit);
	}
	__syncthreads();
	for (u32 c = threadIdx.x; c < bins; c += blockDim.x) {
		atomicAdd(counts + c, own[c]);
		if (SATURATE == EVERYWHERE)
			atomicMin(counts + c, limit);
	}
}

/* ---- 8, 9: inverse: a thread for each counter ---- */

#define TILE 1024u /* samples, counters and threads of a block */

/*
 * Each thread compares every sample of the tile with its own bin. BROADCAST: all read the same four
 * samples at a time; else each begins at another sample, so that the lanes of a warp read from
 * different banks.
 */
template <bool BROADCAST> __global__ void inverse(const u32 *data, u64 n, u32 *counts)
{
	__shared__ uint4 tile[TILE / 4];
	u32 *sample = (u32 *)tile;
	const u32 bin = threadIdx.x;
	u32 mine = 0;

	for (u64 at = blockIdx.x * (u64)TILE; at < n; at += gridDim.x * (u64)TILE) {
		sample[bin] = at + bin < n ? data[at + bin] : ~0u;
		__syncthreads();
#pragma unroll 8
		for (u32 k = 0; k < (BROADCAST ? TILE / 4 : TILE); k++) {
			if (BROADCAST) {
				const uint4 v = tile[k];
				mine += (v.x == bin) + (v.y == bin) + (v.z == bin) + (v.w == bin);
			} else {
				mine += sample[(bin + k) % TILE] == bin;
			}
		}
		__syncthreads();
	}
	atomicAdd(counts + bin, mine);
}

/* ---- 10, 11: 8-bit counters of each lane ---- */

#define BYTES_BINS 1024u
#define BYTES_LANES 32u
/*
 * What is between the first counters of two bins, or of two lanes; the last four bytes are never
 * used.
 */
#define BYTES_OF_BIN (BYTES_LANES + 4)
#define BYTES_OF_LANE (BYTES_BINS + 4)
#define BYTES_VECTORS 63u /* of four samples, after which a counter may be at 252 */

/*
 * Adds a bin's counters of all lanes up: in pairs of 16 bits, which 32 times 255 fit. Clears them.
 */
static __device__ void add_up_bins(u32 *words, u32 *counts)
{
	for (u32 bin = threadIdx.x; bin < BYTES_BINS; bin += BYTES_LANES) {
		u32 pairs = 0;
		for (u32 k = 0; k < BYTES_LANES / 4; k++) {
			u32 *p = words + bin * (BYTES_OF_BIN / 4) + k;
			pairs += (*p & 0x00ff00ff) + (*p >> 8 & 0x00ff00ff);
			*p = 0;
		}
		if (pairs)
			atomicAdd(counts + bin, (pairs & 0xffff) + (pairs >> 16));
	}
}

/* The same of four bins that are side by side in each lane's row. */
static __device__ void add_up_rows(u32 *words, u32 *counts)
{
	for (u32 four = threadIdx.x; four < BYTES_BINS / 4; four += BYTES_LANES) {
		u32 even = 0, odd = 0;
		for (u32 lane = 0; lane < BYTES_LANES; lane++) {
			u32 *p = words + lane * (BYTES_OF_LANE / 4) + four;
			even += *p & 0x00ff00ff;
			odd += *p >> 8 & 0x00ff00ff;
			*p = 0;
		}
		atomicAdd(counts + 4 * four, even & 0xffff);
		atomicAdd(counts + 4 * four + 1, odd & 0xffff);
		atomicAdd(counts + 4 * four + 2, even >> 16);
		atomicAdd(counts + 4 * four + 3, odd >> 16);
	}
}

/*
 * A block is one warp. ROWS: a row for each lane; else a row for each bin. OFTEN: before a counter
 * could wrap.
 */
template <bool ROWS, bool OFTEN> __global__ void bytes(const u32 *data, u64 n, u32 *counts)
{
	extern __shared__ uint4 shared[];
	const u32 words = ROWS ? BYTES_LANES * BYTES_OF_LANE / 4 : BYTES_BINS * BYTES_OF_BIN / 4;
	const u32 lane = threadIdx.x;
	unsigned char *mine = (unsigned char *)shared + (ROWS ? lane * BYTES_OF_LANE : lane);
	const u32 step = ROWS ? 1 : BYTES_OF_BIN;
	u32 taken = 0;

	for (u32 i = lane; i < words; i += BYTES_LANES)
		((u32 *)shared)[i] = 0;
	__syncthreads();
	for (u64 at = blockIdx.x * (u64)BYTES_LANES; at < n / 4; at += all_threads()) {
		if (at + lane < n / 4) {
			const uint4 v = ((const uint4 *)data)[at + lane];
			mine[v.x * step]++;
			mine[v.y * step]++;
			mine[v.z * step]++;
			mine[v.w * step]++;
		}
		if (OFTEN && ++taken == BYTES_VECTORS) {
			__syncthreads();
			ROWS ? add_up_rows((u32 *)shared, counts)
			     : add_up_bins((u32 *)shared, counts);
			__syncthreads();
			taken = 0;
		}
	}
	__syncthreads();
	ROWS ? add_up_rows((u32 *)shared, counts) : add_up_bins((u32 *)shared, counts);
	if (thread_of_all() < n % 4)
		atomicAdd(counts + data[n / 4 * 4 + thread_of_all()], 1u);
}

/* ---- 12: as many counters as fit shared memory, pass after pass over the samples ---- */

static __global__ void one_pass(const u32 *data, u64 n, u32 first, u32 held, u32 *counts)
{
	extern __shared__ uint4 shared[];
	u32 *own = (u32 *)shared;

	for (u32 c = threadIdx.x; c < held; c += blockDim.x)
		own[c] = 0;
	__syncthreads();
	for (u64 i = thread_of_all(); i < n; i += all_threads()) {
		const u32 c = data[i] - first;
		if (c < held)
			atomicAdd(own + c, 1u);
	}
	__syncthreads();
	for (u32 c = threadIdx.x; c < held; c += blockDim.x)
		if (own[c])
			atomicAdd(counts + first + c, own[c]);
}

/* ---- 13: coarse bins, samples sorted by them, then the bins of each ---- */

#define COARSE 256u /* coarse bins, each of FINE bins; and threads of a block */
#define FINE 256u
#define PER_THREAD 16u /* samples */
/* samples of each coarse bin; where the next one goes; where each begins */
#define PARTS_WORDS (3 * COARSE + 1)

static __global__ void count_coarse(const u32 *data, u64 n, u32 *coarse)
{
	__shared__ u32 own[COARSE];

	own[threadIdx.x] = 0;
	__syncthreads();
	for (u64 i = thread_of_all(); i < n; i += all_threads())
		atomicAdd(own + data[i] / FINE, 1u);
	__syncthreads();
	atomicAdd(coarse + threadIdx.x, own[threadIdx.x]);
}

/* One block. */
static __global__ void find_starts(const u32 *coarse, u32 *next, u32 *start)
{
	__shared__ u32 sum[COARSE];
	const u32 t = threadIdx.x;

	sum[t] = coarse[t];
	__syncthreads();
	for (u32 d = 1; d < COARSE; d *= 2) {
		const u32 below = t >= d ? sum[t - d] : 0;
		__syncthreads();
		sum[t] += below;
		__syncthreads();
	}
	next[t] = start[t] = sum[t] - coarse[t];
	if (t == COARSE - 1)
		start[COARSE] = sum[t];
}

/*
 * A tile for each block: it counts, reserves room in each coarse bin by one atomic, and writes
 * there.
 */
static __global__ void scatter(const u32 *data, u64 n, u32 *next, u32 *sorted)
{
	__shared__ u32 own[COARSE], room[COARSE];
	const u64 first = blockIdx.x * (u64)(COARSE * PER_THREAD) + threadIdx.x;
	u32 v[PER_THREAD], rank[PER_THREAD];

	own[threadIdx.x] = 0;
	__syncthreads();
#pragma unroll
	for (u32 k = 0; k < PER_THREAD; k++)
		if (first + k * COARSE < n)
			v[k] = data[first + k * COARSE];
#pragma unroll
	for (u32 k = 0; k < PER_THREAD; k++)
		if (first + k * COARSE < n)
			rank[k] = atomicAdd(own + v[k] / FINE, 1u);
	__syncthreads();
	room[threadIdx.x] = atomicAdd(next + threadIdx.x, own[threadIdx.x]);
	__syncthreads();
#pragma unroll
	for (u32 k = 0; k < PER_THREAD; k++)
		if (first + k * COARSE < n)
			sorted[room[v[k] / FINE] + rank[k]] = v[k];
}

/* Each block has a piece of the sorted samples, and counts one coarse bin after the other in it. */
static __global__ void refine(const u32 *sorted, const u32 *start, u32 *counts)
{
	__shared__ u32 own[FINE];
	const u64 n = start[COARSE];
	const u64 each = (n + gridDim.x - 1) / gridDim.x;
	const u64 end = min(n, (blockIdx.x + (u64)1) * each);
	u64 at = min(n, blockIdx.x * each);

	for (u32 part = 0; at < end; part++) {
		const u64 stop = min(end, (u64)start[part + 1]);
		if (at >= stop)
			continue;
		own[threadIdx.x] = 0;
		__syncthreads();
		for (u64 i = at + threadIdx.x; i < stop; i += blockDim.x)
			atomicAdd(own + sorted[i] % FINE, 1u);
		__syncthreads();
		/*
		 * Each thread's own counter, which it clears too: no barrier before the next part.
		 */
		atomicAdd(counts + part * FINE + threadIdx.x, own[threadIdx.x]);
		at = stop;
	}
}

#include "course_rows.h"

#endif

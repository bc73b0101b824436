/* SPDX-License-Identifier: MIT */
/*
 * stream: gpuhist's pipeline in one file and one process: reads 32-bit samples from standard input,
 * and prints BINS bins of WIDTH, from 0 on, as gpuhist does.
 * usage: stream 8|16|32 BINS [WIDTH] <data.u32       (bits of the saturating counters; 1)
 *
 *	nvcc -O3 -std=c++17 -arch=native -I kernels examples/stream.cu -o stream
 *	./stream 16 1000 64 <data.u32 | cmp - <(gpuhist -C sat16 -t u32 -r 0:64000 -b 1000 data.u32)
 *
 * Two chunks in pinned memory, each with a stream of its own, are a double buffer: while one chunk
 * is copied to the device and counted there, the next is read into the other.
 *
 *	stream 0   [read][to the device][count][add]  [read][to the device] ...
 *	stream 1                        [read][to the device][count][add]  [read] ...
 *	           ---------------------------------------------------------> time
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "count/whole.cuh"

enum { CHUNK = 4 << 20, STREAMS = 2 };

struct side {
	cudaStream_t stream;
	u8 *host;     /* a chunk, in pinned memory: only from there are copies asynchronous */
	u32 *samples; /* the chunk on the device */
	u32 *count;   /* its counts, which are 0 before and after it */
};

template <class... T> [[noreturn]] static void refuse(int status, const char *format, T... values)
{
	fprintf(stderr, "stream: ");
	fprintf(stderr, format, values...);
	fprintf(stderr, "\n");
	exit(status);
}

static void must(cudaError_t e, const char *what = "CUDA")
{
	if (e != cudaSuccess)
		refuse(4, "%s: %s", what, cudaGetErrorString(e));
}

/* Privatized: whole.cuh keeps a table of all counters in each block's shared memory. */
__global__ void __launch_bounds__(KERNEL_THREADS, 1)
	histogram(const u32 *data, u64 n, const __grid_constant__ struct rule r, u32 *count)
{
	count_whole<4, bin_key<>>(data, n, r, count);
}

/* Add a chunk's counts of 32 bits to the totals, and clear them. Both streams may do so at once. */
__global__ void add(u32 *count, unsigned long long *total, u32 cells)
{
	const u32 i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < cells && count[i] > 0) {
		atomicAdd(total + i, (unsigned long long)count[i]);
		count[i] = 0;
	}
}

/* Read a whole chunk unless the input ends. */
static size_t fill(u8 *to)
{
	size_t at = 0;
	ssize_t got = 1;

	for (; at < CHUNK && got > 0; at += got)
		got = read(STDIN_FILENO, to + at, CHUNK - at);
	if (got < 0)
		refuse(4, "standard input: %s", strerror(errno));
	return at;
}

/* Open the device, and make the sides. Return its number of multiprocessors. */
static int open_sides(struct side *sides, u32 cells, u32 shared)
{
	int sms, most;

	must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "no GPU");
	must(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
	if (shared > (u32)most)
		refuse(2, "BINS is too large for this GPU's shared memory");
	must(cudaFuncSetAttribute(histogram, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
	for (int k = 0; k < STREAMS; k++) {
		must(cudaStreamCreate(&sides[k].stream));
		must(cudaMallocHost(&sides[k].host, CHUNK));
		must(cudaMalloc(&sides[k].samples, CHUNK));
		must(cudaMalloc(&sides[k].count, 4 * cells));
		must(cudaMemset(sides[k].count, 0, 4 * cells));
	}
	return sms;
}

int main(int argc, char **argv)
{
	const u32 bits = argc > 2 ? atoi(argv[1]) : 0, bins = argc > 2 ? atoi(argv[2]) : 0,
		  width = argc > 3 ? atoi(argv[3]) : 1, cells = bins + CELL_EXTRA,
		  shared = 4 * spread_words(cells);
	struct side sides[STREAMS];
	unsigned long long *total; /* on the device */

	if ((bits != 8 && bits != 16 && bits != 32) || bins == 0 || bins > 1 << 20 || width == 0 ||
	    (u64)bins * width > (u64)1 << 32)
		refuse(2, "usage: stream 8|16|32 BINS [WIDTH] <data.u32; BINS * WIDTH <= 2^32");
	const int sms = open_sides(sides, cells, shared);
	const struct rule rule = rule_even(0, width, bins);
	const u32 most = UINT32_MAX >> (32 - bits); /* of a counter */
	must(cudaMalloc(&total, 8 * cells));
	must(cudaMemset(total, 0, 8 * cells));
	for (size_t bytes = CHUNK, k = 0; bytes == CHUNK; k = (k + 1) % STREAMS) {
		const struct side &s = sides[k];

		must(cudaStreamSynchronize(s.stream)); /* its last chunk is counted */
		bytes = fill(s.host);
		if (bytes % 4 != 0)
			refuse(3, "the last %zu bytes are less than a sample", bytes % 4);
		must(cudaMemcpyAsync(s.samples, s.host, bytes, cudaMemcpyHostToDevice, s.stream));
		histogram<<<sms, KERNEL_THREADS, shared, s.stream>>>(s.samples, bytes / 4, rule,
								     s.count);
		add<<<(cells + 255) / 256, 256, 0, s.stream>>>(s.count, total, cells);
		must(cudaGetLastError());
	}
	must(cudaDeviceSynchronize());
	std::vector<unsigned long long> totals(cells);
	must(cudaMemcpy(totals.data(), total, 8 * cells, cudaMemcpyDeviceToHost));
	puts("bin,lower,upper,count");
	for (u32 i = 0; i < bins; i++)
		printf("%u,%llu,%llu,%llu\n", i, (unsigned long long)i * width,
		       (unsigned long long)(i + 1) * width,
		       min(totals[i], (unsigned long long)most));
	return 0;
}

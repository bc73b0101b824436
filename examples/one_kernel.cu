/* SPDX-License-Identifier: MIT */
/*
 * one_kernel: gpuhist's privatized kernel (kernels/count/whole.cuh) in a program of its own, with
 * CUDA's runtime API: counts a file of 32-bit samples into BINS bins of WIDTH, from 0 on, and prints
 * them as gpuhist does.
 * usage: one_kernel FILE WIDTH BINS
 *
 *	nvcc -O3 -std=c++17 -arch=native -I kernels examples/one_kernel.cu -o one_kernel
 *	./one_kernel data.u32 64 1000 | cmp - <(gpuhist -t u32 -r 0:64000 -b 1000 data.u32)
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "count/whole.cuh"

static void must(cudaError_t e)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "one_kernel: %s\n", cudaGetErrorString(e));
	exit(1);
}

/* whole.cuh keeps all counters in shared memory, so a block has the SM's to itself. */
__global__ void __launch_bounds__(1024, 1)
	histogram(const u32 *data, u64 n, const __grid_constant__ struct rule r, u32 *out)
{
	count_whole<4, bin_key<>>(data, n, r, out);
}

int main(int argc, char **argv)
{
	FILE *const file = argc == 4 ? fopen(argv[1], "rb") : NULL;
	const u32 width = argc == 4 ? strtoul(argv[2], NULL, 10) : 0,
		  bins = argc == 4 ? strtoul(argv[3], NULL, 10) : 0, cells = bins + CELL_EXTRA;
	std::vector<u32> data(1 << 28), count(cells);
	const struct rule rule = rule_even(0, width, bins);
	u32 *samples, *out;
	int sms, shared = 4 * spread_words(cells);

	if (!file || width == 0 || bins == 0 || fseek(file, 0, SEEK_SET) != 0)
		return fprintf(stderr, "usage: one_kernel FILE WIDTH BINS\n"), 2;
	const u64 n = fread(data.data(), 4, data.size(), file);
	must(cudaMalloc(&samples, 4 * n + 16));
	must(cudaMalloc(&out, 4 * cells));
	must(cudaMemset(out, 0, 4 * cells));
	must(cudaMemcpy(samples, data.data(), 4 * n, cudaMemcpyHostToDevice));
	must(cudaFuncSetAttribute(histogram, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
	must(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	histogram<<<sms, 1024, shared>>>(samples, n, rule, out);
	must(cudaGetLastError());
	must(cudaMemcpy(count.data(), out, 4 * cells, cudaMemcpyDeviceToHost));
	puts("bin,lower,upper,count");
	for (u32 i = 0; i < bins; i++)
		printf("%u,%llu,%llu,%u\n", i, (unsigned long long)i * width,
		       (unsigned long long)(i + 1) * width, count[i]);
	return 0;
}

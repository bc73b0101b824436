/* SPDX-License-Identifier: MIT */
/*
 * cub: CUB's DeviceHistogram::HistogramEven from the toolkit on the same kinds of data, and what
 * reading that memory takes: the peer and the ceiling of kernels.c.
 * usage: cub [GIB]
 */
#include <cub/device/device_histogram.cuh>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

enum skew { UNIFORM, CONSTANT, GAUSS, SORTED, TWO_HOT, SKEWS };

static void must(cudaError_t e)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s\n", cudaGetErrorString(e));
		exit(1);
	}
}

__device__ static uint32_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	return (uint32_t)(x >> 16);
}

template <class T> __global__ void generate(T *p, size_t n, double values, int skew)
{
	const size_t step = (size_t)gridDim.x * blockDim.x;

	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
		const uint32_t a = mix(i), b = mix(~i);
		const double u = a * 0x1p-32;
		const double g = ((a & 0xffff) + (a >> 16) + (b & 0xffff) + (b >> 16)) / 262144.0;
		p[i] = (T)(skew == UNIFORM    ? u * values
			   : skew == CONSTANT ? values - 1
			   : skew == GAUSS    ? g * values
			   : skew == SORTED   ? (double)i / n * values
			   : b & 15           ? (b & 16 ? values - 3 : 5)
					      : u * values);
	}
}

__global__ void read_all(const uint4 *p, size_t n, unsigned *out)
{
	const size_t step = (size_t)gridDim.x * blockDim.x;
	unsigned sum = 0;
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

	for (; i + 3 * step < n; i += 4 * step) {
		uint4 v[4];
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = __ldcs(p + i + k * step);
#pragma unroll
		for (int k = 0; k < 4; k++)
			sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
	}
	if (sum == 0x12345678)
		*out = sum;
}

template <class F> static double best_of(size_t bytes, F work)
{
	cudaEvent_t a, b;
	float best = 1e9f;

	must(cudaEventCreate(&a));
	must(cudaEventCreate(&b));
	for (int i = 0; i < 4; i++) {
		float ms;
		must(cudaEventRecord(a));
		work();
		must(cudaEventRecord(b));
		must(cudaEventSynchronize(b));
		must(cudaEventElapsedTime(&ms, a, b));
		best = ms < best ? ms : best;
	}
	return bytes / best * 1e-6;
}

/* Level: the type of CUB's edges; CUB counts in 32 bits. */
template <class T, class Level>
static void line(const char *name, void *data, size_t bytes, int bins, double values)
{
	const size_t n = bytes / sizeof(T);
	unsigned *out;
	void *work = nullptr;
	size_t size = 0;

	must(cudaMalloc(&out, 4 * (size_t)bins));
	printf("| %s, %d |", name, bins);
	for (int k = 0; k < SKEWS; k++) {
		generate<T><<<1056, 256>>>((T *)data, n, values, k);
		auto count = [&] {
			must(cub::DeviceHistogram::HistogramEven(work, size, (const T *)data, out,
								 bins + 1, (Level)0, (Level)values,
								 (long long)n));
		};
		if (!work) {
			count();
			must(cudaMalloc(&work, size));
		}
		printf(" %.0f |", best_of(n * sizeof(T), count));
		fflush(stdout);
	}
	printf("\n");
	must(cudaFree(work));
	must(cudaFree(out));
}

int main(int argc, char **argv)
{
	const size_t bytes = (size_t)((argc > 1 ? atof(argv[1]) : 3) * 0x1p30) / 4096 * 4096;
	void *data;
	unsigned *out;

	must(cudaMalloc(&data, bytes));
	must(cudaMalloc(&out, 4));
	generate<uint32_t><<<1056, 256>>>((uint32_t *)data, bytes / 4, 4e9, UNIFORM);
	printf("\nReading the same memory: %.0f GB/s\n\n| CUB HistogramEven: samples, bins | "
	       "uniform | constant | "
	       "gauss | sorted | two hot |\n|---|---|---|---|---|---|\n",
	       best_of(bytes,
		       [&] { read_all<<<264, 1024>>>((const uint4 *)data, bytes / 16, out); }));
	line<uint8_t, int>("u8", data, bytes, 256, 256);
	line<uint16_t, int>("u16", data, bytes, 1024, 1024);
	line<uint16_t, int>("u16", data, bytes, 65536, 65536);
	line<uint32_t, uint32_t>("u32", data, bytes, 1024, 1024);
	line<uint32_t, uint32_t>("u32", data, bytes, 16384, 16384);
	line<uint32_t, uint32_t>("u32", data, bytes, 65536, 65536);
	line<uint32_t, uint32_t>("u32", data, bytes, 1 << 20, 1 << 20);
	line<float, float>("f32", data, bytes, 1024, 1024);
	line<double, double>("f64", data, bytes, 1024, 1024);
	return 0;
}

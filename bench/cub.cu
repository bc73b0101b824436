/* SPDX-License-Identifier: MIT */
/*
 * cub: CUB's DeviceHistogram on the samples of kernels.c, with the same clock. CUB has counters of 32
 * bits, no samples of 24 bits, and computes the bins of floats in binary32. Above 256 bins it
 * privatizes in global memory.
 */
#include "cub.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cub/device/device_histogram.cuh>

enum { RUNS = 5, BINS_MOST = 1 << 20 }; /* for more bins, its memory is tens of GB */

static void must(cudaError_t e)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "CUB: %s\n", cudaGetErrorString(e));
	exit(1);
}

/* Return the least seconds of f, which queues work on the stream. */
template <class F> static double least_of(cudaStream_t stream, F f)
{
	double least = 1e9;

	for (int i = 0; i <= RUNS; i++) {
		const auto begin = std::chrono::steady_clock::now();
		must(f());
		must(cudaStreamSynchronize(stream));
		const std::chrono::duration<double> seconds =
			std::chrono::steady_clock::now() - begin;
		least = i > 0 ? std::min(least, seconds.count()) : least; /* the first warms up */
	}
	return least;
}

/* T: samples; L: edges. */
template <class T, class L> static double rate_of(const struct cub_job *job, uint32_t *count)
{
	const T *const from = (const T *)job->samples;
	const size_t n = job->bytes / sizeof(T);
	const int edges = (int)job->bins + 1;
	cudaStream_t stream;
	void *temp = NULL;
	size_t temp_bytes = 0;
	L *list = NULL;
	uint32_t *out;

	must(cudaStreamCreate(&stream));
	must(cudaMalloc(&out, job->bins * sizeof(*out)));
	if (job->list) {
		std::vector<L> host(job->list, job->list + edges);
		must(cudaMalloc(&list, edges * sizeof(L)));
		must(cudaMemcpy(list, host.data(), edges * sizeof(L), cudaMemcpyHostToDevice));
	}
	const auto call = [&](auto samples) {
		return list ? cub::DeviceHistogram::HistogramRange(temp, temp_bytes, from, out,
								   edges, (const L *)list, samples,
								   stream)
			    : cub::DeviceHistogram::HistogramEven(temp, temp_bytes, from, out,
								  edges, (L)0, (L)job->hi, samples,
								  stream);
	};
	/* Offsets of 32 bits, if they suffice, as most callers have. */
	const auto go = [&] { return n <= INT_MAX - 65536 ? call((int)n) : call((long long)n); };
	must(go()); /* sets temp_bytes */
	must(cudaMalloc(&temp, temp_bytes));
	const double seconds = least_of(stream, go);
	must(cudaMemcpy(count, out, job->bins * sizeof(*out), cudaMemcpyDeviceToHost));
	must(cudaFree(temp));
	must(cudaFree(out));
	must(cudaFree(list));
	must(cudaStreamDestroy(stream));
	return (double)job->bytes / seconds * 1e-9;
}

const char *cub_version(void)
{
	static char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", CUB_MAJOR_VERSION, CUB_MINOR_VERSION,
		 CUB_SUBMINOR_VERSION);
	return text;
}

double cub_rate(const struct cub_job *job, uint32_t *count)
{
	const auto is = [&](const char *type) { return strcmp(job->type, type) == 0; };

	if (job->bins > BINS_MOST)
		return 0;
	return is("u8")    ? rate_of<uint8_t, int>(job, count)
	       : is("u16") ? rate_of<uint16_t, int>(job, count)
	       : is("u32") ? rate_of<uint32_t, uint32_t>(job, count)
	       : is("u64") ? rate_of<uint64_t, uint64_t>(job, count)
	       : is("f32") ? rate_of<float, float>(job, count)
	       : is("f64") ? rate_of<double, double>(job, count)
			   : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * course: the kernels of courses on GPUs (course.cuh) beside the program's own and one thread of
 * the processor, on data in device memory. On a machine with a GPU. usage: course [LOG2] (of the
 * samples of the larger of two sizes: 26 to 31, default 30; the other is 2^25)
 *
 * Prints a table in Markdown; progress goes to standard error. Every kernel's counts are compared
 * with exact ones: of 2^25 samples with those of a plain loop on the host, of the larger size with
 * those of a kernel of 64-bit atomics that the host's loop has checked on 2^25. Times are the
 * device's, by events, and include clearing the counters; the median of three. What would take more
 * than 5 s on the larger size is left out there.
 *
 * An error of one kernel is put into its row. One that the device does not recover from ends the
 * run, after the table so far. Exit status 1 for any error, and for counts that are wrong though
 * the row has no flaw.
 */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "course.cuh"
#include "course_ours.h"
#include "course_table.h"

#define BINS_MOST 65536u
#define HOLD_CLOCKS 200000 /* 0.1 ms */
#define TOO_LONG 5.0       /* seconds */
#define HASTE 45.0         /* seconds after which one run of each has to do */

static struct course course;
static u64 *counts64;
static bool gone; /* the device does not recover */

/* What was measured is printed all the same. */
static void must_say(const char *what, const char *why)
{
	if (!why)
		return;
	print_table();
	fprintf(stderr, "course: %s: %s\n", what, why);
	exit(1);
}

static void must(cudaError_t e, const char *what)
{
	must_say(what, e == cudaSuccess ? NULL : cudaGetErrorString(e));
}

static double seconds_now()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

static double started;

/* ---- data, and what is right ---- */

/* Sample i is the same for every number of samples. */
static __global__ void generate(u32 *p, u64 n, u32 bins, int skew)
{
	for (u64 i = thread_of_all(); i < n; i += all_threads()) {
		u64 x = i * 0x9e3779b97f4a7c15ull;
		x ^= x >> 33;
		x *= 0xff51afd7ed558ccdull;
		x ^= x >> 33;
		p[i] = skew == CONSTANT ? bins - 1 : (u32)((x >> 32) * bins >> 32);
	}
}

static __global__ void count_64(const u32 *p, u64 n, u64 *counts)
{
	for (u64 i = thread_of_all(); i < n; i += all_threads())
		atomicAdd((unsigned long long *)counts + p[i], 1ull);
}

static __global__ void read_all(const uint4 *p, u64 n, u32 *out)
{
	const u64 step = all_threads();
	u32 sum = 0;
	u64 i = thread_of_all();

	for (; i + 3 * step < n; i += 4 * step) {
		uint4 v[4];
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = __ldcs(p + i + k * step);
#pragma unroll
		for (int k = 0; k < 4; k++)
			sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
	}
	for (; i < n; i += step)
		sum += p[i].x ^ p[i].y ^ p[i].z ^ p[i].w;
	if (sum == 0x12345678)
		*out = sum;
}

/* While it runs, what follows it is queued: so no time between two launches is the host's. */
static __global__ void hold(long long clocks)
{
	const long long begin = clock64();

	while (clock64() - begin < clocks)
		;
}

typedef std::vector<u64> exact;

/* The plain loop of one thread, timed; the processor's line. */
static exact count_on_host(struct line *line, const std::vector<u32> &data, int skew)
{
	exact counts;
	double times[3];

	for (double &t : times) {
		counts.assign(line->bins, 0);
		u64 *const at = counts.data();
		const double begin = seconds_now();
		for (const u32 x : data)
			at[x]++;
		t = seconds_now() - begin;
	}
	std::sort(times, times + 3);
	line->seconds[SMALL][skew] = times[1];
	line->checked = true;
	return counts;
}

static exact count_by_64(u64 n, u32 bins)
{
	exact counts(bins);

	must(cudaMemset(counts64, 0, 8 * (size_t)bins), "counters");
	LAUNCH(count_64, 8 * course.sms, 256, 0, course.data, n, counts64);
	must(cudaMemcpy(counts.data(), counts64, 8 * (size_t)bins, cudaMemcpyDeviceToHost),
	     "the exact counts");
	return counts;
}

/* The exact counts of both sizes; the data is made. */
static void prepare(u32 bins, int skew, struct line *processor, exact right[SIZES])
{
	const u64 small = (u64)1 << SMALL_LOG2, large = (u64)1 << log2_of[LARGE];
	std::vector<u32> data(small);

	LAUNCH(generate, 8 * course.sms, 256, 0, (u32 *)course.data, large, bins, skew);
	must(cudaMemcpy(data.data(), course.data, 4 * small, cudaMemcpyDeviceToHost),
	     "the samples");
	right[SMALL] = count_on_host(processor, data, skew);
	if (skew == CONSTANT) {
		right[LARGE].assign(bins, 0);
		right[LARGE][bins - 1] = large;
		return;
	}
	if (count_by_64(small, bins) != right[SMALL])
		must_say("the kernel that gives exact counts", "it differs from the host");
	right[LARGE] = count_by_64(large, bins);
}

/* ---- one kernel ---- */

static void check(struct line *line, int size, int skew, const exact &right)
{
	std::vector<u32> got(line->bins);
	u64 differ = 0, first = 0, instead = 0;
	char text[160];

	must(cudaMemcpy(got.data(), course.counts, 4 * (size_t)line->bins, cudaMemcpyDeviceToHost),
	     "counts");
	for (u32 c = 0; c < line->bins; c++) {
		const u64 want = line->row && line->row->saturates ? std::min<u64>(right[c], LIMIT)
								   : right[c];
		if (got[c] == want || differ++ > 0)
			continue;
		first = c;
		instead = want;
	}
	line->checked = true;
	if (differ == 0 || line->wrong[size][skew])
		return;
	line->wrong[size][skew] = true;
	if (line->row && line->row->flaw)
		return;
	line->bad = true;
	snprintf(text, sizeof(text),
		 "2^%d %s: %llu counts, the first in bin %llu: %u instead of %llu", log2_of[size],
		 SKEW[skew], (unsigned long long)differ, (unsigned long long)first, got[first],
		 (unsigned long long)instead);
	add_note(line, text);
}

/* Runs it once, and checks the counts; -1: it failed, and the line says so. */
static double run_once(struct line *line, int size, int skew, const exact &right)
{
	static cudaEvent_t begin, end;
	const char *why = NULL;
	float ms = 0;

	if (!begin) {
		must(cudaEventCreate(&begin), "event");
		must(cudaEventCreate(&end), "event");
	}
	LAUNCH(hold, 1, 1, 0, HOLD_CLOCKS);
	cudaEventRecord(begin);
	cudaMemsetAsync(course.counts, 0, 4 * ((size_t)line->bins + OURS_EXTRA));
	if (line->row)
		line->row->count(course);
	else
		why = ours_count(course.data, course.n, course.counts, NULL);
	cudaEventRecord(end);
	cudaError_t e = cudaGetLastError();
	const cudaError_t later = cudaDeviceSynchronize();
	e = e == cudaSuccess ? later : e;
	if (e == cudaSuccess && !why)
		e = cudaEventElapsedTime(&ms, begin, end);
	if (e == cudaSuccess && !why) {
		check(line, size, skew, right);
		return ms * 1e-3;
	}
	line->bad = true;
	add_note(line, why ? why : cudaGetErrorString(e));
	cudaGetLastError();
	gone = cudaDeviceSynchronize() != cudaSuccess;
	return -1;
}

/* A first run, and the median of three; of slow kernels the first is one of the three. */
static void measure(struct line *line, int size, int skew, const exact &right)
{
	const double small = line->seconds[SMALL][skew];
	const int want = seconds_now() - started > HASTE ? 1 : 3;
	double times[3];
	int taken = 0;

	if (size == LARGE && small == 0)
		return;
	if (size == LARGE && ldexp(small, log2_of[LARGE] - SMALL_LOG2) > TOO_LONG) {
		add_note(line, "left out where it would take more than 5 s");
		return;
	}
	course.n = (u64)1 << log2_of[size];
	const double first = run_once(line, size, skew, right);
	if (first < 0)
		return;
	if (first > 0.1 || want == 1)
		times[taken++] = first;
	while (taken < want) {
		if ((times[taken++] = run_once(line, size, skew, right)) < 0)
			return;
	}
	std::sort(times, times + taken);
	line->seconds[size][skew] = times[taken / 2];
}

/* ---- all of them ---- */

/* The lines of so many bins: ours, the kernels', the processor's. */
static void measure_all(u32 bins)
{
	struct line *processor = NULL;
	exact right[SIZES];

	for (struct line &line : lines)
		if (line.bins == bins && !line.row)
			processor = &line; /* the last one */
	course.bins = bins;
	must_say("ours", ours_choose(bins, (u64)1 << log2_of[LARGE]));
	for (int skew = 0; skew < SKEWS; skew++) {
		prepare(bins, skew, processor, right);
		for (struct line &line : lines) {
			if (line.bins != bins || &line == processor)
				continue;
			if (!line.row)
				line.name = ours_name();
			fprintf(stderr, "%5.1f s  %u bins, %s: %s\n", seconds_now() - started, bins,
				SKEW[skew], line.name.c_str());
			for (int size = 0; size < SIZES && !gone; size++)
				measure(&line, size, skew, right[size]);
			if (gone)
				return;
		}
	}
}

static double read_rate()
{
	const u64 bytes = (u64)4 << log2_of[LARGE];
	cudaEvent_t begin, end;
	float best = 1e9f;

	must(cudaEventCreate(&begin), "event");
	must(cudaEventCreate(&end), "event");
	for (int i = 0; i < 4; i++) {
		float ms;
		must(cudaEventRecord(begin), "event");
		LAUNCH(read_all, 2 * course.sms, 1024, 0, (const uint4 *)course.data, bytes / 16,
		       course.counts);
		must(cudaEventRecord(end), "event");
		must(cudaEventSynchronize(end), "reading");
		must(cudaEventElapsedTime(&ms, begin, end), "event");
		best = std::min(best, ms);
	}
	return (double)bytes / best * 1e-6;
}

static void open_device(char *name, size_t size)
{
	const u64 bytes = (u64)4 << log2_of[LARGE];
	cudaDeviceProp device;
	void *data = NULL, *sorted = NULL;

	must_say("ours", ours_open());
	must(cudaSetDevice(0), "device 0");
	must(cudaGetDeviceProperties(&device, 0), "device 0");
	snprintf(name, size, "%s", device.name);
	course.sms = (unsigned)device.multiProcessorCount;
	if (cudaMalloc(&data, bytes) != cudaSuccess || cudaMalloc(&sorted, bytes) != cudaSuccess)
		must_say("too little device memory for the samples, twice",
			 "a smaller LOG2 wants less");
	course.data = (const u32 *)data;
	course.sorted = (u32 *)sorted;
	course.limit = LIMIT;
	must(cudaMalloc(&course.counts, 4 * (BINS_MOST + OURS_EXTRA)), "memory");
	must(cudaMalloc(&course.parts, 4 * PARTS_WORDS), "memory");
	must(cudaMalloc(&counts64, 8 * BINS_MOST), "memory");
}

int main(int argc, char **argv)
{
	static const u32 BINS[] = {1024, 2048, 65536};
	char name[256];
	bool bad = false;

	if (argc > 1)
		log2_of[LARGE] = atoi(argv[1]);
	if (argc > 2 || log2_of[LARGE] <= SMALL_LOG2 || log2_of[LARGE] > 31) {
		fprintf(stderr, "usage: course [LOG2]       (26 to 31)\n");
		return 2;
	}
	started = seconds_now();
	open_device(name, sizeof(name));
	for (const u32 bins : BINS) {
		lines.push_back({NULL, "not chosen", bins});
		for (const struct row &row : ROWS)
			if (row.bins == bins)
				lines.push_back({&row, row.name, bins});
		lines.push_back({NULL, "one CPU thread, a plain loop", bins});
	}
	printf("%s, GB/s; reading the same memory: %.0f\n\n", name, read_rate());
	for (const u32 bins : BINS)
		if (!gone)
			measure_all(bins);
	print_table();
	if (gone)
		fprintf(stderr, "course: the device did not recover: the table is not complete\n");
	for (const struct line &line : lines)
		bad |= line.bad;
	fprintf(stderr, "%5.1f s\n", seconds_now() - started);
	return gone || bad;
}

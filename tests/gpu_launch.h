/* SPDX-License-Identifier: MIT */
/*
 * gpu_launch: kernels launched in this process, for cases that are rare in the program: samples at
 * odd addresses, hot cells that get no entry in a block's table, and 64-bit counters that begin just
 * below 2^32.
 */
#ifndef GPUHIST_GPU_LAUNCH_H
#define GPUHIST_GPU_LAUNCH_H

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "count/count.h"
#include "gpu_helper/device.h"
#include "gpu_jobs.h"

/* Page-locked memory for samples, counters and explicit edges, and as much on the device. */
#define LAUNCH_SAMPLES ((size_t)1 << 20)
#define LAUNCH_CELLS ((size_t)1 << 20)
#define LAUNCH_EDGES ((size_t)4 << 20)
#define LAUNCH_CELLS_MOST (LAUNCH_CELLS / sizeof(uint64_t) - 8)

static struct {
	_Alignas(4096) unsigned char samples[LAUNCH_SAMPLES];
	unsigned char cells[LAUNCH_CELLS], edges[LAUNCH_EDGES];
} pinned;

static struct device opened;
static struct kernel_chunk on; /* data: where allocated memory begins */

static void __attribute__((noreturn)) no_device(const char *what, const char *why)
{
	printf("launches: %s: %s\n0 passed, 1 failed\n", what, why);
	exit(1);
}

static void must(CUresult r, const char *what)
{
	cuda_must(&opened.cuda, r, what);
}

static void open_device(void)
{
	static struct region region; /* everything that opening needs */

	opened = (struct device){.region = &region, .cuda.fail = no_device};
	device_open(&opened);
	on = (struct kernel_chunk){.stream = opened.stream[0]};
	must(opened.cuda.host_register(&pinned, sizeof(pinned), 0), "host memory");
	must(opened.cuda.event_create(&opened.slot[0].done, CU_EVENT_DISABLE_TIMING), "event");
	must(opened.cuda.memory_alloc(&on.data, LAUNCH_SAMPLES + 16), "memory");
	must(opened.cuda.memory_alloc(&on.dense, LAUNCH_SAMPLES), "memory");
	must(opened.cuda.memory_alloc(&on.cells, LAUNCH_CELLS), "memory");
	must(opened.cuda.memory_alloc(&on.edges, LAUNCH_EDGES), "memory");
}

static void wait_device(void)
{
	CUresult r;

	must(opened.cuda.event_record(opened.slot[0].done, on.stream), "event");
	while ((r = opened.cuda.event_query(opened.slot[0].done)) == CUDA_ERROR_NOT_READY)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	must(r, "kernel");
}

/* Add pinned.samples, `odd` bytes after the beginning of the memory, to pinned.cells. */
static void launch(const struct counting *c, size_t odd, size_t n, const struct binning *bins,
		   bool resident)
{
	struct kernel_chunk chunk = on;
	const size_t bytes = c->cells * (resident ? 8 : 4);

	kernel_plan_init(&opened.plan, c, &opened.cuda, resident);
	kernel_plan_unaligned(&opened.plan, c, &opened.cuda);
	chunk.data += odd;
	if (opened.plan.edges_bytes > 0) {
		memcpy(pinned.edges, opened.plan.edges, opened.plan.edges_bytes);
		must(opened.cuda.to_device(on.edges, pinned.edges, opened.plan.edges_bytes,
					   on.stream),
		     "edges");
	}
	must(opened.cuda.to_device(chunk.data, pinned.samples, n * c->bytes, on.stream), "copy");
	must(opened.cuda.to_device(on.cells, pinned.cells, LAUNCH_CELLS, on.stream), "copy");
	kernel_launch(&opened.plan, &opened.cuda, &chunk, n, bins, false);
	must(opened.cuda.to_host(pinned.cells, on.cells,
				 opened.plan.extent ? 4 * kernel_out_words(&opened.plan) : bytes,
				 on.stream),
	     "copy");
	wait_device();
}

/* Add the CPU's counts of n samples of one channel to cells; at k, whatever it is. */
static void count_plainly(const struct counting *c, int k, const unsigned char *samples, size_t n,
			  uint64_t *cells)
{
	struct fail fail = {.status = STATUS_OK};
	struct counting plain = *c;
	struct counts counts;

	if (plain.auto_bins.most > 0) {
		auto_rule(&plain.binning, &plain.auto_bins, k);
		plain.auto_bins.most = 0;
		plain.extent = NULL;
	}
	if (counts_init(&counts, c->cells, NULL, &fail) != 0)
		return;
	struct counter *const counter = counter_open(&plain, &counts);
	counter_add(counter, samples, n);
	counter_close(counter);
	for (size_t i = 0; i < c->cells; i++)
		cells[i] += counts.cell[i];
	counts_free(&counts);
}

/* ---- odd addresses ---- */

static void compare_launch(const struct counting *c, const struct job *job, size_t odd, size_t n)
{
	const uint64_t infinity =
		((uint64_t)1 << (8 * c->type.code_bytes - 1)) - ((uint64_t)1 << c->type.mantissa);
	const bool is_auto = c->auto_bins.most > 0;
	uint64_t *const expected = calloc(c->cells, sizeof(*expected));
	struct binning bins = c->binning;
	struct extent extent = {0};
	uint32_t cell;
	size_t differ = 0;
	int k = 0;

	if (is_auto) {
		extent = c->extent(pinned.samples, n,
				   c->type.kind == SAMPLE_FLOAT ? infinity : c->binning.bias);
		k = auto_k(&c->auto_bins, &extent);
		auto_rule(&bins, &c->auto_bins, k);
	}
	count_plainly(c, k, pinned.samples, n, expected);
	memset(pinned.cells, 0, sizeof(pinned.cells));
	launch(c, odd, n, is_auto ? &bins : NULL, false);
	for (size_t i = 0; i < c->cells; i++) {
		memcpy(&cell, pinned.cells + 4 * i, sizeof(cell));
		differ += cell != expected[i];
	}
	CHECK(differ == 0, "%s -b %lu, %zu samples at %zu: %zu cells differ", job->type,
	      (unsigned long)job->bins, n, odd, differ);
	if (is_auto) {
		const struct extent got =
			kernel_extent(&opened.plan, (const uint32_t *)(const void *)pinned.cells);
		CHECK(got.least == extent.least && got.greatest == extent.greatest,
		      "%s, %zu samples at %zu: extent", job->type, n, odd);
	}
	free(expected);
}

/* Count samples that begin at any address, as those that the device decodes do. */
static void check_odd(const struct job *job)
{
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	double *list;

	sample_type_parse(&type, job->type);
	if (make_edges(job, &type, &edges, &list)) {
		counting_init(&counting, &type, &edges, NULL, false);
		for (int i = 0; i < 4 && counting.cells <= LAUNCH_CELLS_MOST; i++) {
			const size_t n = draw() % (i % 2 ? 20000 : 40);
			fill(pinned.samples, n, &edges, &type, (enum data)(draw() % DATA_KINDS));
			compare_launch(&counting, job, 1 + draw() % 15, n);
		}
		edges_free(&edges);
	}
	free(list);
}

/* ---- hot cells without an entry ---- */

/*
 * By value, a sample is its cell. Two hot cells that share an entry in a block, and noise that takes
 * all entries before them: few counts go through the blocks' tables.
 */
static void check_hot(const char *name, uint32_t block)
{
	const struct job job = {.type = name, .bins = 65536};
	const size_t n = 60000 + draw() % 5000;
	const uint32_t one = (uint32_t)(draw() % job.bins);
	uint32_t other = (uint32_t)(draw() % job.bins);
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	double *list;

	while (other == one || far_entry(other, block) != far_entry(one, block))
		other = (other + 1) % job.bins;
	sample_type_parse(&type, name);
	CHECK(make_edges(&job, &type, &edges, &list), "edges");
	counting_init(&counting, &type, &edges, NULL, false);
	for (size_t noise = 0; noise <= n / 2; noise += n / 4) {
		for (size_t i = 0; i < n; i++)
			put(pinned.samples + i * type.code_bytes, &type,
			    i < noise    ? draw() % job.bins
			    : draw() % 2 ? one
					 : other);
		compare_launch(&counting, &job, 0, n);
	}
	edges_free(&edges);
}

/* ---- wide counters ---- */

#define WIDE_BINS 1000u
#define WIDE_SAMPLES 20000u

/* Count noise, and one hot bin: by atomics on the table, and on the blocks' own tables. */
static void check_wide(void)
{
	const struct job job = {.type = "u32", .bins = WIDE_BINS};
	uint32_t *const sample = (uint32_t *)(void *)pinned.samples;
	uint64_t *const counter = (uint64_t *)(void *)pinned.cells, expected[WIDE_BINS + 4];
	struct counting counting;
	struct sample_type type;
	struct edges edges;
	double *list;
	size_t wrong = 0;

	sample_type_parse(&type, job.type);
	CHECK(make_edges(&job, &type, &edges, &list), "edges");
	counting_init(&counting, &type, &edges, NULL, true);
	for (size_t i = 0; i < counting.cells; i++)
		counter[i] = expected[i] = UINT32_MAX - draw() % 30;
	for (size_t i = 0; i < WIDE_SAMPLES; i++) {
		sample[i] = draw() % 4 == 0 ? 7 : (uint32_t)(draw() % WIDE_BINS);
		expected[sample[i]]++;
	}
	launch(&counting, 0, WIDE_SAMPLES, NULL, true);
	for (size_t i = 0; i < counting.cells; i++)
		wrong += counter[i] != expected[i];
	CHECK(wrong == 0, "%zu of %zu counters of 64 bits are wrong", wrong, counting.cells);
	edges_free(&edges);
}

/* Make all of these checks. */
static void check_launches(uint64_t seed)
{
	state = seed + 77;
	open_device();
	check_wide();
	for (uint32_t block = 0; block < 2; block++) {
		check_hot("u16", block);
		check_hot("u32", block);
	}
	for (size_t i = 0; i < LIST_LENGTH; i++)
		check_odd(&LIST[i]);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * kernels: the kernels alone, on data in device memory, as the program chooses and launches
 * them. Needs a GPU.
 * usage: kernels [GIB]               (of data; default 3, below 4)
 *
 * Each line is a job, each column a kind of data, in GB/s. The last column divides the lowest rate
 * by the rate of reading, for which the fastest kernel that only looks for the minimum and maximum
 * is timed. Times include clearing the counters. They are taken on the host, from launch to event,
 * so some 10 us of each are not the kernel's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu_helper/kernel.h"
#include "gpu/gpu_plan.h"
#include "bins/number.h"

enum skew { UNIFORM, CONSTANT, GAUSS, SORTED, TWO_HOT, SKEWS };
static const char *const SKEW[] = {"uniform", "constant", "gauss", "sorted", "two hot"};

static const struct bench_job {
	const char *type;
	uint32_t bins;
	const char *range; /* NULL: 0:VALUES; "list": explicit edges, regular from 0 to VALUES */
	double values;     /* data lies in [0, values) */
} JOBS[] = {
	{"u8", 256, NULL, 256},
	{"u16", 65536, NULL, 65536},
	{"u24", 1024, NULL, 1024},
	{"u32", 1024, NULL, 1024},
	{"u32", 65536, NULL, 65536},
	{"u32", 1 << 20, NULL, 1 << 20},
	{"u32", 1 << 24, NULL, 1 << 24},
	{"u64", 1024, NULL, 1024},
	{"f32", 1000, "0:1024", 1024},
	{"f64", 1000, "0:1024", 1024},
	{"u32", 1 << 20, "list", 1 << 22},
};

static struct cuda cuda;

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "no GPU, or it failed: %s: %s\n", what, why);
	exit(cuda.module ? 1 : 77);
}

static void must(CUresult r, const char *what)
{
	cuda_must(&cuda, r, what);
}

static uint64_t draw(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

/* Return bins + 1 regular edges; the memory is kept. */
static const double *make_list(const struct bench_job *job)
{
	double *const list = calloc((size_t)job->bins + 1, sizeof(*list));

	for (uint32_t i = 0; list && i <= job->bins; i++)
		list[i] = job->values * i / job->bins;
	return list;
}

/* Return a value in [0, values) for sample i of n. */
static double value(enum skew skew, double values, size_t i, size_t n)
{
	const uint64_t x = draw();
	const double u = (double)(x >> 11) * 0x1p-53;
	const double g = ((double)(x & 0xffff) + (double)(x >> 16 & 0xffff) +
			  (double)(x >> 32 & 0xffff) + (double)(x >> 48)) /
			 262144.0;
	switch (skew) {
	case UNIFORM:
		return u * values;
	case CONSTANT:
		return values - 1;
	case GAUSS:
		return g * values;
	case SORTED:
		return (double)i / (double)n * values;
	default:
		return x & 15 ? (x & 16 ? values - 3 : 5) : u * values;
	}
}

static void put(unsigned char *p, const struct sample_type *t, double v)
{
	uint64_t bits = (uint64_t)v;
	const float f = (float)v;

	if (t->kind == SAMPLE_FLOAT && t->code_bytes == 4)
		memcpy(&bits, &f, 4);
	else if (t->kind == SAMPLE_FLOAT)
		memcpy(&bits, &v, 8);
	for (uint32_t k = 0; k < t->code_bytes; k++)
		p[t->big ? t->code_bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

/* A piece of samples in page-locked memory, and its address on the device. */
struct piece {
	unsigned char *data;
	struct kernel_chunk on;
	CUevent done;
};

/* Wait for everything that is queued. */
static void finish(struct piece *s)
{
	CUresult r;

	must(cuda.event_record(s->done, s->on.stream), "event");
	while ((r = cuda.event_query(s->done)) == CUDA_ERROR_NOT_READY)
		;
	must(r, "work");
}

/* Copy the tables of the binning to the device, as the program does, but in one copy. */
static void upload_table(struct piece *s, const struct kernel_plan *plan, size_t piece)
{
	must(plan->edges_bytes <= piece ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY, "table");
	memcpy(s->data, plan->edges, plan->edges_bytes);
	must(cuda.to_device(s->on.edges, s->data, plan->edges_bytes, s->on.stream), "copy");
	finish(s);
}

/*
 * Fill a piece with samples first .. first + n - 1 of `all`; unless the data is sorted, every piece
 * is the same. Making every sample would take minutes: sorted samples come in runs of 512, and for
 * the other kinds a quarter is made and repeated.
 */
static void fill(struct piece *s, const struct sample_type *t, enum skew skew, double values,
		 size_t n, size_t first, size_t all)
{
	const size_t run = skew == SORTED ? 512 : 1, own = skew == SORTED ? n : n / 4,
		     bytes = t->code_bytes;

	for (size_t i = 0; i < own; i += run) {
		unsigned char *p = s->data + i * bytes;
		put(p, t, value(skew, values, first + i, all));
		for (size_t k = 1; k < run; k *= 2) /* a piece is a whole number of runs */
			memcpy(p + k * bytes, p, k * bytes);
	}
	for (size_t i = own; i < n; i += own)
		memcpy(s->data + i * bytes, s->data, own * bytes);
}

/* Return the GB/s of the work that f queues before the event. */
static double best_of(struct piece *s, size_t bytes, void (*f)(struct piece *, void *), void *arg)
{
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		finish(s);
		const double start = clock_seconds();
		f(s, arg);
		finish(s);
		const double seconds = clock_seconds() - start;
		best = seconds < best ? seconds : best;
	}
	return (double)bytes / best * 1e-9;
}

struct launch {
	const struct kernel_plan *plan;
	size_t samples;
	size_t bytes;
};

static void kernel(struct piece *s, void *arg)
{
	const struct launch *l = arg;

	must(cuda.fill32(s->on.cells, 0, kernel_out_words(l->plan), s->on.stream), "clear");
	kernel_launch(l->plan, &cuda, &s->on, l->samples, NULL, false);
}

/* Queue the kernel of the program that comes closest to plain reading. */
static void read_only(struct piece *s, void *arg)
{
	const struct launch *l = arg;
	CUdeviceptr data = s->on.data, out = s->on.cells;
	uint64_t n = l->samples;
	struct rule rule = l->plan->rule;
	void *arguments[] = {&data, &n, &rule, &out};

	must(cuda.launch(l->plan->extent, l->plan->sms, 1, 1, KERNEL_THREADS, 1, 1,
			 KERNEL_EXTENT_SHARED, s->on.stream, arguments, NULL),
	     "launch");
}

static void copy_in(struct piece *s, void *arg)
{
	const struct launch *l = arg;

	must(cuda.to_device(s->on.data, s->data, l->bytes, s->on.stream), "copy");
}

/* Return the rate of reading, measured on u64: two instructions for 8 bytes. */
static double read_rate(struct piece *s, size_t bytes)
{
	struct kernel_plan plan = {0};
	struct sample_type type;
	struct axis_spec spec = {.bins = 256, .kind = AXIS_AUTO};
	struct edges edges;
	struct counting counting;
	const char *why;

	sample_type_parse(&type, "u64");
	if (edges_init(&edges, &spec, &type, &why) != 0)
		exit(1);
	counting_init(&counting, &type, &edges, NULL, false);
	kernel_plan_init(&plan, &counting, &cuda, false);
	return best_of(s, bytes, read_only, &(struct launch){.plan = &plan, .samples = bytes / 8});
}

static void make_edges(struct edges *edges, const struct bench_job *job,
		       const struct sample_type *type)
{
	struct axis_spec spec = {.bins = job->bins, .kind = job->range ? AXIS_RANGE : AXIS_VALUES};
	const char *why, *range = job->range ? job->range : "";
	if (strcmp(range, "list") == 0) {
		spec.kind = AXIS_EDGES;
		spec.list = make_list(job);
	} else if (job->range) {
		number_parse(&spec.lo, "0", 1);
		number_parse(&spec.hi, range + 2, strlen(range + 2));
	}
	if (edges_init(edges, &spec, type, &why) != 0) {
		fprintf(stderr, "%s, %s: %s\n", job->type, range, why);
		exit(1);
	}
}

/* Fill the device's memory with samples of this skew. */
static void upload(struct piece *s, const struct bench_job *job, const struct sample_type *t,
		   enum skew skew, size_t piece, size_t bytes)
{
	const size_t n = piece / t->code_bytes;

	for (size_t at = 0; at < bytes; at += piece) {
		if (at == 0 || skew == SORTED)
			fill(s, t, skew, job->values, n, at / t->code_bytes, bytes / t->code_bytes);
		must(cuda.to_device(s->on.data + at, s->data, piece, s->on.stream), "copy");
		finish(s);
	}
}

/* Time one job, and print its line of the table. */
static void run(struct piece *s, const struct bench_job *job, size_t piece, size_t bytes,
		double reading)
{
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	struct kernel_plan plan = {0};
	double least = 1e9;

	sample_type_parse(&type, job->type);
	make_edges(&edges, job, &type);
	counting_init(&counting, &type, &edges, NULL, false);
	kernel_plan_init(&plan, &counting, &cuda, false);
	if (plan.edges_bytes > 0)
		upload_table(s, &plan, piece);
	printf("| %s, %lu%s%s", job->type, (unsigned long)job->bins, job->range ? " over " : "",
	       job->range ? job->range : "");
	printf(" | %s |", plan.name);
	const struct launch l = {.plan = &plan, .samples = bytes / type.code_bytes};
	for (int k = 0; k < SKEWS; k++) {
		upload(s, job, &type, (enum skew)k, piece, bytes);
		const double rate = best_of(s, bytes, kernel, (void *)(uintptr_t)&l);
		least = rate < least ? rate : least;
		printf(" %.0f |", rate);
		fflush(stdout);
	}
	printf(" %.2f |\n", least / reading);
	edges_free(&edges);
}

int main(int argc, char **argv)
{
	const double gib = argc > 1 ? atof(argv[1]) : 3;
	/* a whole number of samples of every size */
	const size_t piece = (size_t)(gib < 0.1 ? 3 : 96) << 20;
	const size_t bytes = (size_t)(gib * 0x1p30) / piece * piece;
	struct piece s = {0};
	char name[128];

	cuda.fail = fail;
	cuda_open(&cuda);
	must(cuda.stream_create(&s.on.stream, CU_STREAM_NON_BLOCKING), "stream");
	must(cuda.event_create(&s.done, CU_EVENT_DISABLE_TIMING), "event");
	must(cuda.memory_alloc(&s.on.data, bytes), "memory");
	must(cuda.memory_alloc(&s.on.dense, bytes), "memory");
	must(cuda.memory_alloc(&s.on.edges, piece), "memory");
	must(cuda.memory_alloc(&s.on.cells, ((size_t)4 << 24) + 64), "memory");
	cuda.device_name(name, sizeof(name), cuda.device);
	s.data = aligned_alloc(4096, piece);
	memset(s.data, 1, piece);
	must(cuda.host_register(s.data, piece, 0), "pinned memory");

	struct launch l = {.bytes = piece};
	printf("%s, %.2f GiB in device memory\n\n", name, (double)bytes / 0x1p30);
	printf("H2D from pinned memory: %.1f GB/s\n", best_of(&s, piece, copy_in, &l));
	const double reading = read_rate(&s, bytes);
	printf("Reading: %.0f GB/s\n\n", reading);
	printf("| samples, bins | kernel |");
	for (int k = 0; k < SKEWS; k++)
		printf(" %s |", SKEW[k]);
	printf(" least / reading |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t j = 0; j < sizeof(JOBS) / sizeof(JOBS[0]); j++)
		run(&s, &JOBS[j], piece, bytes, reading);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * kernels: the kernels alone, on data in device memory, as the program chooses and launches
 * them, and CUB's DeviceHistogram on the same data, if it is linked (cub.cu). Needs a GPU.
 * usage: kernels [GIB]               (of data; default 3, below 4; 0: a trial of all rows)
 *
 * Each line is a job, each column a kind of data, in GB/s. The last column divides the lowest rate
 * by the rate of reading, for which the fastest kernel that only looks for the minimum and maximum
 * is timed. Times include clearing the counters. They are taken on the host, from launch to event,
 * so some 10 us of each are not the kernel's. A second table has launches of 4 MiB, as the program
 * makes them, for kernels that count in global memory, and data that could be slow there.
 *
 * All counts are compared with the CPU's. A rate with wrong counts has a "!".
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
#include "cub.h"

#define CELLS_BYTES (((size_t)8 << 24) + 4096)
#define TABLE_BYTES ((size_t)32 << 20)
#define CHUNK ((size_t)4 << 20) /* bytes of a launch in the second table */

enum skew {
	UNIFORM,
	CONSTANT,
	GAUSS,
	SORTED,
	TWO_HOT,
	LATE, /* a sixteenth is noise, the rest one value: a recording that ends in silence */
	/* In each chunk, noise and then one value, or 32; values that share an entry of far.cuh. */
	NOISE_ONE,
	NOISE_32,
	PAIR,
	THREE,
	MIXED, /* noise at the beginning of each load of 16 bytes, then one value */
	SKEWS
};
static const char *const SKEW[SKEWS] = {"uniform",    "constant", "gauss",    "sorted",
					"two hot",    "late",     "noise, 1", "noise, 32",
					"2 an entry", "3",        "mixed"};

struct table {
	enum skew skews[7];
	int columns;
	size_t launch; /* bytes; 0: all */
};
static const struct table WHOLE = {{UNIFORM, CONSTANT, GAUSS, SORTED, TWO_HOT, LATE}, 6, 0},
			  CHUNKS = {{UNIFORM, CONSTANT, NOISE_ONE, NOISE_32, PAIR, THREE, MIXED},
				    7,
				    CHUNK};

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

/* Return `from` or one of the next numbers that have its entry of block 0. */
static double sharing(uint32_t from, unsigned which)
{
	static uint32_t found[3];

	if (found[0] != from)
		for (unsigned n = 0; n < 3; n++)
			for (found[n] = n > 0 ? found[n - 1] + 1 : from;
			     far_entry(found[n], 0) != far_entry(from, 0); found[n]++)
				;
	return found[which];
}

/* Return a value in [0, values) for sample i of n; t: its type. */
static double value(enum skew skew, const struct sample_type *t, double values, size_t i, size_t n)
{
	const size_t chunk = CHUNK / t->code_bytes, load = 16 / t->code_bytes;
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
	case LATE:
		return i < n / 16 ? u * values : values / 2;
	case NOISE_ONE:
		return i % chunk < chunk / 2 ? u * values : values / 2;
	case NOISE_32:
		return i % chunk < chunk / 2 ? u * values : (double)(x >> 6 & 31) * values / 32;
	case PAIR:
	case THREE:
		return sharing((uint32_t)values / 2, (unsigned)(x >> 40) % (skew == PAIR ? 2 : 3));
	case MIXED:
		return i % load < (load + 1) / 3 ? u * values : values / 2;
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
	unsigned char *cells; /* page-locked, for counters */
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
static void upload_table(struct piece *s, const struct kernel_plan *plan)
{
	must(plan->edges_bytes <= TABLE_BYTES ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY, "table");
	memcpy(s->cells, plan->edges, plan->edges_bytes);
	must(cuda.to_device(s->on.edges, s->cells, plan->edges_bytes, s->on.stream), "copy");
	finish(s);
}

/* Is every piece of this kind of data the same? */
static bool repeats(enum skew skew)
{
	return skew != SORTED && skew != LATE;
}

/*
 * Fill a piece with samples first .. first + n - 1 of `all`. Making every sample would take minutes:
 * sorted samples come in runs of 512, and for the other kinds a quarter is made and repeated.
 */
static void fill(struct piece *s, const struct sample_type *t, enum skew skew, double values,
		 size_t n, size_t first, size_t all)
{
	const size_t run = skew == SORTED ? 512 : 1, own = skew == SORTED ? n : n / 4,
		     bytes = t->code_bytes;

	for (size_t i = 0; i < own; i += run) {
		unsigned char *p = s->data + i * bytes;
		put(p, t, value(skew, t, values, first + i, all));
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
	size_t sample; /* bytes */
	size_t bytes;
	size_t each; /* bytes of a launch */
};

static void kernel(struct piece *s, void *arg)
{
	const struct launch *l = arg;
	struct kernel_chunk on = s->on;

	must(cuda.fill32(s->on.cells, 0, (l->plan->rule.resident ? 2 : 1) * (size_t)l->plan->cells,
			 s->on.stream),
	     "clear");
	for (size_t at = 0; at < l->bytes; at += l->each) {
		const size_t left = l->bytes - at, bytes = left < l->each ? left : l->each;
		on.data = s->on.data + at;
		kernel_launch(l->plan, &cuda, &on, bytes / l->sample, NULL, false);
	}
}

/* Queue the kernel of the program that comes closest to plain reading. */
static void read_only(struct piece *s, void *arg)
{
	const struct launch *l = arg;
	CUdeviceptr data = s->on.data, out = s->on.cells;
	uint64_t n = l->bytes / l->sample;
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
	return best_of(s, bytes, read_only,
		       &(struct launch){.plan = &plan, .sample = 8, .bytes = bytes});
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

/* Add the CPU's counts of a piece, of which there are `times` copies, to want. */
static void count_piece(const struct counting *c, const struct piece *s, size_t piece,
			uint64_t times, uint64_t *want)
{
	struct fail error = {.status = STATUS_OK};
	struct counts counts;

	if (counts_init(&counts, c->cells, NULL, &error) != 0)
		exit(1);
	struct counter *const counter = counter_open(c, &counts);
	counter_add(counter, s->data, piece / c->bytes);
	counter_close(counter);
	for (size_t i = 0; i < c->cells; i++)
		want[i] += times * counts.cell[i];
	counts_free(&counts);
}

/* Fill the device's memory with samples of this skew; want gets their counts. */
static void upload(struct piece *s, const struct bench_job *job, const struct counting *c,
		   enum skew skew, size_t piece, size_t bytes, uint64_t *want)
{
	const size_t size = c->bytes, n = piece / size, pieces = bytes / piece;

	memset(want, 0, c->cells * sizeof(*want));
	for (size_t i = 0; i < pieces; i++) {
		if (i == 0 || !repeats(skew)) {
			fill(s, &c->type, skew, job->values, n, i * n, bytes / size);
			count_piece(c, s, piece, repeats(skew) ? pieces : 1, want);
		}
		must(cuda.to_device(s->on.data + i * piece, s->data, piece, s->on.stream), "copy");
		finish(s);
	}
}

/* Return how many of the counters on the device are wrong. */
static size_t count_wrong(struct piece *s, const struct kernel_plan *plan, const uint64_t *want)
{
	const size_t size = plan->rule.resident ? 8 : 4;
	unsigned char *const got = s->cells;
	size_t wrong = 0;

	must(cuda.to_host(got, s->on.cells, plan->cells * size, s->on.stream), "copy");
	finish(s);
	for (size_t i = 0; i < plan->cells; i++) {
		uint64_t count = 0;
		memcpy(&count, got + i * size, size);
		wrong += count != want[i];
	}
	return wrong;
}

/* Return the rate of CUB, whose counts may differ for floats; 0: it cannot count this. */
static double rival(const struct piece *s, const struct bench_job *job, size_t bytes,
		    const uint64_t *want, size_t *differ)
{
	const struct cub_job it = {
		.type = job->type,
		.samples = (void *)(uintptr_t)s->on.data,
		.bytes = bytes,
		.bins = job->bins,
		.hi = job->values,
		.list = job->range && strcmp(job->range, "list") == 0 ? make_list(job) : NULL};
	uint32_t *const count = (uint32_t *)(void *)s->cells;
	const double rate = cub_rate(&it, count);

	*differ = 0;
	for (uint32_t i = 0; rate > 0 && i < job->bins; i++)
		*differ += count[i] != want[i];
	free((void *)(uintptr_t)it.list);
	return rate;
}

/* Time one job on all kinds of data of a table, and print its lines. */
static void run(struct piece *s, const struct bench_job *job, const struct table *table,
		size_t piece, size_t bytes, double reading)
{
	struct sample_type type;
	struct edges edges;
	struct counting counting;
	struct kernel_plan plan = {0};
	double least = 1e9, rates[SKEWS] = {0};
	size_t differ[SKEWS] = {0};

	sample_type_parse(&type, job->type);
	make_edges(&edges, job, &type);
	counting_init(&counting, &type, &edges, NULL, false);
	kernel_plan_init(&plan, &counting, &cuda, table->launch && counting.cells > RESIDENT_CELLS);
	uint64_t *const want = malloc(counting.cells * sizeof(*want));
	if (!want)
		exit(1);
	if (plan.edges_bytes > 0)
		upload_table(s, &plan);
	printf("| %s, %lu%s%s | %s |", job->type, (unsigned long)job->bins,
	       job->range ? " over " : "", job->range ? job->range : "", plan.name);
	const struct launch l = {.plan = &plan,
				 .sample = type.code_bytes,
				 .bytes = bytes,
				 .each = table->launch ? table->launch : bytes};
	for (int k = 0; k < table->columns; k++) {
		upload(s, job, &counting, table->skews[k], piece, bytes, want);
		const double rate = best_of(s, bytes, kernel, (void *)(uintptr_t)&l);
		const bool wrong = count_wrong(s, &plan, want) > 0;
		least = rate < least ? rate : least;
		printf(" %.0f%s |", rate, wrong ? "!" : "");
		fflush(stdout);
		if (cub_rate && !table->launch)
			rates[k] = rival(s, job, bytes, want, &differ[k]);
	}
	printf(" %.2f |\n", least / reading);
	if (rates[0] > 0) {
		printf("| | CUB |");
		for (int k = 0; k < table->columns; k++)
			printf(" %.0f%s |", rates[k], differ[k] > 0 ? "!" : "");
		printf(" |\n");
	}
	free(want);
	edges_free(&edges);
}

static void print_head(const struct table *table)
{
	printf("\n| samples, bins | kernel |");
	for (int k = 0; k < table->columns; k++)
		printf(" %s |", SKEW[table->skews[k]]);
	printf(" least / reading |\n|---|---|");
	for (int k = 0; k <= table->columns; k++)
		printf("---|");
	printf("\n");
}

int main(int argc, char **argv)
{
	const double gib = argc > 1 ? atof(argv[1]) : 3;
	/* a whole number of samples of every size */
	const size_t piece = gib < 0.1 ? (size_t)96 << 10 : (size_t)96 << 20;
	const size_t pieces = (size_t)(gib * 0x1p30) / piece, bytes = (pieces + !pieces) * piece;
	struct piece s = {0};
	char name[128];

	cuda.fail = fail;
	cuda_open(&cuda);
	must(cuda.stream_create(&s.on.stream, CU_STREAM_NON_BLOCKING), "stream");
	must(cuda.event_create(&s.done, CU_EVENT_DISABLE_TIMING), "event");
	must(cuda.memory_alloc(&s.on.data, bytes), "memory");
	must(cuda.memory_alloc(&s.on.dense, bytes), "memory");
	must(cuda.memory_alloc(&s.on.edges, TABLE_BYTES), "memory");
	must(cuda.memory_alloc(&s.on.cells, CELLS_BYTES), "memory");
	cuda.device_name(name, sizeof(name), cuda.device);
	s.data = aligned_alloc(4096, piece);
	memset(s.data, 1, piece);
	must(cuda.host_register(s.data, piece, 0), "pinned memory");
	s.cells = aligned_alloc(4096, CELLS_BYTES);
	must(cuda.host_register(s.cells, CELLS_BYTES, 0), "pinned memory");

	struct launch l = {.bytes = piece};
	printf("%s, %.2f GiB in device memory\n\n", name, (double)bytes / 0x1p30);
	printf("H2D from pinned memory: %.1f GB/s\n", best_of(&s, piece, copy_in, &l));
	const double reading = read_rate(&s, bytes);
	printf("Reading: %.0f GB/s\n", reading);
	if (cub_rate)
		printf("CUB %s; a \"!\": its floats are rounded in binary32\n", cub_version());
	print_head(&WHOLE);
	for (size_t j = 0; j < sizeof(JOBS) / sizeof(JOBS[0]); j++)
		run(&s, &JOBS[j], &WHOLE, piece, bytes, reading);
	printf("\nIn launches of 4 MiB, counters of more than 2^17 cells with 64 bits:\n");
	print_head(&CHUNKS);
	for (size_t j = 0; j < sizeof(JOBS) / sizeof(JOBS[0]); j++)
		if (!JOBS[j].range && JOBS[j].bins > 1 << 15)
			run(&s, &JOBS[j], &CHUNKS, piece, bytes, reading);
	return 0;
}

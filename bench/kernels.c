/*
 * kernels: the kernels alone, on data that lies in device memory, as the program chooses and
 * launches them. On a machine with a GPU.
 * usage: kernels [GIB]       (of data; default 3, below 4)
 *
 * Each line is a job, each column a kind of data, in GB/s. The clearing of the counters is part
 * of it; the time is the host's, from launch to event, so some 10 us of it are not the kernel's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "gpu.h"
#include "gpu_kernel.h"
#include "number.h"

enum skew { UNIFORM, CONSTANT, GAUSS, SORTED, TWO_HOT, SKEWS };
static const char *const SKEW[] = {"uniform", "constant", "gauss", "sorted", "two hot"};

static const struct {
	const char *type;
	uint32_t bins;
	const char *range; /* of a float type; an integer's is 0:VALUES */
	double values;     /* data lies in [0, values) */
} JOBS[] = {
	{"u8", 256, NULL, 256}, {"u16", 1024, NULL, 1024}, {"u16", 1024, "0:65536", 65536},
	{"u16", 1000, "0:65536", 65536}, {"i16be", 1024, NULL, 1024}, {"u16", 16384, NULL, 16384},
	{"u16", 65536, NULL, 65536},
	{"u24", 1024, NULL, 1024}, {"u32", 1024, NULL, 1024}, {"u32be", 1024, NULL, 1024},
	{"u32", 1000, "0:1024", 1024}, {"u32", 16384, NULL, 16384}, {"u32", 50000, NULL, 50000},
	{"u32", 65536, NULL, 65536}, {"u32", 100000, NULL, 100000}, {"u32", 1 << 20, NULL, 1 << 20},
	{"u32", 1 << 24, NULL, 1 << 24}, {"u64", 1024, NULL, 1024}, {"u64", 1000, "0:1024", 1024},
	{"f32", 1000, "0:1024", 1024}, {"f32", 1024, "0:1024", 1024}, {"f32", 65536, "0:1024", 1024},
	{"f64", 1000, "0:1024", 1024},
};

static struct cuda cuda;

static void must(CUresult r, const char *what)
{
	if (r != CUDA_SUCCESS) {
		fprintf(stderr, "%s: %s\n", what, cuda_error(&cuda, r));
		exit(1);
	}
}

/* A value in [0, values) at place i of n. */
static double value(enum skew skew, double values, size_t i, size_t n)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	const double u = (double)(x >> 11) * 0x1p-53;
	const double g = ((double)(x & 0xffff) + (double)(x >> 16 & 0xffff) +
			  (double)(x >> 32 & 0xffff) + (double)(x >> 48)) / 262144.0;
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

	if (t->kind == SAMPLE_FLOAT && t->bytes == 4)
		memcpy(&bits, &f, 4);
	else if (t->kind == SAMPLE_FLOAT)
		memcpy(&bits, &v, 8);
	for (uint32_t k = 0; k < t->bytes; k++)
		p[t->big ? t->bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

/*
 * A piece of n samples from `first` of `all` on; all but sorted data repeat it. Making each sample
 * would take minutes: sorted ones come in runs of 512, of others a quarter is made.
 */
static void fill(struct slot *s, const struct sample_type *t, enum skew skew, double values,
		 size_t n, size_t first, size_t all)
{
	const size_t run = skew == SORTED ? 512 : 1, own = skew == SORTED ? n : n / 4, bytes = t->bytes;

	for (size_t i = 0; i < own; i += run) {
		unsigned char *p = s->data + i * bytes;
		put(p, t, value(skew, values, first + i, all));
		for (size_t k = 1; k < run; k *= 2) /* pieces hold whole runs */
			memcpy(p + k * bytes, p, k * bytes);
	}
	for (size_t i = own; i < n; i += own)
		memcpy(s->data + i * bytes, s->data, own * bytes);
}

/* GB/s of work that is queued by f and lies behind event. */
static double best_of(struct slot *s, size_t bytes, CUresult (*f)(struct slot *, void *), void *arg)
{
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		CUresult r;
		must(cuda.event_record(s->done, s->stream), "event");
		while ((r = cuda.event_query(s->done)) == CUDA_ERROR_NOT_READY)
			;
		must(r, "work");
		const double start = clock_seconds();
		must(f(s, arg), "launch");
		must(cuda.event_record(s->done, s->stream), "event");
		while ((r = cuda.event_query(s->done)) == CUDA_ERROR_NOT_READY)
			;
		must(r, "work");
		const double seconds = clock_seconds() - start;
		best = seconds < best ? seconds : best;
	}
	return (double)bytes / best * 1e-9;
}

struct launch {
	const struct kernel_plan *plan;
	size_t samples;
	CUdeviceptr from;
	size_t bytes;
};

static CUresult kernel(struct slot *s, void *arg)
{
	const struct launch *l = arg;
	CUresult r = cuda.fill32(s->d_cells, 0, l->plan->cells, s->stream);

	return r == CUDA_SUCCESS ? kernel_launch(l->plan, &cuda, s, l->samples) : r;
}

static CUresult copy_in(struct slot *s, void *arg)
{
	const struct launch *l = arg;

	return cuda.to_device(s->d_data, s->data, l->bytes, s->stream);
}

int main(int argc, char **argv)
{
	const size_t piece = (size_t)96 << 20; /* whole samples of every size */
	const size_t bytes = (size_t)((argc > 1 ? atof(argv[1]) : 3) * 0x1p30) / piece * piece;
	const char *why, *what;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	struct slot s = {0};
	char name[128];

	if (cuda_load(&cuda, &why) != 0 || !kernel_image) {
		printf("no GPU: %s\n", kernel_image ? why : "built without nvcc");
		return 77;
	}
	must(cuda.init(0), "driver");
	must(cuda.device_get(&device, 0), "device");
	must(cuda.context_retain(&context, device), "context");
	must(cuda.context_set(context), "context");
	must(cuda.module_load(&module, kernel_image), "kernels");
	must(cuda.stream_create(&s.stream, CU_STREAM_NON_BLOCKING), "stream");
	must(cuda.event_create(&s.done, CU_EVENT_DISABLE_TIMING), "event");
	must(cuda.memory_alloc(&s.d_data, bytes), "memory");
	must(cuda.memory_alloc(&s.d_cells, ((size_t)4 << 24) + 64), "memory");
	cuda.device_name(name, sizeof(name), device);
	s.data = aligned_alloc(4096, piece);
	memset(s.data, 1, piece);
	must(cuda.host_register(s.data, piece, 0), "pinned memory");

	struct launch l = {.bytes = piece};
	printf("%s, %.2f GiB in device memory\n\n", name, (double)bytes / 0x1p30);
	printf("H2D from pinned memory: %.1f GB/s\n\n", best_of(&s, piece, copy_in, &l));
	printf("| samples, bins | kernel |");
	for (int k = 0; k < SKEWS; k++)
		printf(" %s |", SKEW[k]);
	printf("\n|---|---|---|---|---|---|---|\n");
	for (size_t j = 0; j < sizeof(JOBS) / sizeof(JOBS[0]); j++) {
		struct sample_type type;
		struct edges_spec spec = {.bins = JOBS[j].bins, .ranged = JOBS[j].range != NULL};
		struct edges edges;
		struct counting counting;
		struct kernel_plan plan;
		sample_type_parse(&type, JOBS[j].type);
		if (spec.ranged) {
			number_parse(&spec.lo, "0", 1);
			number_parse(&spec.hi, JOBS[j].range + 2, strlen(JOBS[j].range + 2));
		}
		if (edges_init(&edges, &spec, &type, &why) != 0)
			return 1;
		counting_init(&counting, &type, &edges, 1, false);
		const struct kernel_device on = {&cuda, device, module, bytes / type.bytes};
		must(kernel_plan_init(&plan, &counting, &on, &what), what);
		if (plan.work_bytes > 0)
			must(cuda.memory_alloc(&s.d_work, plan.work_bytes), "memory");
		printf("| %s, %lu%s%s | %s |", JOBS[j].type, (unsigned long)JOBS[j].bins,
		       spec.ranged ? " over " : "", spec.ranged ? JOBS[j].range : "", plan.name);
		l = (struct launch){.plan = &plan, .samples = bytes / type.bytes};
		for (int k = 0; k < SKEWS; k++) {
			const size_t n = piece / type.bytes;
			for (size_t at = 0; at < bytes; at += piece) {
				if (at == 0 || k == SORTED)
					fill(&s, &type, (enum skew)k, JOBS[j].values, n,
					     at / type.bytes, bytes / type.bytes);
				must(cuda.to_device(s.d_data + at, s.data, piece, s.stream), "copy");
				CUresult r;
				must(cuda.event_record(s.done, s.stream), "event");
				while ((r = cuda.event_query(s.done)) == CUDA_ERROR_NOT_READY)
					;
				must(r, "copy");
			}
			printf(" %.0f |", best_of(&s, bytes, kernel, &l));
			fflush(stdout);
		}
		printf("\n");
		if (plan.work_bytes > 0)
			must(cuda.memory_free(s.d_work), "memory");
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* gpu_jobs: the jobs of gpu_check, a list and random ones, and samples that are hard for each. */
#ifndef GPUHIST_GPU_JOBS_H
#define GPUHIST_GPU_JOBS_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/edges.h"
#include "bins/axis.h"
#include "bins/number.h"
#include "check.h"

enum data { NOISE, INSIDE, EDGES, CONSTANT, SORTED, TWO_HOT, FEW, DATA_KINDS };

struct job {
	const char *type;
	uint32_t bins;
	/* NULL: none; "full"; LO:HI; "mod"; "auto"; "log=auto"; "list ..." for explicit edges of a shape */
	const char *range;
	bool closed;
};

/* Together they cover every kind of bins of every size, and every way of keeping counters. */
static const struct job LIST[] = {
	{"u8", 256, NULL, false},
	{"i8", 100, "full", false},
	{"i2bit", 4, "full", false},
	{"f8e4m3", 100, "-1:1", false},
	{"u16", 65536, NULL, false},
	{"i16be", 1000, "full", false},
	{"f16", 500, "-1:1", false},
	{"bf16be", 77, "-2:2", false},
	{"u16", 1024, NULL, false},
	{"u16be", 1000, "full", false},
	{"i16", 2048, "-1024:1024", true},
	{"u16", 16384, NULL, false},
	{"i16be", 777, "-30000:30000", false},
	{"u16", 300, "-0.5:255.5", false},
	{"i16", 4096, "full", true},
	{"u16", 10, "-9:-5", false},
	{"u16", 3000, "-70000:70000", false},
	{"u24", 1024, "full", false},
	{"i24be", 1000, "-5000:5000", true},
	{"u24be", 100003, "full", false},
	{"i24", 1 << 20, "full", false},
	{"u32", 1024, NULL, false},
	{"u32be", 1024, NULL, true},
	{"i32", 2048, "-1024:1024", false},
	{"u32", 1000, "full", false},
	{"i32be", 777, "-12345:54321", true},
	{"u32", 16384, "full", false},
	{"u32", 57000, "full", false},
	{"u32", 58001, "full", false},
	{"u32", 65536, NULL, false},
	{"u32", 100003, "full", false},
	{"i32", 131072, "full", false},
	{"u32", 1 << 20, NULL, false},
	{"i32be", 1000003, "full", false},
	{"u32", 1 << 22, "full", false},
	{"u32", 300, "-0.5:255.5", false},
	{"i32", 70000, "-1e30:1e30", false},
	{"u32", 5000, "3:7", false},
	{"i32", 10, "0.25:0.75", false},
	{"u32", 10, "-9:-5", false},
	{"u64", 1024, "full", false},
	{"i64be", 1000, "full", false},
	{"u64", 300, NULL, true},
	{"i64", 65536, "-1e6:1e6", false},
	{"u64be", 1 << 20, "full", false},
	{"i64", 999, "-0.5:1e18", false},
	{"u64", 64, "0.25:0.75", false},
	{"i64", 3, "1e19:2e19", false},
	{"i64", 1000, "9007199254740991.5:9007199254740995", false},
	{"f32", 1000, "0:1", false},
	{"f32", 1024, "0:1024", false},
	{"f32be", 333, "-1.25:3.1", true},
	{"f32", 65536, "-1:1", false},
	{"f32", 1 << 20, "-1:1", false},
	{"f32", 100, "full", false},
	{"f32", 5000, "16777216:16777220", false},
	{"f32", 10, "1e-320:9e-320", false},
	{"f64", 1000, "0:1", true},
	{"f64be", 100003, "-1:1", false},
	{"f64", 50, "full", false},
	{"f64", 1000, "1:1.0000000000001", false},
	{"f64", 1 << 20, "0:1", false},
	{"u24", 1000, "list regular", false},
	{"i24be", 100003, "list regular", true},
	{"u24be", 1 << 18, "list regular", false},
	{"u32", 12, "list ratios", true},
	{"i32be", 5000, "list crowded", false},
	{"u32be", 100003, "list regular", false},
	{"i32", 1 << 18, "list crowded", false},
	{"u64", 1000, "list ratios", false},
	{"i64be", 100003, "list crowded", true},
	{"i64", 1 << 18, "list regular", false},
	{"f32", 1000, "list regular", false},
	{"f32be", 90, "list ratios", true},
	{"f32", 100003, "list crowded", false},
	{"f32", 1 << 18, "list regular", false},
	{"f64", 300, "list ratios", true},
	{"f64be", 100003, "list regular", false},
	{"f64", 1 << 18, "list crowded", false},
	{"u16", 200, "list ratios", false},
	{"u8", 30, "list regular", true},
	{"f16", 64, "list ratios", false},
	{"u32", 1, "list ratios", false},
	{"f32", 3, "list none", false},
	{"u64be", 3, "list none", false},
	{"u24", 1000, "mod", false},
	{"i24be", 77, "mod", false},
	{"u32", 1024, "mod", false},
	{"i32be", 100003, "mod", false},
	{"u64", 7, "mod", false},
	{"i64be", 1 << 18, "mod", false},
	{"u24be", 1000, "auto", false},
	{"i32", 256, "auto", false},
	{"u64be", 300, "auto", false},
	{"i64", 1 << 18, "auto", false},
	{"f32", 256, "auto", false},
	{"f32be", 70000, "auto", false},
	{"f64", 1000, "auto", false},
	{"f64be", 3, "auto", false},
	{"i24be", 300, "log=auto", false},
	{"u32", 256, "log=auto", false},
	{"i32be", 1 << 18, "log=auto", false},
	{"u64be", 1000, "log=auto", false},
	{"i64", 256, "log=auto", false},
	{"f32", 4096, "log=auto", false},
	{"f64", 3000, "log=auto", false},
};
#define LIST_LENGTH (sizeof(LIST) / sizeof(LIST[0]))

/* Channels and gaps, for every kernel that counts channels and every one that packs. */
static const struct {
	struct job job;
	struct layout layout;
} LAID[] = {
	{{"u8", 256, NULL, false}, {.channels = 3}},
	{{"i8", 256, NULL, false}, {.channels = 9}},
	{{"u4bitbe", 16, NULL, false}, {.channels = 5}},
	{{"u8", 256, NULL, false}, {.channels = 17}},
	{{"u8", 256, NULL, false}, {.channels = 64}},
	{{"i16", 1000, "full", false}, {.channels = 2}},
	{{"i16be", 500, "full", false}, {.channels = 63}},
	{{"u16", 65536, NULL, false}, {.channels = 2}},
	{{"u16be", 10000, "full", false}, {.channels = 4}},
	{{"f16", 500, "-1:1", false}, {.channels = 5}},
	{{"u24", 1024, "full", false}, {.channels = 3}},
	{{"i24be", 30000, "full", false}, {.channels = 7}},
	{{"u32", 1024, NULL, false}, {.channels = 2}},
	{{"u32be", 1000, "full", true}, {.channels = 31}},
	{{"i32", 40000, "full", false}, {.channels = 3}},
	{{"u32", 77, "mod", false}, {.channels = 6}},
	{{"u32", 1000, "list ratios", false}, {.channels = 4}},
	{{"u64", 1024, "full", false}, {.channels = 5}},
	{{"i64be", 60000, "full", false}, {.channels = 2}},
	{{"f32", 1000, "0:1", true}, {.channels = 2}},
	{{"f32be", 1000, "list regular", false}, {.channels = 10}},
	{{"f32", 100000, "-1:1", false}, {.channels = 3}},
	{{"f64", 300, "0:1", false}, {.channels = 3}},
	{{"f64be", 40000, "-1:1", false}, {.channels = 2}},
	{{"u8", 256, NULL, false}, {.samples = 100, .pitch = 100, .row = 1, .record = 100}},
	{{"u8", 256, NULL, false}, {.samples = 1, .record = 1, .row = 101, .pitch = 128}},
	{{"u16", 1024, NULL, false}, {.record = 7, .offset = 3}},
	{{"u24", 1024, "full", false}, {.channels = 2, .record = 16, .offset = 1}},
	{{"f32", 1000, "0:1", false}, {.record = 64, .offset = 60}},
	{{"f32", 1000, "list crowded", false}, {.record = 9, .offset = 5}},
	{{"u32", 100003, "full", false}, {.channels = 3, .record = 12, .row = 5, .pitch = 61}},
	{{"f64", 1000, "0:1", false}, {.channels = 2, .record = 24, .offset = 8}},
	{{"i64", 1000, "full", false},
	 {.channels = 1, .record = 12, .offset = 2, .row = 9, .pitch = 111}},
	{{"i16be", 100, "full", false}, {.channels = 3, .record = 1 << 20, .offset = 12345}},
	{{"f32", 256, "auto", false}, {.channels = 2}},
	{{"i32be", 1000, "auto", false}, {.channels = 3, .record = 20, .offset = 4}},
	{{"f64", 30000, "auto", false}, {.channels = 5}},
	{{"i64be", 3000, "log=auto", false}, {.channels = 3, .record = 40, .offset = 4}},
};
#define LAID_LENGTH (sizeof(LAID) / sizeof(LAID[0]))

/* Too many bins for private tables, which would take gigabytes: one shared table; largest last. */
static const struct job MANY[] = {
	{"u32", 1 << 24, "full", false}, {"f32", 1 << 26, "0:1", false},
	{"i64", 1 << 28, "full", false}, {"u24", 1 << 24, NULL, false},
	{"u32", 1 << 28, "mod", false},
};
#define MANY_LENGTH (sizeof(MANY) / sizeof(MANY[0]))

static uint64_t state;

static uint64_t draw(void)
{
	return check_random(&state);
}

/* Return bins + 1 explicit edges. */
static double *make_list(const char *shape, uint32_t bins, bool real)
{
	double *list = calloc((size_t)bins + 1, sizeof(*list));
	const double step = real ? 2.0 / bins : 37;

	for (uint32_t i = 0; list && i <= bins; i++) {
		const double x = i;
		if (strstr(shape, "regular"))
			list[i] = x * step - 1;
		else if (strstr(shape, "ratios"))
			list[i] = exp2(x * 40 / bins) + (real ? 0 : x);
		else if (strstr(shape,
				"crowded")) /* half of the edges in a thousandth of the range */
			list[i] = i <= bins / 2 ? x * step
						: (bins / 2 + (x - bins / 2) * 1000) * step;
		else /* outside the samples */
			list[i] = real ? 1e-60 * (x + 1) : 0.25 + x / bins / 2;
	}
	return list;
}

/* Make the bins of a job; false: they are impossible. The caller frees the list. */
static bool make_edges(const struct job *job, const struct sample_type *type, struct edges *edges,
		       double **list)
{
	struct axis_spec spec = {.bins = job->bins,
				 .closed = job->closed,
				 .kind = job->range ? AXIS_RANGE : AXIS_VALUES};
	const char *why;

	*list = NULL;
	spec.full = job->range && strcmp(job->range, "full") == 0;
	if (job->range && strncmp(job->range, "list", 4) == 0) {
		spec.kind = AXIS_EDGES;
		spec.list = *list = make_list(job->range, job->bins, type->kind == SAMPLE_FLOAT);
	} else if (job->range && strcmp(job->range, "mod") == 0) {
		spec.kind = AXIS_MOD;
	} else if (job->range && strcmp(job->range, "auto") == 0) {
		spec.kind = AXIS_AUTO;
	} else if (job->range && strcmp(job->range, "log=auto") == 0) {
		spec.kind = AXIS_RANKS;
	} else if (job->range && !spec.full) {
		const char *colon = strchr(job->range, ':');
		number_parse(&spec.lo, job->range, (size_t)(colon - job->range));
		number_parse(&spec.hi, colon + 1, strlen(colon + 1));
	}
	return edges_init(edges, &spec, type, &why) == 0;
}

/* Return a real number for a float type: from the range, an edge, a neighbour, or something odd. */
static double real_sample(const struct edges *e, const struct sample_type *t, bool edges_only)
{
	const uint32_t bins = e->binning.bins;
	const double lo = edges_value(e, 0), hi = edges_value(e, bins);
	const uint64_t r = draw();
	double x;

	if (!edges_only && r % 64 == 0) {
		static const double ODD[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e-45, -1e-310};
		return ODD[r / 64 % 7];
	}
	if (!edges_only && r % 64 < 48)
		return lo + (hi - lo) * ((double)(r >> 11) * 0x1.1p-53 - 0.03);
	x = edges_value(e, (uint32_t)((r >> 20) % (bins + 1u)));
	if (t->code_bytes == 4) {
		const float f = (float)x;
		return (double)(r % 3 == 0 ? f : nextafterf(f, r % 3 == 1 ? INFINITY : -INFINITY));
	}
	return r % 3 == 0 ? x : nextafter(x, r % 3 == 1 ? (double)INFINITY : -(double)INFINITY);
}

/* Return the bits of one sample, as a little-endian number. */
static uint64_t sample_bits(const struct edges *e, const struct sample_type *t, enum data data)
{
	const struct binning *b = &e->binning;
	const uint64_t mask =
		t->code_bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * t->code_bytes) - 1;
	const uint64_t r = draw();

	if (data == NOISE || t->code_bytes <= 2)
		return r & mask;
	if (t->kind == SAMPLE_FLOAT) {
		const double x = real_sample(e, t, data == EDGES);
		const float f = (float)x;
		uint64_t bits = 0;
		if (t->code_bytes == 4)
			memcpy(&bits, &f, 4);
		else
			memcpy(&bits, &x, 8);
		return bits;
	}
	if (e->form == EDGES_LISTED && r % 4 != 0) { /* an edge, or a number near it */
		const double edge = ceil(e->list[r / 4 % (b->bins + 1u)]),
			     top = ldexp(1, (int)(8 * t->code_bytes)) - 2048;
		const double held = edge < -1e15 ? -1e15 : edge > top / 2 ? top / 2 : edge;
		return ((uint64_t)(int64_t)held + (r >> 40) % 5 - 2) & mask;
	}
	/* Keys from just below the range to just above it, or near the edges. */
	uint64_t key = b->first - 3 + (b->span + 7 == 0 ? r : r % (b->span + 7));
	if (data == EDGES && b->span > 1000)
		key = b->first + (uint64_t)((double)b->span * ((double)(r % b->bins) / b->bins)) +
		      r % 5 - 2;
	return (key ^ b->bias) & mask;
}

static void put(unsigned char *p, const struct sample_type *t, uint64_t bits)
{
	for (uint32_t k = 0; k < t->code_bytes; k++)
		p[t->big ? t->code_bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

static void fill(unsigned char *p, size_t n, const struct edges *e, const struct sample_type *t,
		 enum data data)
{
	const uint64_t a = sample_bits(e, t, INSIDE), b = sample_bits(e, t, INSIDE);

	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		if (data == CONSTANT)
			bits = a;
		else if (data == TWO_HOT)
			bits = draw() % 16 == 0 ? sample_bits(e, t, NOISE) : draw() % 2 ? a : b;
		else if (data == FEW)
			bits = a + draw() % 5;
		else if (data == SORTED) /* in long runs, whatever the order of the type */
			bits = a + i / 777;
		else
			bits = sample_bits(e, t, data);
		put(p + i * t->code_bytes, t, bits);
	}
}

/* Draw a job. */
static struct job random_job(char *range, size_t size)
{
	static const uint32_t BINS[] = {1,     2,      5,      255,     256,    1000,
					1024,  5000,   16384,  57340,   58000,  65536,
					90000, 114000, 131072, 1 << 18, 1000000};
	struct job job = LIST[draw() % LIST_LENGTH];

	job.bins = BINS[draw() % (sizeof(BINS) / sizeof(BINS[0]))];
	job.closed = draw() % 4 == 0;
	if (draw() % 3 == 0) {
		const double lo = ldexp((double)(int64_t)draw(), -(int)(draw() % 70));
		snprintf(range, size, "%.17g:%.17g", lo,
			 lo + ldexp(1 + (double)(draw() % 1000), (int)(draw() % 40) - 8));
		job.range = range;
	}
	return job;
}

/* Draw a layout: one in two has channels, one in four has gaps. */
static struct layout random_layout(const struct job *job)
{
	struct layout layout = {.channels = draw() % 2 ? 1 : 1 + (uint32_t)(draw() % 64)};
	struct sample_type type;

	sample_type_parse(&type, job->type);
	if (draw() % 4 == 0) {
		layout.offset = (uint32_t)(draw() % 20);
		layout.record =
			layout.offset + layout.channels * type.code_bytes + (uint32_t)(draw() % 30);
	}
	if (draw() % 4 == 0) {
		layout.row = 1 + (uint32_t)(draw() % 100);
		layout.pitch =
			layout.row * (layout.record > 0 ? layout.record
							: layout.channels * type.code_bytes) +
			(uint32_t)(draw() % 50);
	}
	return layout;
}

#endif

/* gpu_kernel: the choice among the kernels of kernels/count.cu, and their launches. */
#include "gpu_kernel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpu.h"
#include "gpu_group.h"

#define THREADS 1024u
#define STRIPES 32u     /* of 256 codes: a lane of a warp each */
#define GROUP_STRIPES 16u /* 32 samples in two clocks; memory brings them in 3.4 */
#define STATIC_SHARED 4096u /* what the kernels declare besides, rounded up */
#define TILE 65536u     /* samples that split sorts at once */

static CUresult find(const struct kernel_device *on, CUfunction *function, const char *name,
		     unsigned shared)
{
	CUresult r = on->cuda->module_function(function, on->module, name);

	if (r == CUDA_SUCCESS && shared > 0)
		r = on->cuda->function_set(*function, CU_FUNC_MAX_DYNAMIC_SHARED, (int)shared);
	return r;
}

/* ---- the rule ---- */

/*
 * The binary32 guess of a bin (kernels/cell.cuh): x scale + offset, fused, is off by at most
 * half a unit in the last place of the sum's parts, of which every one is bounded by the
 * place of the larger end of the range. Guessing needs whole numbers that binary32 can add
 * 1.5 * 2^23 to.
 */
static void set_guess(struct rule *r)
{
	const struct binning *b = &r->bins;
	const double low = fabs(b->lo) * b->scale, high = fabs(b->hi) * b->scale;
	const double place = low > high ? low : high;
	const double error = (place + low + b->bins + 2) * 0x1p-24 * 1.01 + 1e-9;

	if (b->kind != BIN_LINEAR || b->bins > 1u << 21 || error > 0.4 || place > 0x1p100 ||
	    b->scale > 0x1p100 || b->scale < 0x1p-100)
		return;
	r->f_scale = (float)b->scale;
	r->f_offset = (float)(-b->lo * b->scale - 0.5);
	r->f_sure = (float)((0.5 - error) * (1 - 1e-6));
}

static void set_reading(struct rule *r, const struct sample_type *type)
{
	static const uint32_t SELECT3[2][4] = {{0x2100, 0x5430, 0x4320, 0x3210},
					       {0x0120, 0x3450, 0x2340, 0x1230}};
	const uint32_t sign = type->kind == SAMPLE_SIGNED;

	r->flip[0] = r->flip[1] = 0;
	switch (type->bytes) {
	case 3:
		memcpy(r->perm, SELECT3[type->big], sizeof(r->perm));
		r->flip[0] = sign << 23;
		break;
	case 8:
		r->perm[0] = type->big ? 0x4567 : 0x3210;
		r->perm[1] = type->big ? 0x0123 : 0x7654;
		r->flip[1] = sign << 31;
		break;
	case 2: /* groups; codes are left as they lie, as are those of one byte */
		r->perm[0] = type->big ? 0x2301 : 0x3210;
		r->flip[0] = sign << 31 | sign << 15;
		break;
	default:
		r->perm[0] = type->big ? 0x0123 : 0x3210;
		r->flip[0] = sign << 31;
		break;
	}
}

/* ---- the choice ---- */

static const char *suffix(const struct kernel_plan *p, const struct counting *c)
{
	const uint32_t kind = c->binning.kind;

	if (c->bytes <= 2)
		return p->grouped ? "group" : "code";
	if (c->type.kind == SAMPLE_FLOAT)
		return kind == BIN_LINEAR ? "linear" : "real";
	return kind == BIN_SHIFT ? "shift" : kind == BIN_MAGIC ? "magic" : "any";
}

/* Does a table of so many counters fit a block's shared memory? */
static bool fits(const struct kernel_plan *p, uint64_t cells)
{
	return 4 * cells <= p->shared_most && 4ull * spread_words((uint32_t)cells) <= p->shared_most;
}

/* Few groups are striped as codes of one byte are; more are one table. */
static void choose_groups(struct kernel_plan *p, const struct counting *c)
{
	const uint32_t most[] = {p->shared_most / (4 * GROUP_STRIPES), p->shared_most / 4};

	for (int i = 0; i < 2 && !p->grouped; i++) {
		const uint32_t groups = groups_choose(&p->rule.groups, &c->type, &c->binning, most[i]);
		if (groups == 0 || (i == 1 && !fits(p, groups)))
			continue;
		p->grouped = true;
		p->cells = groups;
		p->copies = i == 0 ? GROUP_STRIPES : 1;
	}
}

static CUresult choose_shared(struct kernel_plan *p, const struct counting *c,
			      const struct kernel_device *on)
{
	int resident;
	const bool striped = p->copies > 1;

	p->way = WAY_SHARED;
	p->shared = 4 * (striped ? p->cells * p->copies : spread_words(p->cells));
	snprintf(p->name, sizeof(p->name), "%s_%lu_%s", striped ? "striped" : "whole",
		 (unsigned long)c->bytes, suffix(p, c));
	CUresult r = find(on, &p->function, p->name, p->shared);
	if (r == CUDA_SUCCESS)
		r = on->cuda->occupancy(&resident, p->function, (int)THREADS, p->shared);
	p->threads = THREADS;
	if (r == CUDA_SUCCESS && resident == 0) { /* registers of an older device */
		p->threads = THREADS / 2;
		resident = 1;
	}
	p->grid = p->sms * (unsigned)(resident > 2 ? 2 : resident);
	return r;
}

static CUresult choose_pair(struct kernel_plan *p, const struct counting *c,
			    const struct kernel_device *on)
{
	p->way = WAY_PAIR;
	p->shared = 4 * spread_words((p->cells + 1) / 2 + 1);
	p->threads = THREADS;
	p->grid = p->sms & ~1u;
	snprintf(p->name, sizeof(p->name), "pair_%lu_%s", (unsigned long)c->bytes, suffix(p, c));
	return find(on, &p->function, p->name, p->shared);
}

static size_t split_shared(const struct parts *s)
{
	return 16 * (size_t)s->room + 4 * ((size_t)s->buckets * s->copies + s->buckets + 1 + 32);
}

/*
 * The widest buckets that fit and whose number is a 32-bit product for every cell:
 * (cell >> 12) / k = (cell >> 12) * mul >> shr. False when not even the narrowest do.
 */
static bool set_buckets(struct parts *s, const struct kernel_plan *p)
{
	const uint64_t most = (p->cells - 1) >> 12;

	for (uint32_t k = 14; k > 0; k--) {
		uint64_t mul;
		if (4ull * spread_words(4096 * k + 1) > p->shared_most - STATIC_SHARED)
			continue;
		for (s->shr = 0;; s->shr++) {
			mul = (((uint64_t)1 << s->shr) + k - 1) / k;
			if (most * (mul * k - ((uint64_t)1 << s->shr)) < (uint64_t)1 << s->shr)
				break;
		}
		s->mul = (uint32_t)mul;
		s->width = 4096 * k;
		s->buckets = (p->cells + s->width - 1) / s->width;
		if (most * mul >> 32 == 0)
			return true;
	}
	return false;
}

/* Lays out the work on n samples; -1 when split's shared memory cannot hold the buckets. */
static int lay_out(struct parts *s, const struct kernel_plan *p, size_t n)
{
	const uint32_t per = p->sample == 3 ? 16 : 16 / p->sample;
	uint32_t tile = TILE;

	*s = (struct parts){.copies = 32};
	if (!set_buckets(s, p))
		return -1;
	while (s->copies > 1 && s->buckets * s->copies > 2048)
		s->copies /= 2;
	s->gap = s->copies > 1 ? 2 : 0;
	while (tile > 4096 && tile > n / p->sms) /* a tile for each block */
		tile /= 2;
	for (;; tile -= 1024) {
		if (tile < 1024)
			return -1;
		/* 31 edge samples; a bucket's gaps, and up to 7 places to the next uint4 */
		s->room = (tile + 31 + s->buckets * (s->copies * s->gap + 7) + 7) / 8;
		if (s->room < 65536 && split_shared(s) <= p->shared_most)
			break;
	}
	s->tile_vecs = tile / per;
	s->tiles = (uint32_t)(n / per / s->tile_vecs) + 1;
	const uint32_t part = (tile / s->buckets + s->gap * s->copies + 4) / 8;
	for (s->lanes = 2; s->lanes < 32 && s->lanes * 2 <= part;)
		s->lanes *= 2;
	s->unit = (uint32_t)(n / (4 * p->sms));
	if (s->unit < 2 * s->width)
		s->unit = 2 * s->width;
	s->units_max = s->buckets + (uint32_t)(n / s->unit) + 1;
	return 0;
}

/* The parts one behind the other from `at` on; returns the bytes they take. */
static size_t place(struct parts_memory *m, const struct parts *s, CUdeviceptr at)
{
	const size_t sizes[] = {16 * (size_t)s->tiles * s->room,
				2 * (size_t)(s->buckets + 1) * s->tiles, 4 * (size_t)s->buckets,
				16 * (size_t)s->units_max, 8};
	CUdeviceptr *const to[] = {&m->codes, &m->start, &m->total, &m->units, &m->count};
	size_t used = 0;

	for (int i = 0; i < 5; i++) {
		*to[i] = at + used;
		used += (sizes[i] + 255) / 256 * 256;
	}
	return used;
}

static CUresult choose_parts(struct kernel_plan *p, const struct counting *c,
			     const struct kernel_device *on, const char **what)
{
	struct parts s;
	struct parts_memory m;

	*what = "too many bins for the device's shared memory";
	p->way = WAY_PARTS;
	p->threads = THREADS;
	snprintf(p->name, sizeof(p->name), "split_%lu_%s", (unsigned long)c->bytes, suffix(p, c));
	if (lay_out(&s, p, on->samples_max) != 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*what = "kernels";
	/* A smaller chunk may be laid out in more tiles, of fewer places each: room for both. */
	p->work_bytes = 2 * place(&m, &s, 0);
	CUresult r = find(on, &p->function, p->name, p->shared_most);
	if (r == CUDA_SUCCESS)
		r = find(on, &p->plan, "plan_parts", 0);
	if (r == CUDA_SUCCESS)
		r = find(on, &p->count, "count_parts_of_all", 4 * spread_words(s.width + 1));
	return r;
}

CUresult kernel_plan_init(struct kernel_plan *p, const struct counting *c,
			  const struct kernel_device *on, const char **what)
{
	int sms, most;

	*what = "device";
	CUresult r = on->cuda->device_attribute(&sms, CU_ATTRIBUTE_SM_COUNT, on->device);
	if (r == CUDA_SUCCESS)
		r = on->cuda->device_attribute(&most, CU_ATTRIBUTE_SHARED_OPTIN, on->device);
	if (r != CUDA_SUCCESS)
		return r;
	*what = "kernels";
	*p = (struct kernel_plan){
		.rule.bins = c->binning,
		.cells = (uint32_t)c->cells,
		.copies = 1,
		.sample = c->bytes,
		.sms = (uint32_t)sms,
		.shared_most = (uint32_t)most - 1024, /* the kernels' own few variables */
	};
	set_reading(&p->rule, &c->type);
	set_guess(&p->rule);
	choose_groups(p, c);
	if (c->bytes == 1)
		p->copies = STRIPES;
	if (fits(p, p->cells) && (c->bytes != 2 || p->grouped))
		return choose_shared(p, c, on);
	if (c->bytes != 1 && p->sms > 1 && fits(p, (p->cells + 1) / 2 + 1))
		return choose_pair(p, c, on);
	return choose_parts(p, c, on, what);
}

/* ---- the launch ---- */

static CUresult launch_parts(const struct kernel_plan *p, const struct cuda *cuda,
			     const struct slot *slot, uint64_t n)
{
	struct parts s;
	struct parts_memory m;
	CUdeviceptr data = slot->d_data, out = slot->d_cells;
	uint32_t all = p->cells;

	if (lay_out(&s, p, n) != 0 || place(&m, &s, slot->d_work) > p->work_bytes)
		return CUDA_ERROR_OUT_OF_MEMORY; /* not for a chunk of samples_max or fewer */
	struct rule rule = p->rule;
	void *to_split[] = {&data, &n, &rule, &s, &m};
	void *to_plan[] = {&s, &m};
	void *to_count[] = {&s, &m, &all, &out};
	const unsigned grid = s.tiles < p->sms ? s.tiles : p->sms;
	CUresult r = cuda->fill32(m.total, 0, s.buckets, slot->stream);
	if (r == CUDA_SUCCESS)
		r = cuda->launch(p->function, grid, 1, 1, p->threads, 1, 1,
				 (unsigned)split_shared(&s), slot->stream, to_split, NULL);
	if (r == CUDA_SUCCESS)
		r = cuda->launch(p->plan, 1, 1, 1, THREADS, 1, 1, 0, slot->stream, to_plan, NULL);
	if (r == CUDA_SUCCESS)
		r = cuda->launch(p->count, p->sms, 1, 1, THREADS, 1, 1,
				 4 * spread_words(s.width + 1), slot->stream, to_count, NULL);
	return r;
}

CUresult kernel_launch(const struct kernel_plan *p, const struct cuda *cuda,
		       const struct slot *slot, size_t samples)
{
	CUdeviceptr data = slot->d_data, out = slot->d_cells;
	uint64_t n = samples;
	struct rule rule = p->rule;
	uint32_t copies = p->copies;
	void *arguments[] = {&data, &n, &rule, &out, &copies};

	/* PAIR takes the first four of them. */
	if (p->way == WAY_PARTS)
		return launch_parts(p, cuda, slot, n);
	return cuda->launch(p->function, p->grid, 1, 1, p->threads, 1, 1, p->shared, slot->stream,
			    arguments, NULL);
}

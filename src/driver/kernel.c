/* SPDX-License-Identifier: MIT */
/* kernel: the choice among the kernels of kernels/count.cu, and their launches for a chunk. */
#include "driver/kernel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpu/gpu_plan.h"

#define STRIPES 32u /* of 256 codes: one for each lane of a warp */
/* with more channels: 2.5 T samples/s; a single table makes 2.3 on noise */
#define STRIPES_LEAST 8u
#define GROUP_STRIPES 16u /* 32 samples in two clocks; memory delivers them in 3.4 */
/* of all channels: cells and their offsets in bytes are 32-bit numbers */
#define CELLS_MOST ((uint64_t)1 << 30)

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
 * The binary32 guess of a bin (kernels/cell.cuh): x scale + offset, fused, is off by at most half a
 * unit in the last place of the sum's parts, each of which is bounded by the magnitude of the
 * larger end of the range. For the guess, adding 1.5 * 2^23 in binary32 must give whole numbers.
 */
static void set_guess(struct rule *r)
{
	const struct binning *b = &r->bins;
	const struct bin_linear *l = &b->linear;

	if (b->kind != BIN_LINEAR)
		return;
	const double low = fabs(l->lo) * l->scale, high = fabs(l->hi) * l->scale;
	const double place = low > high ? low : high;
	const double error = (place + low + b->bins + 2) * 0x1p-24 * 1.01 + 1e-9;
	if (b->bins > 1u << 21 || error > 0.4 || place > 0x1p100 || l->scale > 0x1p100 ||
	    l->scale < 0x1p-100)
		return;
	r->f_scale = (float)l->scale;
	r->f_offset = (float)(-l->lo * l->scale - 0.5);
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
	case 2: /* groups; codes are read as they are in memory, and so are those of one byte */
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

/*
 * The kind of bins at the end of a kernel's name; alone: of a kernel for one channel, if it fits.
 */
static const char *suffix(const struct kernel_plan *p, const struct counting *c, bool alone)
{
#define NAMES(with, kind, key32, key64, real, of_keys, of_reals) [BIN_##kind] = {of_keys, of_reals},
	static const char *const OF[BIN_KINDS][2] = {BIN_KIND_LIST(NAMES, )};
#undef NAMES
	const bool real = c->type.kind == SAMPLE_FLOAT;

	if (p->grouped)
		return p->rule.channels > 1 ? "group_channels" : "group";
	if (c->bytes <= 2)
		return alone && p->rule.channels > 1 ? "code_channels" : "code";
	if (alone && c->bytes == 4 && p->rule.channels == 1 && *OF[c->binning.kind][real])
		return OF[c->binning.kind][real];
	return real ? "real" : "key";
}

/* Does a table of so many counters fit a block's shared memory? */
static bool fits(const struct kernel_plan *p, uint64_t cells)
{
	return 4 * cells <= p->shared_most &&
	       4ull * spread_words((uint32_t)cells) <= p->shared_most;
}

/* A few groups are striped as codes of one byte are; more of them have one table. */
static void choose_groups(struct kernel_plan *p, const struct counting *c)
{
	const uint32_t channels = p->rule.channels;
	const uint32_t most[] = {p->shared_most / (4 * GROUP_STRIPES) / channels,
				 p->shared_most / 4 / channels};

	for (int i = 0; i < 2 && !p->grouped; i++) {
		const uint32_t groups =
			groups_choose(&p->rule.groups, &c->type, &c->binning, most[i]);
		if (groups == 0 || (i == 1 && !fits(p, (uint64_t)groups * channels)))
			continue;
		p->grouped = true;
		p->cells_each = groups;
		p->cells = groups * channels;
		p->copies = i == 0 ? GROUP_STRIPES : 1;
	}
}

static CUresult choose_shared(struct kernel_plan *p, const struct counting *c,
			      const struct kernel_device *on)
{
	int resident;
	const bool striped = p->copies > 1;

	p->shared = 4 * (striped ? p->cells * p->copies : spread_words(p->cells));
	snprintf(p->name, sizeof(p->name), "%s_%lu_%s", striped ? "striped" : "whole",
		 (unsigned long)c->bytes, suffix(p, c, striped || c->bytes > 1));
	CUresult r = find(on, &p->function, p->name, p->shared);
	if (r == CUDA_SUCCESS)
		r = on->cuda->occupancy(&resident, p->function, (int)KERNEL_THREADS, p->shared);
	p->grid = r == CUDA_SUCCESS && resident > 1 ? 2 * p->sms : p->sms;
	return r;
}

/* One block a multiprocessor: the way "pair", whose blocks are even in number, or "far". */
static CUresult choose_spread(struct kernel_plan *p, const struct counting *c,
			      const struct kernel_device *on, const char *way, unsigned shared)
{
	p->shared = shared;
	p->grid = shared > 0 ? p->sms & ~1u : p->sms;
	snprintf(p->name, sizeof(p->name), "%s_%lu_%s", way, (unsigned long)c->bytes,
		 suffix(p, c, false));
	return find(on, &p->function, p->name, p->shared);
}

/* ---- samples ---- */

/*
 * Samples without gaps between them count as one record, and rows of one record as records: that
 * saves divisions.
 */
static CUresult choose_gather(struct kernel_plan *p, const struct counting *c,
			      const struct kernel_device *on)
{
	const struct layout *l = &c->layout;
	char name[32];

	if (layout_is_contiguous(l, c->bytes))
		return CUDA_SUCCESS;
	p->apart = (struct gather){
		.samples = l->samples, .records = 1, .offset = l->offset, .pitch = layout_bytes(l)};
	if (l->row > 0 && l->samples * c->bytes == l->record) {
		p->apart.samples = l->samples * l->row;
	} else if (l->row > 0) {
		p->apart.records = l->row;
		p->apart.record = l->record;
	}
	snprintf(name, sizeof(name), "gather_%lu", (unsigned long)c->bytes);
	return find(on, &p->gather, name, 0);
}

static CUresult choose_extent(struct kernel_plan *p, const struct counting *c,
			      const struct kernel_device *on)
{
	char name[32];

	if (c->bytes <= 2 || c->binning.kind != BIN_SLOT)
		return CUDA_SUCCESS;
	snprintf(name, sizeof(name), "extent_%lu_%s", (unsigned long)c->bytes,
		 c->type.kind == SAMPLE_FLOAT ? "real" : "key");
	return find(on, &p->extent, name, 0);
}

static CUresult choose_way(struct kernel_plan *p, const struct counting *c,
			   const struct kernel_device *on)
{
	if (!c->stats && !on->stays) /* otherwise each code needs a counter */
		choose_groups(p, c);
	if (c->bytes == 1) {
		p->copies = STRIPES;
		while (p->copies > 1 && !fits(p, (uint64_t)p->cells * p->copies))
			p->copies /= p->copies > STRIPES_LEAST ? 2 : STRIPES_LEAST;
	}
	if (fits(p, p->cells) && (c->bytes != 2 || p->grouped))
		return choose_shared(p, c, on);
	if (c->bytes == 2 && p->rule.channels == 1 && p->sms > 1 && fits(p, PAIR_CODES + 1))
		return choose_spread(p, c, on, "pair", 4 * spread_words(PAIR_CODES + 1));
	return choose_spread(p, c, on, "far", 0);
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
		.rule = {.bins = c->binning, .channels = c->channels},
		.cells_each = (uint32_t)c->cells_each,
		.cells = (uint32_t)c->cells,
		.copies = 1,
		.sms = (uint32_t)sms,
		.shared_most = (uint32_t)most - 1024, /* for the kernels' own few variables */
	};
	if (c->cells > CELLS_MOST) {
		*what = "too many bins";
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	set_reading(&p->rule, &c->type);
	set_guess(&p->rule);
	r = choose_gather(p, c, on);
	if (r == CUDA_SUCCESS)
		r = choose_extent(p, c, on);
	if (c->bytes > 2 && c->binning.kind == BIN_TABLE) { /* codes are binned by the host */
		p->table = (const void *)(uintptr_t)c->binning.table.at;
		p->table_bytes = 4 * (size_t)c->binning.table.words;
	}
	return r == CUDA_SUCCESS ? choose_way(p, c, on) : r;
}

/* ---- the launches for one chunk ---- */

static CUresult launch_gather(const struct kernel_plan *p, const struct cuda *cuda,
			      const struct kernel_chunk *chunk, uint64_t n)
{
	CUdeviceptr from = chunk->data, to = chunk->packed;
	struct gather apart = p->apart;
	void *arguments[] = {&from, &to, &apart};

	apart.n = n;
	return cuda->launch(p->gather, p->sms, 1, 1, KERNEL_THREADS, 1, 1, 0, chunk->stream,
			    arguments, NULL);
}

CUresult kernel_launch(const struct kernel_plan *p, const struct cuda *cuda,
		       const struct kernel_chunk *chunk, size_t samples, const struct binning *bins,
		       bool again)
{
	CUdeviceptr data = p->gather ? chunk->packed : chunk->data, out = chunk->cells;
	CUdeviceptr found = out + 4 * (kernel_out_words(p) - KERNEL_EXTENT_WORDS);
	uint64_t n = samples;
	struct rule rule = p->rule;
	uint32_t copies = p->copies;
	void *arguments[] = {&data, &n, &rule, &out, &copies}; /* "pair", "far" take only four */
	void *of_extent[] = {&data, &n, &rule, &found};
	CUresult r = CUDA_SUCCESS;

	if (p->gather && !again)
		r = launch_gather(p, cuda, chunk, n);
	if (r == CUDA_SUCCESS && p->extent && !again)
		r = cuda->launch(p->extent, p->sms, 1, 1, KERNEL_THREADS, 1, 1, 16 * KERNEL_THREADS,
				 chunk->stream, of_extent, NULL);
	if (r != CUDA_SUCCESS)
		return r;
	if (bins)
		rule.bins = *bins;
	if (p->table_bytes > 0)
		rule.bins.table.at = chunk->table;
	return cuda->launch(p->function, p->grid, 1, 1, KERNEL_THREADS, 1, 1, p->shared,
			    chunk->stream, arguments, NULL);
}

struct extent kernel_extent(const struct kernel_plan *p, const uint32_t *cells)
{
	uint64_t found[2];

	memcpy(found, cells + kernel_out_words(p) - KERNEL_EXTENT_WORDS, sizeof(found));
	return (struct extent){.least = ~found[0], .greatest = found[1]};
}

/* SPDX-License-Identifier: MIT */
/* kernel: the choice among the kernels of kernels/count.cu. */
#include "driver/kernel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/kernel_parts.h"
#include "driver/near_table.h"
#include "gpu/gpu.h"
#include "gpu/gpu_group.h"

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

static const char *suffix(const struct kernel_plan *p, const struct counting *c)
{
#define NAMES(with, kind, name, key32, key64, real, of_keys, of_reals) \
	[BIN_##kind] = {of_keys, of_reals},
	static const char *const OF[BIN_KINDS][2] = {BIN_KIND_LIST(NAMES, )};
#undef NAMES
	const bool many = p->rule.channels > 1;

	if (c->bytes <= 2)
		return many         ? p->grouped ? "group_channels" : "code_channels"
		       : p->grouped ? "group"
				    : "code";
	if (many)
		return c->type.kind == SAMPLE_FLOAT ? "real_channels" : "key_channels";
	return OF[c->binning.kind][c->type.kind == SAMPLE_FLOAT];
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

	p->way = WAY_SHARED;
	p->shared = 4 * (striped   ? p->cells * p->copies
			 : p->near ? p->rule.near.at + p->rule.near.words
				   : spread_words(p->cells));
	snprintf(p->name, sizeof(p->name), "%s_%lu_%s", striped ? "striped" : "whole",
		 (unsigned long)c->bytes, suffix(p, c));
	CUresult r = find(on, &p->function, p->name, p->shared);
	if (r == CUDA_SUCCESS)
		r = on->cuda->occupancy(&resident, p->function, (int)KERNEL_THREADS, p->shared);
	p->threads = KERNEL_THREADS;
	if (r == CUDA_SUCCESS && resident == 0) { /* an older device has too few registers */
		p->threads = KERNEL_THREADS / 2;
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
	p->threads = KERNEL_THREADS;
	p->grid = p->sms & ~1u;
	snprintf(p->name, sizeof(p->name), "pair_%lu_%s", (unsigned long)c->bytes, suffix(p, c));
	return find(on, &p->function, p->name, p->shared);
}

static CUresult choose_far(struct kernel_plan *p, const struct counting *c,
			   const struct kernel_device *on)
{
	p->way = WAY_FAR;
	p->shared = 0;
	p->threads = KERNEL_THREADS;
	p->grid = p->sms;
	snprintf(p->name, sizeof(p->name), "far_%lu_%s", (unsigned long)c->bytes, suffix(p, c));
	return find(on, &p->function, p->name, 0);
}

static CUresult choose_parts(struct kernel_plan *p, const struct counting *c,
			     const struct kernel_device *on, const char **what)
{
	struct parts s;
	struct parts_memory m;

	*what = "too many bins for the device's shared memory";
	p->way = WAY_PARTS;
	p->threads = KERNEL_THREADS;
	snprintf(p->name, sizeof(p->name), "split_%lu_%s", (unsigned long)c->bytes, suffix(p, c));
	if (parts_lay_out(&s, p, kernel_samples(c, on->bytes_max)) != 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*what = "kernels";
	/* A smaller chunk may be laid out in more tiles with less room each: reserve for both. */
	p->work_bytes = 2 * parts_place(&m, &s, 0);
	CUresult r = find(on, &p->function, p->name, p->shared_most);
	if (r == CUDA_SUCCESS)
		r = find(on, &p->plan, "plan_parts", 0);
	if (r == CUDA_SUCCESS)
		r = find(on, &p->count, "count_parts_of_all", 4 * spread_words(s.width + 1));
	return r;
}

/* ---- samples ---- */

size_t kernel_samples(const struct counting *c, size_t bytes)
{
	const struct layout *l = &c->layout;

	return bytes / layout_bytes(l) * layout_samples(l);
}

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
	p->packed_bytes = kernel_samples(c, on->bytes_max) * c->bytes;
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

/*
 * Explicit edges go beside the counters in shared memory; if there are too many, or several
 * channels, into the device's memory.
 */
static void choose_table(struct kernel_plan *p, const struct counting *c)
{
	const uint32_t words = p->shared_most / 4,
		       at = fits(p, p->cells) ? (spread_words(p->cells) + 1) & ~1u : words;

	if (c->bytes <= 2 || c->binning.kind != BIN_TABLE) /* codes are binned by the host */
		return;
	if (p->rule.channels == 1 && at < words)
		p->near = near_make(&p->rule.near, &c->binning, &c->type, words - at);
	p->rule.near.at = at;
	p->table = p->near ? p->near : (const void *)(uintptr_t)c->binning.table.at;
	p->table_bytes = 4 * (size_t)(p->near ? p->rule.near.words : c->binning.table.words);
}

static CUresult choose_way(struct kernel_plan *p, const struct counting *c,
			   const struct kernel_device *on, const char **what)
{
	const bool many = p->rule.channels > 1;

	if (!c->stats && !on->stays) /* otherwise each code needs a counter */
		choose_groups(p, c);
	choose_table(p, c);
	if (c->bytes == 1) {
		p->copies = STRIPES;
		while (p->copies > 1 && !fits(p, (uint64_t)p->cells * p->copies))
			p->copies /= p->copies > STRIPES_LEAST ? 2 : STRIPES_LEAST;
	}
	if (fits(p, p->cells) && (c->bytes != 2 || p->grouped) && (!p->table || p->near || many))
		return choose_shared(p, c, on);
	if (c->bytes != 1 && !many && p->sms > 1 && fits(p, (p->cells + 1) / 2 + 1))
		return choose_pair(p, c, on);
	if (on->stays)
		return choose_far(p, c, on);
	return choose_parts(p, c, on, what);
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
	free(p->near);
	*p = (struct kernel_plan){
		.rule = {.bins = c->binning, .channels = c->channels},
		.cells_each = (uint32_t)c->cells_each,
		.cells = (uint32_t)c->cells,
		.copies = 1,
		.sample = c->bytes,
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
	return r == CUDA_SUCCESS ? choose_way(p, c, on, what) : r;
}

/* SPDX-License-Identifier: MIT */
/* kernel: the choice among the kernels of kernels/count.cu, and their launches for a chunk. */
#include "driver/kernel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpu/groups.h"

#define STRIPES 32u /* copies of 256 counters: one for each lane of a warp */
/* fewest copies, with more channels: 2.5 T samples/s; a single table makes 2.3 on noise */
#define STRIPES_LEAST 8u
#define GROUP_STRIPES 16u /* copies of groups: 32 samples in two clocks; memory takes 3.4 */
/* cells of all channels, as cells and their offsets in bytes are 32-bit numbers */
#define CELLS_MOST ((uint64_t)1 << 30)

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
	case 2: /* for groups alone: codes, of one byte too, are read as they are in memory */
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
 * The kind of bins at the end of a kernel's name. alone: one channel may have a kernel of its own.
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

/* Finds the kernel that counts, and gives it `shared` bytes of shared memory. */
static void choose(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda,
		   const char *way, bool alone, unsigned shared)
{
	p->shared = shared;
	snprintf(p->name, sizeof(p->name), "%s_%lu_%s", way, (unsigned long)c->bytes,
		 suffix(p, c, alone));
	p->function = cuda_function(cuda, p->name);
	if (shared > 0)
		cuda_must(cuda,
			  cuda->function_set(p->function, CU_FUNC_MAX_DYNAMIC_SHARED, (int)shared),
			  "kernels");
}

static void choose_shared(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	const bool striped = p->copies > 1;
	int resident;

	choose(p, c, cuda, striped ? "striped" : "whole", striped || c->bytes > 1,
	       4 * (striped ? p->cells * p->copies : spread_words(p->cells)));
	cuda_must(cuda, cuda->occupancy(&resident, p->function, (int)KERNEL_THREADS, p->shared),
		  "kernels");
	p->grid = resident > 1 ? 2 * p->sms : p->sms;
}

/* ---- samples ---- */

/*
 * Samples without gaps between them count as one record, and rows of one record as records: that
 * saves divisions.
 */
static void choose_gather(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	const struct layout *l = &c->layout;
	char name[32];

	if (layout_is_contiguous(l, c->bytes))
		return;
	p->apart = (struct gather){
		.samples = l->samples, .records = 1, .offset = l->offset, .pitch = layout_bytes(l)};
	if (l->row > 0 && l->samples * c->bytes == l->record) {
		p->apart.samples = l->samples * l->row;
	} else if (l->row > 0) {
		p->apart.records = l->row;
		p->apart.record = l->record;
	}
	snprintf(name, sizeof(name), "gather_%lu", (unsigned long)c->bytes);
	p->gather = cuda_function(cuda, name);
}

static void choose_extent(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	char name[32];

	if (c->bytes <= 2 || !binning_is_open(&c->binning))
		return;
	snprintf(name, sizeof(name), "extent_%lu_%s", (unsigned long)c->bytes,
		 c->type.kind == SAMPLE_FLOAT ? "real" : "key");
	p->extent = cuda_function(cuda, name);
}

static void choose_way(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda,
		       bool stays)
{
	if (!c->stats && !stays) /* otherwise each code needs a counter */
		choose_groups(p, c);
	if (c->bytes == 1) {
		p->copies = STRIPES;
		while (p->copies > 1 && !fits(p, (uint64_t)p->cells * p->copies))
			p->copies /= p->copies > STRIPES_LEAST ? 2 : STRIPES_LEAST;
	}
	if (fits(p, p->cells) && (c->bytes != 2 || p->grouped)) {
		choose_shared(p, c, cuda);
	} else if (c->bytes == 2 && p->rule.channels == 1 && p->sms > 1 &&
		   fits(p, PAIR_CODES + 1)) {
		choose(p, c, cuda, "pair", false, 4 * spread_words(PAIR_CODES + 1));
		p->grid = p->sms & ~1u; /* an even number of blocks */
	} else {
		choose(p, c, cuda, "far", false, 0);
		p->grid = p->sms;
	}
}

void kernel_plan_init(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda,
		      bool stays)
{
	int sms, most;

	cuda_must(cuda, cuda->device_attribute(&sms, CU_ATTRIBUTE_SM_COUNT, cuda->device),
		  "device");
	cuda_must(cuda, cuda->device_attribute(&most, CU_ATTRIBUTE_SHARED_OPTIN, cuda->device),
		  "device");
	*p = (struct kernel_plan){
		.rule = {.bins = c->binning, .channels = c->channels},
		.cells_each = (uint32_t)c->cells_each,
		.cells = (uint32_t)c->cells,
		.copies = 1,
		.sms = (uint32_t)sms,
		.shared_most = (uint32_t)most - 1024, /* for the kernels' own few variables */
	};
	if (c->cells > CELLS_MOST)
		cuda_must(cuda, CUDA_ERROR_OUT_OF_MEMORY, "too many bins");
	set_reading(&p->rule, &c->type);
	set_guess(&p->rule);
	choose_gather(p, c, cuda);
	choose_extent(p, c, cuda);
	if (c->bytes > 2 && c->binning.kind == BIN_TABLE) { /* codes are binned by the host */
		p->table = (const void *)(uintptr_t)c->binning.table.at;
		p->table_bytes = 4 * (size_t)c->binning.table.words;
	}
	choose_way(p, c, cuda, stays);
}

/* ---- the launches for one chunk ---- */

static void launch(const struct cuda *cuda, CUfunction kernel, const struct kernel_chunk *chunk,
		   unsigned grid, unsigned shared, void **arguments)
{
	cuda_must(cuda,
		  cuda->launch(kernel, grid, 1, 1, KERNEL_THREADS, 1, 1, shared, chunk->stream,
			       arguments, NULL),
		  "kernel");
}

void kernel_launch(const struct kernel_plan *p, const struct cuda *cuda,
		   const struct kernel_chunk *chunk, size_t samples, const struct binning *bins,
		   bool again)
{
	CUdeviceptr from = chunk->data, data = p->gather ? chunk->packed : from, out = chunk->cells;
	CUdeviceptr found = out + 4 * (kernel_out_words(p) - KERNEL_EXTENT_WORDS);
	uint64_t n = samples;
	struct gather apart = p->apart;
	struct rule rule = p->rule;
	uint32_t copies = p->copies;
	void *of_gather[] = {&from, &data, &apart};
	void *of_extent[] = {&data, &n, &rule, &found};
	void *arguments[] = {&data, &n, &rule, &out, &copies}; /* "pair", "far" take only four */

	apart.n = n;
	if (p->gather && !again)
		launch(cuda, p->gather, chunk, p->sms, 0, of_gather);
	if (p->extent && !again)
		launch(cuda, p->extent, chunk, p->sms, 16 * KERNEL_THREADS, of_extent);
	if (bins)
		rule.bins = *bins;
	if (p->table_bytes > 0)
		rule.bins.table.at = chunk->table;
	launch(cuda, p->function, chunk, p->grid, p->shared, arguments);
}

struct extent kernel_extent(const struct kernel_plan *p, const uint32_t *cells)
{
	uint64_t found[2];

	memcpy(found, cells + kernel_out_words(p) - KERNEL_EXTENT_WORDS, sizeof(found));
	return (struct extent){.least = ~found[0], .greatest = found[1]};
}

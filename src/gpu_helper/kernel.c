/* SPDX-License-Identifier: MIT */
/* kernel: chooses among the kernels of kernels/count/count.cuh and launches them for a chunk. */
#include "gpu_helper/kernel.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define CELLS_MOST ((uint64_t)1 << 30) /* of all channels */

/* ---- the rule ---- */

static void set_reading(struct rule *r, const struct sample_type *type)
{
	static const uint32_t SELECT3[2][4] = {{0x2100, 0x5430, 0x4320, 0x3210},
					       {0x0120, 0x3450, 0x2340, 0x1230}};
	const uint32_t sign = type->kind == SAMPLE_SIGNED;

	r->flip[0] = r->flip[1] = 0;
	switch (type->code_bytes) {
	case 3:
		memcpy(r->perm, SELECT3[type->big], sizeof(r->perm));
		r->flip[0] = sign << 23;
		break;
	case 8:
		r->perm[0] = type->big ? 0x4567 : 0x3210;
		r->perm[1] = type->big ? 0x0123 : 0x7654;
		r->flip[1] = sign << 31;
		break;
	default: /* codes are used as stored */
		r->perm[0] = type->big ? 0x0123 : 0x3210;
		r->flip[0] = sign << 31;
		break;
	}
}

/* ---- the choice ---- */

/* Do `cells` counters fit into a block's shared memory? */
static bool kernel_fits(const struct kernel_plan *p, uint64_t cells)
{
	return 4 * cells <= p->shared_most &&
	       4ull * spread_words((uint32_t)cells) <= p->shared_most;
}

/* Choose the counting kernel and its amount of shared memory. */
static void choose_way(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	/* A table of all 2-byte codes never fits. */
	const bool whole = !p->rule.resident && c->type.code_bytes != 2 && kernel_fits(p, p->cells);

	snprintf(p->name, sizeof(p->name), "%s_%lu_%s", whole ? "whole" : "far",
		 (unsigned long)c->type.code_bytes,
		 c->type.code_bytes <= 2        ? "code"
		 : c->type.kind == SAMPLE_FLOAT ? "real"
						: "key");
	p->function = cuda_function(cuda, p->name);
	p->shared = whole ? 4 * spread_words(p->cells) : 0;
	if (whole)
		cuda_must(
			cuda,
			cuda->function_set(p->function, CU_FUNC_MAX_DYNAMIC_SHARED, (int)p->shared),
			"kernels");
}

/* ---- samples ---- */

static void find_gather(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	char name[32];

	snprintf(name, sizeof(name), "gather_%lu", (unsigned long)c->bytes);
	p->gather = cuda_function(cuda, name);
}

/* Treat a row without gaps as one record, and rows of one record as records: fewer divisions. */
static void choose_gather(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	const struct layout *l = &c->layout;

	p->gaps = !layout_is_contiguous(l, c->bytes);
	if (!p->gaps)
		return;
	p->apart = (struct gather){
		.samples = l->samples, .records = 1, .offset = l->offset, .pitch = layout_bytes(l)};
	if (l->row > 0 && l->samples * c->bytes == l->record) {
		p->apart.samples = l->samples * l->row;
	} else if (l->row > 0) {
		p->apart.records = l->row;
		p->apart.record = l->record;
	}
	find_gather(p, c, cuda);
}

void kernel_plan_unaligned(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	if (p->gaps || c->bytes == 1 || c->bytes == 3)
		return;
	p->align = c->bytes;
	p->apart = (struct gather){.samples = UINT32_MAX, .records = 1};
	find_gather(p, c, cuda);
}

static void choose_extent(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda)
{
	char name[32];

	if (c->type.code_bytes <= 2 || !binning_is_open(&c->binning))
		return;
	snprintf(name, sizeof(name), "extent_%lu_%s", (unsigned long)c->type.code_bytes,
		 c->type.kind == SAMPLE_FLOAT ? "real" : "key");
	p->extent = cuda_function(cuda, name);
}

void kernel_plan_init(struct kernel_plan *p, const struct counting *c, const struct cuda *cuda,
		      bool resident)
{
	int sms, most;

	cuda_must(cuda, cuda->device_attribute(&sms, CU_ATTRIBUTE_SM_COUNT, cuda->device),
		  "device");
	cuda_must(cuda, cuda->device_attribute(&most, CU_ATTRIBUTE_SHARED_OPTIN, cuda->device),
		  "device");
	*p = (struct kernel_plan){
		.rule = {.bins = c->binning, .channels = c->channels, .resident = resident},
		.align = 1,
		.cells = (uint32_t)c->cells,
		.sms = (uint32_t)sms,
		.shared_most =
			(uint32_t)most - 1024, /* leaves room for the kernels' static variables */
	};
	if (c->cells > CELLS_MOST)
		cuda_must(cuda, CUDA_ERROR_OUT_OF_MEMORY, "too many bins");
	set_reading(&p->rule, &c->type);
	choose_gather(p, c, cuda);
	choose_extent(p, c, cuda);
	if (c->type.code_bytes > 2 && c->binning.kind == BIN_TABLE) { /* the host bins codes */
		p->edges = (const void *)(uintptr_t)c->binning.table.at;
		p->edges_bytes = 4 * (size_t)c->binning.table.words;
	}
	choose_way(p, c, cuda);
}

/* ---- the launches for one chunk ---- */

static void launch_on(const struct cuda *cuda, CUfunction kernel, const struct kernel_chunk *chunk,
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
	const bool packs = p->gaps || chunk->data % p->align > 0;
	CUdeviceptr from = chunk->data, data = packs ? chunk->dense : from, out = chunk->cells;
	CUdeviceptr found = out + 4 * (kernel_out_words(p) - KERNEL_EXTENT_WORDS);
	uint64_t n = samples;
	struct gather apart = p->apart;
	struct rule rule = p->rule;
	void *of_gather[] = {&from, &data, &apart};
	void *of_extent[] = {&data, &n, &rule, &found};
	void *arguments[] = {&data, &n, &rule, &out};

	apart.n = n;
	if (packs && !again)
		launch_on(cuda, p->gather, chunk, p->sms, 0, of_gather);
	if (p->extent && !again)
		launch_on(cuda, p->extent, chunk, p->sms, KERNEL_EXTENT_SHARED, of_extent);
	if (bins)
		rule.bins = *bins;
	if (p->edges_bytes > 0)
		rule.bins.table.at = chunk->edges;
	launch_on(cuda, p->function, chunk, p->sms, p->shared, arguments);
}

struct extent kernel_extent(const struct kernel_plan *p, const uint32_t *cells)
{
	uint64_t found[EXTENT_WORDS];

	memcpy(found, cells + kernel_out_words(p) - KERNEL_EXTENT_WORDS, sizeof(found));
	return (struct extent){.least = ~found[EXTENT_LEAST],
			       .greatest = found[EXTENT_GREATEST],
			       .below = found[EXTENT_BELOW],
			       .above = ~found[EXTENT_ABOVE]};
}

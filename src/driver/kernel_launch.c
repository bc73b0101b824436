/* SPDX-License-Identifier: MIT */
/* kernel_launch: the kernels of a plan, queued for one chunk. */
#include "driver/kernel.h"

#include <string.h>

#include "driver/kernel_parts.h"

/* The plan's rule, with addresses of the device that the chunk is on. */
static struct rule rule_of(const struct kernel_plan *p, const struct kernel_chunk *chunk,
			   const struct binning *bins)
{
	struct rule rule = p->rule;

	if (bins)
		rule.bins = *bins;
	if (p->near)
		rule.near.from = chunk->table;
	else if (p->table_bytes > 0)
		rule.bins.table.at = chunk->table;
	return rule;
}

/* The address of the samples to be counted. */
static CUdeviceptr samples_of(const struct kernel_plan *p, const struct kernel_chunk *chunk)
{
	return p->gather ? chunk->packed : chunk->data;
}

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

static CUresult launch_extent(const struct kernel_plan *p, const struct cuda *cuda,
			      const struct kernel_chunk *chunk, uint64_t n)
{
	CUdeviceptr data = samples_of(p, chunk),
		    out = chunk->cells + 4 * (kernel_out_words(p) - KERNEL_EXTENT_WORDS);
	struct rule rule = p->rule;
	void *arguments[] = {&data, &n, &rule, &out};

	return cuda->launch(p->extent, p->sms, 1, 1, KERNEL_THREADS, 1, 1, 16 * KERNEL_THREADS,
			    chunk->stream, arguments, NULL);
}

static CUresult launch_parts(const struct kernel_plan *p, const struct cuda *cuda,
			     const struct kernel_chunk *chunk, uint64_t n, struct rule rule)
{
	struct parts s;
	struct parts_memory m;
	CUdeviceptr data = samples_of(p, chunk), out = chunk->cells;
	uint32_t all = p->cells;

	if (parts_lay_out(&s, p, n) != 0 || parts_place(&m, &s, chunk->work) > p->work_bytes)
		return CUDA_ERROR_OUT_OF_MEMORY; /* never for a chunk of at most bytes_max */
	void *to_split[] = {&data, &n, &rule, &s, &m};
	void *to_plan[] = {&s, &m};
	void *to_count[] = {&s, &m, &all, &out};
	const unsigned grid = s.tiles < p->sms ? s.tiles : p->sms;
	CUresult r = cuda->fill32(m.total, 0, s.buckets, chunk->stream);
	if (r == CUDA_SUCCESS)
		r = cuda->launch(p->function, grid, 1, 1, p->threads, 1, 1,
				 (unsigned)parts_split_shared(&s), chunk->stream, to_split, NULL);
	if (r == CUDA_SUCCESS)
		r = cuda->launch(p->plan, 1, 1, 1, KERNEL_THREADS, 1, 1, 0, chunk->stream, to_plan,
				 NULL);
	if (r == CUDA_SUCCESS)
		r = cuda->launch(p->count, p->sms, 1, 1, KERNEL_THREADS, 1, 1,
				 4 * spread_words(s.width + 1), chunk->stream, to_count, NULL);
	return r;
}

CUresult kernel_launch_again(const struct kernel_plan *p, const struct cuda *cuda,
			     const struct kernel_chunk *chunk, size_t samples,
			     const struct binning *bins)
{
	CUdeviceptr data = samples_of(p, chunk), out = chunk->cells;
	uint64_t n = samples;
	struct rule rule = rule_of(p, chunk, bins);
	uint32_t copies = p->copies;
	void *arguments[] = {&data, &n, &rule, &out, &copies};

	/* The kernels of PAIR and FAR take only the first four. */
	if (p->way == WAY_PARTS)
		return launch_parts(p, cuda, chunk, n, rule);
	return cuda->launch(p->function, p->grid, 1, 1, p->threads, 1, 1, p->shared, chunk->stream,
			    arguments, NULL);
}

CUresult kernel_launch(const struct kernel_plan *p, const struct cuda *cuda,
		       const struct kernel_chunk *chunk, size_t samples, const struct binning *bins)
{
	CUresult r = p->gather ? launch_gather(p, cuda, chunk, samples) : CUDA_SUCCESS;

	if (r == CUDA_SUCCESS && p->extent)
		r = launch_extent(p, cuda, chunk, samples);
	return r == CUDA_SUCCESS ? kernel_launch_again(p, cuda, chunk, samples, bins) : r;
}

struct extent kernel_extent(const struct kernel_plan *p, const uint32_t *cells)
{
	uint64_t found[2];

	memcpy(found, cells + kernel_out_words(p) - KERNEL_EXTENT_WORDS, sizeof(found));
	return (struct extent){.least = ~found[0], .greatest = found[1]};
}

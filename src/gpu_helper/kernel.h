/* SPDX-License-Identifier: MIT */
/*
 * kernel: chooses and launches the kernels for a job.
 *
 *   whole   keeps all counters in shared memory
 *   far     has any number of counters in device memory, for example all 2-byte codes; each block
 *           keeps the cells that it meets first in shared memory
 *
 * Samples with gaps between them or at odd addresses are packed first. Under --auto, the extent of
 * the samples is found too.
 */
#ifndef GPUHIST_KERNEL_H
#define GPUHIST_KERNEL_H

#include <stdbool.h>

#include "../kernels/count/rule.h"
#include "count/count.h"
#include "gpu_helper/cuda.h"

#define KERNEL_EXTENT_WORDS (2u * EXTENT_WORDS) /* --auto: 32-bit words after the counters */
#define KERNEL_EXTENT_SHARED (8u * EXTENT_WORDS * KERNEL_THREADS) /* bytes for `extent` */

struct kernel_plan {
	char name[32]; /* name of the counting kernel, for -v */
	CUfunction function;
	CUfunction gather; /* packs samples with gaps or at odd addresses; NULL: there are none */
	CUfunction extent; /* --auto: finds the extent of the samples; else NULL */
	struct rule rule;
	struct gather apart; /* for gather: where the samples are */
	bool gaps;           /* samples have gaps between them */
	uint32_t align;      /* bytes; samples at other addresses are packed, too */
	uint32_t cells;      /* counters of all channels */
	unsigned shared;     /* bytes of dynamic shared memory */
	uint32_t sms;
	uint32_t shared_most; /* most bytes of shared memory for a block */
	const void *edges;    /* explicit edges in host memory */
	size_t edges_bytes;   /* bytes of explicit edges; 0: none */
};

/* Choose the kernels and find them. resident: they add to 64-bit counters, which stay. */
void kernel_plan_init(struct kernel_plan *plan, const struct counting *counting,
		      const struct cuda *cuda, bool resident);

/*
 * Chunks may begin at any address, as those decoded on the device do. The kernels need samples that
 * are aligned to their own size, so such chunks are packed first; they need chunk->dense.
 */
void kernel_plan_unaligned(struct kernel_plan *plan, const struct counting *counting,
			   const struct cuda *cuda);

/* 32-bit words fetched for a chunk: its counters and, under --auto, the extent. */
static inline size_t kernel_out_words(const struct kernel_plan *plan)
{
	return plan->extent ? ((size_t)plan->cells + 1) / 2 * 2 + KERNEL_EXTENT_WORDS : plan->cells;
}

/* A chunk on a device. */
struct kernel_chunk {
	CUstream stream;
	CUdeviceptr data;  /* records */
	CUdeviceptr cells; /* counters: kernel_out_words(plan) words */
	CUdeviceptr dense; /* packed samples, from gather */
	CUdeviceptr edges; /* explicit edges: plan->edges_bytes bytes */
};

/*
 * Queue the kernels for a chunk, whose counters its stream has cleared. bins: under --auto,
 * replaces the plan's bins; else NULL. again: counts only, a second time.
 */
void kernel_launch(const struct kernel_plan *plan, const struct cuda *cuda,
		   const struct kernel_chunk *chunk, size_t samples, const struct binning *bins,
		   bool again);

/* --auto: return the extent of a chunk, from the words fetched for it. */
struct extent kernel_extent(const struct kernel_plan *plan, const uint32_t *cells);

#endif

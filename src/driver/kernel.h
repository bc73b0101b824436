/* SPDX-License-Identifier: MIT */
/*
 * kernel: which kernel counts a job on a device, in what shape it is launched, and the launches.
 *
 *   whole   all counters in shared memory
 *   far     any number of counters, in the device's memory, but for the cells that a block meets
 *           first; all codes of two bytes are so many
 *
 * Samples with gaps between them are packed first. Of samples whose bins are not known yet the
 * extent is found too.
 */
#ifndef GPUHIST_KERNEL_H
#define GPUHIST_KERNEL_H

#include <stdbool.h>

#include "../kernels/rule.h"
#include "count/count.h"
#include "driver/cuda.h"

#define KERNEL_THREADS 1024u   /* of a block: what each kernel is compiled for */
#define KERNEL_EXTENT_WORDS 4u /* --auto: two words of 64 bits after the counters */

struct kernel_plan {
	char name[32]; /* name of the counting kernel, for -v */
	CUfunction function;
	CUfunction gather; /* packs samples that have gaps between them; NULL: they have none */
	CUfunction extent; /* --auto: finds the least and the greatest sample; else NULL */
	struct rule rule;
	struct gather apart; /* for gather: where the samples are */
	uint32_t cells;      /* counters of all channels */
	unsigned shared;     /* bytes */
	uint32_t sms;
	uint32_t shared_most; /* bytes that a block may have */
	const void *table;    /* explicit edges in the host's memory */
	size_t table_bytes;   /* bytes of explicit edges; 0: there are none */
};

/* Chooses the kernels and finds them. wide: they add to counters of 64 bits, which stay. */
void kernel_plan_init(struct kernel_plan *plan, const struct counting *counting,
		      const struct cuda *cuda, bool wide);

/* The 32-bit words that come back for a chunk: its counters, and under --auto the extent. */
static inline size_t kernel_out_words(const struct kernel_plan *plan)
{
	return plan->extent ? ((size_t)plan->cells + 1) / 2 * 2 + KERNEL_EXTENT_WORDS : plan->cells;
}

/* A chunk on a device. */
struct kernel_chunk {
	CUstream stream;
	CUdeviceptr data, cells; /* the records; the counters, kernel_out_words of the plan */
	CUdeviceptr packed;      /* the samples that gather packs */
	CUdeviceptr table;       /* table_bytes of the plan: explicit edges */
};

/*
 * Queues the kernels for a chunk; its counters were cleared before, in its stream. bins: replaces
 * the plan's rule under --auto; else NULL. again: only the counting, once more.
 */
void kernel_launch(const struct kernel_plan *plan, const struct cuda *cuda,
		   const struct kernel_chunk *chunk, size_t samples, const struct binning *bins,
		   bool again);

/* --auto: the extent of a chunk, from the words that came back for it. */
struct extent kernel_extent(const struct kernel_plan *plan, const uint32_t *cells);

#endif

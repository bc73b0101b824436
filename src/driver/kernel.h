/* SPDX-License-Identifier: MIT */
/*
 * kernel: which kernel counts a job on a device, in what shape it is launched, and the launches.
 *
 *   striped   the codes of one byte in shared memory, once for each lane of a warp; few groups
 *             of 16-bit integers (gpu_plan.h), once for two lanes each
 *   whole     cells in shared memory, once
 *   pair      codes of two bytes: two blocks share them
 *   far       any number, in the device's memory, but for the cells that a block meets first
 *
 * Samples with gaps between them are packed first. Of samples whose bins are not known yet the
 * extent is found too.
 *
 * The choice depends on what a device can hold, so a job may be counted one way on one device and
 * another way on the next; the counts are the same.
 */
#ifndef GPUHIST_KERNEL_H
#define GPUHIST_KERNEL_H

#include <stdbool.h>

#include "../kernels/rule.h"
#include "count/count.h"
#include "driver/cuda.h"
#include "driver/gpu_image.h"

#define KERNEL_THREADS 1024u   /* of a block: what each kernel is compiled for */
#define KERNEL_EXTENT_WORDS 4u /* SLOT: two words of 64 bits after the counters */

struct kernel_device {
	const struct cuda *cuda;
	CUdevice device;
	CUmodule module;
	bool stays; /* counters stay on the device: there is one for each cell, and no groups */
};

struct kernel_plan {
	char name[32]; /* of the counting kernel, for -v */
	CUfunction function;
	/* packs samples that have gaps between them; NULL: they have none */
	CUfunction gather;
	CUfunction extent; /* SLOT: finds the least and the greatest sample; else NULL */
	struct rule rule;
	struct gather apart; /* for gather: where the samples are */
	uint32_t cells_each; /* counters of a channel: of each cell, or of each group of them */
	uint32_t cells;      /* of all channels */
	bool grouped;
	unsigned grid;
	unsigned shared; /* bytes */
	uint32_t copies; /* of each counter in shared memory */
	uint32_t sms;
	uint32_t shared_most; /* bytes that a block may have */
	const void *table;    /* explicit edges, in the host's memory ... */
	size_t table_bytes;   /* ... and in the device's, for each chunk; 0: none */
};

/*
 * Chooses the kernels and finds them in the module. *what names the step that failed. The device's
 * context must be current.
 */
CUresult kernel_plan_init(struct kernel_plan *plan, const struct counting *counting,
			  const struct kernel_device *on, const char **what);

/*
 * The 32-bit words that come back for a chunk: its counters, and for SLOT the extent after them,
 * two words of 64 bits.
 */
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
 * Queues the kernels for a chunk; its counters were cleared before, in its stream. bins: the rule
 * to count by, if not the plan's own: another rule of SLOT. again: only the counting, once more.
 */
CUresult kernel_launch(const struct kernel_plan *plan, const struct cuda *cuda,
		       const struct kernel_chunk *chunk, size_t samples, const struct binning *bins,
		       bool again);

/* SLOT: the extent of a chunk, from the words that came back for it. */
struct extent kernel_extent(const struct kernel_plan *plan, const uint32_t *cells);

#endif

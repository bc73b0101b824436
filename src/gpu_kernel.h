/*
 * gpu_kernel: which kernel counts a job on a device, in what shape it is launched.
 *
 *   striped   the codes of one byte in shared memory, once for each lane of a warp; few groups
 *             of 16-bit integers (gpu_group.h), once for two lanes each
 *   whole     cells in shared memory, once
 *   pair      up to twice the cells that fit: two blocks share them
 *   split     any number: samples are sorted into buckets that fit, then counted
 *
 * What a device can hold decides, so a job may go one way on one device and another on the
 * next; the counts are the same.
 */
#ifndef GPUHIST_GPU_KERNEL_H
#define GPUHIST_GPU_KERNEL_H

#include <stdbool.h>

#include "../kernels/rule.h"
#include "count.h"
#include "cuda.h"

struct slot;

/* The fatbin that was built in; NULL in a program that was built without nvcc. */
extern const void *const kernel_image;

struct kernel_device {
	const struct cuda *cuda;
	CUdevice device;
	CUmodule module;
	size_t samples_max; /* of a chunk */
};

enum kernel_way { WAY_SHARED, WAY_PAIR, WAY_PARTS };

struct kernel_plan {
	enum kernel_way way;
	char name[32];           /* of the kernel, for -v */
	CUfunction function;     /* striped, whole, pair, or split */
	CUfunction plan, count;  /* PARTS */
	struct rule rule;
	uint32_t cells;          /* counters: of each cell, or of each group of them */
	bool grouped;
	uint32_t sample;         /* bytes */
	unsigned grid, threads;
	unsigned shared;         /* bytes */
	uint32_t copies;         /* SHARED */
	uint32_t sms;
	uint32_t shared_most;    /* bytes that a block may have */
	size_t work_bytes;       /* PARTS: device memory that each slot needs */
};

/* *what names the step that failed. The device's context is current. */
CUresult kernel_plan_init(struct kernel_plan *plan, const struct counting *counting,
			  const struct kernel_device *on, const char **what);

/* Queues the kernel for a slot's chunk; its counters were cleared before, in its stream. */
CUresult kernel_launch(const struct kernel_plan *plan, const struct cuda *cuda,
		       const struct slot *slot, size_t samples);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * gpu_plan: decisions before a GPU is started: the number and size of slots, whether counters stay
 * on the device, and which device the driver sees. Pure functions.
 */
#ifndef GPUHIST_GPU_PLAN_H
#define GPUHIST_GPU_PLAN_H

#include <stddef.h>

#include "gpu/gpu.h"

/* More counters stay on the device: fetching them with each chunk would cost 1/16 of the bus. */
#define RESIDENT_CELLS ((size_t)1 << 17)

struct gpu_size {
	bool fits; /* memory suffices; if not, the other fields are the least a GPU needs */
	unsigned lanes;
	unsigned slots; /* including rooms */
	unsigned rooms; /* slots for decoding zstd */
	size_t slot_bytes;
	size_t cell_bytes; /* bytes of a slot's counters */
	bool resident;     /* counters stay on the device */
};

/*
 * Divide spec->memory among slots. Small slots waste bus time, large ones outgrow the
 * CPU's cache; 4 MiB is between the two (bench/README.md). Each worker fills one slot; a few more,
 * waiting or being counted, keep the bus busy.
 */
struct gpu_size gpu_size(const struct gpu_spec *spec);

/* Samples in `bytes` bytes of whole records. */
static inline size_t samples_of(const struct layout *l, size_t bytes)
{
	return bytes / layout_bytes(l) * layout_samples(l);
}

/*
 * Write a CUDA_VISIBLE_DEVICES that shows the driver one device: device `number` of those that
 * `visible`, the variable's current value or NULL, shows, or none if it shows too few. A driver
 * that sees only one device starts five times faster.
 */
void device_show(char *text, size_t size, const char *visible, unsigned number);

#endif

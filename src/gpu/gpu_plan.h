/* SPDX-License-Identifier: MIT */
/*
 * gpu_plan: what is decided before a GPU is started: how many slots it gets, how large they are, and
 * whether counters stay on it; which device the helper's driver is to see. Pure.
 */
#ifndef GPUHIST_GPU_PLAN_H
#define GPUHIST_GPU_PLAN_H

#include <stddef.h>

#include "gpu/gpu.h"

/*
 * More counters than this stay on the device: to fetch them for each chunk would take a sixteenth
 * of the bus's time.
 */
#define STAY_CELLS ((size_t)1 << 17)

struct gpu_size {
	bool fits; /* the memory was enough; if not, the rest is the least that a GPU needs */
	unsigned lanes;
	uint64_t lane_bytes; /* bytes of a lane beside its slots: counters, statistics */
	unsigned slots;      /* slots, including rooms */
	unsigned rooms;      /* those of the slots in which zstd is decoded */
	size_t slot_bytes;
	size_t cell_bytes; /* bytes of a slot's counters */
	bool stays;        /* counters stay on the device */
};

/*
 * Divides spec->memory among lanes and slots. Smaller slots cost the bus time, larger ones outgrow
 * the processor's cache: 4 MiB is between the two (bench/README.md). Each worker fills one slot; a
 * few more, which wait or are being counted, keep the bus busy.
 */
struct gpu_size gpu_size(const struct gpu_spec *spec);

/* Samples in `bytes` bytes, which are whole records. */
static inline size_t samples_of(const struct layout *l, size_t bytes)
{
	return bytes / layout_bytes(l) * layout_samples(l);
}

/*
 * A driver starts five times faster when it sees only the device that is needed, so the helper is
 * shown one, by its environment. Our numbers count those devices that the user's
 * CUDA_VISIBLE_DEVICES shows.
 *
 * Makes the value of CUDA_VISIBLE_DEVICES that shows the device with this number among those that
 * `visible`, its present value or NULL, shows; none for a number past them.
 */
void device_show(char *text, size_t size, const char *visible, unsigned number);

#endif

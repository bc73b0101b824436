/* SPDX-License-Identifier: MIT */
/*
 * gpu_plan: what is decided before a GPU is started: how many slots a device gets, how large they
 * are, and whether counters stay on it; which devices a helper's driver is to see. Pure.
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

/* "all" uses at most this many devices: each has its share of the memory */
#define DEVICES_ALL 8u

struct gpu_size {
	bool fits;      /* the memory was enough; if not, the rest is the least that a GPU needs */
	unsigned lanes; /* over all devices */
	uint64_t lane_bytes; /* bytes of a lane beside its slots: counters, statistics */
	unsigned slots;      /* slots of each device */
	unsigned rooms;      /* those of its slots in which zstd is decoded */
	size_t slot_bytes;
	size_t cell_bytes; /* bytes of a slot's counters, or of a piece of those that stay */
	size_t piece;      /* counters in a piece of those that stay; 0: they do not stay */
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
 * A driver starts five times faster when it sees only the device that is needed, so each helper is
 * shown one, by its environment. Our numbers count those devices that the user's
 * CUDA_VISIBLE_DEVICES shows.
 */

/* How many devices a list names: "0,2" names two; for "all" this is 0. */
unsigned devices_named(const char *wanted);

/* The number of the nth device of a list, counted from 0. */
unsigned devices_nth(const char *wanted, unsigned nth);

/*
 * Makes the value of CUDA_VISIBLE_DEVICES that shows the device with this number among those that
 * `visible`, its present value or NULL, shows; none for a number past them.
 */
void devices_show(char *text, size_t size, const char *visible, unsigned number);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * gpu_plan: what is decided before a GPU is started: how many slots a device gets, how large they
 * are, and whether counters stay on it; which devices a helper's driver is to see. Pure.
 */
#ifndef GPUHIST_GPU_PLAN_H
#define GPUHIST_GPU_PLAN_H

#include <stddef.h>

#include "gpu/gpu.h"

/* More stay on the device: fetched for each chunk they would take a sixteenth of the bus's time. */
#define STAY_CELLS ((size_t)1 << 17)

/* "all" uses at most this many devices: each has its share of the memory */
#define DEVICES_ALL 8u

struct gpu_size {
	bool fits; /* its memory was enough; if not, this is the least with which a GPU can count */
	unsigned lanes;      /* over all devices */
	uint64_t lane_bytes; /* what a lane takes beside the slots: counters, statistics */
	unsigned slots;      /* this and what follows is of each device */
	unsigned rooms;      /* of all slots, those in which zstd is decoded */
	size_t slot_bytes;
	size_t cell_bytes; /* of a slot's counters, or of a piece of those that stay */
	size_t piece; /* counters that stay are fetched in pieces of so many; 0: they do not stay */
};

/*
 * Divides spec->memory among lanes and slots. Smaller slots cost the bus time, larger ones outgrow
 * the processor's cache: 4 MiB is between the two (bench/README.md). Each worker fills one slot; a
 * few more, which wait or are being counted, keep the bus busy.
 */
struct gpu_size gpu_size(const struct gpu_spec *spec);

/* Samples in so many bytes, which are whole records. */
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

/* The number of the nth device of a list; the first is number 0. */
unsigned devices_nth(const char *wanted, unsigned nth);

/*
 * Makes the value of CUDA_VISIBLE_DEVICES that shows the device with this number among those that
 * `visible`, its present value or NULL, shows; none for a number past them.
 */
void devices_show(char *text, size_t size, const char *visible, unsigned number);

#endif

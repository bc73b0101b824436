/* SPDX-License-Identifier: MIT */
/*
 * gpu_size: how many slots a device gets, how large they are, and whether counters stay on it.
 * Pure.
 *
 * A copy to the device costs the bus a few microseconds beside its bytes, and slots that outgrow
 * the processor's cache cost its memory bandwidth: 4 MiB is between the two (bench/README.md). Each
 * worker fills one slot; a few more, which wait or are being counted, keep the bus busy.
 */
#ifndef GPUHIST_GPU_SIZE_H
#define GPUHIST_GPU_SIZE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpu/gpu.h"

/*
 * More counters than this stay on the device: fetching them for each chunk would take a sixteenth
 * of the bus's time, and adding them most of a core.
 */
#define STAY_CELLS ((size_t)1 << 17)

struct gpu_size {
	unsigned slots;  /* those for orders included */
	unsigned orders; /* where counters stay */
	size_t slot_bytes;
	size_t cell_bytes; /* of a slot's counters; 0: they stay */
	bool stays;
	size_t piece; /* counters of a piece of them */
};

/* The sizes for one device, which may take that many bytes. */
struct gpu_size gpu_size(const struct gpu_spec *spec, uint64_t memory);

#endif

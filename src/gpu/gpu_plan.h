/* SPDX-License-Identifier: MIT */
/*
 * gpu_plan: what is decided before a GPU is started: how many slots a device gets, how large they
 * are, and whether counters stay on it; which devices a helper's driver is to see; which codes
 * share a counter. Pure.
 */
#ifndef GPUHIST_GPU_PLAN_H
#define GPUHIST_GPU_PLAN_H

#include <stddef.h>

#include "../kernels/rule.h"
#include "gpu/gpu.h"

/* ---- slots ---- */

/*
 * More counters than this stay on the device: fetching them for each chunk would take a sixteenth
 * of the bus's time, and adding them most of a core.
 */
#define STAY_CELLS ((size_t)1 << 17)

/* "all" uses at most this many devices: each has its share of the memory */
#define DEVICES_ALL 8u

struct gpu_size {
	bool fits; /* its memory was enough; if not, this is the least with which a GPU can count */
	unsigned lanes;      /* over all devices */
	uint64_t lane_bytes; /* what a lane takes beside the slots: counters, statistics */
	/* Of each device: */
	unsigned slots;
	size_t slot_bytes;
	size_t cell_bytes; /* of a slot's counters, or of a piece of those that stay */
	size_t piece; /* counters that stay are fetched in pieces of so many; 0: they do not stay */
};

/*
 * Divides spec->memory among lanes and slots. A copy to the device costs the bus a few microseconds
 * beside its bytes, and slots that outgrow the processor's cache cost its memory bandwidth: 4 MiB
 * is between the two (bench/README.md). Each worker fills one slot; a few more, which wait or are
 * being counted, keep the bus busy.
 */
struct gpu_size gpu_size(const struct gpu_spec *spec);

/* Samples in so many bytes, which are whole records. */
static inline size_t samples_of(const struct layout *l, size_t bytes)
{
	return bytes / layout_bytes(l) * layout_samples(l);
}

/* ---- devices ----
 *
 * A driver starts five times faster when it sees only the device that is needed, so each helper is
 * shown one, by its environment. Devices that the user hides by CUDA_VISIBLE_DEVICES stay hidden:
 * our numbers count those that it shows.
 */

/* How many devices a list names: "0,2" names two; for "all" this is 0. */
unsigned devices_named(const char *wanted);

/* The number of the nth device of a list; the first is number 0. */
unsigned devices_nth(const char *wanted, unsigned nth);

/*
 * Makes the value of CUDA_VISIBLE_DEVICES that shows one device: that with this number among those
 * that `visible`, its present value or NULL, shows. For a number past them it shows none.
 */
void devices_show(char *text, size_t size, const char *visible, unsigned number);

/* ---- groups ----
 *
 * 16-bit integers: their 65,536 codes are too many counters for a block's
 * shared memory; but codes of one bin need not be distinguished, nor those outside the range. The
 * counts of a group may be added to any code of it: hist.c bins them all alike. Statistics need
 * each code's count, so with them there are no groups.
 */

/*
 * Chooses at most `most` groups, none of which crosses the border of a bin; every code is checked.
 * Returns how many; 0: there are no such groups, or the type is not a 16-bit integer.
 */
uint32_t groups_choose(struct groups *groups, const struct sample_type *type,
		       const struct binning *binning, uint32_t most);

/* The group of a code as it is in memory, read as little endian. */
uint32_t groups_of_code(const struct groups *groups, const struct sample_type *type, uint32_t code);

#endif

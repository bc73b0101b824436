/* SPDX-License-Identifier: MIT */
/*
 * device: one GPU in the GPU process: the driver, the kernels that the job needs, and each slot's
 * state on the device. A driver error ends the process (cuda.h).
 */
#ifndef GPUHIST_DEVICE_H
#define GPUHIST_DEVICE_H

#include "gpu_helper/kernel.h"
#include "gpu/region.h"
#include "zstd/unpacker.h"

/*
 * One stream copies while the other counts. With a stream for each of 32 slots, the bus switched
 * streams at every copy and carried 46 to 50 GB/s; with two streams it carries 52.
 */
#define DEVICE_STREAMS 2u
#define UNPACK_STREAMS 4u /* for groups of batches */

struct device_slot {
	CUevent done;              /* recorded after all operations of the slot's request */
	struct kernel_chunk chunk; /* its stream and data belong to the latest request */
	CUdeviceptr data;          /* the slot's own copy of samples */
	/* The current request: */
	uint64_t samples;
	int k;             /* --auto: k at which the chunk is counted */
	struct extent all; /* --auto: extent of the samples so far; if `again`, the chunk's too */
	bool again;        /* the chunk is being counted a second time */
};

/* A room, for decoding zstd blocks (unpack.c). */
struct device_room {
	struct unpack_memory memory;
	CUevent done;               /* recorded after its batch */
	struct device_group *group; /* group of its current request */
};

/* Batches decoded together, on a stream of their own. */
struct device_group {
	CUstream stream;
	CUevent chained;  /* its blocks' offsets are known; the next group waits for it */
	CUevent in_ring;  /* its bytes are in the ring; the next group waits for it */
	unsigned batches; /* unfinished batches; 0: the stream is free */
};

struct unpacking {
	unsigned rooms;
	CUfunction sequences, chain, literals, place, resolve, to_ring;
	uint64_t begun;                  /* batches begun so far, which numbers the next one */
	const struct device_group *last; /* group begun last, or NULL */
	struct device_group group[UNPACK_STREAMS];
	struct device_room room[UNPACKER_ROOMS];
};

struct device {
	struct region *region;    /* shared with the program */
	struct counting counting; /* the region's, with this process's addresses */
	struct cuda cuda;
	struct kernel_plan plan;
	CUstream stream[DEVICE_STREAMS];
	unsigned slots;
	CUdeviceptr edges;    /* explicit edges; 0: none */
	CUdeviceptr counters; /* counters that stay, for all slots; 0: each slot has its own */
	struct device_slot slot[REGION_SLOTS];
	struct unpacking unpacking;
};

/* Open the driver and make the streams. */
void device_open(struct device *d);

/* Page-locks the region, whose pages must all exist, and makes as many slots as fit. */
void device_make_slots(struct device *d);

/* Make the rooms, or as many as fit. */
void unpack_make_rooms(struct device *d);

/* Queue the next g->batches batches, which are in these rooms, in order. */
void unpack_begin(struct device *d, struct device_group *g, const unsigned *rooms);

/* Execute requests until the process ends (pump.c). */
void pump(struct device *d) __attribute__((noreturn));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * device: one GPU in the helper's hands: the driver, the kernels that the job needs, and what each
 * slot has on the device. An error of the driver ends the helper (cuda.h).
 */
#ifndef GPUHIST_DEVICE_H
#define GPUHIST_DEVICE_H

#include "driver/kernel.h"
#include "gpu/region.h"
#include "input/unpacker.h"

/*
 * One stream copies while the other counts. With a stream for each of 32 slots the bus switched
 * between them at every copy: 46 to 50 GB/s, where two streams carry 52.
 */
#define DEVICE_STREAMS 2u
#define UNPACK_STREAMS 4u /* for groups of batches */

struct device_slot {
	CUevent done;              /* recorded after all that was queued for the slot's order */
	struct kernel_chunk chunk; /* its stream and data are those of its latest order */
	CUdeviceptr data;          /* the slot's own memory, to which samples are copied */
	/* Of its current order: */
	uint64_t samples;
	int k;             /* --auto: k at which the chunk is counted */
	struct extent all; /* --auto: extent of the lane's samples; with the chunk's if `again` */
	bool again;        /* the chunk is being counted for the second time */
};

/* A room, in which blocks of zstd are decoded (unpack.c). */
struct device_room {
	struct unpack_memory memory;
	CUevent done;               /* recorded after its batch */
	struct device_group *group; /* of its current order */
};

/* Batches that are decoded together, on a stream of their own. */
struct device_group {
	CUstream stream;
	CUevent chained, kept; /* the next group waits for these: chains done, bytes in the ring */
	unsigned batches;      /* batches that are not done; 0: the stream is free */
};

struct unpacking {
	unsigned rooms;
	CUfunction sequences, chain, literals, place, resolve, keep;
	uint64_t begun;                  /* batches that were begun: the number of the next one */
	const struct device_group *last; /* group that was begun last; NULL: none */
	struct device_group group[UNPACK_STREAMS];
	struct device_room room[UNPACKER_ROOMS];
};

struct device {
	struct region *region;    /* shared with the program */
	struct counting counting; /* the region's, with addresses of this process */
	struct cuda cuda;
	struct kernel_plan plan;
	CUstream stream[DEVICE_STREAMS];
	unsigned slots;
	CUdeviceptr edges;    /* explicit edges; 0: none */
	CUdeviceptr counters; /* counters that stay, for all slots; 0: each slot has its own */
	struct device_slot slot[REGION_SLOTS];
	struct unpacking unpacking;
};

/* Opens the driver, and makes the streams. */
void device_open(struct device *d);

/* Once all pages of the region exist: page-locks them, and makes as many slots as fit. */
void device_make_slots(struct device *d);

/* Makes the rooms, or as many as fit. */
void unpack_make_rooms(struct device *d);

/* Queues the next batches in order, g->batches of them, which are in these rooms. */
void unpack_begin(struct device *d, struct device_group *g, const unsigned *rooms);

/* The helper's loop: orders in, answers out (pump.c). Runs until the process ends. */
void pump(struct device *d) __attribute__((noreturn));

#endif

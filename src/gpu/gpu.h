/* SPDX-License-Identifier: MIT */
/*
 * gpu: the GPU as a worker sees it: an engine that may be missing, and its lanes.
 *
 * gpu_start returns without waiting; a thread of the GPU's own loads the driver, makes the context
 * and the kernels, and then lanes, one after the other. No thread has to wait for a GPU that is
 * still starting: a process that ends before leaves it alone.
 *
 * A lane is a set of slots. A worker takes a lane and is its only user (worker_gpu.c). Slots take
 * chunks of samples:
 *
 *	gpu_fill, or gpu_fill and gpu_map; gpu_submit; gpu_done until it is 1; gpu_free
 *
 * What the driver knows of a slot (streams, events, memory of the device) is gpu_state.h's.
 *
 * A lane that is the only one of its GPU can map ranges of a file, which no processor copies: twice
 * as fast as one thread that reads, at half of its time. Beside other lanes that would slow them:
 * the driver does nothing else while it locks pages.
 *
 * After the first fatal error no thread calls the driver again; gpu_failed is true from then on and
 * gpu_describe has the reason. The memory of the host stays readable, so every chunk that was not
 * committed can be counted by the CPU.
 */
#ifndef GPUHIST_GPU_H
#define GPUHIST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "count/count.h"

#define GPU_SLOTS 4u /* of a lane, at most: some are copied and counted while one is filled */
#define GPU_LANES_MAX 32u

struct gpu;

struct gpu_spec {
	const struct counting *counting; /* type, bins, cells; copied */
	const char *devices;             /* "0", "0,2", "all": what gpu_choose_devices was given */
	unsigned lanes;                  /* to make, over all devices, at least one ... */
	unsigned lanes_each;             /* ... and on each of them at most; 0: any number */
	unsigned lanes_least;            /* fewer are not worth larger slots; 0: all of them */
	bool decoded;                    /* samples come from decoders, slower by far than the bus */
	uint64_t memory;                 /* host bytes that all lanes together may take */
};

enum gpu_state {
	GPU_NONE,     /* none was started */
	GPU_STARTING, /* no lane yet */
	GPU_READY,    /* at least one lane; more may come */
	GPU_FAILED,   /* for good, before it had a lane or after */
};

/* FREE, FILLED, perhaps MAPPED, SUBMITTED, and FREE again. A failed GPU leaves slots as they are. */
enum slot_state {
	SLOT_FREE,      /* holds nothing that is to be counted */
	SLOT_FILLED,    /* its chunk is in data, or is a range of a file that is not mapped yet */
	SLOT_MAPPED,    /* its chunk is a range of a file: the device will read that */
	SLOT_SUBMITTED, /* its chunk is being copied and counted, until gpu_done is 1 */
};

struct slot {
	unsigned char *data;        /* page-locked, gpu_slot_bytes of it; the worker fills it */
	const uint32_t *cells;      /* page-locked; once gpu_done is 1: the counters of the chunk */
	size_t bytes, samples;      /* of the chunk; set by gpu_fill */
	int k;                      /* --auto: what its cells are counted at ... */
	struct extent extent;       /* ... and of its samples; once gpu_done is 1 */
	bool again;                 /* --auto: it is counted for the second time */
	enum slot_state state;      /* set by the functions below */
	struct slot_device *device; /* what the driver knows of it */
};

struct lane {
	struct gpu *gpu;
	struct slot slot[GPU_SLOTS];
	unsigned slots;       /* how many of them it has */
	size_t window_bytes;  /* of a file, at most, that a slot may map; 0: none (any more) */
	size_t cells;         /* counters of a chunk: not the job's where cells are counted in groups */
	uint64_t *total;      /* committed counts; NULL: committed straight into the totals */
	bool slots_of_k;      /* --auto: total is counted in slots (auto.h) at ... */
	int k;                /* ... this k, and holds ... */
	struct extent extent; /* ... samples of this extent */
	struct lane_device *device;
};

/*
 * The driver will show this process these devices alone: "0", "0,2" or "all". Changes the
 * environment, so call it before any thread is started, once, whether or not a GPU is started later.
 */
void gpu_choose_devices(const char *devices);

/* NULL and errno: no memory or no thread for it. Any thread. */
struct gpu *gpu_start(const struct gpu_spec *spec);

/* Waits until the first lane is there (0) or none will be (-1). */
int gpu_wait(struct gpu *gpu);

/* A lane that no worker has, or NULL: none is ready yet, or all are taken. Never waits. */
struct lane *gpu_take_lane(struct gpu *gpu);

/* How many lanes there are by now; is there one that no worker has? Never waits. */
unsigned gpu_lanes(const struct gpu *gpu);
bool gpu_lane_free(const struct gpu *gpu);

/* FREE to FILLED: the slot has these whole records, more than none, to count from now on. */
void gpu_fill(struct lane *lane, struct slot *slot, size_t bytes);

/*
 * FILLED to MAPPED: the slot's chunk is this range of a file. The pages of the page cache are
 * locked where they are and the device reads them. -1: not this time, or not on this lane; the
 * slot is as it was.
 */
int gpu_map(struct lane *lane, struct slot *slot, int fd, uint64_t offset, size_t bytes);

/* FILLED or MAPPED to SUBMITTED: queues copy, clear, count, fetch. -1: the GPU has failed. */
int gpu_submit(struct lane *lane, struct slot *slot);

/*
 * 1: the chunk is counted, and its range is no longer mapped; 0: not yet; -1: the GPU has failed. Under --auto a
 * chunk that turns out to span too many bins is queued once more, from the device's memory, at a larger k.
 */
int gpu_done(struct lane *lane, struct slot *slot);

/* --auto, before a chunk's cells are added to the lane's total: makes both of one k, the coarser one. */
void gpu_align(struct lane *lane, struct slot *slot);

/* To FREE: the samples are counted, by the GPU or by the CPU. */
void gpu_free(struct slot *slot);

/* The counter of a lane that counts a cell of the job. */
size_t gpu_counter(const struct lane *lane, size_t cell);

/* Of each slot. Known once there is a lane. */
size_t gpu_slot_bytes(const struct gpu *gpu);

/* Marks the gpu as failed; the first reason stays. Any thread. */
void gpu_fail(struct gpu *gpu, const char *what, const char *why);
bool gpu_failed(const struct gpu *gpu);

/* What -v and warnings report. All zero: none was started. */
struct gpu_report {
	enum gpu_state state;
	char why[256];  /* the reason, where it failed */
	char name[128]; /* of the first device */
	unsigned devices;
	double start_seconds; /* from gpu_start to the first lane */
	unsigned lanes;       /* 0: it never was ready */
	char kernel[32];      /* the first device's */
};

/* As it is now. Any thread. */
void gpu_describe(struct gpu *gpu, struct gpu_report *report);

#endif

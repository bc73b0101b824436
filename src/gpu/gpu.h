/* SPDX-License-Identifier: MIT */
/*
 * gpu: the GPU as a worker sees it: an engine that may be missing, and slots to fill.
 *
 * The driver is in another process, a helper for each device (gpu_link.h), which shares the slots' memory with us.
 * gpu_start returns without waiting. A worker opens a lane, its own way to one device, takes slots for it and gives
 * them chunks of samples:
 *
 *	gpu_take_slot; gpu_fill; gpu_submit or gpu_submit_window; gpu_done until it is 1; gpu_free
 *
 * Any worker may take any free slot of its device: so as many feed the GPU as find one, and the
 * bus decides how many that are. Where counters stay on the device (many cells) what was counted is fetched
 * by gpu_epoch.h.
 *
 * A lane that is the only one of its GPU can hand over ranges of a file, which no processor copies: twice
 * as fast as one thread that reads, at half of its time. Beside other lanes that would slow them:
 * the driver does nothing else while it locks pages.
 *
 * A helper that dies, is silent, or says what cannot be true has failed, and all of the GPU with it: gpu_failed is true
 * from then on and gpu_describe has the reason. Nothing waits for the helper then. The slots' memory is ours, so every
 * chunk that was not committed can be counted by the CPU. Every wait here ends: for a slot that is done, because
 * the helper answers, or its link's thread notices within seconds that it does not (gpu_link.c).
 */
#ifndef GPUHIST_GPU_H
#define GPUHIST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "count/count.h"

#define GPU_DEVICES 16u

struct gpu;
struct gpu_device; /* gpu_state.h */

struct gpu_spec {
	const struct counting *counting; /* type, bins, cells; borrowed until gpu_close */
	const char *devices;             /* "0", "0,2", "all" */
	unsigned lanes;                  /* that there may be, over all devices: workers that feed them */
	bool windows;                    /* a single lane: it may hand over ranges of files */
	bool decoded;                    /* samples come from decoders, slower by far than the bus */
	bool fetch;                      /* counters are fetched for each chunk, however many they are */
	uint64_t memory;                 /* host bytes that all slots together may take */
};

enum gpu_state {
	GPU_NONE,     /* none was started */
	GPU_STARTING, /* not all of its devices are ready */
	GPU_READY,
	GPU_FAILED, /* for good, before it was ready or after */
};

/* FREE, FILLED, SUBMITTED, and FREE again. A failed GPU leaves slots as they are. */
enum slot_state {
	SLOT_FREE,      /* no lane's, or holds nothing that is to be counted */
	SLOT_FILLED,    /* its chunk is in data, or is a range of a file */
	SLOT_SUBMITTED, /* the helper's, until gpu_done is 1 */
};

struct slot {
	unsigned char *data;   /* gpu_slot_bytes of it; the worker fills it */
	uint32_t *cells;       /* copied from the region by gpu_done: the counters of the chunk; NULL: they stay */
	size_t bytes, samples; /* of the chunk; set by gpu_fill */
	int k;                 /* --auto: what its cells are counted at ... */
	struct extent extent;  /* ... and of its samples; once gpu_done is 1 */
	bool window;           /* it hands over a range of a file */
	enum slot_state state; /* set by the functions below; atomic */
	bool taken;            /* by a lane; atomic */
	unsigned index;
};

struct lane {
	struct gpu *gpu;
	struct gpu_device *device;
	size_t window_bytes;  /* of a file, at most, that a slot may hand over; 0: none (any more) */
	size_t cells;         /* counters of a chunk: not the job's where cells are counted in groups */
	bool stays;           /* counters stay on the device (gpu_epoch.h) */
	uint32_t *chunk;      /* counters of one chunk, copied */
	uint64_t *total;      /* committed counts; NULL: committed straight into the totals, or they stay */
	bool slots_of_k;      /* --auto: total is counted in slots (auto.h) at ... */
	int k;                /* ... this k, and holds ... */
	struct extent extent; /* ... samples of this extent */
};

/* NULL and errno: no memory or no thread for it. Any thread. */
struct gpu *gpu_start(const struct gpu_spec *spec);

/* Ends it without waiting for a helper. When no lane is open. Takes NULL. */
void gpu_close(struct gpu *gpu);

/* Waits until all devices are ready (0) or will not be (-1). */
int gpu_wait(struct gpu *gpu);

/* Its devices are not ready yet, and have not failed. Never waits, takes no lock. */
bool gpu_starting(const struct gpu *gpu);

/* Is there a lane for one more worker? Never waits, takes no lock. */
bool gpu_lane_free(const struct gpu *gpu);

/*
 * The worker's own, on the device that has the fewest. Never waits. NULL: not ready, none left, failed; or no memory,
 * and errno is ENOMEM.
 */
struct lane *gpu_lane_open(struct gpu *gpu);

/* Its slots are all free, or the GPU has failed. Takes NULL. */
void gpu_lane_close(struct lane *lane);

/* A free slot, which is then the worker's until gpu_free; NULL: there is none. Never waits. */
struct slot *gpu_take_slot(struct lane *lane);

/* FREE to FILLED: the slot has these whole records, more than none, to count from now on. */
void gpu_fill(struct lane *lane, struct slot *slot, size_t bytes);

/* FILLED to SUBMITTED: copy, count, fetch. -1: the GPU has failed. */
int gpu_submit(struct lane *lane, struct slot *slot);

/*
 * The same of a range of a file: the pages of the page cache are locked where they are and the device
 * reads them. -1: not this time, or not on this lane, or the GPU has failed; the slot is as it was.
 */
int gpu_submit_window(struct lane *lane, struct slot *slot, int fd, uint64_t offset, size_t bytes);

enum gpu_answer {
	GPU_LOST = -1, /* the GPU has failed, and the slot is as it was */
	GPU_NOT_YET,
	GPU_DONE,    /* counted: its counters are in slot->cells unless they stay */
	GPU_REFUSED, /* its window could not be mapped: nothing was counted, the slot is FILLED again */
};

/* With `seconds` > 0 sleeps until there is an answer, or the GPU has failed, so long at most. */
enum gpu_answer gpu_done(struct lane *lane, struct slot *slot, double seconds);

/* --auto, before a chunk's cells are added to the lane's total: makes both of one k, the coarser one. */
void gpu_align(struct lane *lane, struct slot *slot);

/* To FREE: the samples are counted, by the GPU or by the CPU, or there are none. Any other lane may take it. */
void gpu_free(struct lane *lane, struct slot *slot);

/* The counter of a lane that counts a cell of the job. */
size_t gpu_counter(const struct lane *lane, size_t cell);

/* Of each slot of the lane's device. */
size_t gpu_slot_bytes(const struct lane *lane);

/* Marks the gpu as failed; the first reason stays. Any thread. */
void gpu_fail(struct gpu *gpu, const char *what, const char *why);
bool gpu_failed(const struct gpu *gpu);

/* What -v and warnings report. All zero: none was started. */
struct gpu_report {
	enum gpu_state state;
	char why[256];  /* the reason, where it failed */
	char name[128]; /* of the first device */
	unsigned devices;
	double start_seconds; /* from gpu_start to when it was ready */
	unsigned slots;       /* 0: it never was ready */
	size_t slot_bytes;
	char kernel[32]; /* the first device's */
};

/* As it is now. Any thread. */
void gpu_describe(struct gpu *gpu, struct gpu_report *report);

#endif

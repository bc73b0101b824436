/* SPDX-License-Identifier: MIT */
/*
 * gpu: the GPU as a worker sees it: an engine that may be missing, and slots to fill.
 *
 * The driver is in another process, a helper for each device (gpu_link.h), which shares the slots'
 * memory with us. gpu_start returns without waiting. A worker opens a lane, its own way to one
 * device, takes slots for it and gives them chunks of samples:
 *
 *	gpu_take_slot; gpu_fill; gpu_submit or gpu_submit_window; gpu_done until it is GPU_DONE; gpu_free
 *
 * Any worker may take any free slot of its device, so as many workers feed the GPU as find a slot,
 * and the bus decides how many that is. Where counters stay on the device (many cells), gpu_epoch.h
 * fetches what was counted.
 *
 * A lane that is the only one of its GPU can hand over ranges of a file, which no processor copies:
 * twice as fast as one thread that reads, for half of its processor time. Beside other lanes it
 * would slow them down, because the driver does nothing else while it locks pages.
 *
 * When a helper dies, is silent, or says what cannot be true, it has failed, and all of the GPU
 * with it: gpu_failed is true from then on, gpu_describe has the reason, and no thread waits for
 * the helper any more. The slots' memory is ours, so the CPU can count every chunk that was not
 * committed. Every wait here ends: a wait for a slot, because the helper answers, or because its
 * link's thread notices within seconds that it does not (gpu_link.c).
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
	/* workers that may feed it: the most lanes, over all devices */
	unsigned lanes;
	/* there is a single lane, and it may hand over ranges of files */
	bool windows;
	/* samples come from decoders, which are far slower than the bus */
	bool decoded;
	/* counters are fetched for each chunk, however many there are */
	bool fetch;
	uint64_t memory; /* host bytes that all slots together may take */
};

enum gpu_state {
	GPU_NONE,     /* none was started */
	GPU_STARTING, /* not all of its devices are ready */
	GPU_READY,
	GPU_FAILED, /* permanently, before it was ready or after */
};

/* FREE, FILLED, SUBMITTED, and FREE again. When the GPU fails slots stay as they are. */
enum slot_state {
	SLOT_FREE,      /* taken by no lane, or has nothing to be counted */
	SLOT_FILLED,    /* its chunk is in data, or is a range of a file */
	SLOT_SUBMITTED, /* the helper's, until gpu_done says otherwise */
};

struct slot {
	unsigned char *data; /* gpu_slot_bytes of it; the worker fills it */
	/* its counters, which gpu_done copies from the region; NULL: they stay on the device */
	uint32_t *cells;
	size_t bytes, samples; /* of the chunk; set by gpu_fill */
	int k;                 /* --auto: what its cells are counted at, and ... */
	struct extent extent;  /* ... the extent of its samples, both from gpu_done */
	bool window;           /* it hands over a range of a file */
	enum slot_state state; /* set by the functions below; atomic */
	bool taken;            /* by a lane; atomic */
	unsigned index;
	uint32_t number; /* of its latest submission, which an answer must carry (region.h) */
};

struct lane {
	struct gpu *gpu;
	struct gpu_device *device;
	/* of a file: the longest range that a slot may hand over; 0: none, or none any more */
	size_t window_bytes;
	/* counters of a chunk; fewer than the job's where cells are counted in groups */
	size_t cells;
	bool stays;      /* counters stay on the device (gpu_epoch.h) */
	uint32_t *chunk; /* the counters of one chunk, copied */
	/* counts of committed chunks; NULL: added straight to the totals, or on the device */
	uint64_t *total;
	bool slots_of_k;      /* --auto: total is counted in slots (auto.h) at ... */
	int k;                /* ... this k, and holds ... */
	struct extent extent; /* ... samples of this extent */
};

/* Starts it; any thread. NULL and errno: there is no memory or no thread for it. */
struct gpu *gpu_start(const struct gpu_spec *spec);

/* Ends it without waiting for a helper. No lane may be open. Takes NULL. */
void gpu_close(struct gpu *gpu);

/* Waits until all devices are ready (0) or will not be (-1). */
int gpu_wait(struct gpu *gpu);

/* Its devices are not ready yet, and have not failed. Never waits and takes no lock. */
bool gpu_starting(const struct gpu *gpu);

/* Is there a lane for one more worker? Never waits and takes no lock. */
bool gpu_lane_free(const struct gpu *gpu);

/*
 * Opens a lane for the calling worker alone, on the device that has the fewest. Never waits. NULL:
 * the GPU is not ready, has no lane left, or has failed; or there is no memory, and errno is
 * ENOMEM.
 */
struct lane *gpu_lane_open(struct gpu *gpu);

/* All slots of the lane must be free, or the GPU must have failed. Takes NULL. */
void gpu_lane_close(struct lane *lane);

/* A free slot, which belongs to the worker until gpu_free; NULL: there is none. Never waits. */
struct slot *gpu_take_slot(struct lane *lane);

/* FREE to FILLED: the slot has so many bytes to count, whole records and at least one. */
void gpu_fill(struct lane *lane, struct slot *slot, size_t bytes);

/* FILLED to SUBMITTED: copy, count, fetch. -1: the GPU has failed. */
int gpu_submit(struct lane *lane, struct slot *slot);

/*
 * The same for a range of a file: its pages are locked in the page cache, where the device reads
 * them. -1: not possible now, or not on this lane, or the GPU has failed; the slot is as it was.
 */
int gpu_submit_window(struct lane *lane, struct slot *slot, int fd, uint64_t offset, size_t bytes);

enum gpu_answer {
	GPU_LOST = -1, /* the GPU has failed, and the slot is as it was */
	GPU_NOT_YET,
	/* it is counted: the counters are in slot->cells unless they stay on the device */
	GPU_DONE,
	/* its window could not be mapped: nothing was counted, the slot is FILLED again */
	GPU_REFUSED,
};

/*
 * With `seconds` > 0 it sleeps, at most that long, until there is an answer or the GPU has failed.
 */
enum gpu_answer gpu_done(struct lane *lane, struct slot *slot, double seconds);

/*
 * --auto: brings a chunk's cells and the lane's total to the coarser k of the two, before they are
 * added.
 */
void gpu_align(struct lane *lane, struct slot *slot);

/*
 * To FREE: its samples were counted, by the GPU or by the CPU, or it had none. Any lane may take it
 * then.
 */
void gpu_free(struct lane *lane, struct slot *slot);

/* Which counter of the lane counts a cell of the job. */
size_t gpu_counter(const struct lane *lane, size_t cell);

/* The size of each slot of the lane's device. */
size_t gpu_slot_bytes(const struct lane *lane);

/* Marks the GPU as failed; the first reason is kept. Any thread. */
void gpu_fail(struct gpu *gpu, const char *what, const char *why);
bool gpu_failed(const struct gpu *gpu);

/* What -v and warnings report. All zero: none was started. */
struct gpu_report {
	enum gpu_state state;
	char why[256];  /* the reason, where it failed */
	char name[128]; /* of the first device */
	unsigned devices;
	double start_seconds; /* from gpu_start until it was ready */
	unsigned slots;       /* 0: it was never ready */
	size_t slot_bytes;
	char kernel[32]; /* the first device's */
};

/* The report at this moment. Any thread. */
void gpu_describe(struct gpu *gpu, struct gpu_report *report);

#endif

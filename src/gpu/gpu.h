/* SPDX-License-Identifier: MIT */
/*
 * gpu: an engine that may be missing, and slots to fill.
 *
 * The driver is in another process, a helper (gpu_link.c), which shares the slots' memory with us.
 * A worker opens a lane, its own way to the device, takes slots for it and gives them chunks of
 * samples:
 *
 *	gpu_take_slot; gpu_submit; gpu_done until it is GPU_DONE; gpu_free
 *
 * Any worker may take any free slot, so the bus decides how many workers feed the GPU. Counters
 * come back with each chunk, or stay on the device until the end (gpu_table.h).
 *
 * When the helper dies, falls silent, or gives a wrong sum, the GPU has failed for good, and no
 * thread waits for it any more. The slots' memory is ours, so the CPU can count every chunk that
 * was not committed.
 */
#ifndef GPUHIST_GPU_H
#define GPUHIST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "count/count.h"
#include "gpu/region.h"
#include "input/source.h"

struct gpu; /* gpu_state.h */

struct gpu_spec {
	const struct counting *counting; /* type, bins, cells; borrowed until gpu_close */
	unsigned device;                 /* its number among the visible ones */
	unsigned lanes;                  /* most lanes: workers that may feed the GPU */
	bool unpacks;                    /* the GPU may decode zstd, too (gpu_unpack.h) */
	bool fetch; /* counters are fetched for each chunk, however many there are */
	uint64_t
		memory; /* bytes for lanes and slots, which have a lane and two slots in any case */
};

enum gpu_state {
	GPU_NONE, /* none was started */
	GPU_STARTING,
	GPU_READY,
	GPU_FAILED, /* permanently, before it was ready or after */
};

/* A slot's states, in order, and FREE again. When the GPU fails slots stay as they are. */
enum slot_state {
	SLOT_FREE,
	SLOT_TAKEN,     /* a lane has the slot, to fill it or with its answer */
	SLOT_SUBMITTED, /* the helper's, until gpu_done says otherwise */
};

/* What is on its way through the GPU: a chunk, or a part of the table that stays. */
struct slot {
	enum slot_state state; /* atomic */
	enum slot_order order; /* what it was submitted for */
	unsigned char *data;   /* gpu_slot_bytes of it; the worker fills it */
	size_t bytes, samples; /* of the chunk in it; set by gpu_submit */
	struct chunk chunk;    /* the chunk in the slot; the worker's */
	uint32_t room;   /* ORDER_COUNT: room that has the samples; NO_ROOM: the slot has them */
	size_t at;       /* byte of that room, or of the table (ORDER_FETCH) */
	uint32_t *cells; /* counters that came back, unless they stay; valid until gpu_free */
	int k;           /* --auto: k at which cells were counted, from gpu_done on */
	struct extent extent; /* --auto: extent of the chunk's samples, from gpu_done on */
	unsigned index;
};

static inline bool slot_is(const struct slot *slot, enum slot_state state)
{
	return __atomic_load_n(&slot->state, __ATOMIC_RELAXED) == state;
}

struct lane {
	struct gpu *gpu;
	size_t cells;         /* counters of a chunk */
	uint64_t *total;      /* counts of committed chunks; NULL: counters stay (gpu_table.h) */
	bool slots_of_k;      /* --auto: total is counted in slots (auto.h) */
	int k;                /* slots_of_k: k at which total is counted */
	struct extent extent; /* slots_of_k: extent of the samples committed so far */
};

/* Starts the GPU; any thread. NULL and errno: memory is short, or no lock can be made. */
struct gpu *gpu_start(const struct gpu_spec *spec);

/* Ends the GPU without waiting for the helper. No lane may be open. Takes NULL. */
void gpu_close(struct gpu *gpu);

/* Waits until the GPU is ready (0) or will not be (-1). */
int gpu_wait(struct gpu *gpu);

/* Is the GPU neither ready nor failed yet? Never waits and takes no lock. */
bool gpu_starting(const struct gpu *gpu);

/* Is there a lane for one more worker? Never waits and takes no lock. */
bool gpu_lane_free(const struct gpu *gpu);

/*
 * Opens a lane for the calling worker alone. Never waits. NULL: no lane is free, or there is no
 * memory (errno is ENOMEM).
 */
struct lane *gpu_lane_open(struct gpu *gpu);

/* All slots of the lane must be free, or the GPU must have failed. Takes NULL. */
void gpu_lane_close(struct lane *lane);

/* A free slot, which belongs to the worker until gpu_free; NULL: there is none. Never waits. */
struct slot *gpu_take_slot(struct lane *lane);

/* May the lane count what was decoded in rooms (gpu_unpack.h) where it is, on the device? */
bool gpu_counts_rooms(const struct lane *lane);

/*
 * Submits the slot to have `bytes` bytes at `data` counted. These are whole records, at slot->data
 * or in a room. -1: the GPU has failed.
 */
int gpu_submit(struct lane *lane, struct slot *slot, const unsigned char *data, size_t bytes);

enum gpu_answer {
	GPU_LOST = -1, /* the GPU has failed, and the slot is as it was */
	GPU_NOT_YET,
	GPU_DONE, /* the slot is TAKEN again; what came back is in slot->cells */
};

/* Sleeps until the slot is answered, for at most `seconds`; may return sooner. */
enum gpu_answer gpu_done(struct lane *lane, struct slot *slot, double seconds);

/* --auto: brings a chunk's cells and the lane's total to the coarser k of the two. */
void gpu_align(struct lane *lane, struct slot *slot);

/* Frees a slot, for any lane, whose samples the GPU or the CPU counted, or which had none. */
void gpu_free(struct slot *slot);

/* The size of each slot. */
size_t gpu_slot_bytes(const struct lane *lane);

/* Marks the GPU as failed; the first reason is kept. Any thread. */
void gpu_fail(struct gpu *gpu, const char *what, const char *why);
bool gpu_failed(const struct gpu *gpu);

/* Makes the GPU's failure that of a run, which cannot go on without it. Returns -1. */
int gpu_fail_run(struct gpu *gpu, struct fail *fail);

/* What -v and warnings report. All zero: none was started. */
struct gpu_report {
	enum gpu_state state;
	char why[256];        /* the reason, where it failed */
	char name[128];       /* of the device */
	double start_seconds; /* from gpu_start until it was ready */
	unsigned slots;       /* 0: it was never ready */
	unsigned rooms;       /* in which zstd is decoded */
	size_t slot_bytes;
	uint64_t memory; /* of all that is shared with the helper, and of all lanes */
	char kernel[32];
};

/* The report at this moment. Any thread. */
void gpu_describe(struct gpu *gpu, struct gpu_report *report);

#endif

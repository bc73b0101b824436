/* SPDX-License-Identifier: MIT */
/*
 * gpu: counts chunks on the GPU, if there is one.
 *
 * The CUDA driver runs in the "GPU process" ("helper" in names, gpu_link.c). It shares "slots" with
 * us, buffers for a chunk of samples and its counters. A worker opens a "lane", the right to feed
 * the GPU, and for each chunk calls
 *
 *	gpu_take_slot; gpu_submit; gpu_done until it returns GPU_DONE; gpu_free
 *
 * Any worker may take any free slot, so the bus decides how many workers feed the GPU. Counters
 * come back with each chunk, or stay on the device until the end (gpu_resident.h).
 *
 * If the GPU process dies, hangs or returns a wrong sum, the GPU has failed for good, and no thread
 * waits for it any more. Slots are in our memory too, so the CPU can count uncommitted chunks.
 */
#ifndef GPUHIST_GPU_H
#define GPUHIST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "count/count.h"
#include "gpu/region.h"
#include "source/source.h"
#include "zstd/unpacker.h"

struct gpu;    /* gpu_state.h */
struct engine; /* engine/engine.h */

struct gpu_spec {
	const struct counting *counting; /* type, bins, cells; borrowed until gpu_close */
	unsigned device;                 /* index among the visible devices */
	unsigned lanes;                  /* most workers that may feed the GPU */
	bool unpacks;                    /* the GPU may also decode zstd (gpu_unpacker) */
	bool fetched;    /* fetch the counters of each chunk, however many there are */
	uint64_t memory; /* bytes for slots; the least is two */
};

enum gpu_state {
	GPU_NONE, /* not started */
	GPU_STARTING,
	GPU_READY,
	GPU_FAILED, /* for good, before or after it was ready */
};

/* A chunk on its way through the GPU, or a part of the table (gpu_resident.h), or packed blocks. */
struct slot {
	struct shared_slot *shared; /* its state and request, as the GPU process sees them */
	unsigned char *data;        /* gpu_slot_bytes() long; the worker fills it */
	struct chunk chunk;         /* its chunk, as the source returned it */
	uint32_t *cells;            /* counters fetched by gpu_done; valid until gpu_free */
	/*
	 * --auto: before gpu_submit, the extent of the samples counted so far, whose k is in
	 * `shared`; after gpu_done, the extent of the chunk's samples, and the k of the counters.
	 */
	struct extent extent;
	unsigned index;
};

/* Start the GPU; any thread. Return NULL with errno if memory is short. */
struct gpu *gpu_start(const struct gpu_spec *spec);

/* Close the GPU without waiting for its process. No lane may be open. Accepts NULL. */
void gpu_close(struct gpu *gpu);

/*
 * Wait until the process of a closed GPU has ended, 20 ms at most. After that it is left to the
 * process that inherits it, which may never wait for it.
 */
void gpu_reap(void);

/* Wait up to `seconds` for the GPU's start. Is it ready? */
bool gpu_wait(const struct gpu *gpu, double seconds);

/* Is the GPU neither ready nor failed yet? Never waits and takes no lock. */
bool gpu_starting(const struct gpu *gpu);

/* Is there a lane for one more worker? Never waits and takes no lock. */
bool gpu_lane_free(const struct gpu *gpu);

/* Open a lane for the calling worker. Never waits. Return false if no lane is free. */
bool gpu_lane_open(struct gpu *gpu);

/* All slots of the worker must be free, or the GPU must have failed. */
void gpu_lane_close(struct gpu *gpu);

/* Return a free slot, the worker's until gpu_free, or NULL. Never waits. */
struct slot *gpu_take_slot(struct gpu *gpu);

/* Can the GPU count bytes that it decoded (gpu_unpacker) without another copy to it? */
bool gpu_counts_rooms(const struct gpu *gpu);

/*
 * Submit a slot to count `bytes` bytes at `data`: whole records, in slot->data or in a room.
 * Return -1 if the GPU has failed.
 */
int gpu_submit(struct gpu *gpu, struct slot *slot, const unsigned char *data, size_t bytes);

enum gpu_answer {
	GPU_LOST = -1, /* the GPU has failed; the slot is unchanged */
	GPU_NOT_YET,
	GPU_DONE, /* the counters are in slot->cells */
};

/* Wait up to `seconds` for the slot's results; may return sooner. */
enum gpu_answer gpu_done(struct gpu *gpu, struct slot *slot, double seconds);

/* Free a slot for any lane, after its samples were counted or if it had none. */
void gpu_free(struct slot *slot);

/* The size of each slot. */
size_t gpu_slot_bytes(const struct gpu *gpu);

/* Mark the GPU as failed; the first reason is kept. Any thread. */
void gpu_fail(struct gpu *gpu, const char *what, const char *why);
bool gpu_failed(const struct gpu *gpu);

/* Set *fail to the GPU's failure, for a run that cannot go on without the GPU. Return -1. */
int gpu_fail_run(struct gpu *gpu, struct fail *fail);

/* Facts for -v and warnings. All zero if no GPU was started. */
struct gpu_report {
	enum gpu_state state;
	char why[256];        /* why it failed */
	char name[128];       /* name of the device */
	double start_seconds; /* from gpu_start until it was ready */
	unsigned slots;       /* 0: it was never ready */
	unsigned rooms;       /* slots for decoding zstd */
	size_t slot_bytes;
	uint64_t memory; /* bytes shared with the GPU process */
	char kernel[32];
};

/* Copy the current report. Any thread. */
void gpu_describe(struct gpu *gpu, struct gpu_report *report);

/* ---- the GPU as others see it ---- */

/*
 * A turn fills a slot, once the GPU is ready and has a lane for the worker, or waits for a slot if
 * that is the fastest thing to do.
 */
extern const struct engine gpu_engine;

/*
 * Return the GPU as the source's unpacker, not demanded. Its "rooms" are slots that no lane takes:
 * buffers for a batch of packed blocks, which its decoded bytes then replace. Any thread may set
 * *gpu later, atomically; the variable must outlive the unpacker.
 */
struct unpacker gpu_unpacker(struct gpu **gpu);

#endif

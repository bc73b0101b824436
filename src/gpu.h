/*
 * gpu: the GPU as an engine that may be missing: its start, its lanes, its end.
 *
 * gpu_start returns at once; a thread of its own loads the driver, makes the context and the
 * kernels, and then lanes, one after the other. Each lane is a set of slots: page-locked host
 * memory that we own, a stream, device memory, device counters. A worker takes a lane and is
 * its only user (worker_gpu.c).
 *
 * A lane that is the only one takes windows of a mapped file, which no processor copies: twice
 * as fast as one thread that reads, at half of its time. Beside other lanes it would slow them:
 * while the driver locks pages it does nothing for anybody else. Nobody has to wait for a GPU that is still starting: at the
 * end of the process it is left alone.
 *
 * After the first fatal error the driver is not called again, by anybody; gpu_failed is true
 * from then on and gpu_why says what it was. Host memory stays readable, so every chunk that
 * was not committed can be counted by the CPU.
 */
#ifndef GPUHIST_GPU_H
#define GPUHIST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count.h"
#include "cuda.h"

#define GPU_SLOTS 4u    /* of a lane, at most: some are copied and counted while one is filled */
#define GPU_LANES_MAX 32u

struct gpu_spec {
	const struct counting *counting; /* type, bins, cells; copied */
	const char *devices; /* "0", "0,2", "all": those the process may see */
	unsigned lanes;      /* to make, over all devices ... */
	unsigned lanes_each; /* ... and on each of them at most; 0: any number */
	unsigned lanes_least; /* fewer are not worth larger slots; 0: all of them */
	bool decoded;        /* samples come from decoders, slower by far than the bus */
	uint64_t memory;     /* host bytes that all lanes together may take */
};

struct slot {
	unsigned char *data;  /* page-locked, slot_bytes */
	const unsigned char *from; /* what is copied: data, or in a window of a mapped file */
	void *window;         /* the mapping; NULL: none */
	size_t window_bytes;
	uint32_t *cells;      /* page-locked: the counters of the chunk, fetched */
	CUstream stream;      /* the device's */
	CUevent done;         /* behind everything that was submitted */
	CUdeviceptr d_data, d_cells, d_work;
	size_t samples;       /* of the chunk that is submitted; 0: the slot is free */
};

struct lane {
	struct gpu *gpu;
	struct slot slot[GPU_SLOTS];
	unsigned slots;       /* how many of them it has */
	unsigned device;      /* index among gpu's devices */
	void *host;           /* the mapping that data and cells lie in */
	size_t host_bytes;
	size_t window_bytes;  /* of a file, at most, that a slot may map; 0: none (any more) */
	size_t cells;         /* counters of a chunk: not the job's where cells are counted in groups */
	uint64_t *total;      /* committed counts; NULL: committed straight into the totals */
};

struct gpu;

/* NULL: no memory or no thread for it. The environment is changed: call before threads start. */
struct gpu *gpu_start(const struct gpu_spec *spec);

/* Waits until the first lane is there (0) or none will be (-1). */
int gpu_wait(struct gpu *gpu);

/* A lane that nobody has, or NULL: none is ready yet, or all are taken. Never waits. */
struct lane *gpu_take_lane(struct gpu *gpu);

/* How many lanes there are by now; is there one that nobody has? Never waits. */
unsigned gpu_lanes(const struct gpu *gpu);
bool gpu_lane_free(const struct gpu *gpu);

/*
 * Makes a piece of a file the slot's chunk without copying it: the pages of the page cache are
 * locked where they are and the device reads them. -1: not this time, or not on this lane; the
 * slot is as it was.
 */
int gpu_map(struct lane *lane, struct slot *slot, int fd, uint64_t offset, size_t bytes);

/* Lets the piece go, once the slot is done; -1: the gpu has failed, and it stays mapped. */
int gpu_unmap(struct lane *lane, struct slot *slot);

/* Queues everything for a slot that holds `samples` of them: copy, clear, count, fetch. */
int gpu_submit(struct lane *lane, struct slot *slot, size_t samples);

/* The counter of a lane that counts a cell of the job. */
size_t gpu_counter(const struct lane *lane, size_t cell);

/* 1: the slot's work is done; 0: not yet; -1: the gpu has failed. */
int gpu_done(struct lane *lane, struct slot *slot);

size_t gpu_slot_bytes(const struct gpu *gpu);

/* Marks the gpu as failed; the first reason stays. Any thread. */
void gpu_fail(struct gpu *gpu, const char *what, const char *why);
bool gpu_failed(const struct gpu *gpu);

/* What -v and warnings tell; valid once the workers have ended. */
struct gpu_report {
	bool started, ready, failed;
	char why[256];       /* the reason, when failed or never ready */
	char name[128];      /* of the first device */
	unsigned devices;
	double start_seconds; /* from gpu_start to the first lane */
	unsigned lanes;
	char kernel[32];     /* the first device's */
};
void gpu_describe(struct gpu *gpu, struct gpu_report *report);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * gpu_state: what gpu.c, which starts and fails, and gpu_lane.c, which works, share: the half of the
 * GPU that no worker sees.
 */
#ifndef GPUHIST_GPU_STATE_H
#define GPUHIST_GPU_STATE_H

#include <pthread.h>

#include "base/lock.h"
#include "gpu/gpu.h"
#include "gpu/gpu_kernel.h"

#define DEVICES_MAX 16u
/*
 * One copies while the other counts. With a stream for each slot, 32 of them, the bus changed between
 * them for each copy: 46 to 50 GB/s where two carry 52.
 */
#define DEVICE_STREAMS 2u

struct device {
	CUdevice handle;
	CUcontext context;
	CUmodule module;
	struct kernel_plan plan;
	CUstream stream[DEVICE_STREAMS]; /* shared by the slots of all its lanes */
};

struct slot_device {
	const unsigned char *from; /* what is copied: the slot's data, or a range of a mapped file */
	void *window;              /* the mapping; NULL: none */
	size_t window_bytes;
	uint32_t *cells;           /* the slot's */
	struct kernel_chunk chunk; /* its stream is the device's */
	CUevent done;              /* after everything that was submitted */
};

/* A lane: what its worker sees of it, and the rest. */
struct lane_device {
	struct lane lane;
	struct slot_device slot[GPU_SLOTS];
	unsigned index; /* among the gpu's devices */
	void *host;     /* the mapping that the slots' data and cells are in */
	size_t host_bytes;
	CUdeviceptr table; /* explicit edges, for all slots; 0: none */
};

struct gpu {
	struct gpu_spec spec;
	struct counting counting; /* a copy: the start-up may outlive the run */
	struct cuda cuda;
	double started; /* clock at gpu_start */
	unsigned slots; /* of a lane */
	size_t slot_bytes;
	size_t cell_bytes;   /* of a chunk's counters */
	size_t window_bytes; /* of the first lane's; 0: files are not mapped */
	pthread_t thread;
	struct lock lock;       /* all below */
	pthread_cond_t changed; /* the state did */
	enum gpu_state state;   /* atomic: read without the lock before each driver call */
	unsigned device_count;
	struct device device[DEVICES_MAX];
	unsigned lane_count; /* made; atomic, as lanes_taken: both are read without the lock too */
	unsigned lanes_taken;
	struct lane *lane[GPU_LANES_MAX];
	struct gpu_report report; /* but for its state */
};

/* Passes a driver call's result on as 0 or -1; an error is the end of the GPU. */
int gpu_check(struct gpu *gpu, CUresult result, const char *what);

/* Makes a lane on a device, whose context is current; with windows if it is to map files. */
CUresult lane_make(struct gpu *gpu, unsigned device, size_t window_bytes, struct lane **out);

/* Releases the range of a file that a slot maps. -1: the gpu has failed, and it stays mapped. */
int slot_unmap(struct gpu *gpu, struct slot *slot);

#endif

/* gpu_state: what gpu.c, which starts and fails, and gpu_lane.c, which works, share. */
#ifndef GPUHIST_GPU_STATE_H
#define GPUHIST_GPU_STATE_H

#include <pthread.h>

#include "gpu.h"
#include "gpu_kernel.h"

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

struct gpu {
	struct gpu_spec spec;
	struct counting counting; /* a copy: the start-up may outlive the run */
	struct cuda cuda;
	double started;          /* clock at gpu_start */
	unsigned slots;          /* of a lane */
	size_t slot_bytes;
	size_t cell_bytes;       /* of a chunk's counters */
	size_t window_bytes;     /* of the first lane's; 0: files are not mapped */
	pthread_t thread;
	pthread_mutex_t lock;    /* all below */
	pthread_cond_t changed;
	bool settled;            /* the first lane is there, or none will be */
	unsigned device_count;
	struct device device[DEVICES_MAX];
	unsigned lane_count;     /* made; atomic, as lanes_taken: both are read without the lock too */
	unsigned lanes_taken;
	struct lane *lane[GPU_LANES_MAX];
	struct gpu_report report;
	bool failed;             /* atomic: read without the lock before each driver call */
};

/* Passes a driver call's result on as 0 or -1; an error is the end of the GPU. */
int gpu_check(struct gpu *gpu, CUresult result, const char *what);

/* Makes a lane on a device, whose context is current; with windows if it is to map files. */
CUresult lane_make(struct gpu *gpu, unsigned device, size_t window_bytes, struct lane **out);

#endif

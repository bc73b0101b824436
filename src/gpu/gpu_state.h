/* SPDX-License-Identifier: MIT */
/* gpu_state: declarations private to this directory. */
#ifndef GPUHIST_GPU_STATE_H
#define GPUHIST_GPU_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "base/lock.h"
#include "gpu/gpu.h"
#include "gpu/gpu_plan.h"
#include "gpu/region.h"

/* The connection to the GPU process (gpu_link.c). */
struct link {
	pthread_t thread;
	bool joinable; /* the thread was started and has to be joined */
	int socket;    /* our end; -1: none */
	int theirs, region_fd;
	bool closing;      /* atomic: end of file on the socket is no longer a failure */
	pid_t helper;      /* used by the link's thread until it is joined; 0: waited for */
	uint64_t answered; /* slots answered by the time of the last check */
	unsigned silent;   /* consecutive checks without the start or answer that was due */
};

struct gpu {
	struct gpu_spec spec;
	struct gpu_size size;
	double started; /* clock at gpu_start */
	struct link link;
	struct region *region; /* NULL: none */
	struct slot slot[REGION_SLOTS];
	/* Usable slots and rooms, as the GPU process reported; const once the GPU is ready. */
	unsigned slots, rooms;
	uint64_t submitted;        /* slots submitted so far; atomic */
	uint64_t batches;          /* batches submitted to rooms, by one thread at a time */
	uint64_t resident_samples; /* samples committed to the table that stays; atomic */
	struct lock lock;          /* guards everything below */
	unsigned lanes;            /* open lanes; atomic */
	struct gpu_report report;  /* its state is atomic: read without the lock too */
};

/* The link's thread reports that the GPU is ready. Return -1 if the notice cannot be right. */
int gpu_is_ready(struct gpu *gpu, const struct notice *notice);

/* Submit a slot to the GPU process. */
void slot_to_helper(struct gpu *gpu, struct slot *slot);

/* Like gpu_done, but only wait. */
enum gpu_answer slot_answered(struct gpu *gpu, const struct slot *slot, double seconds);

/* Make the socket and the thread that starts the GPU process. Return -1 with errno on failure. */
int link_open(struct gpu *gpu, int region_fd);

/* Shut the socket down and join the thread. Do nothing if the link was never opened. */
void link_close(struct gpu *gpu);

#endif

/* SPDX-License-Identifier: MIT */
/* gpu_state: what the files of this folder share, and no worker sees. */
#ifndef GPUHIST_GPU_STATE_H
#define GPUHIST_GPU_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "base/lock.h"
#include "gpu/gpu.h"
#include "gpu/gpu_plan.h"
#include "gpu/region.h"

/* The helper, as the link's thread knows it (gpu_link.c). */
struct link {
	pthread_t thread;
	bool running; /* the thread was started and has to be joined */
	int socket;   /* ours; -1: none */
	int theirs, region_fd;
	bool closing;      /* atomic: from now on the end of the socket is no failure */
	pid_t helper;      /* used by the link's thread alone */
	uint64_t answered; /* slots that the helper had answered at the last look */
	unsigned silent;   /* looks in a row at which it owed an answer, and had given none */
};

struct gpu {
	struct gpu_spec spec;
	struct gpu_size size;
	double started; /* clock at gpu_start */
	struct link link;
	struct region *region; /* NULL: none */
	struct slot slot[REGION_SLOTS];
	/* Slots and rooms that can be used, as the helper said; const once the GPU is ready. */
	unsigned slots, rooms;
	uint64_t submitted;       /* how many slots were ever submitted; atomic */
	uint64_t batches;         /* batches submitted to rooms, by one thread at a time */
	uint64_t table_samples;   /* samples committed to the table that stays; atomic */
	struct lock lock;         /* guards all below */
	enum gpu_state state;     /* atomic: read without the lock too */
	unsigned lanes;           /* open lanes; atomic */
	struct gpu_report report; /* except for its state */
};

/* By the link's thread: the helper says that it is ready. -1: what it says cannot be true. */
int gpu_is_ready(struct gpu *gpu, const struct notice *notice);

/* Hands a slot over to the helper. */
void slot_to_helper(struct gpu *gpu, struct slot *slot);

/* The answer of a slot, as gpu_done says it; the slot stays SUBMITTED. */
enum gpu_answer slot_answered(struct gpu *gpu, const struct slot *slot, double seconds);

/* Makes the socket, and starts the thread that starts the helper. -1 and errno. */
int link_open(struct gpu *gpu, int region_fd);

/* Ends the socket and joins the thread. Takes a link that was never opened. */
void link_close(struct gpu *gpu);

#endif

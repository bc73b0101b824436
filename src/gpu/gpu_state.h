/* SPDX-License-Identifier: MIT */
/* gpu_state: what the files of this folder share, and no worker sees. */
#ifndef GPUHIST_GPU_STATE_H
#define GPUHIST_GPU_STATE_H

#include <pthread.h>
#include <sys/types.h>

#include "base/lock.h"
#include "gpu/gpu.h"
#include "gpu/gpu_epoch.h"
#include "gpu/gpu_plan.h"
#include "gpu/region.h"

/* The helper of one device, as its link's thread knows it (gpu_link.c). */
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

/* ---- counters that stay (gpu_epoch.h) ---- */

struct epoch {
	struct lock lock;       /* guards all below */
	pthread_cond_t changed; /* signaled when order is set, or no slot is out any more */
	unsigned changes;       /* how often `changed` was signaled */
	enum slot_order order;  /* what the next slot is used for */
	uint64_t number;        /* how many epochs are committed */
	uint64_t samples;       /* samples of the current epoch */
	uint64_t samples_most;
	unsigned lanes;   /* lanes that have not left */
	unsigned filling; /* slots that are being filled for the epoch */
	unsigned on_way;  /* slots that were submitted, and not reaped */
	uint32_t pieces;
	uint32_t next; /* the first piece that was not asked for */
	/* Once the sums are checked: samples that the totals lack, of each piece and of all. */
	uint64_t *missing, missing_all;
	struct held *held;         /* ranges that the current epoch counted */
	struct held *committed;    /* ranges of earlier epochs, to be given back */
	const struct input *input; /* input of the range that was held last */
	unsigned inputs;           /* how often `input` changed: each stays open while it is held */
	unsigned inputs_most;
};

/* ---- devices ---- */

struct gpu_device {
	struct gpu *gpu;
	struct link link;
	struct region *region; /* NULL: none */
	struct region layout;  /* our own copy of its head, which no helper can change */
	uint64_t submitted;    /* how many slots were ever submitted; atomic */
	/* What its helper said when it was ready, checked; const from then on. */
	bool ready;          /* under the gpu's lock */
	struct notice facts; /* the message itself */
	size_t cells;        /* counters of a chunk, or of the table that stays */
	struct slot slot[REGION_SLOTS];
	unsigned lanes;   /* open lanes; under the gpu's lock */
	uint64_t batches; /* batches submitted to its rooms, by one thread at a time */
	struct epoch epoch;
};

struct gpu {
	struct gpu_spec spec;
	struct gpu_size size;
	double started;       /* clock at gpu_start */
	struct lock lock;     /* guards all below */
	enum gpu_state state; /* atomic: read without the lock too */
	unsigned lanes;       /* open lanes; atomic */
	unsigned devices;     /* asked for, or, with "all", as many as are known to be there */
	struct gpu_device device[GPU_DEVICES];
	struct gpu_report report; /* except for its state */
};

/* By the link's thread: the helper says that it is ready. -1: what it says cannot be true. */
int gpu_device_ready(struct gpu_device *d, const struct notice *notice);

/* Hands a slot over to the helper. */
void device_submit(struct gpu_device *d, struct slot *slot);

/* The answer of a slot, as gpu_done says it; the slot stays SUBMITTED. */
enum gpu_answer device_done(struct gpu_device *d, const struct slot *slot, double seconds);

/* Makes the socket, and starts the thread that starts the helper. -1 and errno. */
int link_open(struct gpu_device *d, int region_fd);

/* Ends the socket and joins the thread. Takes a link that was never opened. */
void link_close(struct gpu_device *d);

#endif

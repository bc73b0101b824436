/* SPDX-License-Identifier: MIT */
/* gpu_state: what the rooms of the GPU share, and no worker sees. */
#ifndef GPUHIST_GPU_STATE_H
#define GPUHIST_GPU_STATE_H

#include <pthread.h>

#include "base/lock.h"
#include "gpu/gpu.h"
#include "gpu/gpu_epoch.h"
#include "gpu/gpu_group.h"
#include "gpu/gpu_link.h"
#include "gpu/region.h"

struct gpu_device {
	struct gpu *gpu;
	struct link link;
	struct region *region; /* NULL: none */
	struct region layout;  /* our own copy of its head: what says where things are, no helper may change */
	uint64_t submitted;    /* how many slots were, ever; atomic */
	/* As its helper said, checked; from then on const. */
	bool ready;           /* under the gpu's lock */
	struct notice facts;  /* */
	struct groups groups; /* facts.grouped: the helper's */
	size_t cells;         /* counters of a chunk, or of the table that stays */
	unsigned slots;       /* that lanes may take; behind them ... */
	unsigned orders;      /* ... so many for the orders of epochs */
	struct slot slot[REGION_SLOTS];
	unsigned lanes; /* open ones; under the gpu's lock */
	struct epoch epoch;
};

struct gpu {
	struct gpu_spec spec;
	double started;         /* clock at gpu_start */
	struct lock lock;       /* all below */
	pthread_cond_t changed; /* the state did */
	enum gpu_state state;   /* atomic: read without the lock too */
	unsigned lanes;         /* open ones; atomic */
	unsigned devices;       /* that were asked for, or, "all" of them, are there by now */
	struct gpu_device device[GPU_DEVICES];
	struct gpu_report report; /* but for its state */
};

/* The link's thread: the helper said that it is ready. -1: what it said cannot be. */
int gpu_device_ready(struct gpu_device *d, const struct notice *notice);

/* The counters of a slot's last chunk: the helper's, to be copied and then checked. */
static inline uint32_t *device_cells(const struct gpu_device *d, unsigned slot)
{
	return (uint32_t *)(void *)((unsigned char *)d->region + d->layout.cells_at + slot * d->layout.cell_bytes);
}

/* Hands a slot whose order is written to the helper. */
void device_hand_over(struct gpu_device *d, unsigned slot);

/* Submits a slot that the caller filled, or has the counters fetched by. */
void device_submit(struct gpu_device *d, struct slot *slot, uint32_t order);

/*
 * A helper's environment shows it one device. Starts nothing that runs in this process but the link's thread.
 * -1: gpu_fail was called with the reason.
 */
int gpu_device_start(struct gpu *gpu, unsigned index);

#endif

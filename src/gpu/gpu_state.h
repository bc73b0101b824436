/* SPDX-License-Identifier: MIT */
/* gpu_state: what the files of this folder share, and no worker sees. */
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
	/* our own copy of its head: no helper can change what says where things are */
	struct region layout;
	uint64_t submitted; /* how many slots were ever submitted; atomic */
	/* What its helper said when it was ready, checked; const from then on. */
	bool ready;           /* under the gpu's lock */
	struct notice facts;  /* the message itself */
	struct groups groups; /* if facts.grouped: the same groups as the helper's */
	size_t cells;         /* counters of a chunk, or of the table that stays */
	unsigned slots;       /* that lanes may take; after them ... */
	unsigned orders;      /* ... so many for the orders of epochs */
	struct slot slot[REGION_SLOTS];
	unsigned lanes; /* open ones; under the gpu's lock */
	struct epoch epoch;
};

struct gpu {
	struct gpu_spec spec;
	double started;         /* clock at gpu_start */
	struct lock lock;       /* guards all below */
	pthread_cond_t changed; /* signals the state */
	enum gpu_state state;   /* atomic: read without the lock too */
	unsigned lanes;         /* open ones; atomic */
	/* how many were asked for, or, with "all", how many there are as far as is known */
	unsigned devices;
	struct gpu_device device[GPU_DEVICES];
	struct gpu_report report; /* except for its state */
};

/*
 * Called by the link's thread when the helper says that it is ready. -1: what it says cannot be
 * true.
 */
int gpu_device_ready(struct gpu_device *d, const struct notice *notice);

/* The counters of a slot's last chunk in shared memory: to be copied, and the copy checked. */
static inline uint32_t *device_cells(const struct gpu_device *d, unsigned slot)
{
	return (uint32_t *)(void *)((unsigned char *)d->region + d->layout.cells_at +
				    slot * d->layout.cell_bytes);
}

/* Hands a slot whose order is written over to the helper. */
void device_hand_over(struct gpu_device *d, unsigned slot);

/* Submits a slot that the caller has filled, with this order. */
void device_submit(struct gpu_device *d, struct slot *slot, uint32_t order);

/*
 * Starts the helper of one device, whose environment shows it that device alone. In this process
 * only the link's thread is started. -1: gpu_fail was called with the reason.
 */
int gpu_device_start(struct gpu *gpu, unsigned index);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * device: one GPU in the helper's hands: the driver, the kernels that the job needs, what each slot has on the device.
 *
 * Here an error of the driver is the end of the helper: device_must says it to the program and leaves, and the
 * driver is not called again. So no function has to report one.
 */
#ifndef GPUHIST_DEVICE_H
#define GPUHIST_DEVICE_H

#include "driver/kernel.h"
#include "gpu/region.h"

/*
 * One copies while the other counts. With a stream for each of 32 slots the bus changed between
 * them for each copy: 46 to 50 GB/s where two carry 52.
 */
#define DEVICE_STREAMS 2u

struct device_slot {
	CUevent done;              /* after everything that was queued for it */
	struct kernel_chunk chunk; /* its stream is that of its last order */
	void *window;              /* a range of a file, mapped and page-locked; NULL: none */
	size_t window_bytes;
	/* Of the order that it is at: */
	uint32_t order;
	uint64_t bytes, samples;
	int k;             /* --auto: counted at ... */
	struct extent all; /* ... for samples of this extent and its own */
	bool again;        /* it is counted for the second time */
};

struct device {
	struct region *region;    /* shared: its slots, its beat and its doorbell */
	struct region layout;     /* all else that was in it at the start: what has gone mad may write there later */
	struct counting counting; /* the region's, with addresses that are this process's */
	struct cuda cuda;
	CUdevice handle;
	CUmodule module;
	struct kernel_plan plan;
	CUstream stream[DEVICE_STREAMS];
	unsigned devices; /* that the driver shows */
	unsigned slots;
	size_t slot_bytes, window_bytes;
	CUdeviceptr edges;    /* explicit edges; 0: none */
	CUdeviceptr counters; /* that stay, of all slots; 0: each slot has its own */
	CUdeviceptr sums;     /* of their pieces */
	CUfunction sum_pieces;
	struct device_slot slot[REGION_SLOTS];
	void (*fail)(void *arg, const char *what, const char *why); /* does not return */
	void *arg;
};

/* The driver, its first device, a context, the kernels' module. */
void device_open(struct device *d);

/* When the region's pages are there: page-locks them, and makes as many slots as there is memory for. */
void device_make_slots(struct device *d);

static inline unsigned char *slot_data(const struct device *d, unsigned slot)
{
	return (unsigned char *)d->region + d->layout.data_at + slot * d->layout.slot_bytes;
}

static inline uint32_t *slot_cells(const struct device *d, unsigned slot)
{
	return (uint32_t *)(void *)((unsigned char *)d->region + d->layout.cells_at + slot * d->layout.cell_bytes);
}

void device_must(struct device *d, CUresult result, const char *what);

/* Counters of all pieces, and how many pieces there are. */
uint32_t device_pieces(const struct device *d);

#endif

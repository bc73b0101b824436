/* SPDX-License-Identifier: MIT */
/*
 * gpu_order: what a helper is asked about counters that stay on its device (gpu_epoch.h), beside
 * counting chunks.
 *
 * An order is written to one of the slots after those of the lanes, handed over and awaited; its
 * answer is copied and checked before anything is done with it. One thread at a time uses a slot.
 * Each function takes no lock while it waits, returns -1 once the GPU has failed, and makes it fail
 * (gpu_fail) where an answer is wrong.
 */
#ifndef GPUHIST_GPU_ORDER_H
#define GPUHIST_GPU_ORDER_H

#include <stdint.h>

struct counts;
struct gpu_device;

/* Waits until all that lanes have submitted is counted; they may reap it later. Gives no order. */
int order_drain(struct gpu_device *d);

/* Fetches the sums of all pieces into the epoch's. They must be the samples that were submitted. */
int order_sums(struct gpu_device *d);

/*
 * Fetches a piece whose sum is not 0 by way of a slot into `copy`, which has room for it, and adds
 * it to the totals if its counters have that sum.
 */
int order_piece(struct gpu_device *d, unsigned slot, uint32_t which, uint32_t *copy,
		struct counts *totals);

/* Clears the table on the device. */
int order_clear(struct gpu_device *d);

#endif

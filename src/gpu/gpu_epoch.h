/* SPDX-License-Identifier: MIT */
/*
 * gpu_epoch: counters that stay on the device from chunk to chunk, where they are too many to be
 * fetched for each.
 *
 * Chunks are counted into one table of 32-bit counters for each device. An epoch is what was
 * counted since the table was cleared; it has at most 2^32-1 samples, so that no counter wraps. It
 * ends when the next chunk might not fit, or when the last lane leaves. What ends it are orders, in
 * the same slots as chunks, given and reaped by whichever lane has a slot:
 *
 *	COUNT     counts a chunk. When the epoch has ended, and no slot is on its way any more:
 *	SUMS      fetches the sum of each piece of the counters; they add up to the epoch's samples
 *	PIECE     fetches a piece, which must have its sum, and is added to the totals
 *	CLEAR     clears the table after the last piece, if a lane goes on
 *
 * Each piece is added as it comes, because all pieces take half as much memory as the totals. So an
 * epoch knows which pieces the totals lack. With CPU workers beside the GPU only ranges of files
 * are counted in this way, and held here until their epoch is committed. After the GPU has failed
 * the lanes' workers count the held ranges again. If some pieces of their epoch are in the totals,
 * one worker counts all of its ranges, and adds the pieces that are missing.
 *
 * A lane gives back every slot that it holds of an epoch: by epoch_submit or epoch_cancel if it was
 * to fill the slot, by epoch_reap if the slot was submitted. So every epoch ends, or the GPU fails.
 */
#ifndef GPUHIST_GPU_EPOCH_H
#define GPUHIST_GPU_EPOCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/counts.h"
#include "gpu/gpu.h"

struct epoch; /* gpu_state.h */
struct gpu_device;

/*
 * -1: a slot's counters have no room for the sums of all pieces; or there is no memory, and
 * gpu_fail was called.
 */
int epoch_init(struct gpu_device *d);
void epoch_destroy(struct epoch *e);

/* How many counters a piece has: the last may have fewer. */
size_t epoch_piece(const struct gpu_device *d, uint32_t piece);

/*
 * epoch_join: the lane begins to feed its device. epoch_leave: it stops, with no slot submitted.
 * epoch_over: once the lane has left, is all that it submitted committed?
 */
void epoch_join(struct lane *lane);
void epoch_leave(struct lane *lane);
bool epoch_over(struct lane *lane);

enum epoch_use {
	EPOCH_FILL,    /* epoch_submit or epoch_cancel must follow; never after epoch_leave */
	EPOCH_ORDERED, /* the slot was submitted with an order, and is to be reaped */
	EPOCH_WAIT,    /* nothing can be done now; or the GPU has failed */
};

/* What a slot that was just taken is used for. busy: the lane leaves pieces to others. */
enum epoch_use epoch_use(struct lane *lane, struct slot *slot, bool busy);

/*
 * Submits the slot with slot->chunk, whose bytes are at `data` (gpu_submit). A range belongs to the
 * epoch from then on. -1: the GPU has failed; the chunk is still the caller's.
 */
int epoch_submit(struct lane *lane, struct slot *slot, const unsigned char *data);
void epoch_cancel(struct lane *lane);

/* Takes the answer of a slot (GPU_DONE). -1: the GPU has failed. */
int epoch_reap(struct lane *lane, const struct slot *slot, struct counts *totals);

/* After EPOCH_WAIT: waits until the epoch has changed since, for at most `seconds`. */
void epoch_wait(struct lane *lane, double seconds);

/* Ranges of files that an epoch held. Whoever takes a list of them frees it. */
struct held {
	struct chunk chunk;
	struct held *next;
};

/* Frees the first range of a list. Returns the rest. */
struct held *held_drop(struct held *held);

/* Takes the ranges of all committed epochs, to be given back. */
struct held *epoch_take_committed(struct lane *lane);

/*
 * After the GPU has failed: takes one range of the epoch that was lost; or, if some of its pieces
 * are in the totals, sets *partly and takes all of its ranges. NULL: none is left.
 */
struct held *epoch_take_lost(struct lane *lane, bool *partly);

/*
 * Adds the pieces that the totals lack from `again`, the counts of all ranges of the epoch. -1:
 * they do not agree with what the GPU counted, and nothing was added.
 */
int epoch_add_missing(struct lane *lane, const struct counts *again, struct counts *totals);

#endif

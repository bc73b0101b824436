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
 *	COUNT     chunks; when the epoch has ended and none is on its way any more
 *	SUMS      what each piece of the counters adds up to; together, the epoch's samples
 *	PIECE     one of them: it must have that sum, and is added to the totals; after the last
 *	CLEAR     if a lane goes on
 *
 * Pieces are added as they come, because all of them take half as much memory as the totals. So an
 * epoch knows which are missing there. With CPU workers beside the GPU only ranges of files are
 * counted in this way, and held here until their epoch is committed. After the GPU has failed the
 * lanes' workers count them again; of an epoch that was added in part, one worker counts all, and
 * adds the pieces that are missing.
 *
 * A lane gives back what it holds of an epoch: a slot to be filled by epoch_submit or epoch_cancel,
 * a submitted one by epoch_reap. So every epoch ends, or the GPU fails.
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
 * -1: the helper's answers could not hold what will be asked; or there is no memory, and gpu_fail
 * was called.
 */
int epoch_init(struct gpu_device *d);
void epoch_destroy(struct epoch *e);

/* How many counters a piece has: the last may have fewer. */
size_t epoch_piece(const struct gpu_device *d, uint32_t piece);

/*
 * A lane begins to feed its device, and stops; it has nothing submitted then. epoch_over: after it
 * has left, is all that it submitted committed?
 */
void epoch_join(struct lane *lane);
void epoch_leave(struct lane *lane);
bool epoch_over(struct lane *lane);

enum epoch_use {
	EPOCH_FILL,    /* with a chunk: epoch_submit or _cancel must follow; not once it has left */
	EPOCH_ORDERED, /* it was submitted with an order, to be reaped */
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

/* After EPOCH_WAIT: until something has changed since, for so many seconds at most. */
void epoch_wait(struct lane *lane, double seconds);

/* Ranges of files that an epoch held. Whoever takes a list of them frees it. */
struct held {
	struct chunk chunk;
	struct held *next;
};

/* Frees the first of a list; the rest. */
struct held *held_drop(struct held *held);

/* Takes the ranges of all committed epochs, to be given back. */
struct held *epoch_take_committed(struct lane *lane);

/*
 * After the GPU has failed: takes a range that it has not counted; or, partly, all ranges of an
 * epoch some of whose pieces are in the totals. NULL: none is left.
 */
struct held *epoch_take_lost(struct lane *lane, bool *partly);

/*
 * Adds the pieces that the totals lack, from the counts of all those ranges. -1: these do not agree
 * with what the GPU counted, and nothing was added.
 */
int epoch_add_missing(struct lane *lane, const struct counts *again, struct counts *totals);

#endif

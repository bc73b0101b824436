/* SPDX-License-Identifier: MIT */
/*
 * gpu_epoch: counters that stay on the device from chunk to chunk, where they are too many to be
 * fetched for each.
 *
 * Chunks are counted into one table of 32-bit counters for each device. An epoch is what was
 * counted since the table was cleared; it has at most 2^32-1 samples, so that no counter wraps. It
 * ends when the next chunk would not fit, or when the last lane leaves:
 *
 *	all that was submitted is counted
 *	the device adds up the counters of each piece (ORDER_SUMS); the sums must add up to the epoch's samples
 *	each piece is fetched (ORDER_PIECE), must have the sum that the device gave, and is added to the totals
 *	the table is cleared
 *
 * The lanes that wait for this share the pieces. So nothing is added that was not checked, and for
 * each piece it is known whether it was added.
 *
 * Normally only ranges of files are counted in this way, because a range can be read again;
 * anything is where no CPU worker may take the place of the GPU. Ranges are held here until their
 * epoch is committed, each with the memory of a struct chunk, and then given back. After the GPU
 * has failed the lanes' workers take them and count them on the CPU, without the cells of pieces
 * that were added already (epoch_added).
 *
 * Every wait ends. For a slot, as in gpu.h. For the end of an epoch, because the thread that ends
 * it holds no lock while it waits for slots, and either finishes or, where the GPU has failed,
 * gives up; both wake the others.
 */
#ifndef GPUHIST_GPU_EPOCH_H
#define GPUHIST_GPU_EPOCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "count/counts.h"
#include "input/source.h"

struct lane;
struct slot;

enum epoch_state {
	EPOCH_OPEN,   /* chunks may be submitted */
	EPOCH_ENDING, /* no chunks until it is over */
	EPOCH_LOST,   /* the GPU has failed */
};

struct epoch {
	struct lock lock;       /* guards all below */
	pthread_cond_t changed; /* signals the state, or `busy` */
	enum epoch_state state;
	uint64_t number;  /* how many epochs are committed */
	uint64_t samples; /* of the current epoch */
	uint64_t samples_most;
	unsigned lanes;   /* that have not left */
	unsigned leaving; /* of these, that wait for the end */
	uint64_t *sums;   /* of each piece; once the sums are checked ... */
	bool *added;      /* ... whether the piece is in the totals, and not empty */
	uint32_t pieces, next, done;
	bool fetching;    /* pieces can be taken ... */
	unsigned helpers; /* ... and so many other lanes' workers have taken part in that */
	unsigned busy;    /* threads that are adding a piece, or are about to */
	struct chunks {
		struct chunk *at;
		size_t count, room;
	} held, committed;         /* ranges: of this epoch; of earlier ones, to be given back */
	const struct input *input; /* of the last range ... */
	/* ... and how often it changed: each input stays open while its ranges are held */
	unsigned inputs;
	unsigned inputs_most;
	bool claimed; /* epoch_claim */
};

/* Takes the memory of an epoch with so many pieces. -1 and errno. */
int epoch_init(struct epoch *e, uint32_t pieces);
void epoch_destroy(struct epoch *e);

enum epoch_result { EPOCH_FAILED = -1, EPOCH_OK };

/* A lane begins to feed its device. Called before its first epoch_submit. */
void epoch_join(struct lane *lane);

/*
 * Submits the slot, which is FILLED, in the current epoch, and stores that epoch's number; first
 * waits for the end of an epoch that has no room left. A range (chunk->fd >= 0) belongs to the
 * epoch from then on. EPOCH_FAILED: the GPU has failed; the chunk is still the caller's.
 */
enum epoch_result epoch_submit(struct lane *lane, struct slot *slot, const struct chunk *chunk,
			       uint64_t *epoch, struct counts *totals);

/*
 * How many epochs of the lane's device are committed: the chunks of an epoch with a smaller number
 * are in the totals.
 */
uint64_t epoch_committed(struct lane *lane);

/* Ends the epoch now, because its slots are needed. EPOCH_FAILED: the GPU has failed. */
enum epoch_result epoch_end(struct lane *lane, struct counts *totals);

/*
 * The lane has nothing submitted, and stops feeding. With `wait`, waits until the epoch is over,
 * which the last lane to leave ends. EPOCH_FAILED: the GPU has failed, and the lane has not left.
 */
enum epoch_result epoch_leave(struct lane *lane, bool wait, struct counts *totals);

/* Have all lanes left? What is still held then will not be counted: the run has failed. */
bool epoch_left_by_all(struct lane *lane);

/*
 * Takes one of the chunks that epochs held: of committed epochs, to be given back; or, once the GPU
 * has failed, one to be counted again. False: there is none.
 */
bool epoch_take_committed(struct lane *lane, struct chunk *chunk);
bool epoch_take_lost(struct lane *lane, struct chunk *chunk);

/* After the GPU has failed: waits until no thread adds to the totals any more. */
void epoch_settle(struct lane *lane);

/*
 * After epoch_settle: were any counters of the last epoch added to the totals; were those of this
 * cell?
 */
bool epoch_added_any(const struct lane *lane);
bool epoch_added(const struct lane *lane, size_t cell);

/* Do these counts, made again from the same samples, agree with the pieces that were added? */
bool epoch_agrees(const struct lane *lane, const uint64_t *cell);

/* True for the first caller only. */
bool epoch_claim(struct lane *lane);

#endif

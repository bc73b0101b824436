/* SPDX-License-Identifier: MIT */
/*
 * gpu_epoch: counters that stay on the device from chunk to chunk, where they are too many to be fetched for each.
 *
 * Chunks are counted into one table of 32 bits for each device. An epoch is what was counted since the table
 * was clear; its samples are never more than 2^32-1, so that no counter wraps. At its end, when the next chunk
 * would not fit, or the last lane leaves:
 *
 *	all that was submitted is done
 *	the device adds up the counters of each piece (ORDER_SUMS), and the sums must be the epoch's samples
 *	each piece is fetched (ORDER_PIECE), must have the sum that was said, and is added to the totals
 *	the table is cleared
 *
 * The lanes that wait for it share the pieces. So nothing is added that was not checked, and what was added is known
 * by its piece.
 *
 * Only ranges of files are counted so, or, where no CPU worker may take the place of the GPU, anything: a range
 * can be read again. They are held here until their epoch is committed, each with the memory of a struct chunk, and
 * then given back; those of a GPU that has failed are taken by the lanes' workers, who count them on the CPU,
 * without the cells of pieces that were added already (epoch_added).
 *
 * Every wait ends: for a slot as in gpu.h; for the epoch's end because whichever thread ends it holds no lock while
 * it waits for slots, and goes on, or gives up where the GPU has failed, and then tells the others.
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
	EPOCH_ENDING, /* not until it is over */
	EPOCH_LOST,   /* the GPU has failed */
};

struct epoch {
	struct lock lock;       /* all below */
	pthread_cond_t changed; /* the state, or `busy` */
	enum epoch_state state;
	uint64_t number;  /* of epochs that are committed */
	uint64_t samples; /* of this one ... */
	uint64_t samples_most;
	unsigned lanes;   /* that have not left */
	unsigned leaving; /* of these, that wait for the end */
	uint64_t *sums;   /* of each piece; once they are right ... */
	bool *added;      /* ... whether it is in the totals, and not empty */
	uint32_t pieces, next, done;
	bool fetching;    /* pieces can be taken ... */
	unsigned helpers; /* ... and so many lanes' workers do, beside the one that ends it */
	unsigned busy;    /* threads that are adding a piece, or about to */
	struct chunks {
		struct chunk *at;
		size_t count, room;
	} held, committed;         /* ranges: of this epoch; of those before, to be given back */
	const struct input *input; /* of the last range ... */
	unsigned inputs;           /* ... and how many times it was another one: each is open while its range is held */
	unsigned inputs_most;
	bool claimed; /* epoch_claim */
};

/* The memory of an epoch for so many pieces. -1 and errno. */
int epoch_init(struct epoch *e, uint32_t pieces);
void epoch_destroy(struct epoch *e);

enum epoch_result { EPOCH_FAILED = -1, EPOCH_OK };

/* A lane begins to feed its device. Before its first epoch_submit. */
void epoch_join(struct lane *lane);

/*
 * Submits the slot, which is FILLED, in the epoch that the caller is told; waits for the end of the one before if
 * there is no room left. A range (chunk->fd >= 0) is the epoch's from then on. EPOCH_FAILED: the GPU has failed;
 * the chunk is still the caller's.
 */
enum epoch_result epoch_submit(struct lane *lane, struct slot *slot, const struct chunk *chunk, uint64_t *epoch,
			       struct counts *totals);

/* How many epochs of the lane's device are committed: chunks submitted in an earlier one are in the totals. */
uint64_t epoch_committed(struct lane *lane);

/* Ends the epoch now: what it holds is worth more than one fetch less. EPOCH_FAILED: the GPU has failed. */
enum epoch_result epoch_end(struct lane *lane, struct counts *totals);

/*
 * The lane has nothing submitted and feeds no more. `wait`: until the epoch is over, which the last lane to leave
 * ends; EPOCH_FAILED: the GPU has failed, and the lane has not left.
 */
enum epoch_result epoch_leave(struct lane *lane, bool wait, struct counts *totals);

/* What is held then will not be counted: the run has failed. */
bool epoch_left_by_all(struct lane *lane);

/*
 * One chunk of those that epochs held: of committed ones, to be given back, or, once the GPU has failed, to be counted
 * again. False: there is none.
 */
bool epoch_take_committed(struct lane *lane, struct chunk *chunk);
bool epoch_take_lost(struct lane *lane, struct chunk *chunk);

/* Of a failed GPU: waits until no thread adds to the totals any more. */
void epoch_settle(struct lane *lane);

/* Then: were counters of its last epoch added to the totals; those of this cell? */
bool epoch_added_any(const struct lane *lane);
bool epoch_added(const struct lane *lane, size_t cell);

/* Do these counts of the same samples, made again, agree with the pieces that were added? */
bool epoch_agrees(const struct lane *lane, const uint64_t *cell);

/* True for the first that asks. */
bool epoch_claim(struct lane *lane);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * region: the memory that the program and the helper of one GPU share, and what they tell each
 * other through it.
 *
 * It begins with struct region; the job's table of edges, the slots' counters and the slots'
 * samples follow, in this order, each at a multiple of a page. The program makes it and starts the
 * helper, which reports over their socket when it is ready (struct notice).
 *
 * A slot belongs to the helper while its state is SHARED_SUBMITTED, otherwise to the program. What
 * it holds is visible with its state.
 *
 * The helper trusts the program. The program trusts nothing that it reads here: every value is
 * copied out once, checked, and used from the copy; addresses and sizes come from its own memory.
 */
#ifndef GPUHIST_GPU_REGION_H
#define GPUHIST_GPU_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "count/count.h"

#define REGION_SLOTS 64u
#define NO_ROOM UINT32_MAX

/* Descriptors of the helper. */
enum { HELPER_SOCKET = 3, HELPER_REGION = 4 };

/*
 * The program's first argument where it is the helper; the process id of the program that started
 * it follows.
 */
#define HELPER_ARGUMENT "--gpu-helper="

enum shared_state {
	SHARED_FREE,
	SHARED_SUBMITTED, /* the helper's, until it sets another state */
	SHARED_DONE,
};

enum slot_order {
	/* Samples: copy them, unless they lie in a room; count; and, unless counters stay, fetch. */
	ORDER_COUNT,
	/* Of counters that stay: */
	ORDER_SUMS,  /* what those of each piece add up to, 64 bits each */
	ORDER_PIECE, /* one piece of them */
	ORDER_CLEAR, /* all become 0 */
	/* Of rooms: */
	ORDER_UNPACK, /* packed blocks: decode them, and put decoded bytes in their place */
};

struct shared_slot {
	_Alignas(64) uint32_t word; /* slot_word of the latest submission; a futex */
	uint32_t awaited;           /* a thread sleeps until the state changes */
	/* enum slot_order; this and what follows is written by the program ... */
	uint32_t order;
	uint32_t piece;
	/* ORDER_COUNT: the samples are what was decoded in this room, from byte `at` on */
	uint32_t room; /* NO_ROOM: they are in the slot */
	uint64_t at;
	uint64_t bytes, samples;
	/* --auto: ... the lane's k; in the helper's answer the one that the chunk was counted at */
	int32_t k;
	/* --auto: ... of the lane's samples; in the helper's answer that of the chunk's */
	struct extent extent;
};

struct region {
	uint64_t total; /* bytes of the whole region */
	uint64_t table_at, cells_at, data_at;
	uint64_t table_bytes;
	uint64_t slot_bytes, cell_bytes; /* of each slot */
	uint32_t slots;                  /* of all of them, ... */
	uint32_t rooms;    /* ... the last ones, in which blocks are decoded (gpu_unpack.h) */
	uint32_t piece;    /* counters in a piece of those that stay on the device; 0: none stay */
	uint32_t doorbell; /* a futex; rises by one with each slot that is submitted */
	uint32_t sleeping; /* the helper sleeps until the doorbell rings */
	char devices[512]; /* CUDA_VISIBLE_DEVICES for the helper; "": as it is */
	struct counting counting; /* its addresses are the program's */
	struct shared_slot slot[REGION_SLOTS];
};

/* A message from the helper. */
enum notice_kind { NOTICE_READY = 1, NOTICE_FAILED };

struct notice {
	uint32_t kind;
	uint32_t devices;    /* READY: how many the driver shows it */
	uint32_t slots;      /* ... how many can be used; fewer than asked for if memory is short */
	uint32_t rooms;      /* ... and of rooms */
	uint64_t cells_each; /* ... counters of a channel: of cells, or of groups (groups.h) */
	char name[128];      /* of the device */
	char kernel[32];
	char why[256]; /* FAILED */
};

/* Computes where the parts of the region are, and its size. */
void region_lay_out(struct region *region);

/* Where a slot's samples and counters are, by a layout that the other side cannot change. */
static inline unsigned char *region_data(struct region *r, const struct region *layout,
					 unsigned slot)
{
	return (unsigned char *)r + layout->data_at + slot * layout->slot_bytes;
}

static inline uint32_t *region_cells(struct region *r, const struct region *layout, unsigned slot)
{
	return (uint32_t *)(void *)((unsigned char *)r + layout->cells_at +
				    slot * layout->cell_bytes);
}

/* ---- waiting for the other process ---- */

/* Sleeps while *word is `seen`, for at most so many seconds; may return sooner. */
void region_wait(uint32_t *word, uint32_t seen, double seconds);
void region_wake(uint32_t *word);

/*
 * The number of a submission and the state that it is in, in one word: an answer is one to that
 * submission only, and never to the next one in the same slot, whose samples may be as many.
 */
static inline uint32_t slot_word(uint32_t number, enum shared_state state)
{
	return number << 2 | state;
}

/* A slot's word; all that was written before it was set is visible. */
static inline uint32_t slot_word_of(const struct shared_slot *s)
{
	return __atomic_load_n(&s->word, __ATOMIC_ACQUIRE);
}

static inline uint32_t slot_number_of(const struct shared_slot *s)
{
	return slot_word_of(s) >> 2;
}

static inline enum shared_state slot_state_of(const struct shared_slot *s)
{
	return slot_word_of(s) & 3;
}

/* Sets the state, and wakes the thread that waits for it, if there is one. */
static inline void slot_answer(struct shared_slot *s, uint32_t number, enum shared_state state)
{
	__atomic_store_n(&s->word, slot_word(number, state), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->awaited, __ATOMIC_SEQ_CST))
		region_wake(&s->word);
}

/* Submits the slot, and wakes the helper if it sleeps. */
static inline void slot_submit(struct region *r, struct shared_slot *s, uint32_t number)
{
	__atomic_store_n(&s->word, slot_word(number, SHARED_SUBMITTED), __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&r->doorbell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->sleeping, __ATOMIC_SEQ_CST))
		region_wake(&r->doorbell);
}

#endif

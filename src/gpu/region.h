/* SPDX-License-Identifier: MIT */
/*
 * region: the memory that the program and the GPU's helper share, and what they tell each other
 * through it.
 *
 * It begins with struct region; the job's table of edges, the slots' counters and the slots'
 * samples follow, in this order, each at a multiple of a page. The program makes it and starts the
 * helper, which reports over their socket when it is ready (struct notice).
 *
 * A slot belongs to the helper while its state is SHARED_SUBMITTED, otherwise to the program. Who
 * sees a slot's state sees all that was written to the slot before.
 *
 * Both are the same program, and trust each other. But a device may count wrong: so what it counted
 * must have the right sum, and what it says must lie within bounds.
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
	SHARED_OURS,      /* the program's */
	SHARED_SUBMITTED, /* the helper's, until it gives the slot back */
};

enum slot_order {
	/* Copy samples, unless they lie in a room; count; fetch counters, unless they stay. */
	ORDER_COUNT,
	/* Fetch a part of the counters that stay, to where samples are in other slots. */
	ORDER_FETCH,
	/* For rooms: */
	ORDER_UNPACK, /* decode packed blocks, and put decoded bytes in their place */
};

struct shared_slot {
	_Alignas(64) uint32_t state; /* enum shared_state; a futex */
	uint32_t awaited;            /* a thread sleeps until the state changes */
	/* enum slot_order. The program writes this and all below; the helper extent, too. */
	uint32_t order;
	/* ORDER_COUNT: room whose decoded bytes from offset `at` on are the samples */
	uint32_t room; /* NO_ROOM: the samples are in the slot */
	uint64_t at;   /* ORDER_FETCH: first byte of the table */
	uint64_t bytes, samples;
	int32_t k; /* --auto: the lane's k */
	/* --auto: extent of the lane's samples; in the answer, of the chunk's samples */
	struct extent extent;
};

struct region {
	uint64_t total; /* bytes of the whole region */
	uint64_t table_at, cells_at, data_at;
	uint64_t table_bytes;
	uint64_t slot_bytes, cell_bytes; /* of each slot */
	uint32_t slots;                  /* slots, including rooms */
	uint32_t rooms;           /* the last slots, in which blocks are decoded (gpu_unpack.h) */
	uint32_t stays;           /* counters stay on the device */
	uint32_t doorbell;        /* a futex; rises by one with each slot that is submitted */
	uint32_t sleeping;        /* the helper sleeps until the doorbell rings */
	char device[512];         /* CUDA_VISIBLE_DEVICES for the helper */
	struct counting counting; /* its addresses are the program's */
	struct shared_slot slot[REGION_SLOTS];
};

/* A message from the helper. */
enum notice_kind { NOTICE_READY = 1, NOTICE_FAILED };

struct notice {
	uint32_t kind;
	uint32_t slots; /* READY: slots that can be used; fewer than asked for if memory is short */
	uint32_t rooms; /* READY: rooms that can be used */
	char name[128]; /* READY: name of the device */
	char kernel[32];
	char why[256]; /* FAILED */
};

/* Computes where the parts of the region are, and its size. */
void region_lay_out(struct region *region);

/* Where a slot's samples and counters are. */
static inline unsigned char *region_data(struct region *r, unsigned slot)
{
	return (unsigned char *)r + r->data_at + slot * r->slot_bytes;
}

static inline uint32_t *region_cells(struct region *r, unsigned slot)
{
	return (uint32_t *)(void *)((unsigned char *)r + r->cells_at + slot * r->cell_bytes);
}

/* ---- waiting for the other process ---- */

/* Sleeps while *word is `seen`, for at most `seconds`; may return sooner. */
void region_wait(uint32_t *word, uint32_t seen, double seconds);
void region_wake(uint32_t *word);

/* A slot's state; all that was written before it was set is visible. */
static inline enum shared_state slot_state_of(const struct shared_slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

/* Gives the slot back, and wakes the thread that waits for it, if there is one. */
static inline void slot_answer(struct shared_slot *s)
{
	__atomic_store_n(&s->state, SHARED_OURS, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->awaited, __ATOMIC_SEQ_CST))
		region_wake(&s->state);
}

/* Submits the slot, and wakes the helper if it sleeps. */
static inline void slot_submit(struct region *r, struct shared_slot *s)
{
	__atomic_store_n(&s->state, SHARED_SUBMITTED, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&r->doorbell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->sleeping, __ATOMIC_SEQ_CST))
		region_wake(&r->doorbell);
}

#endif

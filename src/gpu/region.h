/* SPDX-License-Identifier: MIT */
/*
 * region: the memory that the program and the helper of one GPU share, and what they say through it.
 *
 * It begins with struct region; the job's table of edges, the slots' counters and the slots' samples follow, in this
 * order, each at a multiple of a page. The program makes it, fills in what is asked for and starts the helper, which
 * says over their socket when it is ready (struct notice).
 *
 * A slot belongs to the program until its state is SHARED_SUBMITTED, and to the helper until that is anything
 * else: then the helper does not touch it again. Both sides change the state with release and read it with acquire,
 * so that what a slot holds goes with it.
 *
 * The helper trusts the program. The program trusts nothing that it reads here: every value is copied out once,
 * checked, and used from the copy; addresses and sizes come from its own memory.
 */
#ifndef GPUHIST_GPU_REGION_H
#define GPUHIST_GPU_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/auto.h"
#include "count/count.h"

#define REGION_SLOTS 64u

/* File descriptors of the helper. */
enum { HELPER_SOCKET = 3, HELPER_REGION = 4 };

/* The program's first argument where it is the helper; the number of the process that started it follows. */
#define HELPER_ARGUMENT "--gpu-helper="

enum shared_state {
	SHARED_FREE,
	SHARED_SUBMITTED, /* the helper's, until it is done */
	SHARED_DONE,
	SHARED_REFUSED, /* its window could not be mapped, nothing was counted */
};

enum slot_order {
	ORDER_COUNT,  /* samples: copy, count, and, unless tables stay, fetch the counters */
	ORDER_WINDOW, /* the same of a range of a file: a struct window was sent for it */
	ORDER_SUMS,   /* tables that stay: what the counters of each piece add up to, 64 bits each */
	ORDER_PIECE,  /* tables that stay: one piece of the counters */
	ORDER_CLEAR,  /* tables that stay: all counters become 0 */
};

struct shared_slot {
	_Alignas(64) uint32_t state; /* enum shared_state; a futex */
	uint32_t awaited;            /* a thread sleeps until the state changes */
	uint32_t order;              /* enum slot_order; this and what follows as the program wrote it ... */
	uint32_t piece;
	uint64_t bytes, samples;
	int32_t k; /* --auto: ... what the lane counts at; the helper's answer: what the chunk was counted at */
	struct extent extent; /* --auto: ... of the lane's samples; the helper's answer: of the chunk's */
};

struct region {
	uint64_t build; /* region_build of the program */
	uint64_t total; /* bytes of all */
	uint64_t table_at, cells_at, data_at;
	uint64_t table_bytes;
	uint64_t slot_bytes, cell_bytes; /* of each slot */
	uint32_t slots;
	bool windows;             /* map ranges of files, if the device can */
	bool stays;               /* the counters stay on the device */
	uint32_t piece;           /* counters of a piece of them */
	uint64_t beat;            /* the helper lives while this changes */
	uint32_t doorbell;        /* a futex: one more with each slot that is submitted */
	uint32_t sleeping;        /* the helper sleeps until it rings */
	struct counting counting; /* its addresses are the program's */
	struct shared_slot slot[REGION_SLOTS];
};

/* A message of the helper's. */
enum notice_kind { NOTICE_READY = 1, NOTICE_FAILED };

struct notice {
	uint32_t kind;
	uint32_t devices;    /* READY: that the driver shows to it */
	uint32_t slots;      /* READY: that can be used, and their bytes: where memory is short fewer than asked for */
	uint64_t slot_bytes; /* ... */
	uint64_t window_bytes; /* ... of a range at most; 0: none is mapped */
	uint64_t cells_each;   /* ... counters of a channel */
	uint32_t grouped;      /* ... 1: of groups of codes (gpu_group.h) */
	uint32_t slots_of_k;   /* ... 1: counters are slots of --auto, and chunks have an extent */
	char name[128];        /* of the device */
	char kernel[32];
	char why[256]; /* FAILED */
};

/* A message of the program's, with the file's descriptor: the range of a slot that is about to be submitted. */
struct window {
	uint32_t slot;
	uint64_t offset, bytes;
};

/* What the region of a job needs, in one place for both sides. 0: more than there are addresses for. */
size_t region_lay_out(struct region *region);

/* Differs between programs whose regions would not be alike. */
uint64_t region_build(void);

static inline unsigned char *region_data(struct region *r, unsigned slot)
{
	return (unsigned char *)r + r->data_at + slot * r->slot_bytes;
}

static inline uint32_t *region_cells(struct region *r, unsigned slot)
{
	return (uint32_t *)(void *)((unsigned char *)r + r->cells_at + slot * r->cell_bytes);
}

/* ---- waiting for the other process ---- */

/* Sleeps while *word is `seen`, for so many seconds at most; may return sooner. */
void region_wait(uint32_t *word, uint32_t seen, double seconds);
void region_wake(uint32_t *word);

/* A slot's state, and all that was written before it was set. */
static inline uint32_t slot_state_of(const struct shared_slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

/* Sets it and wakes the thread that waits for it, if there is one. */
static inline void slot_answer(struct shared_slot *s, uint32_t state)
{
	__atomic_store_n(&s->state, state, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->awaited, __ATOMIC_SEQ_CST))
		region_wake(&s->state);
}

/* Submits it, and wakes the helper if it sleeps. */
static inline void slot_submit(struct region *r, struct shared_slot *s)
{
	__atomic_store_n(&s->state, SHARED_SUBMITTED, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&r->doorbell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->sleeping, __ATOMIC_SEQ_CST))
		region_wake(&r->doorbell);
}

#endif

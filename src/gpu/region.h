/* SPDX-License-Identifier: MIT */
/*
 * region: the memory shared by the program and the GPU process.
 *
 * It begins with struct region, followed by the job's table of edges, the slots' counters and the
 * slots' samples, each page-aligned. The program makes it and starts the GPU process, which reports
 * over a socket when it is ready (struct notice).
 *
 * The GPU process owns a slot while its state is SLOT_SUBMITTED, the program otherwise. A thread that
 * sees a slot's state also sees everything written to the slot before.
 *
 * Both processes run the same program and trust each other. But a device may count wrong, so the
 * program checks its sums and the range of its results.
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

/* File descriptors of the GPU process. */
enum { HELPER_SOCKET = 3, HELPER_REGION = 4 };

/* First argument of the GPU process, to which its parent's process id is appended. */
#define HELPER_ARGUMENT "--gpu-helper="

/* A slot's states, in order and then FREE again. When the GPU fails, slots keep their state. */
enum slot_state {
	SLOT_FREE,
	SLOT_TAKEN,     /* a lane fills it or reads its results */
	SLOT_SUBMITTED, /* the GPU process has it, until it makes it TAKEN again */
};

enum slot_request {
	REQUEST_COUNT,  /* copy samples unless in a room, count, fetch counters unless they stay */
	REQUEST_FETCH,  /* fetch counters that stay on the device into the slot's sample buffer */
	REQUEST_UNPACK, /* decode the packed blocks in a room, and put the decoded bytes there */
};

struct shared_slot {
	_Alignas(64) uint32_t state; /* enum slot_state; a futex */
	uint32_t awaited;            /* a thread sleeps until the state changes */
	/* The program writes the rest; the GPU process writes extent, too. */
	uint32_t request; /* enum slot_request */
	uint32_t room;    /* REQUEST_COUNT: room with the samples; NO_ROOM: they are in the slot */
	uint64_t at;      /* REQUEST_COUNT: offset in the room; REQUEST_FETCH: in the table */
	uint64_t batch;   /* REQUEST_UNPACK: its number, by which batches are decoded in order */
	uint64_t bytes, samples;
	int32_t k; /* --auto: k of the samples counted so far */
	/* --auto: extent of the samples counted so far; on return, of the chunk's */
	struct extent extent;
};

struct region {
	uint64_t total; /* bytes of the whole region */
	uint64_t edges_at, cells_at, data_at;
	uint64_t edges_bytes;
	uint64_t slot_bytes, cell_bytes; /* of a slot's samples, and of its counters */
	uint32_t slots;                  /* including rooms */
	uint32_t rooms;                  /* the last slots, for decoding zstd (gpu_unpacker) */
	uint32_t resident;               /* counters stay on the device */
	uint32_t doorbell;               /* futex; incremented for each submitted slot */
	uint32_t sleeping;               /* the GPU process sleeps until the doorbell rings */
	char device[512];                /* CUDA_VISIBLE_DEVICES for the GPU process */
	struct counting counting;        /* its addresses are valid in the program only */
	struct shared_slot slot[REGION_SLOTS];
};

/* A message from the GPU process. */
enum notice_kind { NOTICE_READY = 1, NOTICE_FAILED };

struct notice {
	uint32_t kind;
	uint32_t slots; /* READY: usable slots; fewer than requested if memory is short */
	uint32_t rooms; /* READY: usable rooms */
	char name[128]; /* READY: name of the device */
	char kernel[32];
	char why[256]; /* FAILED */
};

/* Compute the offsets and size of the region. */
void region_lay_out(struct region *region);

/* A slot's samples, and its counters. */
static inline unsigned char *region_data(struct region *r, unsigned slot)
{
	return (unsigned char *)r + r->data_at + slot * r->slot_bytes;
}

static inline uint32_t *region_cells(struct region *r, unsigned slot)
{
	return (uint32_t *)(void *)((unsigned char *)r + r->cells_at + slot * r->cell_bytes);
}

/* ---- waiting for the other process ---- */

/* Sleep while *word is `seen`, for at most `seconds`; may return sooner. */
void region_wait(uint32_t *word, uint32_t seen, double seconds);
void region_wake(uint32_t *word);

/* Return a slot's state; everything written before it was set is visible. */
static inline enum slot_state slot_state_of(const struct shared_slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
}

/* Return the slot to the program, and wake the thread that waits for it, if any. */
static inline void slot_answer(struct shared_slot *s)
{
	__atomic_store_n(&s->state, SLOT_TAKEN, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->awaited, __ATOMIC_SEQ_CST))
		region_wake(&s->state);
}

/* Submit the slot, and wake the GPU process if it sleeps. */
static inline void slot_submit(struct region *r, struct shared_slot *s)
{
	__atomic_store_n(&s->state, SLOT_SUBMITTED, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&r->doorbell, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->sleeping, __ATOMIC_SEQ_CST))
		region_wake(&r->doorbell);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * zstd_blocks: what the blocks of one long frame are decoded with, by all readers (zstd_blocks.c)
 * and by a device (zstd_device.c).
 */
#ifndef GPUHIST_ZSTD_BLOCKS_H
#define GPUHIST_ZSTD_BLOCKS_H

#include "input/block.h"
#include "input/source_state.h"
#include "input/unpacker.h"

struct block_slot {
	struct frame_block header;
	uint64_t at;        /* offset of its packed bytes in the input */
	bool read;          /* its packed bytes are in `packed` */
	struct block block; /* what is where in the packed bytes, once they are scanned */
	bool sized;         /* the number of its decoded bytes is known */
	bool unpacked;
	const char *refused;    /* why the block is refused, or NULL */
	unsigned char *place;   /* its place in the ring, once it and all before it are sized */
	unsigned char *decoded; /* its decoded literals: at `literals`, or at `place` */
	unsigned char *packed, *literals;
	struct sequence *sequences;
};

/* Some blocks of a frame, on their way through a room of the device. */
struct batch {
	enum {
		BATCH_FREE,
		BATCH_FILLING, /* a reader reads its packed bytes */
		BATCH_FULL,    /* its packed bytes are in the room */
		BATCH_SENT,    /* the device has it; FREE again when the device is done */
		BATCH_VOID, /* nothing of its frame is wanted any more: the device never gets it */
	} state;
	struct zstd_job *job;
	unsigned room;
	uint64_t offset; /* where its packed bytes are in the file */
	size_t bytes;    /* how many bytes the room is given */
	unsigned blocks;
	bool bad; /* its packed bytes could not be read */
};

/* The rooms of the device; and the batches in them, in the order in which they were found. */
struct rooms {
	unsigned count;
	size_t bytes; /* of each */
	/* How many batches were found, were sent or are void, and are done, in order. */
	uint64_t found, sent, done;
	bool finding, sending, waiting; /* one reader finds; one sends; one waits for an answer */
	struct batch batch[UNPACKER_ROOMS];
	bool taken[UNPACKER_ROOMS];              /* a batch is in the room */
	struct zstd_piece piece[UNPACKER_ROOMS]; /* what the rooms hold when batches are done */
};

/* A frame on a device. */
struct on_device {
	bool has; /* the device has the frame */
	/* How many of its batches were found, were sent or are void, and are done. */
	uint64_t found, sent, done;
	uint64_t blocks;        /* blocks in batches that were found and are not done */
	uint64_t given;         /* decoded bytes of the batches that were found, about */
	uint64_t at;            /* where the next batch begins in the file */
	struct block_scan scan; /* what is known of the blocks sent */
};

/* Threads that unpack: each needs a coder. */
struct coders {
	struct block_coder *coder[SLOTS_MOST];
	unsigned count, idle; /* no thread uses the first `idle` */
};

/* Where decoded bytes lie. */
struct ring {
	unsigned char *memory;
	size_t bytes;
	size_t used; /* end of the last block that has its place */
};

/* The header of the next block, or the checksum, as far as it was read. */
struct next_head {
	unsigned char bytes[FRAME_CHECKSUM];
	size_t have;
};

/* How many blocks of the frame, in order: */
struct block_counts {
	uint64_t fetched;      /* were found by their headers */
	uint64_t read_begun;   /* are being read, or were */
	uint64_t scanned;      /* were scanned */
	uint64_t unpack_begun; /* are being unpacked, or were */
	uint64_t placed;       /* have their place in the ring */
	uint64_t executed;     /* were put together */
};

struct blocks {
	uint64_t holds; /* bytes of memory */
	unsigned slots;
	struct coders coders;
	struct ring ring;
	unsigned char *rooms; /* memory of slots and coders */
	struct block_slot slot[SLOTS_MOST];
	struct zstd_piece piece[SLOTS_MOST];
	struct block_scan scan; /* what the thread that scans knows */
	struct block_past past; /* what the thread that executes knows */
	struct next_head head;
	bool last; /* the last block was fetched */
	struct fail fail;
	struct block_counts at;
	uint64_t end; /* decoded bytes of the blocks that have their place */
	bool fetching, scanning, executing;
	bool over;    /* no more blocks are fetched */
	bool refused; /* a block was refused */
	struct on_device device;
};

static inline bool blocks_begun(const struct zstd_job *j)
{
	/* The frame's header was taken. */
	return j->blocks && __atomic_load_n(&j->taken, __ATOMIC_RELAXED) > 0;
}

/* Is the frame a device's from its first block on? */
static inline bool job_is_devices(const struct zstd_job *j)
{
	return j->cut.how == HOW_BLOCKS && j->cut.pieces == 0;
}

/* Does the piece lie in a room of the device? */
static inline bool blocks_in_room(const struct zstd_piece *p)
{
	return job_is_devices(p->job);
}

/* Bytes after the last block. */
static inline size_t blocks_trailer(const struct zstd_job *j)
{
	return j->sum.follows ? FRAME_CHECKSUM : 0;
}

/* ---- zstd_blocks.c, with the lock ---- */

/* Makes what the job is decoded with. */
void blocks_begin_unlocks(struct source *s, struct zstd_job *j);

typedef bool blocks_ready(const struct source *, const struct zstd_job *, const struct request *);

/* The first job in blocks that may do something; NULL: there is none. */
struct zstd_job *blocks_find(const struct source *s, const struct request *q, blocks_ready *may);

/* Decoded bytes that are wanted of the frame; all, if -n ends with it. */
uint64_t blocks_wanted(const struct zstd_job *j);

/* Notes that the last block was fetched, and that what follows it is at `trailer`. */
void blocks_last(struct source *s, struct zstd_job *j, const unsigned char *trailer);

/* Hands out one or more blocks as a piece of p->bytes. `why`: they are refused; or NULL. */
void blocks_hand_out(struct source *s, struct zstd_job *j, struct zstd_piece *p, const char *why);

/* ---- zstd_device.c, with the lock ---- */

/* The device gets the frame. False: there is no device any more. */
bool device_begin(struct source *s, struct zstd_job *j);

/* The job has ended, or libzstd goes on with it. */
void device_leave(struct source *s, struct zstd_job *j);

/* Are batches of the frame in rooms? */
static inline bool device_busy(const struct blocks *b)
{
	return b && b->device.found > b->device.done;
}

#endif

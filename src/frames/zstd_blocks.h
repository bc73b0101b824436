/* SPDX-License-Identifier: MIT */
/*
 * zstd_blocks: the state of one long frame that all readers decode (zstd_blocks.c), or a device
 * (zstd_device.c).
 */
#ifndef GPUHIST_ZSTD_BLOCKS_H
#define GPUHIST_ZSTD_BLOCKS_H

#include "frames/zstd_job.h"
#include "zstd/block.h"
#include "zstd/unpacker.h"

/* A block in work. */
struct block_slot {
	struct frame_block header;
	uint64_t at;                /* offset of the packed bytes in the input */
	bool read;                  /* the packed bytes are in `packed` */
	struct block block;         /* its parts, once it is scanned */
	bool sized;                 /* the number of decoded bytes is known */
	bool unpacked;              /* literals and sequences are decoded, or refused */
	const char *refused;        /* why the block is refused, or NULL */
	unsigned char *place;       /* its place in the ring, once it and all before it are sized */
	unsigned char *decoded;     /* the decoded literals: at `literals`, or at `place` */
	unsigned char *packed;      /* buffer of packed bytes */
	unsigned char *literals;    /* buffer of decoded literals */
	struct sequence *sequences; /* buffer of decoded sequences */
};

/* Some blocks of a frame, on their way through a room of the device. */
struct batch {
	enum {
		BATCH_FREE,
		BATCH_FILLING, /* a reader reads its packed bytes */
		BATCH_FULL,    /* its packed bytes are in the room */
		BATCH_SENT,    /* the device has it; FREE again when the device is done */
		BATCH_VOID,    /* its frame is refused: the device never gets it */
	} state;
	struct zstd_job *job;
	unsigned room;
	uint64_t offset; /* offset of its packed bytes in the file */
	size_t bytes;    /* number of its packed bytes */
	unsigned blocks;
	bool bad; /* its packed bytes could not be read */
};

/* The device's rooms, and the batches in them, in the order of their frames. */
struct rooms {
	unsigned count; /* number of rooms */
	size_t bytes;   /* bytes of a room */
	uint64_t found; /* number of batches found */
	uint64_t sent;  /* number of batches sent or void */
	uint64_t done;  /* number of batches done */
	bool finding;   /* a reader is finding a batch */
	bool sending;   /* a reader is sending batches */
	bool waiting;   /* a reader is waiting for an answer */
	struct batch batch[UNPACKER_ROOMS];
	bool occupied[UNPACKER_ROOMS];           /* a batch is in the room */
	struct zstd_piece piece[UNPACKER_ROOMS]; /* the decoded bytes in the room */
};

/* A frame on a device. */
struct on_device {
	bool has;               /* the device has the frame */
	uint64_t found;         /* number of its batches found */
	uint64_t sent;          /* number of its batches sent or void */
	uint64_t done;          /* number of its batches done */
	uint64_t in_flight;     /* blocks in batches found but not done */
	uint64_t given;         /* decoded bytes of the batches found, at most */
	uint64_t at;            /* offset of the next batch in the file */
	struct block_scan scan; /* state of the scan after the last batch sent */
};

/* Tables for threads that unpack. */
struct coders {
	struct block_coder *coder[SLOTS_MOST]; /* coder[0] to coder[idle - 1] are free */
	unsigned count, idle;
};

/* A ring buffer of decoded bytes. */
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

/* Number of blocks, from the frame's first, that got so far. */
struct block_counts {
	uint64_t fetched;      /* found by their headers */
	uint64_t read_begun;   /* read or being read */
	uint64_t scanned;      /* parts found */
	uint64_t unpack_begun; /* unpacked or being unpacked */
	uint64_t placed;       /* with a place in the ring */
	uint64_t executed;     /* decoded */
};

struct blocks {
	uint64_t holds; /* memory of it all, in bytes */
	unsigned slots; /* number of slots; 0: a device decodes the frame */
	struct coders coders;
	struct ring ring;
	unsigned char *memory; /* of slots and coders */
	struct block_slot slot[SLOTS_MOST];
	struct zstd_piece piece[SLOTS_MOST];
	struct block_scan scan; /* of the thread that scans */
	struct block_past past; /* of the thread that executes */
	struct next_head head;
	bool last;        /* the last block was fetched */
	struct fail fail; /* why fetching failed */
	struct block_counts count;
	uint64_t end; /* decoded bytes of the blocks with a place */
	bool fetching, scanning, executing;
	bool fetch_ended; /* at the last block, at an error, or with enough blocks */
	bool refused;     /* a block was refused */
	struct on_device device;
};

/* Has decoding begun? Then the frame's header was taken. */
static inline bool blocks_begun(const struct zstd_job *j)
{
	return j->blocks && __atomic_load_n(&j->packed_read, __ATOMIC_RELAXED) > 0;
}

/* Bytes after the last block. */
static inline size_t blocks_trailer(const struct zstd_job *j)
{
	return j->sum.follows ? FRAME_CHECKSUM : 0;
}

/* ---- zstd_blocks.c ---- */

/* The memory of blocks with this many slots, in bytes. A device has 0 slots. */
uint64_t blocks_bytes(uint64_t window, unsigned slots, unsigned threads);
uint64_t blocks_hold(const struct blocks *b); /* the memory of b in bytes; 0 for NULL */
void blocks_free(struct blocks *b);

/* The rest with the lock. */

/* End a job whose decoded bytes are all counted and added up, or restart it with libzstd. */
void blocks_check(struct source *s, struct zstd_job *j);

/* Make j->blocks, and take the frame's header; without memory or device, libzstd takes over. */
void blocks_begin_unlocks(struct source *s, struct zstd_job *j);

/* Return how many decoded bytes of the frame are wanted; NO_END, if -n ends with the frame. */
uint64_t blocks_wanted(const struct zstd_job *j);

/* Note that the last block was fetched, with the checksum after it, if any, at `trailer`. */
void blocks_last(struct zstd_job *j, const unsigned char *trailer);

/* Hand out decoded blocks as a piece of p->bytes. `why`: why they are refused, or NULL. */
void blocks_hand_out(struct zstd_job *j, struct zstd_piece *p, const char *why);

/* ---- zstd_device.c, with the lock ---- */

/* Give the frame to the device. False: the device is gone, or no memory. */
bool device_begin(struct source *s, struct zstd_job *j);

/* Note that the device no longer has the frame: the job has ended, or libzstd takes over. */
void device_leave(struct source *s, struct zstd_job *j);

/* Are batches of the frame found but not done? */
static inline bool device_busy(const struct blocks *b)
{
	return b && b->device.found > b->device.done;
}

#endif

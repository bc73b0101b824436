/* SPDX-License-Identifier: MIT */
/*
 * unpack: the orders and answers for a batch of zstd blocks, in plain C for the host and the device
 * (unpack.cuh).
 *
 * A batch is a run of consecutive blocks of one frame. Their packed bytes are in device memory as
 * they are in the frame; the host has read and checked the blocks' headers. Batches are decoded in
 * parallel as far as possible, and put together in the frame's order. A ring holds the last decoded
 * bytes, for matches.
 */
#ifndef GPUHIST_UNPACK_H
#define GPUHIST_UNPACK_H

#include <stdint.h>

#define UNPACK_BLOCK_MAX 131072u                                      /* decoded bytes of a block */
#define UNPACK_BLOCKS 32u                                             /* most blocks of a batch */
#define UNPACK_SEQUENCES (UNPACK_BLOCKS * (UNPACK_BLOCK_MAX / 3 + 1)) /* in a batch, at most */
#define UNPACK_GROUP 8u          /* most batches whose kernels are launched together */
#define UNPACK_REGION (1u << 20) /* bytes of a batch that unpack_resolve resolves at a time */
/*
 * Readable bytes before and after a batch's packed bytes: a damaged stream may run past its
 * beginning, which is noticed after at most 64 sequences of 89 bits.
 */
#define UNPACK_BEFORE 1024u
#define UNPACK_AFTER 64u

enum { UNPACK_PLAIN, UNPACK_REPEAT, UNPACK_ONE_STREAM, UNPACK_FOUR_STREAMS };

/* The same as struct block_shares (zstd/block.h). */
struct unpack_shares {
	uint8_t log, codes;
	int16_t of[53];
};

/* literals_at, sequences_at: offsets in the batch's packed bytes, which include all their bytes. */
struct unpack_block {
	uint32_t literals_at, literals_packed, literals;
	uint32_t how;
	uint32_t sequences_at, sequences_packed, sequences;
	uint32_t first; /* index of its first sequence in the batch */
	uint32_t apart; /* offset of literals in `apart`, if it has sequences; a multiple of 16 */
	uint32_t most;  /* most decoded bytes; without sequences exactly `literals` */
	uint32_t unused[2];
	uint8_t tree[132];              /* packed tree, if literals are in streams */
	struct unpack_shares shares[3]; /* of lengths, offsets, matches, if it has sequences */
	uint32_t rest[2];
};

struct unpack_batch {
	uint32_t blocks, sequences;
	uint32_t begins; /* not 0: the batch begins a frame */
	uint64_t window; /* begins: the frame's window, which no offset exceeds */
};

/* Sent to the device with the packed bytes. */
struct unpack_orders {
	struct unpack_batch batch;
	struct unpack_block block[UNPACK_BLOCKS];
};

/* A block's state on the device: its decoded bytes' offset in the batch, and repeated offsets. */
struct unpack_state {
	uint32_t at, bytes;
	uint32_t after[3], before[3];
	uint32_t refused;
};

/* State that each batch leaves for the next one. */
struct unpack_carry {
	uint64_t place;  /* offset of the next batch in the ring, modulo the ring's size */
	uint64_t before; /* bytes of the frame before the next batch */
	uint64_t window;
	uint32_t repeat[3];
};

/* Returned with the decoded bytes; the device also uses it. */
struct unpack_answer {
	uint32_t refused; /* not 0: the bytes of this and of later batches must not be used */
	uint32_t bytes;   /* decoded bytes, in the order of the blocks, without gaps */
	uint64_t place, before, window; /* the carry when the batch began */
};

/* The memory of a batch on the device; all addresses are the device's. */
struct unpack_memory {
	/* A multiple of 4; UNPACK_BEFORE bytes before the packed bytes and UNPACK_AFTER after. */
	uint64_t packed;
	uint64_t batch, block, state, answer;
	uint64_t offset, literals, match; /* a word per sequence: UNPACK_SEQUENCES words each */
	uint64_t apart, decoded;          /* UNPACK_BLOCKS * (UNPACK_BLOCK_MAX + 64) bytes each */
	uint64_t distance;                /* UNPACK_BLOCKS * UNPACK_BLOCK_MAX words */
	uint64_t carry, ring;             /* the same for all batches */
	uint64_t ring_bytes;              /* a power of two; at least a window and a batch */
};

/* Batches in order: the argument of kernels that need no earlier batch. */
struct unpack_group {
	struct unpack_memory of[UNPACK_GROUP];
};

#endif

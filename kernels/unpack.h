/* SPDX-License-Identifier: MIT */
/*
 * unpack: what the host tells the device of a batch of blocks of a zstd frame, and what comes back,
 * in plain C for both (unpack.cuh).
 *
 * A batch is some blocks of one frame that follow one another. Their packed bytes lie in the
 * device's memory as they lie in the frame; what stands in the blocks' headers, the host has read,
 * and checked. Batches are decoded side by side, as far as that goes, and put together in the
 * frame's order: the end of what was decoded lies in a ring.
 */
#ifndef GPUHIST_UNPACK_H
#define GPUHIST_UNPACK_H

#include <stdint.h>

#define UNPACK_BLOCK_MAX 131072u                                      /* decoded bytes of a block */
#define UNPACK_BLOCKS 32u                                             /* of a batch, at most */
#define UNPACK_SEQUENCES (UNPACK_BLOCKS * (UNPACK_BLOCK_MAX / 3 + 1)) /* of a batch, at most */
#define UNPACK_GROUP 8u          /* batches whose kernels are launched together, at most */
#define UNPACK_REGION (1u << 20) /* bytes of a batch that unpack_resolve goes over at a time */
/*
 * Bytes before and after a batch's packed bytes that exist and may be read: the bits of a damaged
 * stream may go on before its beginning, which is noticed after at most 64 sequences of 89 bits.
 */
#define UNPACK_BEFORE 1024u
#define UNPACK_AFTER 64u

enum { UNPACK_PLAIN, UNPACK_REPEAT, UNPACK_ONE_STREAM, UNPACK_FOUR_STREAMS };

/* The same as struct block_shares (input/block.h). */
struct unpack_shares {
	uint8_t log, codes;
	int16_t of[53];
};

/* literals_at, sequences_at: offsets in the batch's packed bytes, where all of their bytes lie. */
struct unpack_block {
	uint32_t literals_at, literals_packed, literals;
	uint32_t how;
	uint32_t sequences_at, sequences_packed, sequences;
	uint32_t first; /* its first sequence among those of the batch */
	uint32_t apart; /* offset of literals in `apart`, if it has sequences; a multiple of 16 */
	uint32_t most;  /* decoded bytes, at most; without sequences exactly `literals` */
	uint32_t unused[2];
	uint8_t tree[132];              /* the packed tree, if literals have streams */
	struct unpack_shares shares[3]; /* of lengths, offsets, matches, if there are sequences */
	uint32_t rest[2];
};

struct unpack_batch {
	uint32_t blocks, sequences;
	uint32_t begins; /* not 0: the batch begins a frame */
	uint64_t window; /* begins: the frame's window; no offset is larger */
};

/* What goes to the device beside the packed bytes. */
struct unpack_orders {
	struct unpack_batch batch;
	struct unpack_block block[UNPACK_BLOCKS];
};

/* What the device knows of a block: its decoded bytes' offset in the batch, offsets that repeat. */
struct unpack_state {
	uint32_t at, bytes;
	uint32_t after[3], before[3];
	uint32_t refused;
};

/* What the chain of each batch leaves for the next batch. */
struct unpack_carry {
	uint64_t place;  /* where the next batch begins in the ring, modulo its size */
	uint64_t before; /* bytes of the frame that lie in the ring by then */
	uint64_t window;
	uint32_t repeat[3];
};

/* What comes back beside the decoded bytes, and what the device itself needs of the batch. */
struct unpack_answer {
	uint32_t refused; /* not 0: the bytes are not to be used, nor those of later batches */
	uint32_t bytes;   /* decoded, in the order of the blocks, without gaps */
	uint64_t place, before, window; /* the carry when the batch began */
};

/* The device's memory of a batch; addresses are the device's. */
struct unpack_memory {
	/* A multiple of 4; with UNPACK_BEFORE bytes before, UNPACK_AFTER after the packed ones. */
	uint64_t packed;
	uint64_t batch, block, state, answer;
	uint64_t offset, literals, match; /* of each sequence: UNPACK_SEQUENCES words */
	uint64_t apart, decoded;          /* bytes: UNPACK_BLOCKS * (UNPACK_BLOCK_MAX + 64) */
	uint64_t distance;                /* words: UNPACK_BLOCKS * UNPACK_BLOCK_MAX */
	uint64_t carry, ring;             /* the same for all batches */
	uint64_t ring_bytes;              /* a power of two, at least a window and a batch */
};

/* Some batches, in order: the argument of kernels that need no batch before their own. */
struct unpack_group {
	struct unpack_memory of[UNPACK_GROUP];
};

#endif

/* SPDX-License-Identifier: MIT */
/*
 * block: decodes the blocks of a zstd frame (RFC 8878, 3.1.1), each partly in any thread and partly
 * in order.
 *
 *     block_scan         in order      finds the parts of a block and its tables
 *     block_sequences    any thread    decodes sequences, if any, which give the block's size
 *     block_literals     any thread    decodes literals, before or after the sequences
 *     block_execute      in order      makes decoded bytes of literals and matches
 *
 * Each returns NULL, or why the block is refused, a constant text. They refuse whatever libzstd
 * (1.5.4 or newer) refuses, and some damage that a libzstd lets pass. After a refusal the rest of
 * the frame cannot be decoded, and the function's output is undefined.
 *
 * These functions allocate and lock nothing: all memory is the caller's. The packed bytes must stay
 * unchanged until the block's sequences and literals are decoded. Later blocks do not need them,
 * because each block has copies of the descriptions of its tables.
 */
#ifndef GPUHIST_ZSTD_BLOCK_H
#define GPUHIST_ZSTD_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "zstd/zstd_frame.h"

#define BLOCK_WINDOW_MAX ((uint64_t)1 << 30) /* only libzstd decodes larger windows */
#define BLOCK_BEFORE 8u /* readable bytes before a block: every frame begins with more */
#define BLOCK_SLACK 32u /* readable bytes after decoded literals */
#define BLOCK_SEQUENCES_MAX (FRAME_BLOCK_MAX / 3u) /* most sequences of a block */

#define BLOCK_CODES 53u /* most codes of a table */

/* The description of a table: how frequent each code is. */
struct block_shares {
	uint8_t log;             /* the shares add up to 2^log */
	uint8_t codes;           /* number of codes; 0: no table yet */
	int16_t of[BLOCK_CODES]; /* each code's share; -1: less than one */
};

/* The packed Huffman tree of literals. */
struct block_tree {
	uint8_t bytes; /* 0: no tree yet */
	uint8_t packed[128];
};

enum { BLOCK_LENGTHS, BLOCK_OFFSETS, BLOCK_MATCHES, BLOCK_KINDS };

/* The state of a frame's scan: the tables that the next block may use again. */
struct block_scan {
	uint32_t most; /* most bytes of a block, packed or decoded */
	struct block_tree tree;
	struct block_shares shares[BLOCK_KINDS];
};

enum block_literals { LITERALS_PLAIN, LITERALS_REPEAT, LITERALS_ONE_STREAM, LITERALS_FOUR_STREAMS };

/*
 * A block. If it is stored uncompressed, or as a byte that repeats, it has only literals, plain or
 * repeated.
 */
struct block {
	uint32_t bytes;     /* decoded bytes; if it has sequences, known after block_sequences */
	uint32_t most;      /* the frame's limit for `bytes` */
	uint32_t literals;  /* number of literals, at most `most` */
	uint32_t sequences; /* number of sequences, at most BLOCK_SEQUENCES_MAX */
	enum block_literals how;
	uint32_t literals_packed;  /* packed bytes of literals */
	uint32_t sequences_packed; /* packed bytes of sequences */
	const unsigned char *literals_at, *sequences_at;
	struct block_tree tree;                  /* if literals have streams */
	struct block_shares shares[BLOCK_KINDS]; /* if there are sequences */
	/* Set by block_sequences, for block_execute. */
	uint32_t repeat[3];   /* the repeat offsets after the block, which may be symbols */
	uint32_t longs[2][2]; /* lengths too long for struct sequence: literals, match */
};

/* Some literals, then a match. The offset may be a symbol for one from before the block. */
struct sequence {
	uint32_t offset;
	uint16_t literals, match;
};

/* One thread's tables, kept from block to block and from frame to frame. */
struct block_coder;
size_t block_coder_bytes(void); /* the size of a coder */

/* Make a coder in memory of that size, aligned like malloc's. */
void block_coder_begin(struct block_coder *);

/* The state of a frame's execution. */
struct block_past {
	const struct block_loops *loops;
	uint64_t window;
	uint64_t bytes;                   /* bytes decoded so far */
	const unsigned char *begin, *end; /* the run in memory that ends with the last block */
	const unsigned char *older;       /* the end of the run before it */
	uint32_t repeat[3];
};

/* Begin a frame; window <= BLOCK_WINDOW_MAX. */
void block_scan_begin(struct block_scan *scan, uint64_t window);
void block_past_begin(struct block_past *past, uint64_t window);

/*
 * Scan h->packed_bytes bytes at `packed`. block_sequences and block_literals may also read the
 * BLOCK_BEFORE bytes before them.
 */
const char *block_scan(struct block_scan *scan, const struct frame_block *h,
		       const unsigned char *packed, struct block *b);

/* Decode b->sequences sequences to `to`, and set b->bytes, at most b->most. */
const char *block_sequences(struct block_coder *coder, struct block *b, struct sequence *to);

/* Decode exactly b->literals bytes to `to`; without sequences, they are the decoded block. */
const char *block_literals(struct block_coder *coder, const struct block *b, unsigned char *to);

/*
 * Write exactly b->bytes at `to`; another thread may be writing after them. The last `window`
 * decoded bytes must still lie where they were written: in one run that ends at `to`, or in two, if
 * some block does not follow the one before it in memory. BLOCK_SLACK bytes after the literals must
 * be readable; without sequences, the literals may lie at `to` already.
 */
const char *block_execute(const struct block *b, const struct sequence *sequences,
			  const unsigned char *literals, struct block_past *past,
			  unsigned char *to);

#endif

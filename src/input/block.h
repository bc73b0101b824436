/* SPDX-License-Identifier: MIT */
/*
 * block: the blocks of one zstd frame (RFC 8878, 3.1.1), each decoded by any thread, then put
 * together in order.
 *
 *     block_scan         in order      where everything is, how much of it, which tables
 *     block_sequences    any thread    where there are some; b->bytes is known only then
 *     block_literals     any thread    before or after the sequences
 *     block_execute      in order      literals and matches to decoded bytes
 *
 * Each returns NULL, or why the block is refused, a constant text. What libzstd (1.5.4 or newer)
 * refuses is refused here; some damage that a libzstd lets pass is, too. After a refusal nothing of
 * the frame is to be used, and what a function was given to write in holds anything.
 *
 * Nothing is allocated and nothing locked: all memory is the caller's. The packed bytes stay as
 * they are until the block's sequences and literals are decoded; later blocks do not need them, as
 * a block carries copies of the descriptions of its tables.
 */
#ifndef GPUHIST_BLOCK_H
#define GPUHIST_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "input/zstd_frame.h"

#define BLOCK_WINDOW_MAX ((uint64_t)1 << 30) /* frames with larger windows are libzstd's */
#define BLOCK_BEFORE 8u /* readable bytes before the packed ones, as every frame has */
#define BLOCK_SLACK 32u /* readable bytes after decoded literals */
#define BLOCK_SEQUENCES_MAX (FRAME_BLOCK_MAX / 3u) /* in one block, whatever it claims */

/* How often each code of a sequences' table comes, in parts of 2^log; -1: less than one. */
#define BLOCK_CODES 53u
struct block_shares {
	uint8_t log, codes; /* codes: 0: none yet */
	int16_t of[BLOCK_CODES];
};

/* The tree of literals, as it is packed. */
struct block_tree {
	uint8_t bytes; /* 0: none yet */
	uint8_t packed[128];
};

enum { BLOCK_LENGTHS, BLOCK_OFFSETS, BLOCK_MATCHES, BLOCK_KINDS };

/* What the scan of a frame remembers. */
struct block_scan {
	uint32_t most; /* bytes of a block, packed or not */
	struct block_tree tree;
	struct block_shares shares[BLOCK_KINDS];
};

enum block_literals { LITERALS_PLAIN, LITERALS_REPEAT, LITERALS_ONE_STREAM, LITERALS_FOUR_STREAMS };

/* A block. One that is stored, or repeats a byte, has such literals and no sequences. */
struct block {
	uint32_t bytes;     /* decoded; with sequences only after block_sequences */
	uint32_t most;      /* the frame's limit: `bytes` is no more */
	uint32_t literals;  /* bytes, at most `most` */
	uint32_t sequences; /* at most BLOCK_SEQUENCES_MAX */
	enum block_literals how;
	uint32_t literals_packed, sequences_packed; /* packed bytes of each */
	const unsigned char *literals_at, *sequences_at;
	struct block_tree tree;                  /* if literals have streams */
	struct block_shares shares[BLOCK_KINDS]; /* if there are sequences */
	/* Set by block_sequences, for block_execute. */
	uint32_t repeat[3];   /* the offsets that repeat after the block, symbols or not */
	uint32_t longs[2][2]; /* lengths that are too long for a sequence, in order */
};

/* First literals, then a match. A symbol stands for an offset from before the block. */
struct sequence {
	uint32_t offset;
	uint16_t literals, match;
};

/* One thread's tables, kept from block to block and from frame to frame. */
struct block_coder;
size_t block_coder_bytes(void);               /* of one coder */
void block_coder_begin(struct block_coder *); /* in memory of that size, aligned as malloc's */

/* What execution remembers of a frame. */
struct block_past {
	const struct block_loops *loops;
	uint64_t window, bytes; /* bytes: decoded so far */
	/* the run in which the last blocks lie; the end of the run before it */
	const unsigned char *begin, *end, *older;
	uint32_t repeat[3];
};

/* Before the first block of a frame; window <= BLOCK_WINDOW_MAX. */
void block_scan_begin(struct block_scan *scan, uint64_t window);
void block_past_begin(struct block_past *past, uint64_t window);

/* Scans the h->stored bytes at packed; BLOCK_BEFORE bytes before them are readable. */
const char *block_scan(struct block_scan *scan, const struct frame_block *h,
		       const unsigned char *packed, struct block *b);

/* Decodes b->sequences sequences to `to`; after that b->bytes <= b->most is known. */
const char *block_sequences(struct block_coder *coder, struct block *b, struct sequence *to);

/* Decodes exactly b->literals bytes to `to`; with no sequences they are the decoded block. */
const char *block_literals(struct block_coder *coder, const struct block *b, unsigned char *to);

/*
 * Writes exactly the b->bytes at `to`; after them another thread may write. As much of the decoded
 * frame as the window still lies where it was written: in one run that ends at `to`, or, where a
 * block did not follow the one before, in two. The literals are followed by BLOCK_SLACK readable
 * bytes; without sequences they may lie at `to` already.
 */
const char *block_execute(const struct block *b, const struct sequence *sequences,
			  const unsigned char *literals, struct block_past *past,
			  unsigned char *to);

#endif

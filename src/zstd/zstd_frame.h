/* SPDX-License-Identifier: MIT */
/* zstd_frame: parses the headers of zstd frames and blocks (RFC 8878, 3.1). */
#ifndef GPUHIST_ZSTD_FRAME_H
#define GPUHIST_ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER_MAX 18 /* bytes of magic number and header, at most */
#define FRAME_BLOCK_MAX ((uint32_t)128 << 10)
#define FRAME_BLOCK_HEADER 3u
#define FRAME_CHECKSUM 4u /* bytes after the last block */
#define FRAME_UNKNOWN UINT64_MAX

enum frame_kind {
	FRAME_SHORT, /* more bytes are needed to tell */
	FRAME_DATA,
	FRAME_SKIPPABLE,
	FRAME_LEGACY, /* written by zstd before 0.8 */
	FRAME_BROKEN, /* zstd's magic number, but a header that no version writes */
	FRAME_OTHER,  /* not zstd's magic number */
};

struct frame_header {
	size_t bytes;      /* bytes of magic number and header */
	uint64_t declared; /* decoded bytes, or FRAME_UNKNOWN; if skippable, bytes to skip */
	uint64_t window;   /* bytes that a decoder must remember */
	bool checksum;     /* a checksum of four bytes follows the last block */
	bool dictionary;   /* decoding needs a dictionary */
};

/* Parse the first n bytes of a frame; fill in the header for DATA and SKIPPABLE. */
enum frame_kind frame_parse(const unsigned char *p, size_t n, struct frame_header *h);

/*
 * Clear the checksum flag in the header at p. Then libzstd computes no checksum and leaves the
 * four bytes after the last block to its caller.
 */
void frame_hide_checksum(unsigned char *p);

/* The three bytes before a block. */
struct frame_block {
	bool last;
	uint32_t packed_bytes; /* bytes of the block after these three */
	uint32_t most;         /* decoded bytes at most, whatever the window is */
	bool plain;            /* stored uncompressed, or as one byte that repeats */
	bool repeats;          /* stored as one byte that repeats */
};

/* Parse the three bytes. -1: no block begins like this. */
int frame_block_parse(const unsigned char p[3], struct frame_block *b);

/* A frame as its headers describe it. */
struct frame {
	struct frame_header header;
	uint64_t offset;       /* offset in the compressed input */
	uint64_t packed_bytes; /* bytes of the frame; FRAME_UNKNOWN: not found yet */
	uint64_t bound;        /* decoded bytes at most; FRAME_UNKNOWN: not found yet */
	uint64_t walked;       /* bytes at its start whose blocks were followed */
	uint64_t decoded_most; /* decoded bytes of these blocks, at most */
};

/* Add a block to walked and decoded_most. */
void frame_add_block(struct frame *f, const struct frame_block *b);

/* Do the n bytes at p begin with a whole frame of data? Then *f describes it. */
bool frame_measure(const unsigned char *p, size_t n, struct frame *f);

#endif

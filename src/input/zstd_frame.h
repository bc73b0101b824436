/* SPDX-License-Identifier: MIT */
/* zstd_frame: what a zstd frame says of itself, without decoding it (RFC 8878, 3.1). */
#ifndef GPUHIST_ZSTD_FRAME_H
#define GPUHIST_ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER_MAX 18 /* magic and header at most */
#define FRAME_BLOCK_MAX ((uint32_t)128 << 10)
#define FRAME_BLOCK_HEADER 3u
#define FRAME_CHECKSUM 4u /* bytes after the last block */
#define FRAME_UNKNOWN UINT64_MAX

enum frame_kind {
	FRAME_SHORT, /* more bytes are needed to tell */
	FRAME_DATA,
	FRAME_SKIPPABLE,
	FRAME_LEGACY, /* of zstd before 0.8 */
	FRAME_BROKEN, /* the magic number of zstd, and then what no version writes */
	FRAME_OTHER,  /* not the magic number of zstd */
};

struct frame_header {
	size_t bytes;     /* of magic and header; of a skippable frame, all of it but its content */
	uint64_t content; /* decoded bytes, or FRAME_UNKNOWN; skippable: bytes to skip */
	uint64_t window;  /* bytes that a decoder must remember */
	bool checksum;    /* a checksum of four bytes follows the last block */
	bool dictionary;
};

/* Looks at the first n bytes of a frame; the header is filled in for DATA and SKIPPABLE. */
enum frame_kind frame_parse(const unsigned char *p, size_t n, struct frame_header *h);

/*
 * Clears the flag for a checksum in the header at p: libzstd then neither adds one up nor looks for
 * the four bytes, which are its caller's to read.
 */
void frame_hide_checksum(unsigned char *p);

/* The three bytes before a block. */
struct frame_block {
	bool last;
	uint32_t stored; /* bytes that follow these three */
	uint32_t most;   /* bytes that it decodes to, at most, whatever the window is */
	bool plain;      /* stored as it is, or as one byte that repeats */
	bool repeats;    /* stored as one byte that repeats */
};

/* -1: no such block. */
int frame_block_parse(const unsigned char p[3], struct frame_block *b);

/* A frame as its headers describe it. */
struct frame {
	struct frame_header header;
	uint64_t offset; /* in the compressed input */
	uint64_t
		stored; /* bytes of all of it; FRAME_UNKNOWN: its end was not looked for; 0: it has none */
	uint64_t bound; /* decoded bytes at most; FRAME_UNKNOWN: its end was not looked for */
	/* Bytes up to where blocks were followed; bytes that these blocks decode to, at most. */
	uint64_t walked, blocks;
};

/* Follows a frame by one block. */
void frame_add_block(struct frame *f, const struct frame_block *b);

/* Do the n bytes at p begin with a whole frame of data? Then *f describes it. */
bool frame_measure(const unsigned char *p, size_t n, struct frame *f);

#endif

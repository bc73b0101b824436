/* zstd_frame: what a zstd frame says of itself, without decoding it (RFC 8878, 3.1). */
#ifndef GPUHIST_ZSTD_FRAME_H
#define GPUHIST_ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_HEADER_MAX 18       /* magic and header at most */
#define FRAME_BLOCK_MAX ((uint32_t)128 << 10)
#define FRAME_UNKNOWN UINT64_MAX

enum frame_kind {
	FRAME_SHORT,     /* more bytes are needed to tell */
	FRAME_DATA,
	FRAME_SKIPPABLE,
	FRAME_LEGACY,    /* of zstd before 0.8 */
	FRAME_BROKEN,    /* zstd's magic number, and then what no version writes */
	FRAME_OTHER,     /* not zstd's magic number */
};

struct frame_header {
	size_t bytes;       /* of magic and header; of a skippable frame, all of it but its content */
	uint64_t content;   /* decoded bytes, or FRAME_UNKNOWN; skippable: bytes to skip */
	uint64_t window;    /* bytes that a decoder must remember */
	bool checksum;      /* four bytes behind the last block */
	bool dictionary;
};

/* Looks at the first n bytes of a frame; the header is filled in for DATA and SKIPPABLE. */
enum frame_kind frame_parse(const unsigned char *p, size_t n, struct frame_header *h);

/* The three bytes in front of a block. */
struct frame_block {
	bool last;
	uint32_t stored;    /* bytes that follow them */
};

/* -1: no such block. */
int frame_block_parse(const unsigned char p[3], struct frame_block *b);

#endif

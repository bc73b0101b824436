/* SPDX-License-Identifier: MIT */
/*
 * zstd_stream: decodes one frame with libzstd, block by block, from packed bytes in memory, in a
 * file or in a stream. No lock.
 *
 * A checksum can be hidden from libzstd: its flag in the frame's header is cleared, and
 * zstd_stream_trailer reads the checksum.
 */
#ifndef GPUHIST_ZSTD_STREAM_H
#define GPUHIST_ZSTD_STREAM_H

#include "base/fail.h"
#include "bytes/bytes.h"

/* Packed bytes, starting at an offset. */
struct packed {
	struct bytes *bytes;
	bool in_place;         /* a stream: they stay in `bytes` until they are passed */
	bool kept;             /* a stream: they stay even then */
	uint64_t next;         /* offset of the next byte to read; of a stream, to decode */
	uint64_t end;          /* offset up to which a file is read */
	size_t piece;          /* least bytes of one read of a file */
	unsigned char *buffer; /* unless in place */
	size_t capacity;       /* of the buffer */
	size_t at, have;       /* the part of the buffer not yet decoded */
};

enum zstd_state {
	ZSTD_GOES_ON,
	ZSTD_ENDED, /* all was decoded */
	ZSTD_CUT,   /* the input ends inside a frame */
	ZSTD_BAD,   /* a frame cannot be decoded */
};

struct zstd_stream {
	struct packed packed;
	struct ZSTD_DCtx_s *context;
	size_t header; /* bytes of the frame's header that libzstd has yet to get */
	bool hides;    /* its checksum is hidden from libzstd */
	uint64_t left; /* decoded bytes that must still come, or FRAME_UNKNOWN */
	size_t hint;   /* bytes that libzstd asks for next */
	bool flush;    /* libzstd holds decoded bytes back */
	enum zstd_state state;
	const char *why;   /* CUT, BAD: why */
	uint32_t checksum; /* the hidden one, once it was read */
};

/* Make the decoder. -1: no memory. */
int zstd_stream_make(struct zstd_stream *z, struct fail *fail);
void zstd_stream_free(struct zstd_stream *z);

/*
 * Begin with the frame at an offset. `header` is the size of its header, `declared` the size that
 * the header gives, or FRAME_UNKNOWN. Keep the buffers.
 */
void zstd_stream_begin(struct zstd_stream *z, uint64_t offset, size_t header, uint64_t declared,
		       bool hides);

/*
 * Decode one more block, or a part of one, after the *made bytes at `to`, up to cap in all. A
 * frame that has more or fewer bytes than it declares is bad. -1: bytes cannot be read, or no
 * memory. 1: the source was stopped.
 */
int zstd_stream_decode(struct zstd_stream *z, unsigned char *to, size_t cap, size_t *made,
		       struct fail *fail);

/* All is decoded: read the hidden checksum. */
int zstd_stream_trailer(struct zstd_stream *z, struct fail *fail);

/* Return the offset after the last packed byte that was decoded. */
uint64_t packed_at(const struct packed *p);

/* Read more of a file into the buffer, so that it has n bytes not yet decoded, if the file has. */
int packed_refill(struct packed *p, size_t n, struct fail *fail);

int zstd_no_memory(const struct bytes *b, struct fail *fail); /* -1 */

#endif

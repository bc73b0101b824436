/* SPDX-License-Identifier: MIT */
/* zstd_stream: libzstd's streaming decoder, and the packed bytes that it gets. */
#include "zstd/zstd_stream.h"

#include <string.h>

#include <zstd.h>

#include "base/huge.h"
#include "base/little.h"
#include "zstd/frames.h"

int zstd_no_memory(const struct bytes *b, struct fail *fail)
{
	return fail_set(fail, STATUS_SYSTEM, "%s: not enough memory for a decoder", bytes_name(b));
}

int zstd_stream_make(struct zstd_stream *z, struct fail *fail)
{
	if (z->context)
		return 0;
	z->context = ZSTD_createDCtx();
	if (z->context &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, 31)))
		return 0;
	return zstd_no_memory(z->packed.bytes, fail);
}

void zstd_stream_free(struct zstd_stream *z)
{
	ZSTD_freeDCtx(z->context);
	free(z->packed.buffer);
}

void zstd_stream_begin(struct zstd_stream *z, uint64_t offset, size_t header, uint64_t declared,
		       bool hides)
{
	z->packed.next = offset;
	z->packed.at = z->packed.have = 0;
	z->header = header;
	z->hides = hides;
	z->left = declared;
	z->hint = 0;
	z->flush = false;
	z->state = ZSTD_GOES_ON;
}

/* ---- packed bytes ---- */

uint64_t packed_at(const struct packed *p)
{
	return p->next - (p->have - p->at);
}

int packed_refill(struct packed *p, size_t n, struct fail *fail)
{
	const size_t capacity = (size_t)larger(n, p->piece);
	size_t got = 0;

	if (p->next == p->end)
		return 0;
	if (!huge_grow(&p->buffer, &p->capacity, capacity, p->have))
		return zstd_no_memory(p->bytes, fail);
	p->have -= p->at;
	memmove(p->buffer, p->buffer + p->at, p->have);
	p->at = 0;
	const int rc =
		bytes_read_at(p->bytes, p->next, p->buffer + p->have,
			      (size_t)lesser(capacity - p->have, p->end - p->next), &got, fail);
	p->have += got;
	p->next += got;
	return rc;
}

/*
 * Point *bytes at the next packed bytes, valid until the next call. *got < least: these are the
 * last. Of a stream, which may be quiet for long, wait only for `least`; of a file, read `most`.
 */
static int packed_look(struct packed *p, size_t least, size_t most, const unsigned char **bytes,
		       size_t *got, struct fail *fail)
{
	if (p->in_place)
		return bytes_look(p->bytes, p->next, least, SIZE_MAX, bytes, got, fail);
	const int rc = p->have - p->at < most ? packed_refill(p, most, fail) : 0;
	*bytes = p->buffer + p->at;
	*got = p->have - p->at;
	return rc;
}

/* Skip n packed bytes, which packed_look has found. */
static int packed_pass(struct packed *p, size_t n, struct fail *fail)
{
	if (!p->in_place) {
		p->at += n;
		return 0;
	}
	p->next += n;
	return p->kept ? 0 : bytes_pass(p->bytes, p->next, fail);
}

/* ---- a frame ---- */

static int zstd_stream_ends(struct zstd_stream *z, enum zstd_state state, const char *why)
{
	z->state = state;
	z->why = why;
	return 0;
}

/*
 * n bytes were decoded. Take those that the frame declares; the next frame begins after them.
 * libzstd does not check the size if the last block is empty.
 */
static size_t zstd_stream_made(struct zstd_stream *z, size_t n)
{
	const size_t some = (size_t)lesser(n, z->left);

	if (z->left != FRAME_UNKNOWN)
		z->left -= some;
	if (some < n || (z->state == ZSTD_ENDED && z->left > 0 && z->left != FRAME_UNKNOWN))
		zstd_stream_ends(z, ZSTD_BAD, FRAMES_DAMAGED);
	return some;
}

/*
 * Give libzstd the frame's header, then a block's header, then the block without the next header
 * that it asks for, and nothing while it holds decoded bytes back. So libzstd decodes in place, and
 * an error in the next header does not lose the bytes decoded before it.
 */
int zstd_stream_decode(struct zstd_stream *z, unsigned char *to, size_t cap, size_t *made,
		       struct fail *fail)
{
	const size_t after = z->hint > FRAME_BLOCK_HEADER ? FRAME_BLOCK_HEADER : 0;
	const size_t least = z->header > 0 ? z->header : 1;
	unsigned char header[FRAME_HEADER_MAX];
	ZSTD_outBuffer out = {to, cap, *made};
	ZSTD_inBuffer in = {.pos = 0};
	const unsigned char *bytes;
	int rc = 0;

	if (!z->flush)
		rc = packed_look(&z->packed, least, (size_t)larger(least, z->hint), &bytes,
				 &in.size, fail);
	if (rc != 0)
		return rc;
	if (!z->flush && in.size < least)
		return zstd_stream_ends(z, ZSTD_CUT, FRAMES_DAMAGED);
	if (z->header > 0) {
		ZSTD_DCtx_reset(z->context, ZSTD_reset_session_only);
		memcpy(header, bytes, z->header);
		if (z->hides)
			frame_hide_checksum(header);
		in = (ZSTD_inBuffer){header, z->header, 0};
	} else if (!z->flush) {
		in = (ZSTD_inBuffer){bytes, (size_t)lesser(in.size, z->hint - after), 0};
	}
	z->hint = ZSTD_decompressStream(z->context, &out, &in);
	if (ZSTD_isError(z->hint))
		return ZSTD_getErrorCode(z->hint) == ZSTD_error_memory_allocation
			       ? zstd_no_memory(z->packed.bytes, fail)
			       : zstd_stream_ends(z, ZSTD_BAD, frames_why(z->hint));
	z->header = 0;
	z->flush = out.pos == out.size;
	if (z->hint == 0)
		z->state = ZSTD_ENDED;
	*made += zstd_stream_made(z, out.pos - *made);
	return packed_pass(&z->packed, in.pos, fail);
}

int zstd_stream_trailer(struct zstd_stream *z, struct fail *fail)
{
	const unsigned char *bytes;
	size_t got;
	const int rc = packed_look(&z->packed, FRAME_CHECKSUM, FRAME_CHECKSUM, &bytes, &got, fail);

	if (rc != 0)
		return rc;
	if (got < FRAME_CHECKSUM)
		zstd_stream_ends(z, ZSTD_CUT, FRAMES_DAMAGED);
	else
		z->checksum = little32(bytes);
	return packed_pass(&z->packed, (size_t)lesser(got, FRAME_CHECKSUM), fail);
}

/* SPDX-License-Identifier: MIT */
/*
 * text_zstd: libzstd's streaming decoder. It does not see a checksum that is not to be verified,
 * because its flag in the frame's header is hidden, and the bytes of it are passed over.
 */
#include "input/text_zstd.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "input/frames.h"

struct text_zstd {
	struct bytes *bytes;
	ZSTD_DCtx *context;
	uint64_t memory; /* for a window */
	bool no_check;
	bool inside;    /* `pos` is inside a frame of data */
	uint64_t frame; /* packed offset of the frame */
	uint64_t pos;   /* packed offset of the next byte to decode */
	size_t hide;    /* bytes of a frame header whose checksum flag is to be hidden; or 0 */
	size_t trailer; /* bytes of the hidden checksum after the frame's last block */
};

int text_zstd_open(struct text_zstd **out, struct bytes *b, uint64_t memory, bool no_check,
		   struct fail *fail)
{
	const unsigned char *bytes;
	struct frame_header header;
	size_t got = 0;

	*out = NULL;
	for (size_t n = 1; n <= 4; n++) {
		const int rc = bytes_look(b, 0, n, SIZE_MAX, &bytes, &got, fail);
		if (rc != 0)
			return rc;
		if (got < n || frame_parse(bytes, got < 4 ? got : 4, &header) != FRAME_SHORT)
			return 0;
	}
	struct text_zstd *const z = calloc(1, sizeof(*z));
	if (z) {
		*z = (struct text_zstd){.bytes = b, .memory = memory, .no_check = no_check};
		z->context = ZSTD_createDCtx();
	}
	if (!z || !z->context ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, 31))) {
		text_zstd_close(z);
		return fail_set(fail, STATUS_SYSTEM, "%s: not enough memory for a decoder",
				bytes_name(b));
	}
	*out = z;
	return 0;
}

void text_zstd_close(struct text_zstd *z)
{
	if (!z)
		return;
	ZSTD_freeDCtx(z->context);
	free(z);
}

/* Finds the next frame of data. *end: there is none. */
static int next_frame(struct text_zstd *z, bool *end, struct fail *fail)
{
	struct frame f;
	const enum find found = frames_next(z->bytes, &z->pos, &f, fail);

	*end = found == FIND_NONE;
	if (found != FIND_FRAME)
		return *end ? 0 : found == FIND_STOPPED ? 1 : -1;
	z->frame = z->pos;
	z->inside = true;
	const bool hidden = z->no_check && f.header.checksum;
	z->hide = hidden ? f.header.bytes : 0;
	z->trailer = hidden ? FRAME_CHECKSUM : 0;
	if (f.header.dictionary)
		return frames_bad(
			z->bytes, z->frame, fail,
			"it needs a dictionary; pipe the file through `zstd -dc -D DICTIONARY`");
	if (f.header.window > z->memory)
		return fail_set(fail, STATUS_LIMIT,
				"%s: zstd frame at offset %llu: its window of %llu bytes needs -M "
				"%lluM",
				bytes_name(z->bytes), (unsigned long long)z->frame,
				(unsigned long long)f.header.window,
				(unsigned long long)(2 * f.header.window >> 20) + 1);
	return bytes_pass(z->bytes, z->pos, fail);
}

/* Decodes bytes that were read; if they give nothing, reads more. */
static int decode(struct text_zstd *z, ZSTD_outBuffer *out, bool *end, struct fail *fail)
{
	unsigned char header[FRAME_HEADER_MAX];
	const unsigned char *bytes;
	ZSTD_inBuffer in = {.pos = 0};

	int rc = bytes_look(z->bytes, z->pos, 0, 0, &bytes, &in.size, fail);
	if (rc != 0)
		return rc;
	in.src = bytes;
	if (z->hide > 0) { /* the whole header was read, as it was parsed */
		memcpy(header, bytes, z->hide);
		frame_hide_checksum(header);
		in = (ZSTD_inBuffer){header, z->hide, 0};
		z->hide = 0;
	}
	const size_t left = ZSTD_decompressStream(z->context, out, &in);
	if (ZSTD_isError(left))
		return frames_bad(z->bytes, z->frame, fail, frames_why(left));
	z->pos += in.pos + (left == 0 ? z->trailer : 0);
	z->inside = left != 0;
	if (in.pos > 0 || out->pos > 0 || !z->inside)
		return bytes_pass(z->bytes, z->pos, fail);
	rc = bytes_look(z->bytes, z->pos, 1, SIZE_MAX, &bytes, &in.size, fail);
	*end = rc == 0 && in.size == 0;
	if (*end && !bytes_finished(z->bytes))
		return frames_bad(z->bytes, z->frame, fail, FRAMES_DAMAGED);
	return rc;
}

int text_zstd_read(struct text_zstd *z, unsigned char *to, size_t cap, size_t *got,
		   struct fail *fail)
{
	ZSTD_outBuffer out = {to, cap, 0};
	bool end = false;
	int rc = 0;

	while (rc == 0 && out.pos == 0 && !end)
		rc = z->inside ? decode(z, &out, &end, fail) : next_frame(z, &end, fail);
	*got = out.pos;
	return rc;
}

uint64_t text_zstd_at(const struct text_zstd *z)
{
	return z->pos;
}

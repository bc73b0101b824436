/* SPDX-License-Identifier: MIT */
/*
 * zstd_reader: libzstd's streaming decoder. It does not see a checksum that is not to be verified,
 * because its flag in the frame's header is hidden, and the bytes of it are passed over.
 */
#include "zstd/zstd_reader.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "zstd/frames.h"

typedef unsigned long long ull;

struct zstd_reader {
	struct bytes *bytes;
	struct zstd_reader_rules rules;
	ZSTD_DCtx *context;
	enum zstd_reader_state state;
	struct fail why; /* CUT, BAD */
	bool made;       /* at least one byte was decoded */
	bool inside;     /* `pos` is inside a frame of data */
	uint64_t frame;  /* packed offset of the frame */
	uint64_t pos;    /* packed offset of the next byte to decode */
	size_t hide;     /* bytes of a frame header whose checksum flag is to be hidden; or 0 */
	size_t trailer;  /* bytes of the hidden checksum after the frame's last block */
};

static int no_memory(const struct bytes *b, struct fail *fail)
{
	return fail_set(fail, STATUS_SYSTEM, "%s: not enough memory for a decoder", bytes_name(b));
}

int zstd_reader_detect(struct bytes *b, bool *is_zstd, struct fail *fail)
{
	const unsigned char *bytes;
	struct frame_header header;
	size_t got = 0;

	*is_zstd = false;
	for (size_t n = 1; n <= 4; n++) {
		const int rc = bytes_look(b, 0, n, SIZE_MAX, &bytes, &got, fail);
		if (rc != 0)
			return rc;
		if (got < n || frame_parse(bytes, got < 4 ? got : 4, &header) != FRAME_SHORT)
			return 0;
	}
	*is_zstd = true;
	return 0;
}

struct zstd_reader *zstd_reader_open(struct bytes *b, const struct zstd_reader_rules *rules,
				     struct fail *fail)
{
	struct zstd_reader *const z = calloc(1, sizeof(*z));

	if (z) {
		*z = (struct zstd_reader){.bytes = b, .rules = *rules};
		z->context = ZSTD_createDCtx();
	}
	if (z && z->context &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, 31)))
		return z;
	zstd_reader_close(z);
	no_memory(b, fail);
	return NULL;
}

void zstd_reader_close(struct zstd_reader *z)
{
	if (!z)
		return;
	if (z->rules.keep > 0)
		bytes_go_back(z->bytes);
	ZSTD_freeDCtx(z->context);
	free(z);
}

/* Refuse the frame, for a reason in z->why or the one that is given. */
static int reader_bad(struct zstd_reader *z, const char *reason)
{
	z->state = ZSTD_READER_BAD;
	if (reason)
		frames_bad(z->bytes, z->frame, &z->why, reason);
	return 0;
}

/* Drop the packed bytes before z->pos, unless bytes are kept. */
static int drop(struct zstd_reader *z, struct fail *fail)
{
	return z->rules.keep > 0 ? 0 : bytes_pass(z->bytes, z->pos, fail);
}

/* Find the next frame of data. */
static int next_frame(struct zstd_reader *z, struct fail *fail)
{
	const uint64_t before = z->pos;
	struct frame f;

	const enum find found = frames_next(z->bytes, &z->pos, &f, &z->why);
	if (found == FIND_STOPPED)
		return 1;
	/* Dropped bytes cannot be decoded again; a failed read may not recur. */
	if (found == FIND_BAD && (z->why.status == STATUS_SYSTEM ||
				  (!bytes_in_file(z->bytes) && bytes_passed(z->bytes) > before)))
		return fail_pass(fail, &z->why);
	if (found == FIND_BAD)
		return reader_bad(z, NULL);
	if (found == FIND_NONE) {
		z->state = ZSTD_READER_ENDED;
		return 0;
	}
	z->frame = z->pos;
	z->inside = true;
	const bool hidden = z->rules.no_check && f.header.checksum;
	z->hide = hidden ? f.header.bytes : 0;
	z->trailer = hidden ? FRAME_CHECKSUM : 0;
	if (f.header.dictionary)
		return reader_bad(
			z, "it needs a dictionary; pipe the file through `zstd -dc -D DICTIONARY`");
	if (f.header.window > z->rules.window) {
		fail_set(&z->why, STATUS_LIMIT,
			 "%s: zstd frame at offset %llu: its window of %llu bytes needs -M %lluM",
			 bytes_name(z->bytes), (ull)z->frame, (ull)f.header.window,
			 (ull)(2 * f.header.window >> 20) + 1);
		return reader_bad(z, NULL);
	}
	/* Until a byte was decoded, no bytes before this frame are needed again. */
	return z->made ? drop(z, fail) : bytes_pass(z->bytes, z->pos, fail);
}

/* Read at least one packed byte, or note that the input ends here. */
static int read_more(struct zstd_reader *z, struct fail *fail)
{
	struct bytes *const b = z->bytes;
	const uint64_t keep = z->rules.keep;
	const unsigned char *bytes;
	size_t got;

	if (keep > 0 && !bytes_in_file(b) && z->made && z->pos - bytes_passed(b) >= keep)
		return fail_set(fail, STATUS_DATA,
				"%s has more than %llu MiB of zstd before the first sample; pipe "
				"it through `zstd -dc`",
				bytes_name(b), (ull)keep >> 20);
	const int rc = bytes_look(b, z->pos, 1, SIZE_MAX, &bytes, &got, fail);
	if (rc == 0 && got == 0) {
		z->state = ZSTD_READER_CUT;
		frames_bad(b, z->frame, &z->why, FRAMES_DAMAGED);
	}
	return rc;
}

/* Decode bytes that were read; if they give nothing, read more. */
static int decode(struct zstd_reader *z, ZSTD_outBuffer *out, struct fail *fail)
{
	unsigned char header[FRAME_HEADER_MAX];
	ZSTD_inBuffer in = {.pos = 0};
	const unsigned char *bytes;

	const int rc = bytes_look(z->bytes, z->pos, 0, 0, &bytes, &in.size, fail);
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
		return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation
			       ? no_memory(z->bytes, fail)
			       : reader_bad(z, frames_why(left));
	if (!z->made && out->pos > 0) {
		z->made = true;
		if (z->rules.keep > 0) /* from the frame's first byte */
			bytes_keep(z->bytes, bytes_passed(z->bytes));
	}
	z->pos += in.pos + (left == 0 ? z->trailer : 0);
	z->inside = left != 0;
	return in.pos > 0 || out->pos > 0 || !z->inside ? drop(z, fail) : read_more(z, fail);
}

int zstd_reader_read(struct zstd_reader *z, unsigned char *to, size_t cap, size_t *got,
		     struct fail *fail)
{
	ZSTD_outBuffer out = {to, cap, 0};
	int rc = 0;

	while (rc == 0 && out.pos == 0 && z->state == ZSTD_READER_GOES_ON)
		rc = z->inside ? decode(z, &out, fail) : next_frame(z, fail);
	*got = out.pos;
	return rc;
}

enum zstd_reader_state zstd_reader_state(const struct zstd_reader *z, struct fail *why)
{
	if (why && z->state >= ZSTD_READER_CUT)
		*why = z->why;
	return z->state;
}

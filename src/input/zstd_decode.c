/* SPDX-License-Identifier: MIT */
/* zstd_decode: what libzstd does for a reader; without the lock. */
#include <zstd_errors.h>

#include "base/little.h"
#include "input/zstd_read.h"

#define FLAG_AT 4 /* after the magic number */
#define FLAG 4

static int decode_error(const struct reader *r, uint64_t offset, size_t code, struct fail *fail)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", r->in->name);
	return zstd_bad(r->in, offset, fail, ZSTD_getErrorName(code));
}

/* A frame's first n bytes: the checksum is hidden from libzstd where the readers add it up. */
static void hide_checksum(struct reader *r, unsigned char *head, size_t n)
{
	r->sum.ours = r->sum.ours && n > FLAG_AT && (head[FLAG_AT] & FLAG) != 0;
	if (r->sum.ours)
		head[FLAG_AT] &= (unsigned char)~FLAG;
}

int zstd_check(const struct reader *r, struct fail *fail)
{
	if (!r->sum.ours || !r->sum.read || (uint32_t)xxh64_end(&r->sum.hash) == r->sum.value)
		return 0;
	return zstd_bad(r->in, r->unit.first.offset, fail, "Restored data doesn't match checksum");
}

/* ---- in one call ---- */

static int read_packed(struct reader *r, struct fail *fail)
{
	struct unit *u = &r->unit;
	size_t got, at = 0;
	struct frame f;

	if (zstd_grow(&r->packed, &r->packed_room, (size_t)u->stored) != 0)
		return fail_errno(fail, "%s", r->in->name);
	if (file_read(r->in, r->packed, (size_t)u->stored, u->first.offset, &got, fail) != 0)
		return -1;
	r->packed_end = (size_t)u->stored;
	if (got == u->stored)
		return 0;
	while (frame_measure(r->packed + at, got - at, &f))
		at += (size_t)f.stored;
	return zstd_bad(r->in, u->first.offset + at, fail, "the input ends inside it");
}

int zstd_decode_frames(struct reader *r, unsigned char *out, size_t room, size_t *got, bool *ended,
		       struct fail *fail)
{
	struct frame f;

	*got = 0;
	*ended = false;
	if (zstd_context(r, fail) != 0 || (r->packed_end == 0 && read_packed(r, fail) != 0))
		return -1;
	while (r->packed_at < r->packed_end) {
		unsigned char *const p = r->packed + r->packed_at;
		const size_t left = r->packed_end - r->packed_at;
		const uint64_t offset = r->unit.first.offset + r->packed_at;
		/* It was measured before, but a file may have changed since. */
		if (!frame_measure(p, left, &f) || f.header.dictionary)
			return zstd_bad(r->in, offset, fail, "it has changed since it was found");
		if (*got > 0 && f.bound > room - *got)
			return 0;
		size_t stored = (size_t)f.stored;
		hide_checksum(r, p, left);
		if (r->sum.ours) {
			stored -= FRAME_CHECKSUM;
			r->sum.read = true;
			r->sum.value = little32(p + stored);
		}
		/* Not all the room there is: zstd_find.c relies on it. */
		const size_t most = f.bound < room - *got ? (size_t)f.bound : room - *got;
		const size_t n = ZSTD_decompressDCtx(r->context, out + *got, most, p, stored);
		if (ZSTD_isError(n))
			return decode_error(r, offset, n, fail);
		*got += n;
		r->packed_at += (size_t)f.stored;
	}
	*ended = true;
	return 0;
}

/* ---- piece by piece ---- */

/* Of a file, where the frame ends, if that is known. */
static uint64_t read_end(const struct reader *r)
{
	return zstd_attached(&r->unit) ? UNKNOWN : r->unit.first.offset + r->unit.stored;
}

/* What comes next of a file, a buffer of it at most. */
static int read_next(const struct reader *r, unsigned char *to, size_t *got, struct fail *fail)
{
	const uint64_t left = read_end(r) - r->read_at;

	return file_read(r->in, to, left < PACKED_BYTES ? (size_t)left : PACKED_BYTES, r->read_at,
			 got, fail);
}

/*
 * The same into `packed`, if no other thread has read it; and any thread without work may read what
 * comes after it.
 */
static int read_file(struct reader *r, size_t *got, struct fail *fail)
{
	struct source *s = r->source;

	if (zstd_grow(&r->packed, &r->packed_room, PACKED_BYTES) != 0 ||
	    zstd_grow(&r->ahead, &r->ahead_room, PACKED_BYTES) != 0)
		return fail_errno(fail, "%s", r->in->name);
	lock_take(&s->lock);
	while (r->ahead_state == AHEAD_FILLING)
		lock_wait(&s->lock, &s->settled);
	const bool ready = r->ahead_state == AHEAD_READY;
	r->ahead_state = AHEAD_NONE;
	lock_drop(&s->lock);
	if (ready) {
		unsigned char *const packed = r->packed;
		const size_t room = r->packed_room;
		r->packed = r->ahead;
		r->packed_room = r->ahead_room;
		r->ahead = packed;
		r->ahead_room = room;
		*got = r->ahead_bytes;
	} else if (read_next(r, r->packed, got, fail) != 0) {
		return -1;
	}
	lock_take(&s->lock);
	r->read_at += *got;
	r->ahead_state =
		*got == PACKED_BYTES && r->read_at < read_end(r) ? AHEAD_WANTED : AHEAD_NONE;
	lock_drop(&s->lock);
	return 0;
}

bool zstd_read_ahead_unlocks(struct source *s)
{
	struct reader *r = s->readers;
	struct fail fail;

	while (r && r->ahead_state != AHEAD_WANTED)
		r = r->next;
	if (!r)
		return false;
	fail.status = STATUS_OK;
	r->ahead_state = AHEAD_FILLING;
	lock_drop(&s->lock);
	const int rc = read_next(r, r->ahead, &r->ahead_bytes, &fail);
	lock_take(&s->lock);
	/* What is wrong with the file its reader will find and report. */
	r->ahead_state = rc == 0 && r->ahead_bytes > 0 ? AHEAD_READY : AHEAD_NONE;
	pthread_cond_broadcast(&s->settled);
	return true;
}

/*
 * More compressed bytes for a decoder that has used all it had. A stream's stay in the window,
 * which is its own now.
 */
static int refill(struct reader *r, struct fail *fail)
{
	struct input *in = r->in;
	const bool first = (in->is_file ? r->read_at : in->zstd->next) == r->unit.first.offset;
	unsigned char *bytes = NULL;
	size_t got = 0;
	const int rc = in->is_file
			       ? read_file(r, &got, fail)
			       : zstd_look(r->source, in, in->zstd->next, 1, &bytes, &got, fail);

	if (rc != 0)
		return rc;
	if (in->is_file)
		bytes = r->packed;
	if (first)
		hide_checksum(r, bytes, got);
	r->source_bytes = (ZSTD_inBuffer){.src = bytes, .size = got};
	return got > 0 ? 0 : zstd_bad(in, r->unit.first.offset, fail, "the input ends inside it");
}

/* The decoder has used n more bytes. */
static void used(struct reader *r, size_t n)
{
	if (!r->in->is_file && r->source_bytes.src != r->packed)
		r->in->zstd->next += n;
}

/* What stands after the last block, where libzstd does not look for it. */
static int read_trailer(struct reader *r, struct fail *fail)
{
	unsigned char trailer[FRAME_CHECKSUM];

	for (unsigned i = 0; i < FRAME_CHECKSUM; i++) {
		const int rc = r->source_bytes.pos == r->source_bytes.size ? refill(r, fail) : 0;
		if (rc != 0)
			return rc;
		trailer[i] = ((const unsigned char *)r->source_bytes.src)[r->source_bytes.pos++];
		used(r, 1);
	}
	r->sum.read = true;
	r->sum.value = little32(trailer);
	return 0;
}

/* Until `out` is full or the frame ends. */
static int decompress(struct reader *r, ZSTD_outBuffer *out, bool *ended, struct fail *fail)
{
	ZSTD_inBuffer *const in = &r->source_bytes;

	for (;;) {
		/* A decoder may hold back bytes although all of its input is there. */
		const size_t before = out->pos, had = in->pos;
		const size_t n = ZSTD_decompressStream(r->context, out, in);
		if (ZSTD_isError(n))
			return decode_error(r, r->unit.first.offset, n, fail);
		used(r, in->pos - had);
		*ended = n == 0;
		if (*ended || out->pos == out->size)
			return 0;
		if (in->pos < in->size || out->pos > before)
			continue;
		const int rc = refill(r, fail);
		if (rc != 0)
			return rc;
	}
}

/* Before its first byte: what was gathered of the frame is in `packed`. */
int zstd_begin_long(struct reader *r, struct fail *fail)
{
	if (zstd_context(r, fail) != 0)
		return -1;
	ZSTD_DCtx_reset(r->context, ZSTD_reset_session_only);
	if (r->packed_end > 0)
		hide_checksum(r, r->packed, r->packed_end);
	r->source_bytes = (ZSTD_inBuffer){.src = r->packed, .size = r->packed_end};
	return 0;
}

int zstd_decode_some(struct reader *r, unsigned char *buffer, size_t cap, size_t *got, bool *ended,
		     struct fail *fail)
{
	const struct unit *u = &r->unit;
	const bool file = r->in->is_file;
	ZSTD_outBuffer out = {.dst = buffer, .size = cap};

	*ended = false;
	int rc = decompress(r, &out, ended, fail);
	*got = out.pos;
	const uint64_t content = u->first.header.content, made = r->made + out.pos;
	/* Where -n ends nothing more of a pipe is waited for. */
	if (rc == 0 && *ended && r->sum.ours && (file || u->at + out.pos < r->in->zstd->limit))
		rc = read_trailer(r, fail);
	if (rc != 0)
		return rc;
	/* libzstd does not look where the last block is empty. */
	if (content != UNKNOWN && (made > content || (*ended && made < content)))
		return zstd_bad(r->in, u->first.offset, fail,
				"it does not hold as much as its header says");
	if (*ended && !zstd_attached(u) &&
	    (r->source_bytes.pos < r->source_bytes.size || r->read_at < read_end(r)))
		return zstd_bad(r->in, u->first.offset, fail, "it ends before its last block");
	return 0;
}

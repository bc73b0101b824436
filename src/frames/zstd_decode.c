/* SPDX-License-Identifier: MIT */
/* zstd_decode: decodes jobs of CALLS and STEPS with libzstd. */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/huge.h"
#include "base/little.h"
#include "frames/zstd_decode.h"

uint64_t decoder_takes(const struct zstd_stream *z, const struct cut *c)
{
	return larger(z->packed.capacity, huge_grown(c->memory.packed)) +
	       larger(z->context ? ZSTD_sizeof_DCtx(z->context) : 0, c->memory.context);
}

void decoder_begin(struct zstd_job *j)
{
	struct packed *const p = &j->stream.packed;

	p->bytes = j->in->bytes;
	p->in_place = j->cut.from == FROM_STREAM;
	p->end = offset_sum(j->cut.offset, j->cut.packed_bytes);
	p->piece = (size_t)j->cut.memory.packed;
	zstd_stream_begin(&j->stream, j->cut.offset, j->cut.header, j->cut.declared,
			  j->sum.follows);
}

int decoder_hand_over(struct zstd_job *j, struct fail *fail)
{
	struct packed *const p = &j->stream.packed;
	const size_t n = (size_t)j->cut.packed_bytes;
	const unsigned char *bytes;
	size_t got;

	if (!huge_grow(&p->buffer, &p->capacity, n, 0))
		return fail_errno(fail, "%s", j->in->name);
	/* The walk has read them all. */
	if (bytes_look(p->bytes, p->next, n, SIZE_MAX, &bytes, &got, fail) != 0)
		return -1;
	memcpy(p->buffer, bytes, n);
	p->have = n;
	p->next = p->end;
	return bytes_pass(p->bytes, p->end, fail);
}

uint64_t decoder_used(const struct zstd_job *j)
{
	return j->packed_read - (j->stream.packed.have - j->stream.packed.at);
}

/* ---- errors ---- */

static bool bad_frame(struct zstd_job *j, uint64_t offset, const char *why)
{
	frames_bad(j->in->bytes, offset, &j->fail, why);
	return true;
}

/* Handle an error code of libzstd. */
static bool bad_code(struct zstd_job *j, uint64_t offset, size_t code)
{
	if (ZSTD_getErrorCode(code) != ZSTD_error_memory_allocation)
		return bad_frame(j, offset, frames_why(code));
	zstd_no_memory(j->in->bytes, &j->fail);
	return true;
}

/* ---- one call for each frame ---- */

bool frame_in_steps(const struct frame *f, bool no_check)
{
	return f->bound > FRAME_BLOCK_MAX && (no_check || !f->header.checksum);
}

/* Like ZSTD_decompressDCtx, but refuse blocks that are too long. */
static size_t decompress_in_steps(ZSTD_DCtx *context, unsigned char *to, const struct frame *f,
				  const unsigned char *from, size_t packed)
{
	ZSTD_outBuffer out = {to, (size_t)f->bound, 0};
	/* Given all bytes, libzstd would decode the frame in one call. */
	ZSTD_inBuffer in = {from, packed - 1, 0};

	ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
	size_t left = ZSTD_decompressStream(context, &out, &in);
	in.size = packed;
	while (!ZSTD_isError(left) && in.pos < in.size) {
		const size_t before = in.pos;
		left = ZSTD_decompressStream(context, &out, &in);
		if (in.pos == before)
			break;
	}
	if (ZSTD_isError(left))
		return left;
	const uint64_t declared = f->header.declared;
	return left == 0 && (declared == UNKNOWN || out.pos == declared)
		       ? out.pos
		       : (size_t)-ZSTD_error_corruption_detected;
}

/* Decode the frames that fit the piece. True: the job has ended. */
static bool fill_calls(struct zstd_job *j, struct zstd_piece *p)
{
	struct packed *const from = &j->stream.packed;
	struct frame f;

	if (from->have == 0 && packed_refill(from, 1, &j->fail) != 0)
		return true;
	for (size_t left; (left = from->have - from->at) > 0;) {
		unsigned char *const bytes = from->buffer + from->at;
		const uint64_t offset = packed_at(from);
		/* Measure it again: a file may have changed since. */
		const bool whole = frame_measure(bytes, left, &f);
		if (!whole && from->next < from->end)
			break;
		if (!whole || f.header.dictionary || f.bound > p->capacity)
			return bad_frame(j, offset, "it has changed since it was found");
		if (f.bound > p->capacity - p->bytes)
			return false;
		size_t packed = (size_t)f.packed_bytes;
		if (j->sum.follows && f.header.checksum) {
			packed -= FRAME_CHECKSUM;
			frame_hide_checksum(bytes);
			j->sum.read = true;
			j->sum.value = little32(bytes + packed);
		}
		/* Give each call only f.bound bytes: small_window() relies on it. */
		unsigned char *const to = p->buffer + p->bytes;
		const size_t n =
			frame_in_steps(&f, j->sum.follows && !j->sum.adds)
				? decompress_in_steps(j->stream.context, to, &f, bytes, packed)
				: ZSTD_decompressDCtx(j->stream.context, to, (size_t)f.bound, bytes,
						      packed);
		if (ZSTD_isError(n))
			return bad_code(j, offset, n);
		p->bytes += n;
		from->at += (size_t)f.packed_bytes;
	}
	return from->next == from->end || bad_frame(j, packed_at(from), FRAMES_DAMAGED);
}

/* ---- a frame, in steps ---- */

/* Is the frame damaged, as far as it was decoded? Then say why, unless --finish ended it. */
static bool steps_fail(struct zstd_job *j)
{
	struct zstd_stream *const z = &j->stream;

	j->broken |= z->state == ZSTD_CUT && bytes_finished(j->in->bytes);
	return z->state >= ZSTD_CUT && !j->broken && bad_frame(j, j->cut.offset, z->why);
}

/* Decode up to cap bytes of the frame. True: the job has ended. */
static bool fill_steps(struct zstd_job *j, struct zstd_piece *p, size_t cap, bool prompt)
{
	struct zstd_stream *const z = &j->stream;
	int rc = 0;

	while (rc == 0 && z->state == ZSTD_GOES_ON && p->bytes < cap &&
	       !(prompt && j->cut.from == FROM_STREAM && p->bytes > 0))
		rc = zstd_stream_decode(z, p->buffer, cap, &p->bytes, &j->fail);
	if (rc != 0 || steps_fail(j))
		return true;
	if (z->state == ZSTD_ENDED && z->hides) {
		rc = zstd_stream_trailer(z, &j->fail);
		j->sum.read = rc == 0 && z->state == ZSTD_ENDED;
		j->sum.value = z->checksum;
	}
	if (rc != 0 || steps_fail(j))
		return true;
	const uint64_t packed = j->cut.packed_bytes;
	if (z->state == ZSTD_ENDED && packed != UNKNOWN &&
	    packed_at(&z->packed) - j->cut.offset != packed)
		return bad_frame(j, j->cut.offset, FRAMES_DAMAGED);
	return z->state != ZSTD_GOES_ON;
}

/* ---- a piece ---- */

bool decoder_fill(struct zstd_job *j, struct zstd_piece *p, size_t cap, bool prompt)
{
	p->bytes = 0;
	if (zstd_stream_make(&j->stream, &j->fail) != 0)
		return true;
	if (!huge_grow(&p->buffer, &p->capacity, (size_t)j->cut.piece_bytes, 0)) {
		zstd_no_memory(j->in->bytes, &j->fail);
		return true;
	}
	p->data = p->buffer;
	const bool ended =
		j->cut.how == HOW_CALLS ? fill_calls(j, p) : fill_steps(j, p, cap, prompt);
	__atomic_store_n(&j->packed_read, j->stream.packed.next - j->cut.offset, __ATOMIC_RELAXED);
	return ended;
}

/* SPDX-License-Identifier: MIT */
/* zstd_decode: decodes jobs of CALLS and STEPS with libzstd. */
#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/huge.h"
#include "base/little.h"
#include "input/source_input.h"
#include "input/zstd_decode.h"

struct decoder {
	unsigned char *bytes; /* packed bytes, unless they stay in input.bytes (FROM_STREAM) */
	size_t capacity;      /* of the buffer */
	size_t at, end;       /* its part not yet decoded */
	ZSTD_DCtx *context;
	size_t hint; /* bytes that libzstd asks for next */
	bool flush;  /* libzstd holds decoded bytes back */
};

/* ---- memory ---- */

struct decoder *decoder_new(void)
{
	return calloc(1, sizeof(struct decoder));
}

void decoder_free(struct decoder *d)
{
	ZSTD_freeDCtx(d->context);
	free(d->bytes);
	free(d);
}

uint64_t decoder_takes(const struct decoder *d, const struct cut *c)
{
	return larger(d->capacity, huge_grown(c->memory.packed)) +
	       larger(d->context ? ZSTD_sizeof_DCtx(d->context) : 0, c->memory.context);
}

void decoder_begin(struct decoder *d)
{
	d->at = d->end = d->hint = 0;
	d->flush = false;
}

int decoder_hand_over(struct zstd_job *j, struct fail *fail)
{
	struct decoder *const d = j->decoder;
	struct bytes *const from = j->in->bytes;
	const size_t n = (size_t)j->cut.packed_bytes;
	const unsigned char *bytes;
	size_t got;

	if (!huge_grow(&d->bytes, &d->capacity, n, 0))
		return fail_errno(fail, "%s", j->in->name);
	/* The walk has read them all. */
	if (bytes_look(from, j->cut.offset, n, SIZE_MAX, &bytes, &got, fail) != 0)
		return -1;
	memcpy(d->bytes, bytes, n);
	d->end = n;
	j->packed_read = n;
	return bytes_pass(from, j->cut.offset + n, fail);
}

/* ---- errors ---- */

static bool bad_frame(struct zstd_job *j, uint64_t offset, const char *why)
{
	frames_bad(j->in->bytes, offset, &j->fail, why);
	return true;
}

/* Handle an input that ends inside the frame: an error, unless --finish ended it. */
static bool ends_inside(struct zstd_job *j)
{
	j->broken = bytes_finished(j->in->bytes);
	return j->broken || bad_frame(j, j->cut.offset, FRAMES_DAMAGED);
}

static bool no_decoder_memory(struct zstd_job *j)
{
	fail_set(&j->fail, STATUS_SYSTEM, "%s: not enough memory for a decoder", j->in->name);
	return true;
}

static bool bad_code(struct zstd_job *j, uint64_t offset, size_t code)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return no_decoder_memory(j);
	return bad_frame(j, offset, frames_why(code));
}

/* ---- packed bytes ---- */

/* Return how many of the file's next `most` packed bytes are the job's. */
static size_t to_read(const struct zstd_job *j, size_t most)
{
	return j->cut.packed_bytes == UNKNOWN
		       ? most
		       : (size_t)lesser(most, j->cut.packed_bytes - j->packed_read);
}

/* Read more of a file, so that the job has n bytes not yet decoded, if the file has. */
static int refill(struct zstd_job *j, size_t n)
{
	const size_t there = j->decoder->end - j->decoder->at;
	const size_t capacity = (size_t)larger(n, j->cut.memory.packed);
	size_t got = 0;

	if (!huge_grow(&j->decoder->bytes, &j->decoder->capacity, capacity, j->decoder->end)) {
		no_decoder_memory(j);
		return -1;
	}
	memmove(j->decoder->bytes, j->decoder->bytes + j->decoder->at, there);
	j->decoder->at = 0;
	const int rc = bytes_read_at(j->in->bytes, j->cut.offset + j->packed_read,
				     j->decoder->bytes + there, to_read(j, capacity - there), &got,
				     &j->fail);
	j->decoder->end = there + got;
	__atomic_store_n(&j->packed_read, j->packed_read + got, __ATOMIC_RELAXED);
	return rc;
}

/*
 * Point *bytes at the next packed bytes, valid until the next call. *got < least: these are the
 * last. 1: the source was stopped.
 */
static int next(struct zstd_job *j, size_t least, const unsigned char **bytes, size_t *got)
{
	int rc = 0;

	if (j->cut.from == FROM_STREAM)
		return bytes_look(j->in->bytes, j->cut.offset + j->packed_read, least, SIZE_MAX,
				  bytes, got, &j->fail);
	if (j->cut.from == FROM_FILE && j->decoder->end - j->decoder->at < least)
		rc = refill(j, least);
	*bytes = j->decoder->bytes + j->decoder->at;
	*got = j->decoder->end - j->decoder->at;
	return rc;
}

/* Skip the next n packed bytes. */
static void pass(struct zstd_job *j, size_t n)
{
	if (j->cut.from != FROM_STREAM) {
		j->decoder->at += n;
		return;
	}
	j->packed_read += n;
	(void)bytes_pass(j->in->bytes, j->cut.offset + j->packed_read,
			 &j->fail); /* next() read them */
}

uint64_t decoder_used(const struct zstd_job *j)
{
	return j->packed_read - (j->decoder->end - j->decoder->at);
}

/* Read the checksum after the last block, which libzstd does not know about. */
static void read_checksum(struct zstd_job *j)
{
	const unsigned char *bytes;
	size_t got;

	if (next(j, FRAME_CHECKSUM, &bytes, &got) != 0)
		return;
	if (got < FRAME_CHECKSUM) {
		(void)ends_inside(j);
		pass(j, got);
		return;
	}
	j->sum.read = true;
	j->sum.value = little32(bytes);
	pass(j, FRAME_CHECKSUM);
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
	struct frame f;

	if (j->packed_read == 0 && refill(j, (size_t)j->cut.packed_bytes) != 0)
		return true;
	for (size_t left; (left = j->decoder->end - j->decoder->at) > 0;) {
		unsigned char *const from = j->decoder->bytes + j->decoder->at;
		const uint64_t offset = j->cut.offset + j->decoder->at;
		/* Measure it again: a file may have changed since. */
		const bool whole = frame_measure(from, left, &f);
		if (!whole && j->packed_read < j->cut.packed_bytes)
			break;
		if (!whole || f.header.dictionary || f.bound > p->capacity)
			return bad_frame(j, offset, "it has changed since it was found");
		if (f.bound > p->capacity - p->bytes)
			return false;
		size_t packed = (size_t)f.packed_bytes;
		if (j->sum.follows && f.header.checksum) {
			packed -= FRAME_CHECKSUM;
			frame_hide_checksum(from);
			j->sum.read = true;
			j->sum.value = little32(from + packed);
		}
		/* Give each call only f.bound bytes: small_window() relies on it. */
		unsigned char *const to = p->buffer + p->bytes;
		const size_t n =
			frame_in_steps(&f, j->sum.follows && !j->sum.adds)
				? decompress_in_steps(j->decoder->context, to, &f, from, packed)
				: ZSTD_decompressDCtx(j->decoder->context, to, (size_t)f.bound,
						      from, packed);
		if (ZSTD_isError(n))
			return bad_code(j, offset, n);
		p->bytes += n;
		j->decoder->at += (size_t)f.packed_bytes;
	}
	return j->packed_read == j->cut.packed_bytes ||
	       bad_frame(j, j->cut.offset + j->decoder->at, FRAMES_DAMAGED);
}

/* ---- a frame, in steps ---- */

/*
 * Give libzstd a block's header, then the block without the next header that it asks for, and
 * nothing while it holds decoded bytes back. So libzstd decodes in place, and an error in the next
 * header does not lose the bytes decoded before it.
 */
static bool decode_step(struct zstd_job *j, ZSTD_outBuffer *out)
{
	ZSTD_inBuffer in = {.pos = 0};
	const unsigned char *bytes;
	size_t got;

	/* A stream may be quiet for long: decode the bytes at hand first. */
	if (next(j,
		 j->decoder->flush            ? 0
		 : j->cut.from == FROM_STREAM ? 1
					      : j->decoder->hint,
		 &bytes, &got) != 0)
		return true;
	if (got == 0 && !j->decoder->flush)
		return ends_inside(j);
	const size_t header = j->decoder->hint > FRAME_BLOCK_HEADER ? FRAME_BLOCK_HEADER : 0;
	in.src = bytes;
	in.size = j->decoder->flush ? 0 : (size_t)lesser(got, j->decoder->hint - header);
	j->decoder->hint = ZSTD_decompressStream(j->decoder->context, out, &in);
	if (ZSTD_isError(j->decoder->hint))
		return bad_code(j, j->cut.offset, j->decoder->hint);
	pass(j, in.pos);
	j->decoder->flush = out->pos == out->size;
	return j->decoder->hint == 0;
}

/* Give libzstd the frame's header without the flag for a checksum. False: the job ends. */
static bool begin_steps(struct zstd_job *j)
{
	unsigned char header[FRAME_HEADER_MAX];
	ZSTD_outBuffer none = {.pos = 0};
	ZSTD_inBuffer in = {header, j->cut.header, 0};
	const unsigned char *bytes;
	size_t got;

	if (next(j, j->cut.header, &bytes, &got) != 0)
		return false;
	if (got < j->cut.header)
		return !ends_inside(j);
	memcpy(header, bytes, j->cut.header);
	if (j->sum.follows)
		frame_hide_checksum(header);
	ZSTD_DCtx_reset(j->decoder->context, ZSTD_reset_session_only);
	while (in.pos < in.size) {
		const size_t before = in.pos;
		j->decoder->hint = ZSTD_decompressStream(j->decoder->context, &none, &in);
		if (ZSTD_isError(j->decoder->hint))
			return !bad_code(j, j->cut.offset, j->decoder->hint);
		if (in.pos == before)
			break;
	}
	pass(j, in.pos);
	j->decoder->flush = false;
	return true;
}

/*
 * Is the frame's size not as declared? libzstd does not check that if the last block is empty.
 * Drop bytes beyond the declared size: the next job begins there.
 */
static bool wrong_size(const struct zstd_job *j, struct zstd_piece *p, bool ended)
{
	const uint64_t declared = j->cut.declared, made = j->decoded + p->bytes;

	if (declared == UNKNOWN || (made <= declared && !(ended && made < declared)))
		return false;
	if (made > declared)
		p->bytes = (size_t)(declared - j->decoded);
	return true;
}

/* Decode up to cap bytes of the frame. True: the frame has ended. */
static bool fill_steps(struct zstd_job *j, struct zstd_piece *p, size_t cap, bool prompt)
{
	ZSTD_outBuffer out = {p->buffer, cap, 0};
	bool ended = j->decoder->hint == 0 && !begin_steps(j);

	while (!ended && out.pos < out.size) {
		ended = decode_step(j, &out);
		if (prompt && j->cut.from == FROM_STREAM && out.pos > 0)
			break;
	}
	p->bytes = out.pos;
	const bool fails = j->fail.status != STATUS_OK, whole = ended && !fails && !j->broken;
	const bool wrong = wrong_size(j, p, whole);
	if (fails)
		return true;
	if (wrong)
		return bad_frame(j, j->cut.offset, FRAMES_DAMAGED);
	if (whole && j->sum.follows)
		read_checksum(j);
	if (ended && j->cut.packed_bytes != UNKNOWN && decoder_used(j) != j->cut.packed_bytes &&
	    j->fail.status == STATUS_OK)
		return bad_frame(j, j->cut.offset, FRAMES_DAMAGED);
	return ended;
}

/* ---- a piece ---- */

static bool prepare(struct zstd_job *j, struct zstd_piece *p)
{
	if (!huge_grow(&p->buffer, &p->capacity, (size_t)j->cut.piece_bytes, 0))
		return !no_decoder_memory(j);
	if (j->decoder->context)
		return true;
	j->decoder->context = ZSTD_createDCtx();
	return (j->decoder->context && !ZSTD_isError(ZSTD_DCtx_setParameter(
					       j->decoder->context, ZSTD_d_windowLogMax, 31))) ||
	       !no_decoder_memory(j);
}

bool decoder_fill(struct zstd_job *j, struct zstd_piece *p, size_t cap, bool prompt)
{
	p->bytes = 0;
	if (!prepare(j, p))
		return true;
	p->data = p->buffer;
	return j->cut.how == HOW_CALLS ? fill_calls(j, p) : fill_steps(j, p, cap, prompt);
}

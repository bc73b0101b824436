/* SPDX-License-Identifier: MIT */
/*
 * zstd_decode: the task "decode". A thread decodes a job as long as that has a free piece: a window
 * that moves between cores costs a fifth. Other readers count its pieces meanwhile. When no piece is
 * free, or all readers decode, it stops and counts one itself.
 */
#include <string.h>

#include <zstd_errors.h>

#include "base/little.h"
#include "input/source_input.h"

#define FLAG_AT 4 /* after the magic number: is there a checksum? */
#define FLAG 4

/* ---- what is wrong with a job; up to "with the lock": by its thread, without the lock ---- */

static bool bad(struct zstd_job *j, uint64_t offset, const char *why)
{
	zstd_bad(j->in, offset, &j->fail, why);
	return true;
}

static bool no_memory(struct zstd_job *j)
{
	fail_set(&j->fail, STATUS_SYSTEM, "%s: no memory for a decoder", j->in->name);
	return true;
}

static bool bad_code(struct zstd_job *j, uint64_t offset, size_t code)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return no_memory(j);
	return bad(j, offset, ZSTD_getErrorName(code));
}

/* ---- packed bytes ---- */

/* Packed bytes that were taken and not used. */
static size_t left(const struct zstd_job *j)
{
	return j->packed_end - j->packed_at;
}

/* How many of a file can be read. */
static size_t to_read(const struct zstd_job *j, size_t most)
{
	return j->cut.stored == UNKNOWN ? most : (size_t)lesser(most, j->cut.stored - j->taken);
}

/* More of them after those that are left, `most` in all; 1: the source was stopped. */
static int refill(struct source *s, struct zstd_job *j, size_t most)
{
	const size_t there = left(j), room = (size_t)larger(most, j->cut.packed);
	size_t got = 0;
	int rc = 0;

	if (j->cut.from == FROM_MEMORY)
		return 0;
	if (!buffer_grow(&j->packed, &j->packed_room, room, j->packed_end)) {
		no_memory(j);
		return -1;
	}
	memmove(j->packed, j->packed + j->packed_at, there);
	j->packed_at = 0;
	j->packed_end = there;
	if (j->cut.from == FROM_FILE)
		rc = file_read(j->in, j->packed + there, to_read(j, most - there),
			       j->cut.offset + j->taken, &got, &j->fail);
	else
		rc = stream_more(s, j->in, j->packed + there, 1, most - there, &got, &j->fail);
	j->packed_end += got;
	__atomic_store_n(&j->taken, j->taken + got, __ATOMIC_RELAXED);
	return rc;
}

/* At least n of them, where the input has so many. */
static int need(struct source *s, struct zstd_job *j, size_t n)
{
	size_t before = SIZE_MAX;
	int rc = 0;

	while (rc == 0 && left(j) < n && left(j) != before) {
		before = left(j);
		rc = refill(s, j, PACKED_BYTES);
	}
	return rc;
}

/* What stands after the last block, where libzstd was not told to look for it. */
static void read_trailer(struct source *s, struct zstd_job *j)
{
	if (need(s, j, FRAME_CHECKSUM) != 0)
		return;
	if (left(j) < FRAME_CHECKSUM) {
		bad(j, j->cut.offset, "the input ends inside it");
		return;
	}
	j->sum.read = true;
	j->sum.value = little32(j->packed + j->packed_at);
	j->packed_at += FRAME_CHECKSUM;
}

/* ---- one call for each frame ---- */

/* Where did a file end that was longer when its frames were found? */
static bool came_short(struct zstd_job *j)
{
	size_t at = 0;
	struct frame f;

	while (frame_measure(j->packed + at, j->packed_end - at, &f))
		at += (size_t)f.stored;
	return bad(j, j->cut.offset + at, "the input ends inside it");
}

/* Those that fit the piece. True: they were the last. */
static bool fill_calls(struct source *s, struct zstd_job *j, struct zstd_piece *p)
{
	struct frame f;

	if (j->taken == 0) {
		if (refill(s, j, (size_t)j->cut.stored) != 0)
			return true;
		if (j->taken < j->cut.stored)
			return came_short(j);
	}
	while (left(j) > 0) {
		unsigned char *const from = j->packed + j->packed_at;
		const uint64_t offset = j->cut.offset + j->packed_at;
		/* It was measured before, but a file may have changed since. */
		if (!frame_measure(from, left(j), &f) || f.header.dictionary || f.bound > p->size)
			return bad(j, offset, "it has changed since it was found");
		if (f.bound > p->size - p->bytes)
			return false;
		size_t stored = (size_t)f.stored;
		if (j->sum.ours) { /* it is the only frame */
			stored -= FRAME_CHECKSUM;
			from[FLAG_AT] &= (unsigned char)~FLAG;
			j->sum.read = true;
			j->sum.value = little32(from + stored);
		}
		/* Not all the room there is: small_window() relies on it. */
		const size_t n = ZSTD_decompressDCtx(j->context, p->room + p->bytes,
						     (size_t)f.bound, from, stored);
		if (ZSTD_isError(n))
			return bad_code(j, offset, n);
		p->bytes += n;
		j->packed_at += (size_t)f.stored;
	}
	return true;
}

/* ---- a frame, in steps ---- */

/*
 * libzstd gets no more than the bytes that it would like, a block: so it decodes that in place, and
 * what it has decoded before an error is not lost.
 */
static bool step(struct source *s, struct zstd_job *j, ZSTD_outBuffer *out)
{
	/* A stream may be quiet for long: first all that there is. */
	if (!j->flush && left(j) < (j->cut.from == FROM_STREAM ? 1 : j->hint) &&
	    refill(s, j, PACKED_BYTES) != 0)
		return true;
	if (left(j) == 0 && !j->flush)
		return bad(j, j->cut.offset, "the input ends inside it");
	ZSTD_inBuffer in = {j->packed, j->packed_at + (size_t)lesser(left(j), j->hint),
			    j->packed_at};
	j->hint = ZSTD_decompressStream(j->context, out, &in);
	if (ZSTD_isError(j->hint))
		return bad_code(j, j->cut.offset, j->hint);
	j->packed_at = in.pos;
	j->flush = out->pos == out->size;
	return j->hint == 0;
}

/* Before the first: the header's flag is hidden. */
static bool begin_steps(struct source *s, struct zstd_job *j)
{
	if (need(s, j, FLAG_AT + 1) != 0)
		return false;
	if (left(j) <= FLAG_AT)
		return !bad(j, j->cut.offset, "the input ends inside it");
	if (j->sum.ours)
		j->packed[j->packed_at + FLAG_AT] &= (unsigned char)~FLAG;
	ZSTD_DCtx_reset(j->context, ZSTD_reset_session_only);
	j->hint = FLAG_AT + 1;
	j->flush = false;
	return true;
}

/*
 * libzstd does not look at what the header declares where the last block is empty. What is more
 * than that is dropped: the next job begins there.
 */
static bool wrong_size(const struct zstd_job *j, struct zstd_piece *p, bool ended)
{
	const uint64_t content = j->cut.content, made = j->made + p->bytes;

	if (content == UNKNOWN || (made <= content && !(ended && made < content)))
		return false;
	if (made > content)
		p->bytes = (size_t)(content - j->made);
	return true;
}

/* Up to cap bytes of it; `last`: -n ends with them. True: it has ended. */
static bool fill_steps(struct source *s, struct zstd_job *j, struct zstd_piece *p, size_t cap,
		       bool last)
{
	ZSTD_outBuffer out = {p->room, cap, 0};
	bool ended = j->hint == 0 && !begin_steps(s, j);

	while (!ended && out.pos < out.size) {
		ended = step(s, j, &out);
		if (s->spec.prompt && j->cut.from == FROM_STREAM && out.pos > 0)
			break;
	}
	p->bytes = out.pos;
	if (j->fail.status != STATUS_OK)
		return true;
	if (wrong_size(j, p, ended))
		return bad(j, j->cut.offset, "it does not hold as much as its header says");
	/* Where -n ends nothing more of a stream is waited for. */
	if (ended && j->sum.ours && !(last && out.pos == cap && j->cut.from == FROM_STREAM))
		read_trailer(s, j);
	if (ended && j->cut.stored != UNKNOWN && j->taken - left(j) != j->cut.stored &&
	    j->fail.status == STATUS_OK)
		return bad(j, j->cut.offset, "it ends before its last block");
	return ended;
}

/* ---- a frame whose blocks are stored ---- */

/* The next n packed bytes, where they lie, or at `to`; *got < n: there are not so many. */
static const unsigned char *next_stored(struct zstd_job *j, unsigned char *to, size_t n,
					size_t *got)
{
	const unsigned char *bytes = to;

	if (j->cut.from == FROM_MEMORY) {
		bytes = j->packed + j->packed_at;
		*got = left(j) < n ? left(j) : n;
		j->packed_at += *got;
	} else {
		(void)file_read(j->in, to, n, j->cut.offset + j->stored_at, got, &j->fail);
	}
	j->stored_at += *got;
	return bytes;
}

static bool changed(struct zstd_job *j)
{
	return bad(j, j->cut.offset, "it has changed since it was found");
}

static bool short_stored(struct zstd_job *j)
{
	return j->fail.status != STATUS_OK || bad(j, j->cut.offset, "the input ends inside it");
}

/* The header of the frame and of its first block. False: it failed. */
static bool begin_stored(struct zstd_job *j, struct zstd_piece *p)
{
	struct frame_header header;
	const size_t most = FRAME_HEADER_MAX + 3;
	size_t got;
	const unsigned char *const bytes = next_stored(j, p->room, most, &got);

	if (frame_parse(bytes, got, &header) != FRAME_DATA || got < header.bytes + 3 ||
	    frame_block_parse(bytes + header.bytes, &j->block) != 0 || !j->block.plain)
		return !(got < most ? short_stored(j) : changed(j));
	j->stored_at = header.bytes + 3;
	if (j->cut.from == FROM_MEMORY)
		j->packed_at = header.bytes + 3;
	return true;
}

/*
 * The next blocks, of a file as many as the piece holds, up to cap bytes. True: the frame has
 * ended.
 */
static bool fill_stored(struct zstd_job *j, struct zstd_piece *p, size_t cap)
{
	const bool memory = j->cut.from == FROM_MEMORY;
	bool ended = j->stored_at == 0 && !begin_stored(j, p);

	while (!ended && p->bytes < cap) {
		const struct frame_block block = j->block;
		const size_t after = !block.last ? 3 : j->sum.ours ? FRAME_CHECKSUM : 0;
		const size_t n = block.stored;
		unsigned char *const to = p->room + p->bytes;
		size_t got;
		if (p->bytes > 0 && (memory || p->bytes + block.most > PIECE_BYTES))
			return false;
		const unsigned char *const bytes = next_stored(j, to, n + after, &got);
		if (got < n + after)
			return short_stored(j);
		ended = block.last;
		if (!ended && (frame_block_parse(bytes + n, &j->block) != 0 || !j->block.plain))
			return changed(j);
		if (ended && j->sum.ours) {
			j->sum.read = true;
			j->sum.value = little32(bytes + n);
		}
		if (block.repeats)
			memset(to, bytes[0], block.most);
		else if (memory)
			p->data = bytes;
		p->bytes += block.most;
	}
	if (j->fail.status == STATUS_OK && wrong_size(j, p, ended))
		return bad(j, j->cut.offset, "it does not hold as much as its header says");
	if (p->bytes > cap) { /* -n ends in the block */
		p->bytes = cap;
		j->sum.read = false;
		ended = true;
	}
	return ended;
}

/* ---- a piece ---- */

static bool prepare(struct zstd_job *j, struct zstd_piece *p)
{
	if (!buffer_grow(&p->room, &p->size, (size_t)j->cut.room, 0))
		return !no_memory(j);
	if (j->context || j->cut.how == HOW_STORED)
		return true;
	j->context = ZSTD_createDCtx();
	return (j->context &&
		!ZSTD_isError(ZSTD_DCtx_setParameter(j->context, ZSTD_d_windowLogMax, 31))) ||
	       !no_memory(j);
}

/* Up to cap bytes; `last`: -n ends with them. True: nothing more is to be decoded. */
static bool fill(struct source *s, struct zstd_job *j, struct zstd_piece *p, size_t cap, bool last)
{
	p->bytes = 0;
	if (!prepare(j, p))
		return true;
	p->data = p->room;
	switch (j->cut.how) {
	case HOW_CALLS:
		return fill_calls(s, j, p);
	case HOW_STEPS:
		return fill_steps(s, j, p, cap, last);
	default:
		return fill_stored(j, p, cap);
	}
}

/* ---- with the lock ---- */

static struct zstd_piece *free_piece(struct zstd_job *j)
{
	for (unsigned i = 0; i < j->pieces; i++)
		if (j->piece[i].state == PIECE_FREE)
			return &j->piece[i];
	return NULL;
}

/*
 * May a thread decode it now? With something in hand no stream is waited for. Nor where -n may end
 * in what comes: how much of it may be waited for is known with its place.
 */
static bool may_run(struct zstd_job *j, const struct request *q)
{
	const bool stream = j->cut.from == FROM_STREAM;

	return j->cut.how != HOW_BLOCKS && !j->running && !j->ended && free_piece(j) &&
	       !(stream && q->got > 0) && !(stream && j->at == UNKNOWN && j->in->limit != NO_END);
}

static struct zstd_job *next_job(const struct source *s, const struct request *q)
{
	for (const struct input *in = s->inputs; in; in = in->next)
		for (struct zstd_job *j = in->jobs; j; j = j->next)
			if (may_run(j, q))
				return j;
	return NULL;
}

bool decode_ready(const struct source *s, const struct request *q)
{
	return s->decoding < s->spec.decoders && next_job(s, q);
}

/*
 * How much of a piece is decoded next: to where -n ends, else so that the next piece begins with a
 * record. 0: nothing. Where -n or a slice ends together with a file's frame, one more byte is asked
 * for: none should come, and the frame's end is checked.
 */
static size_t room_wanted(const struct source *s, const struct zstd_job *j, bool *last)
{
	const struct input *const in = j->in;
	const uint64_t at = j->at + j->made;
	size_t room = PIECE_BYTES;

	*last = false;
	if (j->made < j->known) /* BLOCKS handed it out */
		return (size_t)lesser(room, j->known - j->made);
	if (j->at == UNKNOWN)
		return room;
	if (at >= in->limit) {
		*last = true;
		return in->is_file && j->made > 0 && j->made == j->cut.content;
	}
	if (at > in->first && s->spec.record <= room && j->cut.how == HOW_STEPS)
		room -= (size_t)((at + room - in->first) % s->spec.record);
	*last = in->limit - at <= room;
	return *last ? (size_t)(in->limit - at) : room;
}

void job_close_open(struct zstd_job *j)
{
	struct input *const in = j->in;

	in->open = NULL;
	in->pos = j->cut.offset + j->taken - left(j);
	if (in->is_file)
		return;
	in->bytes_at = in->pos;
	in->have = 0;
	if (left(j) == 0)
		return;
	if (!buffer_grow(&in->bytes, &in->room, left(j), 0)) {
		no_memory(j);
		return;
	}
	in->have = left(j);
	memcpy(in->bytes, j->packed + j->packed_at, in->have);
}

/* What BLOCKS handed out must be what libzstd decodes, as far as that does. */
static bool differs(struct zstd_job *j, bool ended)
{
	if (j->fail.status != STATUS_OK || (j->made < j->known && !ended) ||
	    (j->made == j->known && xxh64_end(&j->again) == xxh64_end(&j->sum.hash)))
		return false;
	fail_set(&j->fail, STATUS_INTERNAL,
		 "internal error: %s: zstd frame at offset %llu: decoded twice, it differs: "
		 "please report this, unless the file has changed",
		 j->in->name, (unsigned long long)j->cut.offset);
	return true;
}

/* Decodes into a free piece; with that it may have ended. */
static void fill_unlocks(struct source *s, struct zstd_job *j, struct zstd_piece *p)
{
	bool last;
	const size_t cap = room_wanted(s, j, &last);
	const bool again = j->made < j->known;
	bool ended = cap == 0;

	p->state = PIECE_FILLING;
	p->begin = j->made;
	p->bytes = 0;
	p->sorted = false;
	if (!ended) {
		lock_drop(&s->lock);
		ended = fill(s, j, p, cap, last);
		if (again)
			xxh64_add(&j->again, p->data, p->bytes);
		lock_take(&s->lock);
	}
	const bool dropped = j->ended; /* meanwhile, by jobs_drop */
	j->made += p->bytes;
	ended |= again && differs(j, ended);
	p->state = p->bytes > 0 && !dropped && !again ? PIECE_READY : PIECE_FREE;
	if (ended && j->in->open == j) {
		job_close_open(j);
		source_call(s); /* what follows can be cut */
	}
	if (ended && !dropped)
		job_end(s, j);
	if (p->state == PIECE_READY && j->at != UNKNOWN)
		job_queue(s, p);
}

void decode_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_job *const j = next_job(s, q);
	struct zstd_piece *p;

	j->running = true;
	s->decoding++;
	do {
		p = free_piece(j);
		fill_unlocks(s, j, p);
	} while (!j->ended && free_piece(j) && s->decoding < s->reader_count);
	j->running = false;
	/* Any reader may go on with it, or, if no more could decode, with another one. */
	if ((!j->ended && free_piece(j)) || s->decoding == s->spec.decoders)
		source_call(s);
	s->decoding--;
	job_check(s, j);
	if (s->queue)
		piece_run_unlocks(s, q);
}

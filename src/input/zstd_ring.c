/* SPDX-License-Identifier: MIT */
/*
 * zstd_ring: a reader's way through its unit, a step at a time. It decodes into free pieces as long
 * as there are any; any reader takes them. A unit that is decoded in one call has one piece, a long
 * frame several: its window stays in one processor's cache, where taking turns at decoding moved it
 * from core to core and cost a fifth.
 *
 * The checksum is the one part of decoding a frame that others can do, and that the thread that
 * counts a piece has in its cache anyway. So it is hidden from libzstd, and the threads that take
 * or give back a piece add up what is next in the frame's order, one thread at a time. A piece is
 * free when it was counted and added. The only piece of a unit may be added by its taker, while it
 * counts. A reader that cannot borrow, a lane of a GPU, decodes into its own buffer where that has
 * room, and leaves the checksum to libzstd.
 */
#include <string.h>

#include "input/zstd_read.h"

/* The piece that is next in the frame's order, if it is there and no thread adds one. */
static struct piece *next_to_hash(struct reader *r)
{
	if (!r->sum.ours || r->hashing)
		return NULL;
	for (unsigned i = 0; i < PIECES; i++) {
		struct piece *p = &r->piece[i];
		const uint64_t at = r->sum.hash.bytes;
		if (p->state >= PIECE_READY && p->begin <= at && at < p->begin + p->decoded)
			return p;
	}
	return NULL;
}

/*
 * Adds all that can be added. Pieces that were counted are free then, as pieces become ready in
 * order; a decoder that waits for one, or for the checksum, looks again.
 */
static void hash_unlocks(struct source *s, struct reader *r)
{
	struct piece *p;

	while ((p = next_to_hash(r)) != NULL) {
		const size_t from = (size_t)(r->sum.hash.bytes - p->begin);
		r->hashing = true;
		lock_drop(&s->lock);
		xxh64_add(&r->sum.hash, p->data + from, p->decoded - from);
		lock_take(&s->lock);
		r->hashing = false;
		if (r->state == READER_DRAINING)
			pthread_cond_broadcast(&s->settled);
	}
	for (unsigned i = 0; i < PIECES && !r->hashing; i++) {
		if (r->piece[i].state == PIECE_COUNTED) {
			r->piece[i].state = PIECE_FREE;
			pthread_cond_broadcast(&s->settled);
		}
	}
}

static bool all_home(const struct reader *r)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (r->piece[i].state != PIECE_FREE)
			return false;
	return !r->hashing && r->ahead_state != AHEAD_FILLING;
}

/*
 * Nothing of a piece is left to be counted. After the last one of its unit the reader need not come
 * again for it.
 */
static int counted_unlocks(struct reader *r, struct piece *p, struct fail *fail)
{
	struct reader *const owner = p->owner;

	p->state = PIECE_COUNTED;
	hash_unlocks(r->source, owner);
	return owner == r && r->state == READER_DRAINING && all_home(r) ? zstd_finish(r, fail) : 0;
}

int zstd_done_unlocks(struct reader *r, struct chunk *chunk, struct fail *fail)
{
	if (chunk->hash)
		chunk->piece->owner->hashing = false;
	return counted_unlocks(r, chunk->piece, fail);
}

/* ---- taking ---- */

/* What is ready of a piece: lent, or copied as far as there is room. */
static int take_unlocks(struct reader *r, struct piece *p, struct request *q)
{
	struct reader *const owner = p->owner;
	struct source *s = r->source;

	p->state = PIECE_LENT;
	owner->ready--;
	s->ready--;
	if (q->want->lent) {
		*q->chunk = (struct chunk){.data = p->data + p->from,
					   .bytes = p->bytes,
					   .fd = -1,
					   .input = owner->in,
					   .piece = p};
		if (owner->unit.whole && next_to_hash(owner) &&
		    p->begin + p->from == owner->sum.hash.bytes) {
			q->chunk->hash = &owner->sum.hash;
			owner->hashing = true;
		}
		hash_unlocks(s, owner);
		return 0;
	}
	const size_t room = q->cap - q->got, n = p->bytes < room ? p->bytes : room;
	zstd_copy_unlocks(s, (unsigned char *)q->want->buffer + q->got, p->data + p->from, n);
	q->got += n;
	p->from += n;
	p->bytes -= n;
	if (p->bytes == 0)
		return counted_unlocks(r, p, q->fail);
	p->state = PIECE_READY;
	owner->ready++;
	s->ready++;
	source_call(s);
	return 0;
}

static struct piece *find_piece(struct reader *r, int state)
{
	for (unsigned i = 0; i < (r->unit.whole ? 1 : PIECES); i++)
		if ((int)r->piece[i].state == state)
			return &r->piece[i];
	return NULL;
}

int zstd_take_ready_unlocks(struct reader *r, struct request *q)
{
	struct reader *from = r->source->readers;

	while (from->ready == 0)
		from = from->next;
	return take_unlocks(r, find_piece(from, PIECE_READY), q);
}

/* ---- decoding ---- */

/*
 * The unit was decoded to its end, or as far as it is wanted: where the input waits for that it
 * goes on.
 */
static void end_unit(struct reader *r)
{
	struct source *s = r->source;
	struct input *in = r->in;
	struct zstd *z = in->zstd;
	struct unit *u = &r->unit;

	r->state = READER_DRAINING;
	if (r->ahead_state != AHEAD_FILLING)
		r->ahead_state = AHEAD_NONE;
	if (u->content == UNKNOWN)
		u->content = r->made;
	if (zstd_attached(u)) {
		if (in->is_file)
			z->next = r->read_at - (r->source_bytes.size - r->source_bytes.pos);
		in->next = z->next;
		in->state = INPUT_FREE;
		source_call_all(s);
	}
	zstd_place(s, in);
}

/* Its offset is known; false: the source was stopped. */
static bool await_place_unlocks(struct reader *r)
{
	struct source *s = r->source;

	while (r->unit.at == UNKNOWN && !s->stopped)
		lock_wait(&s->lock, &s->settled);
	return !s->stopped;
}

int zstd_refuse_unlocks(struct reader *r, const struct fail *bad, struct fail *fail)
{
	const uint64_t limit = r->in->zstd->limit;

	if (limit == UINT64_MAX || (await_place_unlocks(r) && r->unit.at - r->made < limit))
		return fail_pass(fail, bad);
	r->sum.ours = false;
	end_unit(r);
	return 0;
}

/*
 * Of a long frame: how much of `room` is decoded next. To the end of a record where one ends there,
 * so that the next piece begins with one; to where samples begin, or -n ends. Behind that it is
 * only looked whether the frame ends.
 */
static size_t room_wanted(const struct reader *r, size_t room)
{
	const uint64_t at = r->unit.at, skip = r->in->first, limit = r->in->zstd->limit;
	const uint32_t record = r->source->spec.record;
	const uint32_t phase = at > skip ? (uint32_t)((at - skip) % record) : 0;
	const uint32_t torn = phase > 0 ? record - phase : 0;
	const size_t whole = torn <= room ? torn + (room - torn) / record * record : 0;

	if (whole > 0)
		room = whole;
	if (at < skip && skip - at < room)
		room = (size_t)(skip - at);
	if (at < limit && limit - at < room)
		room = (size_t)(limit - at);
	return room;
}

/*
 * Decodes what comes next into at most `room` bytes; *from, *bytes: whole records of it. A long
 * frame is decoded once its offset is known, the others before. Nothing that is not wanted is
 * waited for; of a file, where -n or a slice ends with a frame, that frame must end there.
 */
static int decode_unlocks(struct reader *r, unsigned char *to, size_t room, size_t *got,
			  size_t *from, size_t *bytes, struct fail *fail)
{
	struct source *s = r->source;
	struct unit *u = &r->unit;
	const uint64_t limit = r->in->zstd->limit;
	struct fail bad;
	bool ended;

	*got = *from = *bytes = 0;
	if (!u->whole) {
		if (!await_place_unlocks(r))
			return 0;
		if (r->made == 0 && u->at >= limit) { /* nothing of it is wanted, nor looked at */
			r->sum.ours = false;
			end_unit(r);
			return 0;
		}
		room = room_wanted(r, room);
	}
	bad.status = STATUS_OK;
	lock_drop(&s->lock);
	const int rc = u->whole ? zstd_decode_frames(r, to, room, got, &ended, &bad)
				: zstd_decode_some(r, to, room, got, &ended, &bad);
	lock_take(&s->lock);
	s->stopped |= rc > 0;
	if (rc != 0)
		return rc > 0 ? 0 : zstd_refuse_unlocks(r, &bad, fail);
	r->made += *got;
	if (u->whole && ended)
		end_unit(r);
	if (!await_place_unlocks(r))
		return 0;
	if (u->whole && u->at >= limit)
		r->sum.ours = false;
	if (zstd_sort_out_unlocks(r, to, *got, from, bytes, fail) != 0)
		return -1;
	if (!u->whole && (ended || (u->at >= limit && !(r->in->is_file && r->made == u->content))))
		end_unit(r);
	return 0;
}

/* Into a free piece. */
static int fill_unlocks(struct reader *r, struct piece *p, struct fail *fail)
{
	struct source *s = r->source;
	const bool whole = r->unit.whole;
	const size_t room = whole ? (size_t)r->unit.most : zstd_piece_room(s);

	/* Frames of no bytes too are decoded to somewhere: no address is made of NULL. */
	if (zstd_grow(&p->data, &p->room, room > 0 ? room : 1) != 0)
		return fail_errno(fail, "%s", r->in->name);
	p->state = PIECE_FILLING;
	p->owner = r;
	p->begin = r->made;
	const int rc = decode_unlocks(r, p->data, whole ? p->room : room, &p->decoded, &p->from,
				      &p->bytes, fail);
	p->state = p->bytes > 0 ? PIECE_READY : PIECE_COUNTED;
	if (rc != 0 || p->bytes == 0) {
		hash_unlocks(s, r);
		return rc;
	}
	s->ready++;
	/*
	 * To wake a thread costs the decoder some microseconds: for two pieces as much as for one.
	 */
	if (++r->ready > 1)
		source_call(s);
	return 0;
}

/* Into a buffer that is not ours, without a copy? */
static bool fits_request(const struct reader *r, const struct request *q)
{
	return !q->want->lent && !r->sum.ours && r->ready == 0 &&
	       (!r->unit.whole || r->unit.most <= q->cap - q->got);
}

static int fill_request_unlocks(struct reader *r, struct request *q)
{
	unsigned char *const to = (unsigned char *)q->want->buffer + q->got;
	size_t got, from, bytes;

	if (decode_unlocks(r, to, q->cap - q->got, &got, &from, &bytes, q->fail) != 0)
		return -1;
	if (from > 0 && bytes > 0) {
		lock_drop(&r->source->lock);
		memmove(to, to + from, bytes);
		lock_take(&r->source->lock);
	}
	q->got += bytes;
	return r->state == READER_DRAINING && all_home(r) ? zstd_finish(r, q->fail) : 0;
}

int zstd_go_on_unlocks(struct reader *r, struct request *q)
{
	const bool decodes = r->state == READER_DECODING;
	/*
	 * A record that was put together comes after what is ready, and before anything else is
	 * decoded.
	 */
	struct piece *const room = decodes && !r->mended ? find_piece(r, PIECE_FREE) : NULL;
	struct source *s = r->source;

	if (r->mended && r->ready == 0)
		zstd_hand_out_mended_unlocks(r, q);
	else if (decodes && fits_request(r, q))
		return fill_request_unlocks(r, q);
	else if (room && r->unit.whole && q->got > 0)
		q->enough = true; /* all of it fits the next request, most likely */
	else if (room)
		return fill_unlocks(r, room, q->fail);
	else if (r->ready > 0)
		return take_unlocks(r, find_piece(r, PIECE_READY), q);
	else if (next_to_hash(r))
		hash_unlocks(s, r);
	else if (!decodes && all_home(r))
		return zstd_finish(r, q->fail);
	else
		lock_wait(&s->lock, &s->settled);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * zstd_ring: a long frame. The reader that has it decodes into free pieces as long as there are any; any
 * reader takes them. Its window stays in one processor's cache: taking turns at decoding moved it from core
 * to core and cost a fifth.
 *
 * The checksum is the one part of decoding a frame that others can do, and that the thread that counts a
 * piece has in its cache anyway. So it is hidden from libzstd, and the threads that take or give back a
 * piece add up what is next in the frame's order, one thread at a time. A piece is free when it was counted
 * and added. A reader that cannot borrow, a lane of a GPU, decodes into its own buffer if it is the first
 * one of the frame, and leaves the checksum to libzstd.
 */
#include <string.h>

#include "input/zstd_read.h"

/* A waiting decoder, or one that has ended, looks at its pieces again. */
static void piece_free(struct source *s, struct piece *p)
{
	p->state = PIECE_FREE;
	pthread_cond_broadcast(&s->settled);
}

/* The piece that is next in the frame's order, if it is there and no thread adds one. */
static struct piece *next_to_hash(struct reader *r)
{
	if (!r->sum.ours || r->hashing)
		return NULL;
	for (unsigned i = 0; i < PIECES; i++) {
		struct piece *p = &r->piece[i];
		if (p->state >= PIECE_READY && p->begin == r->hashed)
			return p;
	}
	return NULL;
}

static void hash_unlocks(struct source *s, struct reader *r)
{
	struct piece *p;

	while ((p = next_to_hash(r)) != NULL) {
		r->hashing = true;
		lock_drop(&s->lock);
		xxh64_add(&r->sum.hash, p->data, p->decoded);
		lock_take(&s->lock);
		r->hashing = false;
		r->hashed += p->decoded;
		if (p->state == PIECE_COUNTED)
			piece_free(s, p);
		else if (r->ended) /* the reader waits for the checksum */
			pthread_cond_broadcast(&s->settled);
	}
}

/* Nothing of a piece is left to be counted. */
static void counted(struct source *s, struct piece *p)
{
	struct reader *r = p->owner;

	p->state = PIECE_COUNTED;
	if (!r->sum.ours || p->begin + p->decoded <= r->hashed)
		piece_free(s, p);
}

void zstd_piece_done_unlocks(struct source *s, struct piece *p)
{
	struct reader *owner = p->owner;

	counted(s, p);
	hash_unlocks(s, owner);
}

/* ---- taking ---- */

/* What is ready of a piece: lent, or copied as far as there is room. */
static void take_unlocks(struct source *s, struct piece *p, struct request *q)
{
	struct reader *const owner = p->owner;

	p->state = PIECE_LENT;
	owner->ready--;
	s->ready--;
	if (q->want->lent) {
		*q->chunk = (struct chunk){
			.data = p->data + p->from, .bytes = p->bytes, .fd = -1, .input = owner->in, .piece = p};
		hash_unlocks(s, owner);
		return;
	}
	const size_t room = q->cap - q->got, n = p->bytes < room ? p->bytes : room;
	lock_drop(&s->lock);
	memcpy((unsigned char *)q->want->buffer + q->got, p->data + p->from, n);
	lock_take(&s->lock);
	q->got += n;
	p->from += n;
	p->bytes -= n;
	if (p->bytes > 0) {
		p->state = PIECE_READY;
		owner->ready++;
		s->ready++;
		source_call(s);
		return;
	}
	zstd_piece_done_unlocks(s, p);
}

static struct piece *find_piece(struct reader *r, int state)
{
	for (unsigned i = 0; i < PIECES; i++)
		if ((int)r->piece[i].state == state)
			return &r->piece[i];
	return NULL;
}

void zstd_take_ready_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;
	struct reader *from = s->readers;

	while (from->ready == 0)
		from = from->next;
	take_unlocks(s, find_piece(from, PIECE_READY), q);
}

/* ---- decoding ---- */

/* The frame was decoded to its end, or as far as it is wanted: the input goes on. */
static void end_long(struct reader *r)
{
	struct source *s = r->source;
	struct input *in = r->in;
	struct zstd *z = in->zstd;
	struct unit *u = &r->unit;

	r->ended = true;
	if (r->ahead_state != AHEAD_FILLING)
		r->ahead_state = AHEAD_NONE;
	if (u->content == UNKNOWN)
		u->content = r->made;
	if (r->attached) {
		if (in->is_file)
			z->next = r->read_at - (r->source_bytes.size - r->source_bytes.pos);
		in->next = z->next;
		in->state = INPUT_FREE;
		r->attached = false;
	}
	zstd_place(s, in);
	source_call_all(s);
}

/* Decodes what comes next into at most `room` bytes; *from, *bytes: whole records of it. */
static int decode_unlocks(struct reader *r, unsigned char *to, size_t room, size_t *got, size_t *from, size_t *bytes,
			  struct fail *fail)
{
	struct source *s = r->source;
	const uint64_t at = r->unit.at, skip = r->in->first, limit = r->in->zstd->limit;
	const uint32_t record = s->spec.record;
	const uint32_t phase = at > skip ? (uint32_t)((at - skip) % record) : 0;
	const uint32_t torn = phase > 0 ? record - phase : 0;
	struct fail bad;
	bool ended;

	*got = *from = *bytes = 0;
	/* To the end of a record where one ends there: the next piece then begins with one. */
	const size_t whole = torn <= room ? torn + (room - torn) / record * record : 0;
	if (whole > 0)
		room = whole;
	if (at < skip && skip - at < room)
		room = (size_t)(skip - at);
	if (limit - at < room)
		room = (size_t)(limit - at);
	bad.status = STATUS_OK;
	lock_drop(&s->lock);
	const int rc = zstd_decode_some(r, to, room, got, &ended, &bad);
	lock_take(&s->lock);
	if (rc != 0) {
		s->stopped |= rc > 0;
		return rc > 0 ? 0 : fail_pass(fail, &bad);
	}
	if (zstd_sort_out_unlocks(r, to, *got, from, bytes, fail) != 0)
		return -1;
	if (ended || r->unit.at >= limit)
		end_long(r);
	return 0;
}

/* Into a free piece. */
static int fill_unlocks(struct reader *r, struct piece *p, struct fail *fail)
{
	struct source *s = r->source;
	const uint64_t begin = r->made;

	const size_t room = zstd_piece_room(s);

	if (zstd_grow(&p->data, &p->room, room) != 0)
		return fail_errno(fail, "%s", r->in->name);
	p->state = PIECE_FILLING;
	const int rc = decode_unlocks(r, p->data, room, &p->decoded, &p->from, &p->bytes, fail);
	p->begin = begin;
	p->owner = r;
	p->state = PIECE_FREE;
	if (rc != 0 || p->decoded == 0)
		return rc;
	if (p->bytes == 0) {
		counted(s, p);
		return 0;
	}
	p->state = PIECE_READY;
	s->ready++;
	/* To wake a thread costs the decoder some microseconds: for two pieces as much as for one. */
	if (++r->ready > 1)
		source_call(s);
	return 0;
}

/* Into a buffer that is not ours. */
static int fill_request_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;

	while (!s->stopped && !r->ended && q->got < q->cap) {
		unsigned char *const to = (unsigned char *)q->want->buffer + q->got;
		size_t got, from, bytes;
		const int rc = decode_unlocks(r, to, q->cap - q->got, &got, &from, &bytes, q->fail);
		if (rc != 0)
			return rc;
		if (from > 0 && bytes > 0)
			memmove(to, to + from, bytes);
		q->got += bytes;
	}
	return 0;
}

static bool all_home(const struct reader *r)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (r->piece[i].state != PIECE_FREE)
			return false;
	return !r->hashing && r->ahead_state != AHEAD_FILLING;
}

/* All is decoded: what is ready is the request's, and when every piece is home the frame is done. */
static int drain_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;

	if (r->ready > 0) {
		take_unlocks(s, find_piece(r, PIECE_READY), q);
		return 0;
	}
	for (hash_unlocks(s, r); !s->stopped && !all_home(r); hash_unlocks(s, r))
		lock_wait(&s->lock, &s->settled);
	return s->stopped ? 0 : zstd_finish(r, zstd_check(r, q->fail), q->fail);
}

int zstd_long_go_on_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;
	struct piece *p;

	if (!zstd_await_place_unlocks(r))
		return 0;
	if (!r->ended && r->unit.at >= r->in->zstd->limit) {
		r->sum.ours = false; /* nothing of it is wanted, nor looked at */
		end_long(r);
	}
	while (!s->stopped && !r->ended && !r->mended) {
		if (!q->want->lent && !r->sum.ours && r->ready == 0)
			return fill_request_unlocks(r, q);
		if ((p = find_piece(r, PIECE_FREE)) != NULL) {
			if (fill_unlocks(r, p, q->fail) != 0)
				return -1;
		} else if (r->ready > 0) {
			take_unlocks(s, find_piece(r, PIECE_READY), q);
			return 0;
		} else if (next_to_hash(r)) {
			hash_unlocks(s, r);
		} else {
			lock_wait(&s->lock, &s->settled);
		}
	}
	return r->ended ? drain_unlocks(r, q) : 0;
}

/*
 * zstd_give: decoded bytes to records. A frame's place in the decoded input says which of its bytes
 * are skipped, which lie behind -n's limit and where records begin. It is known when the sizes of all
 * frames in front of it are; where a frame does not tell its size, those behind it wait, decoded,
 * until it is. Records that frames cut are put together here, once.
 */
#include <stdlib.h>
#include <string.h>

#include "zstd_state.h"

/* ---- places ---- */

#define FAR (NOWHERE - 1) /* where headers lie about sizes, places go no further */

void zstd_place(struct source *s, struct input *in)
{
	struct zstd_input *z = in->zstd;

	for (bool again = true; again;) {
		again = false;
		for (struct decoder *d = s->zstd->decoders; d; d = d->next) {
			if (d->in != in || d->number != z->placed)
				continue;
			if (d->at == NOWHERE)
				d->at = z->decoded;
			if (d->size == FRAME_UNKNOWN)
				continue;
			z->decoded = d->size < FAR - z->decoded ? z->decoded + d->size : FAR;
			z->placed++;
			again = true;
		}
	}
	zstd_wake(s);
}

/*
 * Waits until a frame's place is known. false: nothing is wanted any more, so it may never be. One that
 * has its place in front of -n's end is worked on even then: it was skipped, and must be right.
 */
static bool await_place(struct source *s, const struct decoder *d)
{
	while (d->at == NOWHERE && !s->stopped && s->budget > 0)
		pthread_cond_wait(&s->zstd->changed, &s->lock);
	return d->at != NOWHERE && !s->stopped;
}

bool zstd_wanted(struct source *s, struct decoder *d)
{
	const struct zstd_input *z = d->in->zstd;

	if (z->limit == UINT64_MAX || (await_place(s, d) && d->at < z->limit))
		return true;
	if (d->size == FRAME_UNKNOWN) {
		d->size = 0;
		zstd_place(s, d->in);
	}
	return false;
}

void zstd_account(struct source *s, struct zstd_input *z)
{
	const uint64_t skipped = z->decoded < s->spec.skip ? z->decoded : s->spec.skip;

	if (z->accounted)
		return;
	z->accounted = true;
	s->totals.packed += z->next - z->begin;
	s->totals.skipped += skipped;
	s->totals.bytes += skipped;
}

/* The input has no more frames and no decoder works on one. */
int zstd_finish(struct source *s, struct input *in, int rc, struct fail *fail)
{
	struct zstd_input *z = in->zstd;

	in->ended = true;
	zstd_account(s, z);
	/* Where another worker has failed, less was decoded than there is. */
	if (z->decoded < s->spec.skip && rc == 0 && !s->stopped)
		rc = fail_set(fail, STATUS_DATA, "%s: ends before the %llu bytes to skip", in->name,
			      (ull)s->spec.skip);
	/* All others were completed: only the last record can lack something. */
	for (size_t i = 0; i < z->seam_count && !s->stopped; i++)
		in->tail += z->seams[i].have;
	in->readers = 0;
	return input_settle(s, in, rc, fail);
}

bool zstd_pieces_free(const struct decoder *d)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (d->piece[i].state != FREE)
			return false;
	return true;
}

/* Takes the frame off a decoder; pieces that nobody took are not wanted. */
int zstd_done(struct source *s, struct decoder *d, int rc, struct fail *fail)
{
	struct input *in = d->in;

	for (unsigned i = 0; i < PIECES; i++)
		d->piece[i].state = d->piece[i].state == LENT ? LENT : FREE;
	d->in = NULL;
	d->busy = false;
	in->readers--;
	zstd_wake(s);
	if (in->readers == 0 && !in->zstd->finding && in->zstd->no_more)
		return zstd_finish(s, in, rc, fail);
	return rc;
}

int zstd_done_in_turn(struct source *s, struct decoder *d, struct fail *fail)
{
	if (!d->in || !d->ended || d->busy || !zstd_pieces_free(d))
		return 0;
	return zstd_done(s, d, zstd_check_end(d, fail), fail);
}

/* ---- handing out ---- */

/* n bytes of the record that has `phase` bytes in front of them. */
static int mend(struct source *s, struct input *in, uint64_t record, uint32_t phase,
		const unsigned char *bytes, size_t n, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	struct zstd_pool *p = s->zstd;
	size_t i = 0;

	while (i < z->seam_count && z->seams[i].record != record)
		i++;
	if (i == z->seam_count) {
		if (z->seam_count == z->seam_room) {
			const size_t room = 2 * z->seam_room + 16;
			struct seam *larger = realloc(z->seams, room * sizeof(*larger));
			if (!larger)
				return fail_errno(fail, "%s", in->name);
			z->seams = larger;
			z->seam_room = room;
		}
		z->seams[z->seam_count++] = (struct seam){.record = record};
	}
	struct seam *seam = &z->seams[i];
	memcpy(seam->bytes + phase, bytes, n);
	seam->have += (uint32_t)n;
	if (seam->have < s->spec.record)
		return 0;
	if (p->mended_bytes + s->spec.record > p->mended_room) {
		const size_t room = 2 * p->mended_room + 4096;
		unsigned char *larger = realloc(p->mended, room);
		if (!larger)
			return fail_errno(fail, "%s", in->name);
		p->mended = larger;
		p->mended_room = room;
	}
	memcpy(p->mended + p->mended_bytes, seam->bytes, s->spec.record);
	p->mended_bytes += s->spec.record;
	*seam = z->seams[--z->seam_count];
	return 0;
}

/* Records that were put together, into a request. */
void zstd_take_mended(struct source *s, struct request *r)
{
	struct zstd_pool *p = s->zstd;
	size_t n = r->cap - r->got < p->mended_bytes ? r->cap - r->got : p->mended_bytes;

	if (n == 0)
		return;
	n -= n % s->spec.record;
	if (s->budget < n / s->spec.record)
		n = (size_t)s->budget * s->spec.record;
	memcpy(r->buffer + r->got, p->mended + p->mended_bytes - n, n);
	p->mended_bytes -= n;
	r->got += n;
	if (s->budget != UINT64_MAX)
		s->budget -= n / s->spec.record;
}

/*
 * n decoded bytes whose place is `at`: those that are skipped or not wanted are passed over, parts
 * of records mended; *from and *length say which are whole records, at most `most` bytes of them,
 * which whoever hands them out accounts for. Returns how many of the n were dealt with, or -1.
 */
static int64_t sort_out(struct source *s, struct input *in, uint64_t at, const unsigned char *bytes, size_t n,
			size_t most, size_t *from, size_t *length, struct fail *fail)
{
	const uint64_t skip = s->spec.skip, limit = in->zstd->limit;
	const uint32_t record = s->spec.record;
	size_t i = at < skip ? (skip - at < n ? (size_t)(skip - at) : n) : 0;
	size_t end = at + n <= limit ? n : limit > at ? (size_t)(limit - at) : 0;

	*from = *length = 0;
	if (i >= end)
		return (int64_t)n;
	const uint32_t phase = (uint32_t)((at + i - skip) % record);
	if (phase > 0) {
		const size_t head = end - i < record - phase ? end - i : record - phase;
		if (mend(s, in, (at + i - skip) / record, phase, bytes + i, head, fail) != 0)
			return -1;
		s->totals.bytes += head;
		i += head;
	}
	*from = i;
	*length = (end - i) / record * record;
	if (*length > most) {
		*length = most;
		end = i + most;
	}
	i += *length;
	if (i == end)
		return (int64_t)(*length == most && end < n && at + end < limit ? i : n);
	if (mend(s, in, (at + i - skip) / record, 0, bytes + i, end - i, fail) != 0)
		return -1;
	s->totals.bytes += end - i;
	return (int64_t)n;
}

/* Copies what is the caller's alone, without the lock. */
static void copy_out(struct source *s, struct request *r, const unsigned char *from, size_t length)
{
	if (length == 0)
		return;
	pthread_mutex_unlock(&s->lock);
	memmove(r->buffer + r->got, from, length); /* it may have been decoded there */
	pthread_mutex_lock(&s->lock);
	r->got += length;
}

/*
 * Samples of a whole frame that lie at `bytes`: lent, or as far as there is room in the request,
 * copied or moved.
 */
static int give_whole(struct source *s, struct decoder *d, const unsigned char *bytes, struct request *r)
{
	size_t from, length;
	const size_t n = d->out_end - d->out_at;
	const size_t most = r->lease ? n : r->cap - r->got;
	const bool wanted = d->at < d->in->zstd->limit;
	const int64_t used = sort_out(s, d->in, d->at, bytes, n, most, &from, &length, r->fail);

	if (used < 0)
		return zstd_done(s, d, -1, r->fail);
	d->out_at += (size_t)used;
	d->at += (uint64_t)used;
	s->totals.bytes += length;
	if (s->budget != UINT64_MAX)
		s->budget -= length / s->spec.record;
	if (r->lease && length > 0) {
		struct xxh64 *const hash = d->check.ours ? &d->check.hash : NULL;
		if (hash)
			xxh64_add(hash, bytes, from);
		*r->lease = (struct source_lease){.data = bytes + from, .bytes = length, .hash = hash, .decoder = d};
		return 0; /* busy until the lease comes back */
	}
	if (wanted && zstd_check_whole(s, d, r->fail) != 0) /* there was nothing to lend */
		return zstd_done(s, d, -1, r->fail);
	copy_out(s, r, bytes + from, length);
	d->busy = false;
	if (d->out_at == d->out_end)
		return zstd_done(s, d, 0, r->fail);
	zstd_wake(s);
	return 0;
}

bool zstd_fits_request(const struct decoder *d, const struct request *r)
{
	return !r->lease && d->frame.bound <= r->cap - r->got;
}

/*
 * Works on a whole frame that is the caller's: decodes it, where it can straight into the request,
 * finds its place, hands it out.
 */
int zstd_work_whole(struct source *s, struct decoder *d, struct request *r)
{
	unsigned char *into = !d->decoded && zstd_fits_request(d, r) ? r->buffer + r->got : NULL;
	struct fail bad;

	if (!d->decoded) {
		/* A lane may leave behind what was to be decoded into its slot. */
		if (!into && d->direct) {
			const uint64_t need = zstd_whole_bytes(&d->frame, false);
			d->direct = false;
			d->memory = d->memory < need ? need : d->memory;
			if (zstd_suit(d, r->fail) != 0)
				return zstd_done(s, d, -1, r->fail);
		}
		bad.status = STATUS_OK;
		zstd_check_begin(d, r->lease != NULL);
		pthread_mutex_unlock(&s->lock);
		const int rc = zstd_decode_whole(d, into, r->cap - r->got, &d->out_end, &bad);
		pthread_mutex_lock(&s->lock);
		if (rc != 0)
			return zstd_done(s, d, zstd_wanted(s, d) ? fail_pass(r->fail, &bad) : 0, r->fail);
		d->decoded = true;
		d->size = d->out_end;
		zstd_place(s, d->in);
	}
	if (!await_place(s, d))
		return zstd_done(s, d, 0, r->fail);
	if (d->out_at == d->out_end) /* an empty frame has no buffer either */
		return zstd_done(s, d, d->at < d->in->zstd->limit ? zstd_check_whole(s, d, r->fail) : 0, r->fail);
	return give_whole(s, d, into ? into : d->out + d->out_at, r);
}

struct piece *zstd_free_piece(struct decoder *d)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (d->piece[i].state == FREE)
			return &d->piece[i];
	return NULL;
}

/* The frame in turn has been decoded to its end, or as far as is wanted. */
static void end_in_turn(struct source *s, struct decoder *d)
{
	struct input *in = d->in;
	struct zstd_input *z = in->zstd;

	d->ended = true;
	if (d->attached) { /* the input goes on behind it */
		if (in->is_file)
			z->next = d->read_at - (d->source.size - d->source.pos);
		in->next = z->next;
		z->finding = false;
	}
	if (d->size == FRAME_UNKNOWN) {
		d->size = d->at - z->decoded; /* its place was z->decoded: nobody behind it has one */
		zstd_place(s, in);
	}
	zstd_wake(s);
}

/*
 * Decodes up to `room` bytes of a frame in turn into `to`, *got of them; *from and *length say which
 * are whole records. 1: not now, the source was stopped. The caller's alone.
 */
static int decode_into(struct source *s, struct decoder *d, unsigned char *to, size_t room, size_t *got,
		       size_t *from, size_t *length, struct fail *fail)
{
	struct input *in = d->in;
	const uint64_t skip = s->spec.skip, limit = in->zstd->limit;
	bool ended;

	*got = *from = *length = 0;
	if (d->at < skip && skip - d->at < room)
		room = (size_t)(skip - d->at);
	if (limit - d->at < room)
		room = (size_t)(limit - d->at);
	pthread_mutex_unlock(&s->lock);
	const int rc = zstd_decode_some(s, d, to, room, got, &ended, fail);
	pthread_mutex_lock(&s->lock);
	if (rc != 0) {
		s->stopped = true;
		return rc;
	}
	if (sort_out(s, in, d->at, to, *got, room, from, length, fail) < 0)
		return -1;
	d->at += *got;
	if (ended || d->at >= limit)
		end_in_turn(s, d);
	return 0;
}

/* Bytes to where the next record begins; 0: there, or in front of what is skipped. */
static size_t to_record(const struct source *s, const struct decoder *d)
{
	const uint32_t record = s->spec.record;
	const uint32_t phase = d->at > s->spec.skip ? (uint32_t)((d->at - s->spec.skip) % record) : 0;

	return phase > 0 ? record - phase : 0;
}

static unsigned ready_pieces(const struct decoder *d)
{
	unsigned n = 0;

	for (unsigned i = 0; i < PIECES; i++)
		n += d->piece[i].state == READY;
	return n;
}

/* Decodes up to where the next records begin or into a piece. */
static int decode_piece(struct source *s, struct decoder *d, struct piece *p, struct fail *fail)
{
	const size_t torn = to_record(s, d);
	const size_t room = torn > 0 ? torn : PIECE_BYTES - PIECE_BYTES % s->spec.record;
	const uint64_t begin = d->made;
	size_t got, from, length;

	if (zstd_grow(&p->data, &p->room, PIECE_BYTES) != 0)
		return fail_errno(fail, "%s", d->in->name);
	const int rc = decode_into(s, d, p->data, room, &got, &from, &length, fail);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if (length == 0) {
		zstd_check_bytes(s, d, begin, p->data, got);
		return 0;
	}
	*p = (struct piece){.data = p->data, .room = p->room, .from = from, .bytes = length,
			    .begin = begin, .decoded = got, .state = READY};
	/* To wake a sleeper costs the decoder some microseconds: for two pieces as much as for one. */
	if (s->zstd->waiting > 0 && (s->zstd->soon || ready_pieces(d) > 1))
		zstd_wake(s);
	return 0;
}

/* Decodes into a request's own buffer: nobody else need count it. */
static int decode_request(struct source *s, struct decoder *d, struct request *r)
{
	const uint32_t record = s->spec.record;

	while (!s->stopped && !d->ended && r->got < r->cap) {
		unsigned char *to = r->buffer + r->got;
		const size_t torn = to_record(s, d), room = torn + (r->cap - r->got - torn) / record * record;
		const uint64_t begin = d->made;
		size_t got, from, length;
		const int rc = decode_into(s, d, to, room, &got, &from, &length, r->fail);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
		zstd_check_bytes(s, d, begin, to, got);
		if (from > 0 && length > 0)
			memmove(to, to + from, length);
		r->got += length;
		s->totals.bytes += length;
		if (s->budget != UINT64_MAX)
			s->budget -= length / record;
	}
	return 0;
}

/*
 * Works on a frame in turn: as long as there is room for what it decodes. With others who count it
 * stays with the decoder, whose window is in this processor's cache; alone it comes back to count.
 */
int zstd_work_in_turn(struct source *s, struct decoder *d, struct request *r)
{
	struct piece *p;
	int rc = 0;

	if (!await_place(s, d))
		return zstd_done(s, d, 0, r->fail);
	if (!d->ended && d->at >= d->in->zstd->limit)
		end_in_turn(s, d);
	if (!r->lease)
		rc = decode_request(s, d, r);
	while (r->lease && rc == 0 && !s->stopped && !d->ended && (p = zstd_free_piece(d)) != NULL)
		rc = decode_piece(s, d, p, r->fail);
	if (rc != 0)
		return zstd_done(s, d, -1, r->fail);
	d->busy = false;
	if (s->stopped)
		return zstd_done(s, d, 0, r->fail);
	if (s->zstd->waiting > 0) /* they can go on with it */
		zstd_wake(s);
	return zstd_done_in_turn(s, d, r->fail);
}

/* Samples of a frame in turn that are ready: lent, or copied as far as there is room. */
bool zstd_take_piece(struct source *s, struct request *r, int *rc)
{
	struct decoder *d = s->zstd->decoders;
	struct piece *p = NULL;

	*rc = 0;
	for (; d && !p; d = p ? d : d->next)
		for (unsigned i = 0; i < PIECES && d->in && !p; i++)
			if (d->piece[i].state == READY)
				p = &d->piece[i];
	if (!p)
		return false;
	size_t n = p->bytes;
	if (!r->lease && n > r->cap - r->got)
		n = r->cap - r->got;
	s->totals.bytes += n;
	if (s->budget != UINT64_MAX)
		s->budget -= n / s->spec.record;
	if (r->lease) {
		*r->lease = (struct source_lease){.data = p->data + p->from, .bytes = n, .decoder = d, .piece = p};
		p->state = LENT;
		zstd_check_pieces(s, d);
		return true;
	}
	p->state = LENT;
	copy_out(s, r, p->data + p->from, n);
	p->from += n;
	p->bytes -= n;
	if (p->bytes > 0) {
		p->state = READY;
		zstd_wake(s); /* who looked meanwhile saw none */
	} else {
		zstd_check_counted(s, d, p);
	}
	*rc = zstd_done_in_turn(s, d, r->fail);
	return true;
}

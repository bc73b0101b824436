/*
 * zstd_give: decoded samples to whoever asks for them, lent where they lie, decoded straight into his
 * buffer, or copied; and what ends when nothing of a frame is left.
 */
#include <string.h>

#include "zstd_state.h"

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
	const int64_t used = zstd_sort_out(s, d->in, d->at, bytes, n, most, &from, &length, r->fail);

	if (used < 0)
		return zstd_done(s, d, -1, r->fail);
	d->out_at += (size_t)used;
	d->at += (uint64_t)used;
	s->totals.bytes += length;
	if (s->budget != UINT64_MAX)
		s->budget -= length / s->spec.record;
	if (r->lease && length > 0) {
		struct xxh64 *const hash = d->check.ours ? &d->check.hash : NULL;
		if (hash && from > 0) {
			pthread_mutex_unlock(&s->lock);
			xxh64_add(hash, bytes, from);
			pthread_mutex_lock(&s->lock);
		}
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
		zstd_check_begin(d, r->lease && d->frame.joined == 0); /* whoever decodes it decides, not who began it */
		pthread_mutex_unlock(&s->lock);
		const int rc = zstd_decode_whole(d, into, r->cap - r->got, &d->out_end, &bad);
		pthread_mutex_lock(&s->lock);
		if (rc != 0)
			return zstd_done(s, d, zstd_wanted(s, d) ? fail_pass(r->fail, &bad) : 0, r->fail);
		d->decoded = true;
		d->size = d->out_end;
		zstd_place(s, d->in);
	}
	if (!zstd_await_place(s, d))
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
	if (zstd_sort_out(s, in, d->at, to, *got, room, from, length, fail) < 0)
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

	if (!zstd_await_place(s, d))
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

/* SPDX-License-Identifier: MIT */
/* zstd_read: a reader's way through a unit: cut, decoded, handed out, done. */
#include "input/zstd_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Before a reader decodes so much it calls for one more worker: all of them would else be there only
 * after a few units' time.
 */
#define LARGE ((uint64_t)1 << 20)

int zstd_begin(struct source *s, struct input *in, uint64_t offset, uint64_t size, struct fail *fail)
{
	struct zstd *z = calloc(1, sizeof(*z));

	in->zstd = z;
	if (z && !in->is_file)
		z->stage = malloc(STAGE_BYTES);
	if (z && in->header.chunks && in->bound != NO_END)
		z->rest = malloc(REST_BYTES);
	if (!z || (!in->is_file && !z->stage) || (in->header.chunks && in->bound != NO_END && !z->rest))
		return fail_errno(fail, "%s", in->name);
	z->begin = z->next = z->hinted = offset;
	z->size = size;
	z->limit = s->budget > (UINT64_MAX - in->first) / s->spec.record ? UINT64_MAX
									 : in->first + s->budget * s->spec.record;
	/* Where samples end before, -n does not end here, and all that follows them is looked at. */
	if (z->limit > in->bound)
		z->limit = UINT64_MAX;
	return in->sliced ? zstd_begin_slice(s, in, fail) : 0;
}

void zstd_free(struct zstd *z)
{
	if (!z)
		return;
	free(z->rest);
	(void)zstd_seams_free(z->seams);
	free(z->stage);
	free(z);
}

struct reader *zstd_reader_new(struct source *s)
{
	struct reader *r = calloc(1, sizeof(*r));

	if (r)
		r->source = s;
	return r;
}

void zstd_reader_free(struct reader *r)
{
	/* Only the source's stop leaves a unit undone, and even then every piece comes home. */
	for (unsigned i = 0; i < PIECES; i++) {
		assert(r->piece[i].state != PIECE_LENT && r->piece[i].state != PIECE_FILLING && !r->hashing);
		r->piece[i].state = PIECE_FREE;
	}
	r->state = READER_IDLE;
	zstd_release(r);
	(void)zstd_seams_free(r->mended);
	free(r);
}

bool zstd_in_hand(const struct reader *r)
{
	return r->state != READER_IDLE || r->mended;
}

/* ---- the end of a unit, and of an input ---- */

int zstd_finish(struct reader *r, int rc, struct fail *fail)
{
	struct source *s = r->source;
	struct input *in = r->in;

	if (r->state == READER_LONG) {
		s->rings--;
		source_call_all(s);
	}
	r->state = READER_IDLE;
	r->in = NULL;
	return input_leave(s, in, rc, fail);
}

/* A unit that is wrong: an error, unless -n wants nothing of it. */
static int refuse_unlocks(struct reader *r, const struct fail *bad, struct fail *fail)
{
	const struct zstd *z = r->in->zstd;

	if (z->limit == UINT64_MAX || (zstd_await_place_unlocks(r) && r->unit.at < z->limit)) {
		fail_pass(fail, bad);
		return zstd_finish(r, -1, fail);
	}
	if (r->unit.content == UNKNOWN) {
		r->unit.content = 0;
		zstd_place(r->source, r->in);
	}
	return zstd_finish(r, 0, fail);
}

void zstd_account(struct source *s, struct input *in)
{
	struct zstd *z = in->zstd;
	const uint64_t begin = in->header.begin, end = z->decoded < in->first ? z->decoded : in->first;
	const uint64_t skipped = end > begin ? end - begin : 0;

	if (z->accounted)
		return;
	z->accounted = true;
	s->totals.packed += z->next - z->begin;
	if (in->sliced) /* as of a file, when it was begun */
		return;
	s->totals.skipped += skipped;
	s->totals.bytes += skipped;
}

int zstd_end(struct source *s, struct input *in, struct fail *fail)
{
	struct zstd *z = in->zstd;

	zstd_account(s, in);
	if (in->sliced && z->decoded < in->until)
		return part_changed(in, fail);
	if (z->decoded < in->first)
		return input_too_skipped(s, in, fail);
	/* All other records were completed: only the last one can lack something. */
	for (const struct seam *seam = z->seams; seam; seam = seam->next)
		in->tail += seam->have;
	s->seams -= zstd_seams_free(z->seams);
	z->seams = NULL;
	if (z->decoded >= z->limit) /* what comes after -n's last record was not looked at */
		return 0;
	in->cut = in->bound != NO_END && z->decoded < in->bound;
	if (z->decoded <= in->bound)
		return 0;
	const uint64_t rest = z->decoded - in->bound;
	return z->rest ? input_check_rest(in, z->rest, rest < REST_BYTES ? (size_t)rest : REST_BYTES, fail)
		       : input_too_long(in, fail);
}

/* ---- cutting ---- */

int zstd_cut_unlocks(struct reader *r, struct input *in, struct request *q)
{
	struct source *s = r->source;
	struct zstd *z = in->zstd;
	const bool placed = z->placed == z->units;
	enum find found = FIND_NONE;
	struct fail bad;

	bad.status = STATUS_OK;
	in->state = INPUT_BUSY;
	r->in = in;
	r->unit = (struct unit){.number = UNKNOWN, .content = UNKNOWN, .at = placed ? z->decoded : UNKNOWN};
	r->sum = (struct sum){.ours = q->want->lent};
	r->packed_at = r->packed_end = r->out_at = r->out_end = 0;
	r->attached = r->ended = false;
	r->made = r->hashed = 0;
	/* After -n's last record nothing is looked for: the last frame may have been left inside. */
	if (!placed || z->decoded < z->limit) {
		lock_drop(&s->lock);
		found = zstd_find(r, in, q, &bad);
		lock_take(&s->lock);
	}
	in->next = z->next; /* where a redirected file is left */
	s->stopped |= found == FIND_STOPPED;
	if (s->stopped || found == FIND_NONE) {
		r->in = NULL;
		in->state = INPUT_ENDED;
		return input_leave(s, in, 0, q->fail);
	}
	const bool more = !in->is_file || r->attached || z->next < z->size;
	r->unit.number = z->units++;
	r->state = found == FIND_LONG ? READER_LONG : READER_WHOLE;
	s->rings += found == FIND_LONG;
	in->state = found == FIND_BAD ? INPUT_ENDED : r->attached ? INPUT_BUSY : INPUT_FREE;
	zstd_place(s, in);
	if (found == FIND_BAD)
		return refuse_unlocks(r, &bad, q->fail);
	source_call(s);
	xxh64_begin(&r->sum.hash);
	r->sum.ours &= found == FIND_LONG || r->unit.frames == 1;
	if (found == FIND_LONG && zstd_begin_long(r, q->fail) != 0)
		return -1;
	if (more && s->spec.more && r->unit.first.bound >= LARGE) { /* or it is unknown */
		lock_drop(&s->lock);
		s->spec.more(s->spec.arg);
		lock_take(&s->lock);
	}
	return 0;
}

/* ---- a unit that is decoded in one call ---- */

/* The bytes that were lent, or copied, are done; so may be the unit. */
static int part_done_unlocks(struct reader *r, struct fail *fail)
{
	struct source *s = r->source;
	struct sum *sum = &r->sum;

	r->out_at = r->out_end;
	if (r->packed_at < r->packed_end)
		return 0;
	if (r->unit.at - r->made >= r->in->zstd->limit) /* nothing of it is wanted */
		return zstd_finish(r, 0, fail);
	if (sum->ours && sum->hash.bytes < r->made) {
		lock_drop(&s->lock);
		xxh64_add(&sum->hash, r->out + sum->hash.bytes, (size_t)(r->made - sum->hash.bytes));
		lock_take(&s->lock);
	}
	return zstd_finish(r, zstd_check(r, fail), fail);
}

/* Decodes frames of the unit to `to`, *n bytes of them. */
static int decode_part_unlocks(struct reader *r, unsigned char *to, size_t room, size_t *n, struct fail *bad)
{
	struct source *s = r->source;
	int rc = 0;

	lock_drop(&s->lock);
	if (r->packed_end == 0)
		rc = zstd_read_packed(r, bad);
	/* Frames of no bytes too are decoded to somewhere: no address is made of NULL. */
	if (rc == 0 && !to && zstd_grow(&r->out, &r->out_room, r->unit.most > 0 ? (size_t)r->unit.most : 1) != 0)
		rc = fail_errno(bad, "%s", r->in->name);
	if (rc == 0)
		rc = zstd_decode_frames(r, to ? to : r->out, to ? room : r->out_room, n, bad);
	lock_take(&s->lock);
	if (rc != 0)
		return -1;
	r->made += *n;
	if (r->packed_at == r->packed_end) {
		r->unit.content = r->made;
		zstd_place(s, r->in);
	}
	return 0;
}

/* What was decoded and is not handed out: lent, or copied as far as there is room. */
static int hand_out_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;
	const unsigned char *const from = r->out + r->out_at;
	const size_t n = r->out_end - r->out_at, room = q->cap - q->got;
	struct sum *sum = &r->sum;

	if (n > 0 && q->want->lent) {
		/* The caller may add what it reads to the checksum, if all before it was added. */
		if (sum->ours && sum->hash.bytes < r->out_at) {
			lock_drop(&s->lock);
			xxh64_add(&sum->hash, r->out + sum->hash.bytes, (size_t)(r->out_at - sum->hash.bytes));
			lock_take(&s->lock);
		}
		*q->chunk = (struct chunk){.data = from,
					   .bytes = n,
					   .fd = -1,
					   .input = r->in,
					   .hash = sum->ours && sum->hash.bytes == r->out_at ? &sum->hash : NULL};
		return 0;
	}
	const size_t some = n < room ? n : room;
	if (some > 0) {
		lock_drop(&s->lock);
		memcpy((unsigned char *)q->want->buffer + q->got, from, some);
		lock_take(&s->lock);
	}
	q->got += some;
	r->out_at += some;
	return r->out_at == r->out_end ? part_done_unlocks(r, q->fail) : 0;
}

static int whole_go_on_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;
	const bool direct = !q->want->lent && r->unit.most <= q->cap - q->got;
	unsigned char *const to = direct ? (unsigned char *)q->want->buffer + q->got : NULL;
	size_t n, from, bytes;
	struct fail bad;

	if (r->out_at < r->out_end)
		return hand_out_unlocks(r, q);
	if (!q->want->lent && !direct && q->got > 0) { /* all of it fits the next request, most likely */
		q->enough = true;
		return 0;
	}
	bad.status = STATUS_OK;
	r->sum.ours &= q->want->lent;
	if (decode_part_unlocks(r, to, q->cap - q->got, &n, &bad) != 0)
		return refuse_unlocks(r, &bad, q->fail);
	if (!zstd_await_place_unlocks(r))
		return 0;
	if (zstd_sort_out_unlocks(r, direct ? to : r->out, n, &from, &bytes, q->fail) != 0)
		return zstd_finish(r, -1, q->fail);
	if (!direct) {
		r->out_at = from;
		r->out_end = from + bytes;
		return hand_out_unlocks(r, q);
	}
	if (from > 0 && bytes > 0) {
		lock_drop(&s->lock);
		memmove(to, to + from, bytes);
		lock_take(&s->lock);
	}
	q->got += bytes;
	return part_done_unlocks(r, q->fail);
}

int zstd_go_on_unlocks(struct reader *r, struct request *q)
{
	if (r->mended) {
		zstd_hand_out_mended_unlocks(r, q);
		return 0;
	}
	return r->state == READER_LONG ? zstd_long_go_on_unlocks(r, q) : whole_go_on_unlocks(r, q);
}

int zstd_done_unlocks(struct reader *r, struct chunk *chunk, struct fail *fail)
{
	if (!chunk->piece)
		return part_done_unlocks(r, fail);
	zstd_piece_done_unlocks(r->source, chunk->piece);
	return 0;
}

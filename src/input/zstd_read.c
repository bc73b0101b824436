/* SPDX-License-Identifier: MIT */
/*
 * zstd_read: a compressed input and its readers: how they begin, how units are cut off, how it
 * ends.
 */
#include "input/zstd_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*
 * Before a reader decodes so much it calls for one more worker: all of them would else be there
 * only after a few units' time.
 */
#define LARGE ((uint64_t)1 << 20)

int zstd_begin(struct source *s, struct input *in, uint64_t offset, uint64_t size,
	       struct fail *fail)
{
	struct zstd *z = calloc(1, sizeof(*z));

	in->zstd = z;
	if (z)
		z->window = malloc(WINDOW_BYTES);
	if (z && in->header.chunks && in->bound != NO_END)
		z->rest = malloc(REST_BYTES + INPUT_END_BYTES);
	if (!z || !z->window || (in->header.chunks && in->bound != NO_END && !z->rest))
		return fail_errno(fail, "%s", in->name);
	z->next = z->hinted = z->window_at = offset;
	z->begin = in->is_file ? offset : 0;
	z->size = size;
	z->limit = s->budget > (UINT64_MAX - in->first) / s->spec.record
			   ? UINT64_MAX
			   : in->first + s->budget * s->spec.record;
	/*
	 * Where samples end before, -n does not end here, and all that follows them is looked at.
	 */
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
	free(z->window);
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
		assert(r->piece[i].state != PIECE_LENT && r->piece[i].state != PIECE_FILLING &&
		       !r->hashing);
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

int zstd_finish(struct reader *r, struct fail *fail)
{
	const int rc = zstd_check(r, fail);
	struct source *s = r->source;
	struct input *in = r->in;

	if (!r->unit.whole) {
		s->rings--;
		source_call_all(s);
	}
	r->state = READER_IDLE;
	r->in = NULL;
	return input_leave(s, in, rc, fail);
}

void zstd_account(struct source *s, struct input *in)
{
	struct zstd *z = in->zstd;
	const uint64_t begin = in->header.begin,
		       end = z->decoded < in->first ? z->decoded : in->first;
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
	if (!z->rest)
		return input_too_long(in, fail);
	const bool end = in->header.end <= z->decoded - INPUT_END_BYTES;
	return input_check_rest(in, z->rest, rest < REST_BYTES ? (size_t)rest : REST_BYTES,
				end ? z->rest + REST_BYTES : NULL, fail);
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
	r->unit = (struct unit){
		.number = UNKNOWN, .content = UNKNOWN, .at = placed ? z->decoded : UNKNOWN};
	r->sum = (struct sum){.ours = q->want->lent};
	r->packed_at = r->packed_end = 0;
	r->made = 0;
	/*
	 * After -n's last record nothing is looked for: the last frame may have been left inside.
	 */
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
	r->unit.number = z->units++;
	r->unit.whole = found != FIND_LONG;
	const bool attached = zstd_attached(&r->unit),
		   more = !in->is_file || attached || z->next < z->size;
	r->state = READER_DECODING;
	s->rings += found == FIND_LONG;
	in->state = found == FIND_BAD ? INPUT_ENDED : attached ? INPUT_BUSY : INPUT_FREE;
	zstd_place(s, in);
	if (found == FIND_BAD)
		return zstd_refuse_unlocks(r, &bad, q->fail);
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

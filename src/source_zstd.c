/*
 * source_zstd: compressed inputs. Frames are found without decoding them, one finder at a time, and
 * decoded by whoever asks for samples.
 *
 *   whole    a frame that one worker's share of the memory holds, compressed and decoded, is
 *            decoded at once, beside others, and its samples are lent where they lie
 *   in turn  any other is decoded piece by piece: one worker stays with it as long as others take
 *            the pieces to count them. In a file such frames go side by side too; in a stream the
 *            next one begins where this one ends
 */
#include <sched.h>
#include <stdlib.h>

#include "clock.h"
#include "zstd_state.h"

/*
 * Whoever has a large frame to decode calls for the next worker first: all of them would else be
 * there only after a few frames' time. Without the lock.
 */
#define LARGE ((uint64_t)1 << 20)

static void call_another(const struct source *s, const struct frame *f)
{
	if (s->spec.more && f->bound >= LARGE) /* or it is unknown */
		s->spec.more(s->spec.arg);
}

/*
 * Decode at once what a worker's share of the memory holds; but what is wanted in a buffer, and is
 * larger, piece by piece straight into that.
 */
static bool at_once(const struct source *s, const struct frame *f, const struct request *r)
{
	return zstd_fits_whole(s, f, !r->lease) && (r->lease || f->bound <= r->cap);
}

/*
 * How much of a frame that a stream begins -n may want, its place being known or not: all frames in
 * front of it were gathered, so that it lies no further than they can reach.
 */
static uint64_t wanted_of(const struct source *s, const struct decoder *d)
{
	const struct zstd_input *z = d->in->zstd;
	uint64_t far = z->decoded;

	if (z->limit == UINT64_MAX)
		return UINT64_MAX;
	for (const struct decoder *e = s->zstd->decoders; e; e = e->next) {
		if (e == d || e->in != d->in || e->number < z->placed)
			continue;
		const uint64_t most = e->size != FRAME_UNKNOWN ? e->size : e->frame.bound;
		far = most < NOWHERE - far ? far + most : NOWHERE;
	}
	if (d->at != NOWHERE)
		far = d->at;
	return far < z->limit ? z->limit - far : 0;
}

/* Gives z->frame to a decoder, when there is one for it: *out, busy. */
static int start(struct source *s, struct input *in, struct decoder **out, const struct request *r)
{
	struct zstd_input *z = in->zstd;
	struct fail *fail = r->fail;
	const struct frame *f = &z->frame;

	if (f->joined > 0 && !at_once(s, f, r)) {
		zstd_part(z);
		in->next = z->next;
	}
	const bool whole = at_once(s, f, r);
	const uint64_t share = zstd_share(s);
	const uint64_t least = whole ? zstd_whole_bytes(f, !r->lease) : DECODER_BYTES + zstd_window(&f->header);
	/* How large a stream's frame is will show when it is gathered. */
	const uint64_t need = in->is_file || least > share ? least : share;
	struct decoder *d = zstd_decoder_get(s, need);
	struct fail bad;

	*out = NULL;
	if (!d)
		return zstd_pool_idle(s->zstd) ? fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", in->name) : 0;
	d->in = in;
	d->busy = true;
	d->owner = pthread_self();
	d->frame = *f;
	d->number = z->frames++;
	d->size = f->header.content;
	d->made = 0;
	d->at = NOWHERE;
	d->whole = whole;
	d->direct = whole && !r->lease;
	d->most = zstd_gather_most(s, &f->header);
	d->attached = d->decoded = d->ended = false;
	d->out_at = d->out_end = 0;
	d->read_at = f->offset;
	d->read_end = f->stored == FRAME_UNKNOWN ? UINT64_MAX : f->offset + f->stored;
	d->source = (ZSTD_inBuffer){.src = NULL};
	zstd_check_begin(d, r->lease != NULL);
	ZSTD_DCtx_reset(d->context, ZSTD_reset_session_only);
	z->found_one = false;
	in->readers++;
	zstd_place(s, in);
	*out = d;
	if (in->is_file) {
		if (zstd_suit(d, fail) != 0)
			return -1;
		d->attached = f->stored == FRAME_UNKNOWN;
		z->finding = d->attached;
		if (d->attached || z->next < z->size) {
			pthread_mutex_unlock(&s->lock);
			call_another(s, &d->frame);
			pthread_mutex_lock(&s->lock);
		}
		return 0;
	}
	z->finding = true;
	bad.status = STATUS_OK;
	/* -n may end in it: then nobody waits for the rest of it. */
	const uint64_t enough = wanted_of(s, d);
	pthread_mutex_unlock(&s->lock);
	const int rc = zstd_gather(s, d, enough, &bad);
	if (rc == 0 && !d->attached && z->limit == UINT64_MAX)
		zstd_gather_more(d, r->lease ? UINT64_MAX : r->cap);
	if (rc == 0)
		call_another(s, &d->frame);
	pthread_mutex_lock(&s->lock);
	if (d->frame.joined > 0)
		zstd_place_joined(d);
	if (rc < 0) {
		*out = NULL;
		z->no_more = true;
		if (zstd_wanted(s, d))
			return fail_pass(fail, &bad);
		z->finding = false;
		return zstd_done(s, d, 0, fail);
	}
	d->whole = rc == 0 && (d->frame.joined > 0 || at_once(s, &d->frame, r)) &&
		   zstd_reserve(s, d, zstd_whole_bytes(&d->frame, !r->lease));
	d->direct = d->whole && !r->lease;
	if (rc == 0 && zstd_suit(d, fail) != 0)
		return -1;
	if (rc == 0 && !d->whole)
		zstd_check_hide(d, d->packed, d->source.size);
	z->finding = d->attached;
	zstd_wake(s);
	s->stopped |= rc != 0;
	return 0;
}

/* May the next frame of this input be looked for, or given to a decoder? */
static bool more_frames(const struct zstd_input *z)
{
	return !z->finding && !z->no_more;
}

/* The next frame of the current input in a decoder, or *out = NULL: none, or not now. */
static int next_frame(struct source *s, struct input *in, struct decoder **out, const struct request *r)
{
	struct zstd_input *z = in->zstd;
	struct fail *fail = r->fail;
	int rc = 0;

	*out = NULL;
	/* What lies behind -n's limit is nobody's: the last frame may have been left inside. */
	z->no_more |= z->placed == z->frames && z->decoded >= z->limit;
	if (!z->no_more && !z->found_one && z->bad.status == STATUS_OK) {
		z->finding = true;
		pthread_mutex_unlock(&s->lock);
		rc = zstd_find(s, in, &z->bad);
		pthread_mutex_lock(&s->lock);
		z->finding = false;
		z->found_one = rc == 0;
		z->no_more = rc == 2;
		in->next = z->next; /* where a redirected file is left */
		zstd_wake(s);
		s->stopped |= rc == 1;
		if (rc == 1)
			return 0;
	}
	z->no_more |= z->placed == z->frames && z->decoded >= z->limit;
	if (!z->no_more && z->bad.status == STATUS_OK)
		return start(s, in, out, r);
	if (!z->no_more && (z->placed == z->frames || z->limit == UINT64_MAX))
		return fail_pass(fail, &z->bad);
	if (!z->no_more)
		return 0; /* whether it is wanted shows when the frames in front of it have their places */
	if (in->readers == 0)
		return zstd_finish(s, in, 0, fail);
	/* With a limit the next input waits until it is known what this one leaves of it. */
	if (s->budget == UINT64_MAX) {
		in->ended = true;
		return input_settle(s, in, 0, fail);
	}
	return 0;
}

/*
 * A decoder that can go on: one's own, or with any, whoever's. One that does not tell its size comes
 * first, because the frames behind it wait for that; held_up: only such a one.
 */
static struct decoder *pick(const struct source *s, bool any, bool held_up)
{
	struct decoder *found = NULL, *first = NULL;

	for (struct decoder *d = s->zstd->decoders; d; d = d->next) {
		const bool own = pthread_equal(d->owner, pthread_self());
		if (!d->in || d->busy || (!own && (!any || (d->direct && !d->decoded))) ||
		    (!d->whole && (d->ended || !zstd_free_piece(d))))
			continue;
		if (d->size == FRAME_UNKNOWN && (!first || d->number < first->number))
			first = d;
		if (!held_up)
			found = d;
	}
	return first ? first : found;
}

bool zstd_pending(const struct source *s)
{
	return s->zstd && (!zstd_pool_idle(s->zstd) || s->zstd->mended_bytes > 0);
}

/* Nothing is being found or decoded, or there is an input that can be read meanwhile. */
static bool nothing_to_wait_for(const struct source *s)
{
	if (s->current)
		return !s->current->zstd;
	return !zstd_pending(s) || s->next_path < s->spec.path_count;
}

/* The next frame of the current input, where it is zstd's. *again: look anew, things have changed. */
static int try_next_frame(struct source *s, struct decoder **d, bool *again, const struct request *r)
{
	struct input *in = s->current;

	*again = false;
	if (!in || !in->zstd || !more_frames(in->zstd))
		return 0;
	const int rc = next_frame(s, in, d, r);
	/* The input may be gone. */
	*again = rc == 0 && !*d &&
		 (s->current != in || (more_frames(in->zstd) && !in->zstd->found_one && in->zstd->bad.status == STATUS_OK));
	return rc;
}

/*
 * To wake a sleeper takes longer than to decode a piece of samples that repeat, and whoever wakes him
 * pays too: where the last change came soon, the next one is first waited for awake.
 */
#define SOON 100e-6

static void await_change(struct source *s)
{
	struct zstd_pool *p = s->zstd;
	const unsigned seen = p->changes;
	const double start = clock_seconds();

	p->waiting++;
	if (p->soon) {
		pthread_mutex_unlock(&s->lock);
		while (__atomic_load_n(&p->changes, __ATOMIC_RELAXED) == seen && clock_seconds() - start < SOON)
			sched_yield();
		pthread_mutex_lock(&s->lock);
	}
	while (p->changes == seen)
		pthread_cond_wait(&p->changed, &s->lock);
	p->soon = clock_seconds() - start < 2 * SOON; /* a sleeper is called for two pieces at once */
	p->waiting--;
}

int zstd_fill(struct source *s, struct request *r)
{
	int rc = 0;
	bool again;

	while (rc == 0 && !s->stopped && s->budget > 0 && r->got < r->cap) {
		zstd_take_mended(s, r);
		/* Nothing can be lent beside them, and nobody may go on to wait with pieces of his own untaken. */
		if (r->got == r->cap || (r->lease && r->got > 0))
			break;
		struct decoder *d = pick(s, false, false);
		if (!d && zstd_take_piece(s, r, &rc)) {
			if (r->lease)
				break;
			continue;
		}
		/* Nobody may wait behind a frame that nobody goes on with. */
		if (!d)
			d = pick(s, true, true);
		if (!d && (rc = try_next_frame(s, &d, &again, r)) == 0 && again)
			continue;
		if (rc != 0 || s->stopped)
			break;
		if (!d)
			d = pick(s, true, false);
		/* The next request's: all of it then fits. */
		if (d && d->whole && r->got > 0 && !d->decoded && !zstd_fits_request(d, r)) {
			d->busy = false;
			if (s->zstd->waiting > 0)
				zstd_wake(s);
			break;
		}
		if (d) {
			d->busy = true;
			d->owner = pthread_self();
			rc = d->whole ? zstd_work_whole(s, d, r) : zstd_work_in_turn(s, d, r);
			if (r->lease && r->lease->bytes > 0)
				break;
			continue;
		}
		if (r->got > 0 || nothing_to_wait_for(s))
			break;
		await_change(s);
	}
	if (s->budget == 0)
		source_wake(s);
	return rc;
}

bool zstd_backlog(const struct source *s, const struct input *in)
{
	/* One helper for a frame in turn; for frames side by side, as long as there are any. */
	return s->zstd->waiting == 0 && (in->zstd->finding || !in->zstd->no_more);
}

int zstd_return(struct source *s, struct source_lease *lease, struct fail *fail)
{
	struct decoder *d = lease->decoder;
	struct piece *p = lease->piece;

	*lease = (struct source_lease){.data = NULL};
	if (!d)
		return 0;
	if (!p)
		return zstd_done(s, d, zstd_check_whole(s, d, fail), fail);
	zstd_check_counted(s, d, p);
	return zstd_done_in_turn(s, d, fail);
}

int zstd_begin(struct source *s, struct input *in, uint64_t offset, uint64_t size, struct fail *fail)
{
	struct zstd_input *z = calloc(1, sizeof(*z));

	in->zstd = z;
	if (z && !in->is_file)
		z->stage = malloc(STAGE);
	if (!s->zstd && (s->zstd = calloc(1, sizeof(*s->zstd))) != NULL)
		pthread_cond_init(&s->zstd->changed, NULL);
	if (!z || !s->zstd || (!in->is_file && !z->stage))
		return fail_errno(fail, "%s", in->name);
	z->begin = z->next = z->asked = offset;
	z->size = size;
	z->limit = s->budget > (UINT64_MAX - s->spec.skip) / s->spec.record
			   ? UINT64_MAX
			   : s->spec.skip + s->budget * s->spec.record;
	return 0;
}

void zstd_input_free(struct zstd_input *z)
{
	if (!z)
		return;
	free(z->seams);
	free(z->stage);
	free(z);
}

void zstd_wake(struct source *s)
{
	if (!s->zstd)
		return;
	__atomic_fetch_add(&s->zstd->changes, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&s->zstd->changed);
}

/* No fill is running. Inputs that were left with frames undecoded go with their last decoder. */
void zstd_close(struct source *s)
{
	if (!s->zstd)
		return;
	for (struct decoder *d = s->zstd->decoders; d; d = d->next) {
		struct input *in = d->in;
		d->in = NULL;
		for (unsigned i = 0; i < PIECES; i++)
			d->piece[i].state = FREE;
		if (in && --in->readers == 0 && in != s->current)
			input_free(in);
	}
	zstd_pool_trim(s->zstd);
	pthread_cond_destroy(&s->zstd->changed);
	free(s->zstd->mended);
	free(s->zstd);
	s->zstd = NULL;
}

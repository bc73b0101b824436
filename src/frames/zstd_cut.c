/* SPDX-License-Identifier: MIT */
/*
 * zstd_cut: the task "cut frames off". One reader at a time has an input's turn: it makes a job of
 * the next frame, or of several adjacent small ones (zstd_plan.c). If a stream's frame is decoded
 * in steps or in blocks, the next one begins where it ends; in a file, readers look for its end
 * meanwhile.
 */
#include <stdlib.h>

#include "frames/zstd_decode.h"

#define LARGE ((uint64_t)1 << 20) /* bytes of a job worth one more worker */

/* ---- with the lock ---- */

static bool cut_ready(const struct source *s, const struct request *q)
{
	const struct input *const in = s->current;

	/* A request that already has bytes waits for no stream. */
	if (!in || !in->zstd || in->busy || (q->got > 0 && !in->is_file))
		return false;
	if (in->zstd->cut.what == CUT_JOB)
		return budget_fits(&s->jobs->budget, in->zstd->cut.need);
	if (s->jobs->budget.jobs - s->jobs->on_device >= 2 * s->use.decoders)
		return false;
	if (!in->zstd->open)
		return true;
	return in->is_file && s->use.threads > 1 && in->zstd->walks &&
	       in->zstd->walk.walked <
		       __atomic_load_n(&in->zstd->open->packed_read, __ATOMIC_RELAXED) + AHEAD;
}

/* Follow a file's long frame FIND_MAX bytes further, to find its end. */
static void walk_on_unlocks(struct source *s, struct input *in)
{
	const struct zstd_job *const open = in->zstd->open;
	struct frame f = in->zstd->walk;
	struct fail bad = {.status = STATUS_OK};

	in->busy = true;
	source_unlocks(s);
	const enum find found = frames_walk(in->bytes, &f, f.walked + FIND_MAX, false, &bad);
	lock_take(&s->lock);
	in->busy = false;
	in->zstd->walk = f;
	in->zstd->walks = found == FIND_FAR; /* of a bad frame, its decoder will say why */
	if (in->zstd->open != open || found != FIND_FRAME)
		return;
	in->zstd->open = NULL;
	in->zstd->pos = f.offset + f.packed_bytes;
}

/* Copy a stream's packed bytes to their job, which no other thread may run meanwhile. */
static int hand_over_unlocks(struct source *s, struct zstd_job *j, struct fail *fail)
{
	j->in->busy = true;
	j->running = 1;
	source_unlocks(s);
	const int rc = decoder_hand_over(j, fail);
	lock_take(&s->lock);
	j->running = 0;
	j->in->busy = false;
	return rc;
}

/* Make a job of the cut, which fits the memory. */
static void start_job_unlocks(struct source *s, struct input *in)
{
	struct cut *const c = &in->zstd->cut;
	struct zstd_job *const j = job_new(s, in, c);
	struct fail fail = {.status = STATUS_OK};

	if (!j)
		fail_errno(&fail, "%s", in->name);
	if (!j ||
	    (c->what == CUT_JOB && c->from == FROM_MEMORY && hand_over_unlocks(s, j, &fail) != 0)) {
		source_fail(s, in, in->zstd->pos, &fail);
	} else if (c->what == CUT_JOB) {
		if (c->from == FROM_STREAM || c->packed_bytes == UNKNOWN)
			in->zstd->open = j;
		else
			in->zstd->pos += c->packed_bytes;
		in->at = in->at == UNKNOWN || c->declared == UNKNOWN
				 ? UNKNOWN
				 : lesser(offset_sum(in->at, c->declared), OFFSET_MOST);
		/* A large job that is not the last is worth one more worker. */
		s->wanted |= s->wait.sleepers == 0 &&
			     (c->how != HOW_CALLS || c->piece_bytes >= LARGE) &&
			     (!in->is_file || in->zstd->open == j ||
			      in->zstd->pos < bytes_size(in->bytes) || !how_is_libzstd(c->how));
	}
	const bool bad = c->what == CUT_BAD;
	c->what = CUT_NOTHING;
	if (j && bad) {
		input_end(s, in);
		job_end(s, j);
	}
}

static void cut_run_unlocks(struct source *s, struct request *q)
{
	struct input *const in = s->current;
	const struct planner p = {&s->spec, &s->use, in, in->at, device_takes_frame(s)};

	(void)q;
	if (in->zstd->open) {
		walk_on_unlocks(s, in);
		return;
	}
	if (in->zstd->cut.what != CUT_JOB) {
		if (!in->is_file) { /* pay for bytes read before a job takes them */
			s->jobs->budget.live_bytes += s->shared.keep_most - in->zstd->stream_bytes;
			in->zstd->stream_bytes = s->shared.keep_most;
		}
		const bool enough = p.at != UNKNOWN && p.at >= in->limit;
		in->busy = true;
		source_unlocks(s);
		if (enough)
			in->zstd->cut = (struct cut){.what = CUT_END};
		else
			cut_plan(&p, &in->zstd->cut);
		lock_take(&s->lock);
		in->busy = false;
		if (in->zstd->cut.what == CUT_END || in->ended) {
			input_end(s, in);
			return;
		}
		if (in->zstd->cut.what == CUT_JOB &&
		    !budget_fits(&s->jobs->budget, in->zstd->cut.need))
			return;
	}
	start_job_unlocks(s, in);
}

const struct task cut_task = {cut_ready, cut_run_unlocks};

/* The task "feed" finds frames for the device before the cores continue with theirs. */
static bool feed_ready(const struct source *s, const struct request *q)
{
	return s->jobs->rooms && cut_ready(s, q) && device_takes_frame(s);
}

const struct task feed_task = {feed_ready, cut_run_unlocks};

/* Note whether the cut of the current input waits for memory. */
static void note_wait(struct source *s)
{
	const struct input *const in = s->current;
	const unsigned live = s->jobs->budget.jobs;
	unsigned *const least = &s->totals.zstd.jobs_at_wait;

	if (in && in->zstd && !in->busy && in->zstd->cut.what == CUT_JOB &&
	    live < s->use.decoders && (*least == 0 || live < *least))
		*least = live;
}

bool jobs_wait_unlocks(struct source *s)
{
	const bool due = device_waits(s);

	if (due)
		device_wait_unlocks(s);
	else
		note_wait(s);
	return due;
}

/* ---- the input's kind ---- */

static int zstd_begin(struct source *s, struct input *in, struct fail *fail)
{
	struct zstd_input *const z = calloc(1, sizeof(*z));

	(void)s;
	in->zstd = z;
	in->at = 0;
	if (!z)
		return fail_errno(fail, "%s", in->name);
	z->consumer = &samples;
	z->last = &z->jobs;
	z->pos = in->is_file ? 0 : bytes_passed(in->bytes);
	return 0;
}

static void zstd_free(struct source *s, struct input *in)
{
	struct zstd_input *const z = in->zstd;

	if (!z) /* zstd_begin() was not called */
		return;
	jobs_free_all(s, z);
	s->jobs->budget.live_bytes -= z->stream_bytes;
	seams_free(z->seams);
	free(z);
}

static bool zstd_idle(const struct source *s, const struct input *in)
{
	return !in->zstd->jobs && !short_left(s, in);
}

static bool zstd_backlog(const struct source *s, const struct input *in)
{
	return (!in->ended || in->zstd->jobs) && s->wait.sleepers == 0;
}

static struct input_sums zstd_sums(const struct source *s, const struct input *in)
{
	const struct zstd_input *const z = in->zstd;
	const uint64_t end = lesser(in->at, input_stop(in));
	struct input_sums t = {.left_at = z->pos, .packed = z->pos};

	t.bytes = end > in->begin ? end - in->begin : 0;
	t.tail = t.bytes - whole_records(s, t.bytes);
	t.end = in->at;
	return t;
}

const struct input_kind zstd_kind = {
	.begin = zstd_begin,
	.free = zstd_free,
	.idle = zstd_idle,
	.backlog = zstd_backlog,
	.sums = zstd_sums,
	.due = jobs_due,
	.settle = jobs_settle,
	.precedes = jobs_precede,
	.back_unlocks = piece_back_unlocks,
	.unpacks = jobs_unpack,
	.expected = jobs_expected,
};

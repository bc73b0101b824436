/* SPDX-License-Identifier: MIT */
/*
 * zstd_job: where jobs begin among the decoded bytes, how they end, and questions about them.
 *
 * Offsets. A job's offset `at` among the decoded bytes is known when the job is made, if all frames
 * before it declare their sizes, otherwise when the job before it has ended. Its pieces are handed
 * out from then on, because the offset decides which bytes to skip, where -n ends, and which records
 * span pieces (zstd_seam.c). Until then the pieces wait, but no thread does.
 *
 * Checksums. libzstd does not see the checksum of a job of one frame. The threads that count its
 * pieces compute it, in the frame's order and one at a time. A piece is free once it is counted and
 * in the checksum. A piece that comes back too early waits: the thread that returns the piece
 * before it adds both. With --no-check libzstd sees no checksum at all, and none is computed.
 *
 * Errors. A job's error fails the source once the job's offset is known, and only if -n reaches
 * beyond the decoded bytes. A frame with a bad header becomes a job with an error and no bytes. If
 * records are ordered, nothing after a failure is handed out, so no frame's bytes are handed out
 * before the checksums of the frames before it are right: libzstd checks the checksums of CALLS,
 * and the pieces after a job of another kind wait until it is retired.
 */
#include <assert.h>

#include "frames/zstd_blocks.h"
#include "frames/zstd_decode.h"

struct zstd_job *job_new(struct source *s, struct input *in, const struct cut *c)
{
	struct zstd_job *const j = budget_take(&s->jobs->budget, c);

	if (!j)
		return NULL;
	j->next = NULL;
	j->in = in;
	j->cut = *c;
	j->at = in->at;
	j->decoded = j->packed_read = 0;
	j->running = 0;
	j->ended = j->broken = false;
	j->sum = (struct checksum){.follows = c->checksum,
				   .adds = !s->spec.no_check &&
					   (c->checksum || !how_is_libzstd(c->how))};
	xxh64_begin(&j->sum.hash);
	j->fail = c->fail;
	decoder_begin(j);
	j->handed_out = 0;
	j->made = j->ready = NULL;
	j->made_end = &j->made;
	for (unsigned i = 0; i < PIECES; i++) {
		j->own[i].job = j;
		j->own[i].state = PIECE_FREE;
	}
	*in->zstd->last = j;
	in->zstd->last = &j->next;
	if (in->zstd->consumer->begin)
		in->zstd->consumer->begin(s, j);
	return j;
}

struct zstd_job *jobs_first(const struct input *in)
{
	while (in && !(in->zstd && in->zstd->jobs))
		in = in->next;
	return in ? in->zstd->jobs : NULL;
}

struct zstd_job *jobs_next(const struct zstd_job *j)
{
	return j->next ? j->next : jobs_first(j->in->next);
}

void jobs_free_all(struct source *s, struct zstd_input *z)
{
	for (struct zstd_job *j; (j = z->jobs) != NULL;) {
		z->jobs = j->next;
		budget_give(&s->jobs->budget, j);
	}
}

/* ---- offsets ---- */

void job_add(struct zstd_piece *p)
{
	struct zstd_job *const j = p->job;

	assert(p->bytes > 0); /* or it would be handed out for ever */
	p->state = PIECE_MADE;
	p->from = 0;
	p->out = 0;
	p->next = NULL;
	*j->made_end = p;
	j->made_end = &p->next;
	if (!j->ready)
		j->ready = p;
}

/*
 * Report the failure of a job that has ended and has its offset, or else set the offset of the
 * next job. The jobs after a failed frame have no known offset, even once the failed job has been
 * retired. True: the next job has its offset now.
 */
static bool conclude(struct source *s, struct zstd_job *j)
{
	struct input *const in = j->in;
	const uint64_t end = j->decoded < OFFSET_MOST - j->at ? j->at + j->decoded : OFFSET_MOST;
	const bool fails = j->fail.status != STATUS_OK && end < in->limit;

	if (fails && !s->spec.text.on) /* text is read up to the failure first */
		source_fail(s, in, j->cut.offset, &j->fail);
	if ((j->fail.status != STATUS_OK || end >= in->limit) && !in->ended)
		input_end(s, in);
	if (fails)
		return false;
	if (!j->next && (in->at == UNKNOWN || j->broken))
		in->at = end;
	if (!j->next || j->next->at != UNKNOWN ||
	    source_is_behind_failure(s, in, j->next->cut.offset))
		return false;
	j->next->at = end; /* any reader can take its pieces now */
	return true;
}

void job_end(struct source *s, struct zstd_job *j)
{
	j->ended = true;
	while (j->ended && j->at != UNKNOWN && conclude(s, j))
		j = j->next;
}

/* ---- ends ---- */

void job_close_open(struct zstd_job *j)
{
	j->in->zstd->open = NULL;
	j->in->zstd->pos = j->cut.offset + decoder_used(j);
}

bool job_sum_differs(const struct zstd_job *j)
{
	const struct checksum *const sum = &j->sum;

	return sum->follows && sum->adds && sum->read &&
	       (uint32_t)xxh64_end(&sum->hash) != sum->value;
}

/* Move an ended job, no longer in use, from the list to the free jobs. */
static void retire(struct source *s, struct zstd_job **link)
{
	struct zstd_job *const j = *link;
	struct zstd_input *const z = j->in->zstd;

	device_leave(s, j);
	*link = j->next;
	if (z->last == &j->next)
		z->last = link;
	z->consumer->end(s, j);
	budget_give(&s->jobs->budget, j);
}

void jobs_settle(struct source *s, struct input *in)
{
	struct zstd_job **link = &in->zstd->jobs;

	for (struct zstd_job *j; (j = *link) != NULL;) {
		/* Is no part of it being decoded, handed out, counted or added up? */
		const bool quiet = (j->ended || !how_is_libzstd(j->cut.how)) && j->running == 0 &&
				   !j->sum.busy && !j->made;
		if (quiet && !j->ended)
			blocks_check(s, j);
		if (quiet && j->ended && j->at != UNKNOWN)
			retire(s, link);
		else
			link = &j->next;
	}
}

bool jobs_due(const struct source *s, const struct input *in, uint64_t offset)
{
	const struct zstd_job *const j = in->zstd->jobs;
	const bool at = j && j->cut.offset == offset, before = j && j->cut.offset < offset;

	if (s->spec.ordered && (in->lent > 0 || (at && j->ended && j->made)))
		return false;
	return input_is_done(s, in) || !before;
}

/* ---- questions of other threads ---- */

/* Is the job a long frame? */
static bool job_is_long(const struct zstd_job *j)
{
	return j->cut.how != HOW_CALLS || j->cut.piece_bytes > WHOLE_MAX;
}

bool jobs_unpack(const struct input *in)
{
	const struct zstd_job *j = in->zstd->jobs;

	while (j && !(j->cut.from == FROM_FILE && job_is_long(j)))
		j = j->next;
	return j;
}

/* Estimate the decoded bytes of the job's input; 0: unknown. */
static uint64_t expected(const struct zstd_job *j)
{
	const double packed = (double)j->cut.offset, size = (double)bytes_size(j->in->bytes);

	if (j->cut.declared == UNKNOWN || j->at == UNKNOWN)
		return 0;
	if (!how_is_libzstd(j->cut.how))
		return offset_sum(j->at, j->cut.declared);
	if (!job_is_long(j) || packed == 0 || !j->in->is_file)
		return 0;
	const double all = (double)j->at / packed * size; /* headers may announce nearly 2^64 */
	return all < 0x1p63 ? (uint64_t)all : 0;
}

uint64_t jobs_expected(const struct source *s, const struct input *in)
{
	uint64_t bytes = 0;

	for (const struct zstd_job *j = in->zstd->jobs; j; j = j->next) {
		const uint64_t all = lesser(expected(j), in->limit);
		/* Whether to use a device for a long frame was decided when the frame was cut. */
		if (!how_is_libzstd(j->cut.how) && j->cut.from == FROM_FILE)
			bytes = source_counted(s);
		else if (all > 0)
			bytes = source_counted(s) + (all > j->at ? all - j->at : 0) +
				all * (s->spec.path_count - in->index - 1);
	}
	return bytes;
}

/* SPDX-License-Identifier: MIT */
/*
 * zstd_job: the memory of jobs, their places among the decoded bytes, their ends.
 *
 * Places. A job's offset `at` among the decoded bytes is known when it is cut if all frames before
 * it declare their sizes, else when the job before it has ended. Its pieces are handed out from
 * then on: the place says what is skipped, what -n does not want, what is a part of a record
 * (zstd_seam.c). Until then they wait, and no thread does.
 *
 * Memory. What a job will ever need is computed when it is cut and taken once, before the job is in
 * the list; only a stream's buffer, when it changes hands, takes its memory with it. What does not
 * fit is not started: the cut waits as a value, zstd_input.cut. A job that would not fit even
 * alone has one piece instead of four, and a frame is decoded in steps. Jobs that have ended keep
 * their buffers for the next ones, because to map them again for each frame took longer than to
 * decode it.
 *
 * Checksums are hidden from libzstd where a job is one frame, and added up by the threads that
 * count its pieces, in the frame's order and one at a time. A piece is free once it was counted and
 * its bytes are in the checksum. One that comes back too early waits; the thread that brings the
 * piece before it adds both. With --no-check they are hidden in every job, and nothing is added up.
 *
 * Errors are a field of the job. An error fails the source once the job's place is known, and
 * only if -n reaches beyond the bytes that were made. What cannot be cut is a job without bytes
 * that has an error.
 */
#include "input/zstd_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "input/source_input.h"
#include "input/zstd_blocks.h"

/* ---- memory ---- */

void budget_take(struct budget *b, uint64_t bytes)
{
	b->held += bytes;
}

void budget_give(struct budget *b, uint64_t bytes)
{
	b->held -= bytes;
}

bool budget_has(const struct budget *b, uint64_t bytes)
{
	return b->held + bytes <= b->memory;
}

/* Makes a job without buffers. NULL: no memory. */
static struct zstd_job *make(void)
{
	struct zstd_job *const j = calloc(1, sizeof(*j));

	if (j && !(j->decoder = decoder_new())) {
		free(j);
		return NULL;
	}
	return j;
}

static void free_job(struct zstd_job *j)
{
	decoder_free(j->decoder);
	for (unsigned i = 0; i < PIECES; i++)
		free(j->own[i].room);
	blocks_free(j->blocks);
	free(j);
}

/* Takes a free job with its buffers; NULL: there is none. */
static struct zstd_job *reuse(struct source *s)
{
	struct zstd_job *const j = s->zstd.free_jobs;

	if (j) {
		s->zstd.free_jobs = j->next;
		s->budget.kept -= j->held;
	}
	return j;
}

bool job_fits(const struct source *s, uint64_t need)
{
	return s->zstd.jobs == 0 || budget_has(&s->budget, need);
}

uint64_t job_takes(const struct zstd_job *j, const struct cut *c)
{
	uint64_t sum =
		decoder_takes(j->decoder, c) + c->seams + larger(blocks_hold(j->blocks), c->blocks);

	for (unsigned i = 0; i < PIECES; i++)
		sum += larger(j->own[i].size, i < c->pieces ? huge_grown(c->room) : 0);
	return sum;
}

/* A job with the buffers of an ended one, if there is room for them beside what it needs. */
static struct zstd_job *take_job(struct source *s, const struct cut *c)
{
	struct zstd_job *j = reuse(s);

	if (j) {
		j->held = job_takes(j, c);
		while (s->zstd.free_jobs && !budget_has(&s->budget, s->budget.kept + j->held))
			free_job(reuse(s));
		if (budget_has(&s->budget, j->held))
			return j;
		free_job(j);
	}
	if ((j = make()) != NULL)
		j->held = c->need;
	return j;
}

struct zstd_job *job_new(struct source *s, struct input *in, const struct cut *c)
{
	struct zstd_job *const j = take_job(s, c);

	if (!j)
		return NULL;
	budget_take(&s->budget, j->held);
	s->zstd.jobs++;
	j->next = NULL;
	j->in = in;
	j->cut = *c;
	j->at = in->at;
	j->made = j->handed = j->taken = 0;
	j->running = 0;
	j->ended = j->dropped = j->broken = false;
	j->sum = (struct checksum){.follows = c->checksum,
				   .adds = !s->spec.no_check &&
					   (c->checksum || c->how == HOW_BLOCKS)};
	xxh64_begin(&j->sum.hash);
	j->fail = c->fail;
	decoder_begin(j->decoder);
	j->known = 0;
	j->piece = j->own;
	j->pieces = c->how == HOW_BLOCKS ? 0 : c->pieces;
	for (unsigned i = 0; i < PIECES; i++) {
		j->own[i].job = j;
		j->own[i].state = PIECE_FREE;
	}
	*in->zstd->last = j;
	in->zstd->last = &j->next;
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
		budget_give(&s->budget, j->held);
		free_job(j);
	}
}

void jobs_free(struct source *s)
{
	while (s->zstd.free_jobs)
		free_job(reuse(s));
}

bool jobs_backlog(const struct source *s)
{
	return (s->current || s->zstd.jobs > 0) && s->wait.sleepers == 0;
}

/* ---- places ---- */

#define FAR (UNKNOWN - 1) /* where headers lie about sizes, offsets go no further */

void job_queue(struct source *s, struct zstd_piece *p)
{
	p->next = NULL;
	*s->zstd.queue_end = p;
	s->zstd.queue_end = &p->next;
	/* To wake a thread takes some microseconds: for two pieces as long as for one. */
	if (s->zstd.queue != p || s->spec.ordered)
		source_call(s);
}

/* Gives a job its place: its ready pieces go to any reader. */
static void place(struct source *s, struct zstd_job *j, uint64_t at)
{
	j->at = at;
	for (unsigned i = 0; i < j->pieces; i++)
		if (j->piece[i].job == j && j->piece[i].state == PIECE_READY)
			job_queue(s, &j->piece[i]);
	if (!j->ended)
		source_call(s);
}

/* Does what follows from a job that has ended and has its place. */
static void conclude(struct source *s, struct zstd_job *j)
{
	struct input *const in = j->in;
	const uint64_t end = j->made < FAR - j->at ? j->at + j->made : FAR;

	if (j->fail.status != STATUS_OK && end < in->limit)
		source_fail(s, in, j->cut.offset, &j->fail);
	if ((j->fail.status != STATUS_OK || end >= in->limit) && !in->ended) {
		input_end(s, in);
		source_call(s);
	}
	if (j->next && j->next->at == UNKNOWN)
		place(s, j->next, end);
	else if (!j->next && (in->at == UNKNOWN || j->broken))
		in->at = end;
}

void job_end(struct source *s, struct zstd_job *j)
{
	j->ended = true;
	if (s->spec.ordered) /* it may have been what the next job's pieces wait for */
		source_call_all(s);
	while (j && j->ended && !j->dropped && j->at != UNKNOWN) {
		struct zstd_job *const next = j->next;
		const bool known = !next || next->at != UNKNOWN;
		conclude(s, j);
		job_check(s, j);
		j = known ? NULL : next;
	}
}

/* ---- ends ---- */

bool job_sum_differs(const struct zstd_job *j)
{
	const struct checksum *const sum = &j->sum;

	return sum->follows && sum->adds && sum->read &&
	       (uint32_t)xxh64_end(&sum->hash) != sum->value;
}

static void check_sum(struct source *s, const struct zstd_job *j)
{
	struct fail fail = {.status = STATUS_OK};

	if (j->dropped || j->fail.status != STATUS_OK || j->at >= j->in->limit ||
	    !job_sum_differs(j))
		return;
	frames_bad(j->in->bytes, j->cut.offset, &fail, "Restored data doesn't match checksum");
	source_fail(s, j->in, j->cut.offset, &fail);
}

void job_check(struct source *s, struct zstd_job *j)
{
	struct input *const in = j->in;
	struct zstd_job **link = &in->zstd->jobs;

	if ((!j->ended && j->cut.how != HOW_BLOCKS) || j->running > 0 || j->sum.busy)
		return;
	for (unsigned i = 0; i < j->pieces; i++)
		if (j->piece[i].job == j &&
		    j->piece[i].state > PIECE_FILLING) /* FILLING: a block that is not wanted */
			return;
	if (!j->ended) {
		blocks_check(s, j);
		return;
	}
	if (j->at == UNKNOWN || device_busy(j->blocks))
		return;
	device_leave(s, j);
	while (*link != j)
		link = &(*link)->next;
	*link = j->next;
	if (in->zstd->last == &j->next)
		in->zstd->last = link;
	s->zstd.jobs--;
	budget_give(&s->budget, j->held);
	s->budget.kept += j->held;
	j->next = s->zstd.free_jobs;
	s->zstd.free_jobs = j;
	check_sum(s, j);
	source_call(s); /* its memory may be what a cut waits for */
	input_check(s, in);
}

/* Does the job lie behind the failure? */
static bool is_behind(const struct source *s, const struct zstd_job *j)
{
	return source_failed_before(s, j->in, j->cut.offset);
}

/*
 * Ends the jobs behind the failure, and frees their pieces that no worker has. The task sweep frees
 * the jobs that no thread is in; of the others, the last thread that leaves one does.
 */
void jobs_drop(struct source *s)
{
	struct zstd_piece *p = s->zstd.queue;

	s->zstd.dropped = true;
	s->zstd.queue = NULL;
	s->zstd.queue_end = &s->zstd.queue;
	for (struct zstd_piece *next; p; p = next) {
		next = p->next;
		if (!is_behind(s, p->job))
			job_queue(s, p);
	}
	for (struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j)) {
		if (!is_behind(s, j))
			continue;
		if (j->at == UNKNOWN)
			j->at = 0;
		j->dropped = true;
		j->ended = true; /* a thread that decodes it sees that afterwards */
		for (unsigned i = 0; i < j->pieces; i++)
			if (j->piece[i].job == j && j->piece[i].state >= PIECE_READY &&
			    j->piece[i].state != PIECE_OUT)
				j->piece[i].state = PIECE_FREE;
	}
}

static bool sweep_ready(const struct source *s, const struct request *q)
{
	(void)q;
	return s->zstd.dropped;
}

static void sweep_run(struct source *s, struct request *q)
{
	(void)q;
	s->zstd.dropped = false;
	for (struct zstd_job *j = jobs_first(s->inputs); j;) {
		const unsigned jobs = s->zstd.jobs;
		job_check(s, j); /* may free the job and its input */
		j = s->zstd.jobs == jobs ? jobs_next(j) : jobs_first(s->inputs);
	}
	for (struct input *in = s->inputs, *next; in; in = next) {
		next = in->next;
		input_check(s, in);
	}
}

const struct task sweep_task = {sweep_ready, sweep_run};

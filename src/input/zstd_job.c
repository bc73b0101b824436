/* SPDX-License-Identifier: MIT */
/* zstd_job: the memory of jobs, their places among the decoded bytes, their ends. */
#include "input/zstd_job.h"

#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "input/source_input.h"

/* ---- memory ---- */

uint64_t job_room(uint64_t bytes)
{
	return bytes == 0 ? 0 : huge_room((size_t)(bytes < HUGE_PAGE ? bytes + bytes / 8 : bytes));
}

bool buffer_grow(unsigned char **buffer, size_t *room, size_t n, size_t keep)
{
	if (*room >= n)
		return true;
	const size_t more = (size_t)job_room(n);
	unsigned char *const new = more < HUGE_PAGE ? malloc(more) : huge_alloc(more);
	if (!new)
		return false;
	if (keep > 0)
		memcpy(new, *buffer, keep);
	free(*buffer);
	*buffer = new;
	*room = more;
	return true;
}

static void free_buffers(struct zstd_job *j)
{
	ZSTD_freeDCtx(j->context);
	j->context = NULL;
	free(j->packed);
	j->packed = NULL;
	j->packed_room = 0;
	for (unsigned i = 0; i < PIECES; i++) {
		free(j->own[i].room);
		j->own[i].room = NULL;
		j->own[i].size = 0;
	}
	blocks_free(j->blocks);
	j->blocks = NULL;
}

static void free_one(struct source *s)
{
	struct zstd_job *const j = s->free_jobs;

	s->free_jobs = j->next;
	s->kept -= j->held;
	free_buffers(j);
	free(j);
}

bool job_fits(const struct source *s, uint64_t need)
{
	return s->jobs == 0 || s->held + need <= s->memory;
}

/* What a job takes that has its buffers already. */
static uint64_t with_buffers(const struct zstd_job *j, const struct cut *c)
{
	uint64_t sum = larger(j->packed_room, job_room(c->packed)) + c->seams +
		       larger(j->context ? ZSTD_sizeof_DCtx(j->context) : 0, c->context) +
		       larger(blocks_hold(j->blocks), c->blocks);

	for (unsigned i = 0; i < PIECES; i++)
		sum += larger(j->own[i].size, i < c->pieces ? job_room(c->room) : 0);
	return sum;
}

uint64_t job_holds(const struct zstd_job *j)
{
	return with_buffers(j, &(struct cut){.pieces = 0});
}

/* A job with the buffers of an ended one, if there is room for them beside what it needs. */
static struct zstd_job *take_job(struct source *s, const struct cut *c)
{
	struct zstd_job *j = s->free_jobs;

	if (!j) {
		j = calloc(1, sizeof(*j));
	} else {
		s->free_jobs = j->next;
		s->kept -= j->held;
	}
	if (!j)
		return NULL;
	j->held = with_buffers(j, c);
	while (s->free_jobs && s->held + s->kept + j->held > s->memory)
		free_one(s);
	if (s->held + j->held > s->memory) {
		free_buffers(j);
		j->held = c->need;
	}
	return j;
}

struct zstd_job *job_new(struct source *s, struct input *in, const struct cut *c)
{
	struct zstd_job *const j = take_job(s, c);

	if (!j)
		return NULL;
	s->held += j->held;
	s->jobs++;
	j->next = NULL;
	j->in = in;
	j->cut = *c;
	j->at = in->at;
	j->made = j->taken = 0;
	j->running = 0;
	j->ended = j->dropped = false;
	j->sum = (struct checksum){.ours = c->checksum};
	xxh64_begin(&j->sum.hash);
	j->fail = c->fail;
	j->packed_at = j->packed_end = 0;
	j->hint = 0;
	j->stored_at = j->known = 0;
	j->piece = j->own;
	j->pieces = c->how == HOW_BLOCKS ? 0 : c->pieces;
	for (unsigned i = 0; i < PIECES; i++) {
		j->own[i].job = j;
		j->own[i].state = PIECE_FREE;
	}
	*in->last = j;
	in->last = &j->next;
	return j;
}

void jobs_free(struct source *s, struct input *in)
{
	for (struct zstd_job *j; in && (j = in->jobs) != NULL;) {
		in->jobs = j->next;
		s->held -= j->held;
		free_buffers(j);
		free(j);
	}
	while (s->free_jobs)
		free_one(s);
}

/* ---- places ---- */

#define FAR (UNKNOWN - 1) /* where headers lie about sizes, offsets go no further */

void job_queue(struct source *s, struct zstd_piece *p)
{
	p->next = NULL;
	*s->queue_end = p;
	s->queue_end = &p->next;
	/* To wake a thread takes some microseconds: for two pieces as long as for one. */
	if (s->queue != p)
		source_call(s);
}

/* Its place is known: what it has ready goes to any reader. */
static void place(struct source *s, struct zstd_job *j, uint64_t at)
{
	j->at = at;
	for (unsigned i = 0; i < j->pieces; i++)
		if (j->piece[i].state == PIECE_READY)
			job_queue(s, &j->piece[i]);
	if (!j->ended)
		source_call(s);
}

/* Of a job that has ended and has its place: what follows from that. */
static void settle(struct source *s, struct zstd_job *j)
{
	struct input *const in = j->in;
	const uint64_t end = j->made < FAR - j->at ? j->at + j->made : FAR;

	if (j->fail.status != STATUS_OK && end < in->limit)
		source_fail(s, in, j->cut.offset, &j->fail);
	if ((j->fail.status != STATUS_OK || end >= in->limit) && !in->ended)
		input_end(s, in);
	if (j->next && j->next->at == UNKNOWN)
		place(s, j->next, end);
	else if (!j->next && in->at == UNKNOWN)
		in->at = end;
}

void job_end(struct source *s, struct zstd_job *j)
{
	j->ended = true;
	while (j && j->ended && j->at != UNKNOWN) {
		struct zstd_job *const next = j->next;
		const bool known = !next || next->at != UNKNOWN;
		settle(s, j);
		job_check(s, j);
		j = known ? NULL : next;
	}
}

/* ---- ends ---- */

static void check_sum(struct source *s, const struct zstd_job *j)
{
	const struct checksum *const sum = &j->sum;
	struct fail fail = {.status = STATUS_OK};

	if (!sum->ours || j->dropped || !sum->read || j->fail.status != STATUS_OK ||
	    j->at >= j->in->limit || (uint32_t)xxh64_end(&sum->hash) == sum->value)
		return;
	zstd_bad(j->in, j->cut.offset, &fail, "Restored data doesn't match checksum");
	source_fail(s, j->in, j->cut.offset, &fail);
}

void job_check(struct source *s, struct zstd_job *j)
{
	struct input *const in = j->in;
	struct zstd_job **link = &in->jobs;

	if ((!j->ended && j->cut.how != HOW_BLOCKS) || j->running > 0 || j->sum.busy)
		return;
	for (unsigned i = 0; i < j->pieces; i++)
		if (j->piece[i].state > PIECE_FILLING) /* that is of BLOCKS, and not wanted */
			return;
	if (!j->ended) {
		blocks_check(s, j);
		return;
	}
	if (j->at == UNKNOWN)
		return;
	while (*link != j)
		link = &(*link)->next;
	*link = j->next;
	if (in->last == &j->next)
		in->last = link;
	s->jobs--;
	s->held -= j->held;
	s->kept += j->held;
	j->next = s->free_jobs;
	s->free_jobs = j;
	check_sum(s, j);
	source_call(s); /* its memory may be what a cut waits for */
	input_check(s, in);
}

/*
 * Ends the jobs behind the failure, and frees their pieces that no worker has. jobs_sweep frees the
 * jobs.
 */
void jobs_drop(struct source *s)
{
	struct zstd_piece *p = s->queue;

	s->queue = NULL;
	s->queue_end = &s->queue;
	for (struct zstd_piece *next; p; p = next) {
		next = p->next;
		if (!source_failed_before(s, p->job->in, p->job->cut.offset))
			job_queue(s, p);
	}
	for (const struct input *in = s->inputs; in; in = in->next) {
		for (struct zstd_job *j = in->jobs; j; j = j->next) {
			if (!source_failed_before(s, in, j->cut.offset))
				continue;
			if (j->at == UNKNOWN)
				j->at = 0;
			j->dropped = true;
			j->ended = true; /* who decodes it sees that afterwards */
			for (unsigned i = 0; i < j->pieces; i++)
				if (j->piece[i].state >= PIECE_READY &&
				    j->piece[i].state != PIECE_OUT)
					j->piece[i].state = PIECE_FREE;
		}
	}
}

void jobs_sweep(struct source *s)
{
	for (struct input *in = s->inputs; in;) {
		struct zstd_job *j = in->jobs;
		const unsigned jobs = s->jobs;
		for (; j && s->jobs == jobs;) {
			struct zstd_job *const next = j->next;
			job_check(s, j);
			j = next;
		}
		struct input *const after = s->jobs == jobs ? in->next : s->inputs;
		if (s->jobs == jobs)
			input_check(s, in);
		in = after;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * zstd_memory: the memory of jobs.
 *
 * A job takes all memory that it will need from the budget before it joins the list. If that does
 * not fit, the job is not started: the cut waits in zstd_input.cut. A job that would not fit even
 * alone has one piece instead of four, and a frame is decoded in steps. Ended jobs keep their
 * buffers for the next ones, because mapping them again for each frame took longer than decoding
 * it.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/huge.h"
#include "frames/zstd_blocks.h"
#include "frames/zstd_decode.h"

static bool budget_has(const struct budget *b, uint64_t bytes)
{
	return b->live_bytes + bytes <= b->memory;
}

static void free_job(struct zstd_job *j)
{
	zstd_stream_free(&j->stream);
	for (unsigned i = 0; i < PIECES; i++)
		free(j->own[i].buffer);
	blocks_free(j->blocks);
	free(j);
}

/* Take a free job with its buffers; NULL: none is left. */
static struct zstd_job *reuse(struct budget *b)
{
	struct zstd_job *const j = b->free_jobs;

	if (j) {
		b->free_jobs = j->next;
		b->free_bytes -= j->budgeted;
	}
	return j;
}

bool budget_fits(const struct budget *b, uint64_t need)
{
	return b->jobs == 0 || budget_has(b, need);
}

uint64_t job_takes(const struct zstd_job *j, const struct cut *c)
{
	uint64_t sum = decoder_takes(&j->stream, c) + c->memory.seams +
		       larger(blocks_hold(j->blocks), c->memory.blocks);

	for (unsigned i = 0; i < PIECES; i++)
		sum += larger(j->own[i].capacity, i < c->pieces ? huge_grown(c->piece_bytes) : 0);
	return sum;
}

/* Take a free job, if its buffers, grown for the cut, fit the budget; or return NULL. */
static struct zstd_job *reuse_for(struct budget *b, const struct cut *c)
{
	struct zstd_job *const j = reuse(b);

	if (!j)
		return NULL;
	j->budgeted = job_takes(j, c);
	while (b->free_jobs && !budget_has(b, b->free_bytes + j->budgeted))
		free_job(reuse(b));
	/* Buffers left by a much larger frame must not keep other jobs out. */
	const bool keeps = j->budgeted <= 2 * c->need || 2 * j->budgeted <= b->memory;
	if (keeps && budget_has(b, j->budgeted))
		return j;
	free_job(j);
	return NULL;
}

struct zstd_job *budget_take(struct budget *b, const struct cut *c)
{
	struct zstd_job *j = reuse_for(b, c);

	if (!j && (j = calloc(1, sizeof(*j))) != NULL)
		j->budgeted = c->need;
	if (j) {
		b->live_bytes += j->budgeted;
		b->jobs++;
	}
	return j;
}

void budget_give(struct budget *b, struct zstd_job *j)
{
	b->jobs--;
	b->live_bytes -= j->budgeted;
	b->free_bytes += j->budgeted;
	j->next = b->free_jobs;
	b->free_jobs = j;
}

struct jobs *jobs_make(void)
{
	return calloc(1, sizeof(struct jobs));
}

void jobs_free(struct jobs *jobs)
{
	struct budget *const b = jobs ? &jobs->budget : NULL;

	if (!b)
		return;
	while (b->free_jobs)
		free_job(reuse(b));
	assert(b->jobs == 0 && b->live_bytes == 0 && b->free_bytes == 0);
	free(jobs->rooms);
	free(jobs);
}

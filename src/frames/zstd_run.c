/* SPDX-License-Identifier: MIT */
/*
 * zstd_run: the task "decode". A thread decodes a job while the job has a free piece, because a
 * window that moves between cores costs a fifth. Other readers count its pieces meanwhile. If no
 * piece is free, or all readers decode, the thread stops and counts a piece itself.
 */
#include "frames/zstd_decode.h"

static struct zstd_piece *free_piece(struct zstd_job *j)
{
	for (unsigned i = 0; i < j->cut.pieces; i++)
		if (j->own[i].state == PIECE_FREE)
			return &j->own[i];
	return NULL;
}

/* May a thread decode the job now? A request that already has bytes waits for no stream. */
static bool may_run(struct zstd_job *j, const struct request *q)
{
	return how_is_libzstd(j->cut.how) && !j->running && !j->ended && free_piece(j) &&
	       !(j->cut.from == FROM_STREAM && q->got > 0);
}

static struct zstd_job *next_job(const struct source *s, const struct request *q)
{
	for (struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j))
		if (may_run(j, q))
			return j;
	return NULL;
}

static bool decode_ready(const struct source *s, const struct request *q)
{
	return s->jobs->decoding < s->use.decoders && next_job(s, q);
}

/*
 * Return how much of a piece to decode next: up to the end of -n, otherwise so that the next piece
 * begins with a record. 0: nothing. If -n or a slice ends together with the frame, ask for one
 * more byte: none should come, and libzstd checks the frame's end.
 */
static size_t piece_wanted(const struct source *s, const struct zstd_job *j)
{
	const struct input *const in = j->in;
	const uint64_t at = j->at + j->decoded;
	size_t bytes = PIECE_BYTES;

	if (j->decoded < j->handed_out) /* it was handed out before the restart */
		return (size_t)lesser(bytes, j->handed_out - j->decoded);
	if (j->at == UNKNOWN)
		return bytes;
	if (at >= in->limit)
		return j->decoded > 0 && j->decoded == j->cut.declared;
	if (!s->spec.text.on && at > in->begin && s->use.record <= bytes && j->cut.how == HOW_STEPS)
		bytes -= (size_t)((at + bytes - in->begin) % s->use.record);
	return (size_t)lesser(bytes, in->limit - at);
}

/*
 * Do libzstd's bytes differ from those handed out before the restart? Tell once it has decoded as
 * many, or has ended.
 */
static bool differs(struct zstd_job *j, bool ended)
{
	if (j->fail.status != STATUS_OK || (j->decoded < j->handed_out && !ended) ||
	    (j->decoded == j->handed_out && xxh64_end(&j->sum.hash) == j->handed_out_sum))
		return false;
	if (bytes_changed(j->in->bytes))
		fail_set(&j->fail, STATUS_DATA, "%s changed while it was read", j->in->name);
	fail_set(&j->fail, STATUS_INTERNAL,
		 "internal error: %s: zstd frame at offset %llu differs when decoded again; please "
		 "report this",
		 j->in->name, (unsigned long long)j->cut.offset);
	return true;
}

/* Decode into a free piece, and end the job if that was all. */
static void fill_unlocks(struct source *s, struct zstd_job *j, struct zstd_piece *p)
{
	const size_t cap = piece_wanted(s, j);
	const bool again = j->decoded < j->handed_out;
	bool ended = cap == 0;

	p->state = PIECE_FILLING;
	p->begin = j->decoded;
	p->bytes = 0;
	if (!ended) {
		source_unlocks(s);
		ended = decoder_fill(j, p, cap, s->spec.prompt);
		if (again && j->sum.adds)
			xxh64_add(&j->sum.hash, p->data, p->bytes);
		lock_take(&s->lock);
	}
	j->decoded += p->bytes;
	ended |= again && differs(j, ended);
	if (p->bytes > 0 && !again)
		job_add(p);
	else
		p->state = PIECE_FREE;
	if (ended && j->in->zstd->open == j)
		job_close_open(j);
	if (ended)
		job_end(s, j);
}

static void decode_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_job *const j = next_job(s, q);

	j->running = true;
	s->jobs->decoding++;
	/* Stop soon: a reader that decodes serves no other reader and no device. */
	do
		fill_unlocks(s, j, free_piece(j));
	while (!j->ended && free_piece(j) && s->jobs->decoding < s->readers.takers &&
	       s->jobs->on_device == 0);
	j->running = false;
	s->jobs->decoding--;
	if (piece_task.ready(s, q))
		piece_task.run_unlocks(s, q);
}

const struct task decode_task = {decode_ready, decode_run_unlocks};

/* SPDX-License-Identifier: MIT */
/*
 * zstd_seam: pieces are handed out, and records that lie in several are put together.
 *
 * By then it is known where a piece lies among the decoded bytes, and so in which record it begins
 * and ends. The parts of a record are collected by its number, in any order; the thread that copies
 * the last part makes the record ready. No thread waits for a record.
 *
 * Their memory is bounded. A record that is not whole lacks bytes of a living job, which has paid
 * for the two records at its ends, or of what is not cut yet, which begins inside one record.
 */
#include <stdlib.h>
#include <string.h>

#include "input/source_input.h"
#include "input/zstd_blocks.h"

#define COPY_LOCKED 4096u /* bytes that are copied sooner than the lock is dropped and taken */

static void copy_unlocks(struct source *s, void *to, const void *from, size_t n)
{
	if (n > COPY_LOCKED)
		lock_drop(&s->lock);
	memcpy(to, from, n);
	if (n > COPY_LOCKED)
		lock_take(&s->lock);
}

/* ---- records in several pieces ---- */

/* A record that lies in several pieces, as far as it was put together. */
struct seam {
	struct seam *next; /* the next seam of the input, or the next whole one */
	struct input *in; /* if whole and ordered: lives until the record was given back; or NULL */
	uint64_t record;  /* its number in the input */
	uint32_t have;
	unsigned char bytes[];
};

/* What n decoded bytes at offset `at` consist of, in this order; the rest is not wanted. */
struct parts {
	size_t skipped;
	size_t head;    /* bytes of a record that began before `at` */
	size_t body;    /* bytes of whole records */
	size_t tail;    /* bytes of a record that begins here and is not whole */
	uint32_t phase; /* bytes of the head's record that lie before the head */
	uint64_t head_record, tail_record;
};

static struct parts parts_of(uint64_t at, size_t n, uint64_t skip, uint64_t limit, uint32_t record)
{
	struct parts p = {.skipped = at < skip ? (size_t)lesser(skip - at, n) : 0};
	const size_t end = limit <= at ? 0 : (size_t)lesser(limit - at, n);

	if (p.skipped >= end)
		return p;
	size_t left = end - p.skipped;
	const uint64_t first = at + p.skipped - skip;
	p.phase = (uint32_t)(first % record);
	p.head_record = first / record;
	if (p.phase > 0)
		p.head = left < record - p.phase ? left : record - p.phase;
	left -= p.head;
	p.tail = left % record;
	p.body = left - p.tail;
	p.tail_record = (first + p.head + p.body) / record;
	return p;
}

/* What was put together of a record so far; NULL: no memory. */
static struct seam *seam_of(struct source *s, struct input *in, uint64_t record)
{
	struct seam *seam = in->zstd->seams;

	while (seam && seam->record != record)
		seam = seam->next;
	if (seam)
		return seam;
	seam = malloc(sizeof(*seam) + s->use.record);
	if (!seam)
		return NULL;
	seam->in = NULL;
	seam->record = record;
	seam->have = 0;
	seam->next = in->zstd->seams;
	in->zstd->seams = seam;
	return seam;
}

/*
 * Adds n bytes of a record, which follow its first `phase`. `have` grows after the copy, because
 * the lock is dropped during it.
 */
static void mend_unlocks(struct source *s, struct input *in, uint64_t record, uint32_t phase,
			 const unsigned char *bytes, size_t n)
{
	struct seam *const seam = seam_of(s, in, record), **link = &in->zstd->seams;
	struct fail fail = {.status = STATUS_OK};

	if (!seam) {
		fail_errno(&fail, "%s", in->name);
		source_fail(s, in, 0, &fail);
		return;
	}
	copy_unlocks(s, seam->bytes + phase, bytes, n);
	seam->have += (uint32_t)n;
	if (seam->have < s->use.record)
		return;
	while (*link != seam)
		link = &(*link)->next;
	*link = seam->next;
	seam->next = s->zstd.mended;
	s->zstd.mended = seam;
	if (s->spec.ordered) {
		seam->in = in;
		in->lent++;
	}
	source_call(s);
}

static bool mended_ready(const struct source *s, const struct request *q)
{
	(void)q;
	return s->zstd.mended;
}

static void mended_run_unlocks(struct source *s, struct request *q)
{
	struct seam *const seam = s->zstd.mended;
	const uint32_t record = s->use.record;
	unsigned char *const to = (unsigned char *)q->want->room + q->got;

	s->zstd.mended = seam->next;
	copy_unlocks(s, to, seam->bytes, record);
	if (q->want->lent) /* what is lent next would not follow it in the room */
		*q->chunk = (struct chunk){.data = to,
					   .bytes = record,
					   .path = seam->in ? seam->in->index : 0,
					   .first = seam->record,
					   .fd = -1,
					   .input = seam->in};
	else
		q->got += record;
	free(seam);
}

const struct task mended_task = {mended_ready, mended_run_unlocks};

void seams_free(struct seam *seams)
{
	while (seams) {
		struct seam *const next = seams->next;
		free(seams);
		seams = next;
	}
}

/* Keeps what a piece at offset `at` has of the `room` bytes at offset `from`. */
static void keep(const struct zstd_piece *p, uint64_t at, unsigned char *to, uint64_t from,
		 size_t room)
{
	const uint64_t begin = larger(at, from), end = lesser(at + p->bytes, from + room);

	if (begin < end)
		memcpy(to + (begin - from), p->data + (begin - at), (size_t)(end - begin));
}

/* Finds the whole records of a piece; the other bytes go where they belong. */
static void sort_out_unlocks(struct source *s, struct zstd_piece *p)
{
	struct input *const in = p->job->in;
	const uint64_t at = p->job->at + p->begin, stop = input_stop(in);
	const uint32_t record = s->use.record;
	/* What is left of a record where the samples end is never completed. */
	const uint64_t whole =
		stop == NO_END || stop < in->first ? stop : stop - (stop - in->first) % record;
	const struct parts parts = parts_of(at, p->bytes, in->first, whole, record);

	if (in->zstd->rest) { /* what follows the samples is looked at when all of it is there */
		keep(p, at, in->zstd->rest, in->bound, CONTENT_REST);
		if (in->content.header.end != HEADER_TO_END)
			keep(p, at, in->zstd->rest + CONTENT_REST, in->content.header.end,
			     CONTENT_END);
	}
	p->sorted = true;
	p->from = parts.skipped + parts.head;
	p->left = parts.body;
	if (parts.head > 0)
		mend_unlocks(s, in, parts.head_record, parts.phase, p->data + parts.skipped,
			     parts.head);
	if (parts.tail > 0)
		mend_unlocks(s, in, parts.tail_record, 0, p->data + p->from + p->left, parts.tail);
}

/* ---- checksums ---- */

/* Is the piece the next in the frame's order, and no thread adds another one? */
static bool is_next(const struct zstd_piece *p)
{
	const struct checksum *const sum = &p->job->sum;

	return sum->adds && !p->job->dropped && !sum->busy && p->begin == sum->added;
}

static void add_unlocks(struct source *s, struct zstd_piece *p)
{
	struct checksum *const sum = &p->job->sum;

	sum->busy = true;
	lock_drop(&s->lock);
	xxh64_add(&sum->hash, p->data, p->bytes);
	lock_take(&s->lock);
	sum->busy = false;
	sum->added += p->bytes;
}

/*
 * All of the piece was counted. It is freed after it was added to the checksum, and so are the
 * counted pieces after it.
 */
static void counted_unlocks(struct source *s, struct zstd_piece *p)
{
	struct zstd_job *const j = p->job;
	bool freed = false;

	p->state = PIECE_COUNTED;
	for (unsigned i = 0; i < j->pieces; i++) {
		struct zstd_piece *const each = &j->piece[i];
		if (each->job == j && each->state == PIECE_COUNTED && is_next(each)) {
			add_unlocks(s, each);
			i = UINT32_MAX; /* the next piece may stand before it */
		}
	}
	for (unsigned i = 0; i < j->pieces; i++) {
		struct zstd_piece *const each = &j->piece[i];
		if (each->job == j && each->state == PIECE_COUNTED &&
		    (!j->sum.adds || j->dropped || each->begin + each->bytes <= j->sum.added)) {
			each->state = PIECE_FREE;
			freed = true;
		}
	}
	if (freed && !j->ended && (!j->running || j->cut.how == HOW_BLOCKS))
		source_call(s); /* the job goes on */
	job_check(s, j);
}

/* ---- pieces ---- */

/* May the request have the piece as it is? */
static bool may_lend(const struct zstd_piece *p, const struct request *q)
{
	return p->left > 0 &&
	       (q->want->lent || (q->want->unpacked && q->got == 0 && blocks_in_room(p)));
}

static void lend_unlocks(struct source *s, struct zstd_piece *p, struct request *q)
{
	struct checksum *const sum = &p->job->sum;

	const struct input *const in = p->job->in;
	const uint64_t at = p->job->at + p->begin + p->from;

	*q->chunk = (struct chunk){.data = p->data + p->from,
				   .bytes = p->left,
				   .path = in->index,
				   .first = input_record(s, in, at),
				   .fd = -1,
				   .piece = p};
	/* What a device counts comes back late: then others are added up meanwhile. */
	if (!q->want->lent || !is_next(p))
		return;
	if (p->left == p->bytes) {
		sum->busy = true;
		q->chunk->hash = &sum->hash;
	} else {
		add_unlocks(s, p);
	}
}

/* The first job of which not all was handed out; NULL: there is none. */
static struct zstd_job *first_waiting(const struct source *s)
{
	struct zstd_job *j = jobs_first(s->inputs);

	while (j && j->ended && j->handed == j->made)
		j = jobs_next(j);
	return j;
}

bool jobs_wait(const struct source *s)
{
	return s->zstd.mended || first_waiting(s);
}

/* The piece that is handed out next; NULL: it is not ready. */
static struct zstd_piece *next_piece(const struct source *s)
{
	if (!s->spec.ordered)
		return s->zstd.queue;
	const struct zstd_job *const j = first_waiting(s);
	for (unsigned i = 0; j && j->at != UNKNOWN && i < j->pieces; i++)
		if (j->piece[i].job == j && j->piece[i].state == PIECE_READY &&
		    j->piece[i].begin == j->handed)
			return &j->piece[i];
	return NULL;
}

static void unqueue(struct source *s, struct zstd_piece *p)
{
	struct zstd_piece **link = &s->zstd.queue;

	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	if (!p->next)
		s->zstd.queue_end = link;
}

static void queue_first(struct source *s, struct zstd_piece *p)
{
	p->state = PIECE_READY;
	p->next = s->zstd.queue;
	s->zstd.queue = p;
	if (!p->next)
		s->zstd.queue_end = &p->next;
	source_call(s);
}

static bool piece_ready(const struct source *s, const struct request *q)
{
	(void)q;
	return next_piece(s);
}

static void piece_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_piece *const p = next_piece(s);

	unqueue(s, p);
	p->state = PIECE_OUT;
	if (!p->sorted)
		sort_out_unlocks(s, p);
	if (s->spec.ordered && s->zstd.mended) { /* the record before the piece comes first */
		queue_first(s, p);
		mended_run_unlocks(s, q);
		return;
	}
	p->job->handed = p->begin + p->bytes;
	if (s->spec.ordered)
		source_call(s); /* for the next piece */
	if (may_lend(p, q)) {
		lend_unlocks(s, p, q);
		return;
	}
	const size_t n = (size_t)lesser(p->left, q->cap - q->got);
	copy_unlocks(s, (unsigned char *)q->want->room + q->got, p->data + p->from, n);
	q->got += n;
	p->from += n;
	p->left -= n;
	if (p->left == 0) {
		counted_unlocks(s, p);
		return;
	}
	queue_first(s, p); /* the rest is for the next request */
}

const struct task piece_task = {piece_ready, piece_run_unlocks};

void piece_back_unlocks(struct source *s, const struct chunk *chunk)
{
	struct zstd_piece *const p = chunk->piece;
	struct checksum *const sum = &p->job->sum;

	if (chunk->hash) { /* the caller need not have added all of it */
		const size_t added = (size_t)(sum->hash.bytes - p->begin);
		if (added < p->bytes) {
			lock_drop(&s->lock);
			xxh64_add(&sum->hash, p->data + added, p->bytes - added);
			lock_take(&s->lock);
		}
		sum->busy = false;
		sum->added += p->bytes;
	}
	counted_unlocks(s, p);
}

/* SPDX-License-Identifier: MIT */
/*
 * zstd_seam: pieces are handed out, and records that lie in several are put together.
 *
 * The pieces of a job are handed out in order, and those of jobs with known places side by side. A
 * thread takes what comes next of a piece, whole records or a part of one, and the next thread goes
 * on behind that. The parts of a record are collected by its number, in any order; the thread that
 * copies the last part hands the record out. No thread waits for a record.
 *
 * If an input of packed samples ends inside a group, the records that are there are handed out when
 * its jobs have ended; in order, the pieces of later inputs wait for that. A counted piece may wait
 * until the pieces before it are in the checksum: the thread that returns one of those adds both.
 *
 * Their memory is bounded. A record that is not whole lacks bytes of a living job, which has paid
 * for two records, one at its end and one where its pieces are handed out; or of what is not cut
 * yet, which begins inside one record.
 */
#include <stdlib.h>
#include <string.h>

#include "input/source_state.h"
#include "input/zstd_blocks.h"

#define COPY_LOCKED 4096u /* bytes that are copied sooner than the lock is dropped and taken */

/* If records are ordered, no thread may hand out the next one before this one is copied. */
static void copy_unlocks(struct source *s, void *to, const void *from, size_t n)
{
	const bool drops = n > COPY_LOCKED && !s->spec.ordered;

	if (drops)
		lock_drop(&s->lock);
	memcpy(to, from, n);
	if (drops)
		lock_take(&s->lock);
}

/* ---- records in several pieces ---- */

/* A record that lies in several pieces, as far as it was put together. */
struct seam {
	struct seam *next; /* the next one of the input */
	uint64_t group;    /* its number in the input; if packed, that of its group */
	uint32_t have;
	unsigned char bytes[];
};

/* The seam of a record, made if this is its first part; NULL: no memory. */
static struct seam *seam_of(const struct source *s, struct zstd_input *z, uint64_t group)
{
	struct seam *seam = z->seams;

	while (seam && seam->group != group)
		seam = seam->next;
	if (seam || !(seam = malloc(sizeof(*seam) + s->use.record)))
		return seam;
	seam->group = group;
	seam->have = 0;
	seam->next = z->seams;
	z->seams = seam;
	return seam;
}

/* Hands out n bytes: a record that is whole now, or what there is of a group of packed ones. */
static void hand_seam_unlocks(struct source *s, struct input *in, struct seam *seam, size_t n,
			      struct request *q)
{
	unsigned char *const to = (unsigned char *)q->want->room + q->got;
	struct seam **link = &in->zstd->seams;

	while (*link != seam)
		link = &(*link)->next;
	*link = seam->next;
	copy_unlocks(s, to, seam->bytes, n);
	/* What is lent next would not follow it in the room; nor would records after a part of a group. */
	if (q->want->lent || n < s->use.record) {
		*q->chunk = (struct chunk){.data = to,
					   .bytes = n,
					   .path = in->index,
					   .first = seam->group * s->use.packed,
					   .fd = -1};
		if (s->spec.ordered) { /* the input does not end before the chunk is given back */
			q->chunk->input = in;
			in->lent++;
		}
	} else {
		q->got += n;
	}
	free(seam);
}

/*
 * Adds the n bytes of a piece that lie at offset `at` of the input, part of one record. The thread
 * that adds a record's last part hands it out. `have` grows after the copy, because the lock is
 * dropped during it.
 */
static void mend_unlocks(struct source *s, const struct zstd_piece *p, uint64_t at,
			 const unsigned char *bytes, size_t n, struct request *q)
{
	struct input *const in = p->job->in;
	struct seam *const seam = seam_of(s, in->zstd, (at - in->first) / s->use.record);
	struct fail fail = {.status = STATUS_OK};

	if (!seam) {
		fail_errno(&fail, "%s", in->name);
		source_fail(s, in, p->job->cut.offset, &fail);
		return;
	}
	copy_unlocks(s, seam->bytes + (at - in->first) % s->use.record, bytes, n);
	seam->have += (uint32_t)n;
	if (seam->have == s->use.record)
		hand_seam_unlocks(s, in, seam, s->use.record, q);
}

/* Bytes of packed records in an input's first seam, which is its last group when it has ended. */
static size_t short_bytes(const struct source *s, const struct input *in)
{
	return in->zstd && in->zstd->seams ? (size_t)whole_records(s, in->zstd->seams->have) : 0;
}

bool short_left(const struct source *s, const struct input *in)
{
	return in->ended && !in->zstd->jobs && short_bytes(s, in) > 0;
}

/* The first input with a group that is not whole, or not yet; NULL: there is none. */
static struct input *first_short(const struct source *s)
{
	struct input *in = s->use.packed > 1 ? s->inputs : NULL;

	while (in && short_bytes(s, in) == 0)
		in = in->next;
	return in;
}

/* The first input whose last records can be handed out. */
static struct input *next_short(const struct source *s)
{
	struct input *in = first_short(s);

	while (in && !(in->zstd && short_left(s, in)))
		in = in->next;
	return in;
}

static bool short_ready(const struct source *s, const struct request *q)
{
	return q->got == 0 && next_short(s);
}

static void short_run_unlocks(struct source *s, struct request *q)
{
	struct input *const in = next_short(s);

	hand_seam_unlocks(s, in, in->zstd->seams, short_bytes(s, in), q);
	if (s->spec.ordered) /* pieces of later inputs waited for it */
		source_call_all(s);
}

const struct task short_task = {short_ready, short_run_unlocks};

void seams_free(struct seam *seams)
{
	while (seams) {
		struct seam *const next = seams->next;
		free(seams);
		seams = next;
	}
}

/* ---- what follows the samples ---- */

/* Keeps what a piece at offset `at` has of the `room` bytes at offset `from`. */
static void keep(const struct zstd_piece *p, uint64_t at, unsigned char *to, uint64_t from,
		 size_t room)
{
	const uint64_t begin = larger(at, from), end = lesser(at + p->bytes, from + room);

	if (begin < end)
		memcpy(to + (begin - from), p->data + (begin - at), (size_t)(end - begin));
}

/* It is looked at when all of it is there. */
static void keep_rest(const struct zstd_piece *p, uint64_t at)
{
	const struct input *const in = p->job->in;
	unsigned char *const rest = in->zstd->rest;

	if (!rest)
		return;
	keep(p, at, rest, in->bound, CONTENT_REST);
	if (in->content.header.end != HEADER_TO_END)
		keep(p, at, rest + CONTENT_REST, in->content.header.end, CONTENT_END);
}

/* ---- checksums ---- */

/* Is the piece the next in the frame's order, and no thread adds another one? */
static bool is_next(const struct zstd_piece *p)
{
	const struct checksum *const sum = &p->job->sum;

	return sum->adds && !sum->busy && p->begin == sum->added;
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
	struct zstd_piece **link = &j->made, *each;
	bool freed = false;

	p->state = PIECE_COUNTED;
	while ((each = *link) != NULL) {
		const bool counted = each->state == PIECE_COUNTED;
		if (counted && is_next(each)) {
			add_unlocks(s, each);
			link = &j->made; /* meanwhile others may have taken pieces off the list */
		} else if (counted && (!j->sum.adds || each->begin + each->bytes <= j->sum.added)) {
			*link = each->next;
			if (j->made_end == &each->next)
				j->made_end = link;
			each->state = PIECE_FREE;
			freed = true;
		} else {
			link = &each->next;
		}
	}
	if (freed && !j->ended && (!j->running || j->cut.how == HOW_BLOCKS))
		source_call(s); /* the job goes on */
}

/* ---- pieces ---- */

/* A thread copies or counts bytes of the piece up to `to`; the next thread gets what follows. */
static void hold(struct zstd_piece *p, size_t to)
{
	p->out++;
	p->from = to;
	if (to == p->bytes)
		p->job->ready = p->next;
}

static void release_unlocks(struct source *s, struct zstd_piece *p)
{
	p->out--;
	if (p->out == 0 && p->from == p->bytes)
		counted_unlocks(s, p);
}

/* May the request have the piece as it is? */
static bool may_lend(const struct zstd_piece *p, const struct request *q)
{
	return q->want->lent || (q->want->unpacked && q->got == 0 && blocks_in_room(p));
}

/* Lends n bytes of the piece, from `from` on. */
static void lend_unlocks(struct source *s, struct zstd_piece *p, size_t from, size_t n,
			 struct request *q)
{
	struct checksum *const sum = &p->job->sum;
	const struct input *const in = p->job->in;

	hold(p, from + n);
	*q->chunk = (struct chunk){.data = p->data + from,
				   .bytes = n,
				   .path = in->index,
				   .first = input_record(s, in, p->job->at + p->begin + from),
				   .fd = -1,
				   .piece = p};
	if (p->from < p->bytes)
		source_call(s); /* for the rest */
	/* What a device counts comes back late: then others are added up meanwhile. */
	if (!q->want->lent || !is_next(p))
		return;
	if (n == p->bytes) {
		sum->busy = true;
		q->chunk->hash = &sum->hash;
	} else {
		add_unlocks(s, p);
	}
}

bool jobs_wait(const struct source *s)
{
	const struct zstd_job *j = jobs_first(s->inputs);

	while (j && j->ended && !j->ready)
		j = jobs_next(j);
	return j || first_short(s);
}

struct zstd_piece *piece_next(const struct source *s)
{
	const struct input *const waits = s->spec.ordered ? first_short(s) : NULL;

	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j)) {
		if (waits && j->in->index > waits->index)
			break;
		if (j->ready && j->at != UNKNOWN)
			return j->ready;
		if (s->spec.ordered && (j->ready || !j->ended))
			break;
	}
	return NULL;
}

static bool piece_ready(const struct source *s, const struct request *q)
{
	(void)q;
	return piece_next(s);
}

/* Hands out what comes next of a piece: whole records, or what it has of one. */
static void piece_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_piece *const p = piece_next(s);
	const struct input *const in = p->job->in;
	const uint32_t record = s->use.record;
	const uint64_t at = p->job->at + p->begin, stop = input_stop(in);
	/* What is left of a record where the samples end is never completed. */
	const uint64_t whole = stop == NO_END || stop < in->first
				       ? stop
				       : in->first + whole_records(s, stop - in->first);
	const uint64_t begin = larger(at + p->from, in->first),
		       end = lesser(offset_sum(at, p->bytes), whole);

	if (p->from == 0)
		keep_rest(p, at);
	if (begin >= end) { /* nothing more of it is wanted */
		hold(p, p->bytes);
		release_unlocks(s, p);
		return;
	}
	const size_t from = (size_t)(begin - at), left = (size_t)(end - begin),
		     rest = record - (size_t)((begin - in->first) % record);
	const unsigned char *const bytes = p->data + from;
	if (rest < record || left < record) {
		const size_t n = (size_t)lesser(rest, left);
		hold(p, from + n);
		mend_unlocks(s, p, begin, bytes, n, q);
	} else if (may_lend(p, q)) {
		lend_unlocks(s, p, from, left - left % record, q);
		return;
	} else {
		const size_t n = (size_t)lesser(left - left % record, q->cap - q->got);
		hold(p, from + n);
		copy_unlocks(s, (unsigned char *)q->want->room + q->got, bytes, n);
		q->got += n;
	}
	release_unlocks(s, p);
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
	release_unlocks(s, p);
}

/* SPDX-License-Identifier: MIT */
/*
 * zstd_seam: hands out pieces, and puts records together that span several pieces.
 *
 * The pieces of a job are handed out in order, several jobs with known offsets at a time. A thread
 * takes the next whole records of a piece, or the next part of one record, and the next thread
 * continues after it. A "seam" collects the parts of a record, in any order; the thread that copies
 * the last part hands the record out. No thread waits for a record.
 *
 * If an input of packed samples ends inside a group, the group's records are handed out when the
 * input's jobs have ended. If records are ordered, the pieces of later inputs wait for that.
 *
 * A counted piece may have to wait until the pieces before it are in the checksum. The thread that
 * returns an earlier piece then adds both.
 *
 * The memory of seams is bounded. The bytes that a partial record lacks belong to a live job, which
 * can have two such records, one at its end and one where its pieces are handed out; or they come
 * after the last job, and there is one such record. Unless records are small, their memory is part
 * of the job's (cut.memory.seams).
 */
#include <stdlib.h>
#include <string.h>

#include "frames/zstd_job.h"

#define COPY_LOCKED 4096u /* copying this many bytes takes no longer than dropping the lock */

/* Keep the lock if records are ordered: the next one must not be handed out before this copy. */
static void copy_unlocks(struct source *s, void *to, const void *from, size_t n)
{
	const bool drops = n > COPY_LOCKED && !s->spec.ordered;

	if (drops)
		source_unlocks(s);
	memcpy(to, from, n);
	if (drops)
		lock_take(&s->lock);
}

/* ---- records that span pieces ---- */

/* A record, or a group of packed ones, as far as its parts are copied. */
struct seam {
	struct seam *next; /* the input's next seam */
	uint64_t group;    /* number of the record or group in the input */
	uint32_t have;     /* bytes copied */
	unsigned char bytes[];
};

/* Find a record's seam, or make one for its first part. NULL: no memory. */
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

/* Hand out the seam's first n bytes: a whole record, or a part of a last group. Free the seam. */
static void hand_seam_unlocks(struct source *s, struct input *in, struct seam *seam, size_t n,
			      struct request *q)
{
	unsigned char *const to = (unsigned char *)q->want->buffer + q->got;
	struct seam **link = &in->zstd->seams;

	while (*link != seam)
		link = &(*link)->next;
	*link = seam->next;
	copy_unlocks(s, to, seam->bytes, n);
	/* Lent bytes cannot follow these in the buffer, nor can records after part of a group. */
	if (q->want->lent || n < s->use.record) {
		*q->chunk = (struct chunk){.data = to,
					   .bytes = n,
					   .path = in->index,
					   .record = seam->group * s->use.packed};
		if (s->spec.ordered) { /* keep the input open until the chunk comes back */
			q->chunk->input = in;
			in->lent++;
		}
	} else {
		q->got += n;
	}
	free(seam);
}

/*
 * Add n bytes of a piece, part of one record, at offset `at` of the input. With the record's last
 * part, hand it out. Add to `have` after the copy, during which the lock may be dropped.
 */
static void add_part_unlocks(struct source *s, const struct zstd_piece *p, uint64_t at,
			     const unsigned char *bytes, size_t n, struct request *q)
{
	struct input *const in = p->job->in;
	struct seam *const seam = seam_of(s, in->zstd, (at - in->begin) / s->use.record);
	struct fail fail = {.status = STATUS_OK};

	if (!seam) {
		fail_errno(&fail, "%s", in->name);
		source_fail(s, in, p->job->cut.offset, &fail);
		return;
	}
	copy_unlocks(s, seam->bytes + (at - in->begin) % s->use.record, bytes, n);
	seam->have += (uint32_t)n;
	if (seam->have == s->use.record)
		hand_seam_unlocks(s, in, seam, s->use.record, q);
}

/* Bytes of whole packed records in an input's first seam; at the input's end, its last group. */
static size_t short_bytes(const struct source *s, const struct input *in)
{
	return in->zstd && in->zstd->seams ? (size_t)whole_records(s, in->zstd->seams->have) : 0;
}

bool short_left(const struct source *s, const struct input *in)
{
	return in->ended && !in->zstd->jobs && short_bytes(s, in) > 0;
}

/* Return the first input with records in a partial group, or NULL. */
static struct input *first_short(const struct source *s)
{
	struct input *in = s->use.packed > 1 ? s->inputs : NULL;

	while (in && short_bytes(s, in) == 0)
		in = in->next;
	return in;
}

/* Return the first input whose last group can be handed out, or NULL. */
static struct input *next_short(const struct source *s)
{
	struct input *in = first_short(s);

	while (in && !(in->zstd && short_left(s, in)))
		in = in->next;
	return in && source_is_behind_failure(s, in, UNKNOWN) ? NULL : in;
}

static bool short_ready(const struct source *s, const struct request *q)
{
	return q->got == 0 && next_short(s);
}

static void short_run_unlocks(struct source *s, struct request *q)
{
	struct input *const in = next_short(s);

	hand_seam_unlocks(s, in, in->zstd->seams, short_bytes(s, in), q);
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

/* ---- checksums ---- */

/* Is the piece the next one to add, and no thread adding? */
static bool is_next(const struct zstd_piece *p)
{
	const struct checksum *const sum = &p->job->sum;

	return sum->adds && !sum->busy && p->begin == sum->added;
}

static void add_unlocks(struct source *s, struct zstd_piece *p)
{
	struct checksum *const sum = &p->job->sum;

	sum->busy = true;
	source_unlocks(s);
	xxh64_add(&sum->hash, p->data, p->bytes);
	lock_take(&s->lock);
	sum->busy = false;
	sum->added += p->bytes;
}

/* Add a counted piece to the checksum and free it, then the counted pieces after it. */
static void counted_unlocks(struct source *s, struct zstd_piece *p)
{
	struct zstd_job *const j = p->job;
	struct zstd_piece **link = &j->made, *each;

	p->state = PIECE_COUNTED;
	while ((each = *link) != NULL) {
		const bool counted = each->state == PIECE_COUNTED;
		if (counted && is_next(each)) {
			add_unlocks(s, each);
			link = &j->made; /* the list may have changed meanwhile */
		} else if (counted && (!j->sum.adds || each->begin + each->bytes <= j->sum.added)) {
			*link = each->next;
			if (j->made_end == &each->next)
				j->made_end = link;
			each->state = PIECE_FREE;
		} else {
			link = &each->next;
		}
	}
}

/* ---- pieces ---- */

void piece_hold(struct zstd_piece *p, size_t to)
{
	p->out++;
	p->from = to;
	if (to == p->bytes)
		p->job->ready = p->next;
}

void piece_release_unlocks(struct source *s, struct zstd_piece *p)
{
	p->out--;
	if (p->out == 0 && p->from == p->bytes)
		counted_unlocks(s, p);
}

/* May the piece be lent, instead of copied? */
static bool may_lend(const struct zstd_piece *p, const struct request *q)
{
	return q->want->lent || (q->want->unpacked && q->got == 0 && p->job->cut.how == HOW_DEVICE);
}

/* Lend n bytes of the piece, starting at `from`. */
static void lend_unlocks(struct source *s, struct zstd_piece *p, size_t from, size_t n,
			 struct request *q)
{
	struct checksum *const sum = &p->job->sum;
	struct input *const in = p->job->in;

	piece_hold(p, from + n);
	*q->chunk = (struct chunk){.data = p->data + from,
				   .bytes = n,
				   .path = in->index,
				   .record = input_record(s, in, p->job->at + p->begin + from),
				   .input = in,
				   .piece = p};
	/* A device returns a piece late: add its bytes up then, and other pieces meanwhile. */
	if (!q->want->lent || !is_next(p))
		return;
	if (n == p->bytes) {
		sum->busy = true;
		q->chunk->hash = &sum->hash;
	} else {
		add_unlocks(s, p);
	}
}

bool jobs_precede(const struct source *s, const struct input *in)
{
	const struct zstd_job *j = in->zstd->jobs;

	while (j && j->ended && !j->ready)
		j = j->next;
	return j || (s->use.packed > 1 && short_bytes(s, in) > 0);
}

struct zstd_piece *piece_next(const struct source *s)
{
	const struct input *const waits = s->spec.ordered ? first_short(s) : NULL;

	for (const struct zstd_job *j = jobs_first(s->inputs); j; j = jobs_next(j)) {
		if (waits && j->in->index > waits->index)
			break;
		if (s->spec.ordered && source_is_behind_failure(s, j->in, j->cut.offset))
			break;
		if (j->ready && j->in->zstd->consumer->may_take(s, j))
			return j->ready;
		const bool unsure = j->sum.follows && j->sum.adds && j->next;
		if (s->spec.ordered && (j->ready || !j->ended || unsure))
			break;
	}
	return NULL;
}

static bool piece_ready(const struct source *s, const struct request *q)
{
	(void)q;
	return piece_next(s);
}

static void piece_run_unlocks(struct source *s, struct request *q)
{
	struct zstd_piece *const p = piece_next(s);

	p->job->in->zstd->consumer->take_unlocks(s, p, q);
}

const struct task piece_task = {piece_ready, piece_run_unlocks};

/* ---- samples ---- */

static void check_sum(struct source *s, struct zstd_job *j)
{
	struct fail fail = {.status = STATUS_OK};

	if (j->fail.status != STATUS_OK || j->at >= j->in->limit || !job_sum_differs(j))
		return;
	frames_bad(j->in->bytes, j->cut.offset, &fail, FRAMES_CHECKSUM);
	source_fail(s, j->in, j->cut.offset, &fail);
}

static bool samples_may_take(const struct source *s, const struct zstd_job *j)
{
	(void)s;
	return j->at != UNKNOWN;
}

/* Hand out the next whole records of a piece, or the next part of one record. */
static void samples_take_unlocks(struct source *s, struct zstd_piece *p, struct request *q)
{
	struct input *const in = p->job->in;
	const uint32_t record = s->use.record;
	const uint64_t at = p->job->at + p->begin, stop = input_stop(in);
	/* A partial record at the end of the samples is never completed. */
	const uint64_t whole = stop == NO_END || stop < in->begin
				       ? stop
				       : in->begin + whole_records(s, stop - in->begin);
	const uint64_t begin = larger(at + p->from, in->begin),
		       end = lesser(offset_sum(at, p->bytes), whole);

	if (begin >= end) { /* nothing of it is wanted */
		piece_hold(p, p->bytes);
		piece_release_unlocks(s, p);
		return;
	}
	const size_t from = (size_t)(begin - at), left = (size_t)(end - begin),
		     rest = record - (size_t)((begin - in->begin) % record);
	const unsigned char *const bytes = p->data + from;
	if (rest < record || left < record) {
		const size_t n = (size_t)lesser(rest, left);
		piece_hold(p, from + n);
		add_part_unlocks(s, p, begin, bytes, n, q);
	} else if (may_lend(p, q)) {
		lend_unlocks(s, p, from, left - left % record, q);
		return;
	} else {
		const size_t n = (size_t)lesser(left - left % record, q->cap - q->got);
		piece_hold(p, from + n);
		copy_unlocks(s, (unsigned char *)q->want->buffer + q->got, bytes, n);
		q->got += n;
	}
	piece_release_unlocks(s, p);
}

const struct consumer samples = {
	.end = check_sum,
	.may_take = samples_may_take,
	.take_unlocks = samples_take_unlocks,
};

void piece_back_unlocks(struct source *s, const struct chunk *chunk)
{
	struct zstd_piece *const p = chunk->piece;
	struct checksum *const sum = &p->job->sum;

	if (chunk->hash) { /* the caller may have added only a part */
		const size_t added = (size_t)(sum->hash.bytes - p->begin);
		if (added < p->bytes) {
			source_unlocks(s);
			xxh64_add(&sum->hash, p->data + added, p->bytes - added);
			lock_take(&s->lock);
		}
		sum->busy = false;
		sum->added += p->bytes;
	}
	piece_release_unlocks(s, p);
}

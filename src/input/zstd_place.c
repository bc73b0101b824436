/* SPDX-License-Identifier: MIT */
/*
 * zstd_place: which decoded bytes are whose. A unit's offset in the decoded input says which of its
 * bytes are skipped, which come after -n's last record and where records begin. It is known when
 * the sizes of all units before it are; where a frame does not declare its size, the units after it
 * wait, decoded, until it was decoded too. Records that units cut are put together here, once.
 */
#include <stdlib.h>
#include <string.h>

#include "input/zstd_read.h"

#define FAR (UNKNOWN - 1) /* where headers lie about sizes, offsets go no further */

void zstd_place(struct source *s, struct input *in)
{
	struct zstd *z = in->zstd;
	bool again = z->placed < z->units, found = false;

	while (again) {
		again = false;
		for (struct reader *r = s->readers; r; r = r->next) {
			struct unit *u = &r->unit;
			if (r->in != in || u->number != z->placed)
				continue;
			if (u->at == UNKNOWN) {
				u->at = z->decoded;
				found = true;
			}
			if (u->content == UNKNOWN)
				continue;
			z->decoded = u->content < FAR - z->decoded ? z->decoded + u->content : FAR;
			again = ++z->placed < z->units;
		}
	}
	if (found)
		pthread_cond_broadcast(&s->settled);
}

struct parts zstd_parts(uint64_t at, size_t n, uint64_t skip, uint64_t limit, uint32_t record)
{
	struct parts p = {.skipped = at < skip ? (skip - at < n ? (size_t)(skip - at) : n) : 0};
	const size_t end = limit <= at ? 0 : limit - at < n ? (size_t)(limit - at) : n;

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

/* ---- records that lie in several units ---- */

/* bytes that are copied sooner than the lock is dropped and taken again */
#define COPY_LOCKED 4096u

void zstd_copy_unlocks(struct source *s, void *to, const void *from, size_t n)
{
	if (n > COPY_LOCKED)
		lock_drop(&s->lock);
	memcpy(to, from, n);
	if (n > COPY_LOCKED)
		lock_take(&s->lock);
}

unsigned zstd_seams_free(struct seam *seams)
{
	unsigned freed = 0;

	for (struct seam *seam; (seam = seams) != NULL; freed++) {
		seams = seam->next;
		free(seam);
	}
	return freed;
}

/* The seam of a record, new or begun; NULL: no memory. */
static struct seam *seam_of(struct source *s, struct zstd *z, uint64_t record)
{
	struct seam *seam = z->seams;

	while (seam && seam->record != record)
		seam = seam->next;
	if (seam)
		return seam;
	seam = malloc(sizeof(*seam) + s->spec.record);
	if (!seam)
		return NULL;
	if (++s->seams > s->seam_most)
		s->seam_most = s->seams;
	seam->record = record;
	seam->have = 0;
	seam->next = z->seams;
	z->seams = seam;
	return seam;
}

/*
 * n bytes of a record, after `phase` bytes of it. Its last part makes it the reader's to hand out.
 * Until then the seam stays where it is: it lacks these bytes while they are copied.
 */
static int mend_unlocks(struct reader *r, uint64_t record, uint32_t phase,
			const unsigned char *bytes, size_t n, struct fail *fail)
{
	struct source *s = r->source;
	struct zstd *z = r->in->zstd;
	struct seam *const seam = seam_of(s, z, record);
	struct seam **link = &z->seams;

	if (!seam)
		return fail_errno(fail, "%s", r->in->name);
	zstd_copy_unlocks(s, seam->bytes + phase, bytes, n);
	seam->have += (uint32_t)n;
	if (seam->have < s->spec.record)
		return 0;
	/* Taken of -n now: when this unit is done, what is left belongs to the next input. */
	budget_take(s, 1);
	while (*link != seam)
		link = &(*link)->next;
	*link = seam->next;
	seam->next = r->mended;
	r->mended = seam;
	return 0;
}

/* Keeps what n decoded bytes have of the `room` bytes at offset `from`. */
static void keep(const struct reader *r, const unsigned char *data, size_t n, unsigned char *to,
		 uint64_t from, size_t room)
{
	const uint64_t at = r->unit.at, begin = at > from ? at : from,
		       end = at + n < from + room ? at + n : from + room;

	if (begin < end)
		memcpy(to + (begin - from), data + (begin - at), (size_t)(end - begin));
}

/* What follows the samples is looked at when all of it is there. */
static void keep_rest(const struct reader *r, const unsigned char *data, size_t n)
{
	const struct input *in = r->in;

	if (!in->zstd->rest)
		return;
	keep(r, data, n, in->zstd->rest, in->bound, REST_BYTES);
	if (in->header.end != HEADER_TO_END)
		keep(r, data, n, in->zstd->rest + REST_BYTES, in->header.end, INPUT_END_BYTES);
}

int zstd_sort_out_unlocks(struct reader *r, const unsigned char *data, size_t n, size_t *from,
			  size_t *bytes, struct fail *fail)
{
	const struct source_spec *spec = &r->source->spec;
	const struct input *in = r->in;
	/* What follows the samples is decoded too, for its checksums, and not counted. */
	const uint64_t end = in->zstd->limit < in->bound ? in->zstd->limit : in->bound;
	const struct parts p = zstd_parts(r->unit.at, n, in->first, end, spec->record);

	keep_rest(r, data, n);
	r->unit.at += n;
	*from = p.skipped + p.head;
	*bytes = p.body;
	budget_take(r->source, p.body / spec->record);
	if (p.head > 0 &&
	    mend_unlocks(r, p.head_record, p.phase, data + p.skipped, p.head, fail) != 0)
		return -1;
	return p.tail > 0 ? mend_unlocks(r, p.tail_record, 0, data + *from + p.body, p.tail, fail)
			  : 0;
}

void zstd_hand_out_mended_unlocks(struct reader *r, struct request *q)
{
	struct source *s = r->source;
	struct seam *const seam = r->mended;
	const uint32_t record = s->spec.record;

	r->mended = seam->next;
	seam->next = NULL;
	zstd_copy_unlocks(s, (unsigned char *)q->want->buffer + q->got, seam->bytes, record);
	q->got += record;
	q->enough |= q->want->lent; /* what is lent next would not follow it in the buffer */
	s->seams -= zstd_seams_free(seam);
}

/*
 * zstd_place: which of a frame's decoded bytes are whose. Its place in the decoded input says which are
 * skipped, which lie behind -n's limit and where records begin. It is known when the sizes of all
 * frames in front of it are; where a frame does not tell its size, those behind it wait, decoded,
 * until it is. Records that frames cut are put together here, once.
 */
#include <stdlib.h>
#include <string.h>

#include "zstd_state.h"

#define FAR (NOWHERE - 1) /* where headers lie about sizes, places go no further */

void zstd_place(struct source *s, struct input *in)
{
	struct zstd_input *z = in->zstd;

	for (bool again = true; again;) {
		again = false;
		for (struct decoder *d = s->zstd->decoders; d; d = d->next) {
			if (d->in != in || d->number != z->placed)
				continue;
			if (d->at == NOWHERE)
				d->at = z->decoded;
			if (d->size == FRAME_UNKNOWN)
				continue;
			z->decoded = d->size < FAR - z->decoded ? z->decoded + d->size : FAR;
			z->placed++;
			again = true;
		}
	}
	/* With many small frames a call for nobody costs as much as anything else that is done with the lock. */
	if (s->zstd->placeless > 0 || z->limit != UINT64_MAX)
		zstd_wake(s);
}

void zstd_place_joined(struct decoder *d)
{
	struct zstd_input *z = d->in->zstd;
	const uint64_t more = d->frame.header.content - d->size;

	d->size += more;
	if (d->number < z->placed)
		z->decoded = more < FAR - z->decoded ? z->decoded + more : FAR;
}

bool zstd_await_place(struct source *s, const struct decoder *d)
{
	s->zstd->placeless++;
	while (d->at == NOWHERE && !s->stopped && s->budget > 0)
		pthread_cond_wait(&s->zstd->changed, &s->lock);
	s->zstd->placeless--;
	return d->at != NOWHERE && !s->stopped;
}

bool zstd_wanted(struct source *s, struct decoder *d)
{
	const struct zstd_input *z = d->in->zstd;

	if (z->limit == UINT64_MAX || (zstd_await_place(s, d) && d->at < z->limit))
		return true;
	if (d->size == FRAME_UNKNOWN) {
		d->size = 0;
		zstd_place(s, d->in);
	}
	return false;
}

void zstd_account(struct source *s, struct zstd_input *z)
{
	const uint64_t skipped = z->decoded < s->spec.skip ? z->decoded : s->spec.skip;

	if (z->accounted)
		return;
	z->accounted = true;
	s->totals.packed += z->next - z->begin;
	s->totals.skipped += skipped;
	s->totals.bytes += skipped;
}

/* n bytes of the record that has `phase` bytes in front of them. */
static int mend(struct source *s, struct input *in, uint64_t record, uint32_t phase,
		const unsigned char *bytes, size_t n, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	struct zstd_pool *p = s->zstd;
	size_t i = 0;

	while (i < z->seam_count && z->seams[i].record != record)
		i++;
	if (i == z->seam_count) {
		if (z->seam_count == z->seam_room) {
			const size_t room = 2 * z->seam_room + 16;
			struct seam *larger = realloc(z->seams, room * sizeof(*larger));
			if (!larger)
				return fail_errno(fail, "%s", in->name);
			z->seams = larger;
			z->seam_room = room;
		}
		z->seams[z->seam_count++] = (struct seam){.record = record};
	}
	struct seam *seam = &z->seams[i];
	memcpy(seam->bytes + phase, bytes, n);
	seam->have += (uint32_t)n;
	if (seam->have < s->spec.record)
		return 0;
	if (p->mended_bytes + s->spec.record > p->mended_room) {
		const size_t room = 2 * p->mended_room + 4096;
		unsigned char *larger = realloc(p->mended, room);
		if (!larger)
			return fail_errno(fail, "%s", in->name);
		p->mended = larger;
		p->mended_room = room;
	}
	memcpy(p->mended + p->mended_bytes, seam->bytes, s->spec.record);
	p->mended_bytes += s->spec.record;
	*seam = z->seams[--z->seam_count];
	return 0;
}

void zstd_take_mended(struct source *s, struct request *r)
{
	struct zstd_pool *p = s->zstd;
	size_t n = r->cap - r->got < p->mended_bytes ? r->cap - r->got : p->mended_bytes;

	if (n == 0)
		return;
	n -= n % s->spec.record;
	if (s->budget < n / s->spec.record)
		n = (size_t)s->budget * s->spec.record;
	memcpy(r->buffer + r->got, p->mended + p->mended_bytes - n, n);
	p->mended_bytes -= n;
	r->got += n;
	if (s->budget != UINT64_MAX)
		s->budget -= n / s->spec.record;
}

int64_t zstd_sort_out(struct source *s, struct input *in, uint64_t at, const unsigned char *bytes, size_t n,
		      size_t most, size_t *from, size_t *length, struct fail *fail)
{
	const uint64_t skip = s->spec.skip, limit = in->zstd->limit;
	const uint32_t record = s->spec.record;
	size_t i = at < skip ? (skip - at < n ? (size_t)(skip - at) : n) : 0;
	size_t end = at + n <= limit ? n : limit > at ? (size_t)(limit - at) : 0;

	*from = *length = 0;
	if (i >= end)
		return (int64_t)n;
	const uint32_t phase = (uint32_t)((at + i - skip) % record);
	if (phase > 0) {
		const size_t head = end - i < record - phase ? end - i : record - phase;
		if (mend(s, in, (at + i - skip) / record, phase, bytes + i, head, fail) != 0)
			return -1;
		s->totals.bytes += head;
		i += head;
	}
	*from = i;
	*length = (end - i) / record * record;
	if (*length > most) {
		*length = most;
		end = i + most;
	}
	i += *length;
	if (i == end)
		return (int64_t)(*length == most && end < n && at + end < limit ? i : n);
	if (mend(s, in, (at + i - skip) / record, 0, bytes + i, end - i, fail) != 0)
		return -1;
	s->totals.bytes += end - i;
	return (int64_t)n;
}

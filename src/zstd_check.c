/*
 * zstd_check: checksums of frames, verified beside the decoder. It is the one part of decoding a frame
 * that others can do, and that whoever counts the bytes has in his cache anyway: libzstd is told that
 * there is none, and what it does not see is added up here, in the order of the frame.
 *
 *   whole    by whoever counts what was lent to him, and what is left of it when he returns it
 *   in turn  by whoever takes or returns a piece, for all pieces whose turn it is
 *
 * Frames that a lane begins, which copies but does not look at samples, are left to libzstd.
 */
#include "little.h"
#include "zstd_state.h"

#define FLAG_AT 4 /* behind the magic number */
#define FLAG 4

void zstd_check_begin(struct decoder *d, bool ours)
{
	d->check = (struct check){.ours = ours};
	xxh64_begin(&d->check.hash);
}

void zstd_check_hide(struct decoder *d, unsigned char *head, size_t n)
{
	d->check.ours = d->check.ours && n > FLAG_AT && (head[FLAG_AT] & FLAG) != 0;
	if (d->check.ours)
		head[FLAG_AT] &= (unsigned char)~FLAG;
}

void zstd_check_told(struct decoder *d, const unsigned char trailer[CHECKSUM_BYTES])
{
	d->check.told = true;
	d->check.sum = little32(trailer);
}

/* The next bytes of a frame, the caller's turn; gives the lock up. */
static void add(struct source *s, struct decoder *d, const unsigned char *bytes, size_t n)
{
	d->check.busy = true;
	pthread_mutex_unlock(&s->lock);
	xxh64_add(&d->check.hash, bytes, n);
	pthread_mutex_lock(&s->lock);
	d->check.busy = false;
	d->check.added += n;
	if (d->check.awaited)
		zstd_wake(s);
}

/* The piece whose turn it is, if there is one and nobody else is at it. */
static struct piece *next_piece(struct decoder *d)
{
	for (unsigned i = 0; i < PIECES && d->in && d->check.ours && !d->check.busy; i++)
		if (d->piece[i].state != FREE && d->piece[i].begin == d->check.added)
			return &d->piece[i];
	return NULL;
}

void zstd_check_pieces(struct source *s, struct decoder *d)
{
	for (struct piece *p; (p = next_piece(d)) != NULL;) {
		add(s, d, p->data, p->decoded);
		if (p->state != COUNTED)
			continue;
		p->state = FREE;
		zstd_wake(s);
	}
}

void zstd_check_counted(struct source *s, struct decoder *d, struct piece *p)
{
	/* Once the lock was given up the piece may be another: whoever adds one that was counted frees it. */
	p->state = d->in && d->check.ours && p->begin >= d->check.added ? COUNTED : FREE;
	zstd_wake(s);
	zstd_check_pieces(s, d);
}

void zstd_check_bytes(struct source *s, struct decoder *d, uint64_t begin, const unsigned char *bytes, size_t n)
{
	if (!d->check.ours || n == 0)
		return;
	for (zstd_check_pieces(s, d); d->check.added < begin; zstd_check_pieces(s, d)) {
		d->check.awaited = true; /* somebody else is at one of them */
		pthread_cond_wait(&s->zstd->changed, &s->lock);
		d->check.awaited = false;
	}
	add(s, d, bytes, n);
}

int zstd_check_end(const struct decoder *d, struct fail *fail)
{
	if (!d->check.told || d->check.added < d->made || (uint32_t)xxh64_end(&d->check.hash) == d->check.sum)
		return 0;
	return zstd_bad(d->in, d->frame.offset, fail, "Restored data doesn't match checksum");
}

int zstd_check_whole(struct source *s, struct decoder *d, struct fail *fail)
{
	struct xxh64 *const hash = &d->check.hash;

	if (!d->check.ours)
		return 0;
	pthread_mutex_unlock(&s->lock);
	if (hash->bytes < d->out_end)
		xxh64_add(hash, d->out + hash->bytes, d->out_end - hash->bytes);
	pthread_mutex_lock(&s->lock);
	return zstd_check_end(d, fail);
}

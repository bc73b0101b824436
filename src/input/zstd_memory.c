/* SPDX-License-Identifier: MIT */
/*
 * zstd_memory: what readers hold of the memory that decoders may take together.
 *
 * A buffer that was mapped stays so: a reader keeps what it has for its next unit, and where memory
 * is short, or as many readers decode as may, the next one takes over the buffers of one that has
 * nothing to do. To free them and map others for each frame took longer than to decode it.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/huge.h"
#include "input/zstd_read.h"

#define CONTEXT_BYTES ((uint64_t)256 << 10) /* libzstd's, where it keeps no window ... */
#define STREAM_BYTES ((uint64_t)512 << 10)  /* ... and, the window aside, where it does */
/*
 * What a share of the memory does not hold is decoded piece by piece, which is a little slower. So
 * it is no smaller where there are more decoders than this: some of them wait instead.
 */
#define SHARES 8u

/* The next unit may be a little larger; huge pages leave room for that anyway. */
static uint64_t room_of(uint64_t bytes)
{
	return bytes == 0 ? 0 : huge_room((size_t)(bytes < HUGE_PAGE ? bytes + bytes / 8 : bytes));
}

int zstd_grow(unsigned char **buffer, size_t *room, size_t bytes)
{
	if (*room >= bytes)
		return 0;
	free(*buffer);
	*room = 0;
	bytes = (size_t)room_of(bytes);
	*buffer = bytes < HUGE_PAGE ? malloc(bytes) : huge_alloc(bytes);
	if (!*buffer)
		return -1;
	*room = bytes;
	return 0;
}

int zstd_context(struct reader *r, struct fail *fail)
{
	if (r->context)
		return 0;
	r->context = ZSTD_createDCtx();
	if (r->context &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(r->context, ZSTD_d_windowLogMax, 31)))
		return 0;
	return fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", r->in->name);
}

uint64_t source_seam_bytes(uint32_t record, unsigned threads)
{
	const uint64_t seams = threads <= 1 ? 2 : 5 * (uint64_t)threads + 1;

	return seams * (sizeof(struct seam) + record);
}

/* The most readers that decode at a time. */
static unsigned decoders(const struct source *s)
{
	const struct source_spec *spec = &s->spec;

	return spec->decoders > 0 && spec->decoders < spec->threads ? spec->decoders
								    : spec->threads;
}

uint64_t zstd_share(const struct source *s)
{
	const int64_t memory = __atomic_load_n(&s->memory, __ATOMIC_RELAXED);
	const unsigned shares = decoders(s) < SHARES ? decoders(s) : SHARES;
	const uint64_t share = (uint64_t)(memory > 0 ? memory : 0) / shares;

	/* One reader of eight may have to wait for the others: it still pays. */
	return shares > 1 ? share + share / 8 : share;
}

/* Bytes that a reader's buffers are to have at least. */
struct need {
	uint64_t packed, ahead, context;
	uint64_t first, others; /* pieces */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What a reader holds once its buffers are large enough. */
static uint64_t sum(const struct reader *r, const struct need *n)
{
	uint64_t bytes = larger(n->packed, r->packed_room) + larger(n->ahead, r->ahead_room) +
			 larger(n->context, r->context ? ZSTD_sizeof_DCtx(r->context) : 0) +
			 larger(n->first, r->piece[0].room);

	for (unsigned i = 1; i < PIECES; i++)
		bytes += larger(n->others, r->piece[i].room);
	return bytes;
}

uint64_t zstd_held(const struct reader *r)
{
	return sum(r, &(struct need){.packed = 0});
}

/* Frees its buffers, but for compressed bytes that it has read. */
static void free_buffers(struct reader *r)
{
	ZSTD_freeDCtx(r->context);
	r->context = NULL;
	free(r->ahead);
	r->ahead = NULL;
	r->ahead_room = 0;
	for (unsigned i = 0; i < PIECES; i++) {
		struct piece *const p = &r->piece[i];
		assert(p->state == PIECE_FREE);
		free(p->data);
		p->data = NULL;
		p->room = 0;
	}
	if (r->packed_end > 0)
		return;
	free(r->packed);
	r->packed = NULL;
	r->packed_room = 0;
}

/* ---- from reader to reader ---- */

static void keep_larger(unsigned char **data, size_t *room, unsigned char **other, size_t *others)
{
	unsigned char *const p = *data;
	const size_t n = *room;

	if (*others <= n)
		return;
	*data = *other;
	*room = *others;
	*other = p;
	*others = n;
}

/* The larger ones of both readers' buffers become r's; `idle` has none then. */
static void take_over(struct reader *r, struct reader *idle)
{
	struct source *s = r->source;
	ZSTD_DCtx *const context = r->context;

	if (idle->context &&
	    (!context || ZSTD_sizeof_DCtx(context) < ZSTD_sizeof_DCtx(idle->context))) {
		r->context = idle->context;
		idle->context = context;
	}
	if (r->packed_end == 0)
		keep_larger(&r->packed, &r->packed_room, &idle->packed, &idle->packed_room);
	keep_larger(&r->ahead, &r->ahead_room, &idle->ahead, &idle->ahead_room);
	for (unsigned i = 0; i < PIECES; i++)
		keep_larger(&r->piece[i].data, &r->piece[i].room, &idle->piece[i].data,
			    &idle->piece[i].room);
	idle->packed_end = 0;
	free_buffers(idle);
	s->decoders -= r->held > 0;
	r->held += idle->held;
	idle->held = 0;
}

void zstd_release(struct reader *r)
{
	struct source *s = r->source;

	if (r->state != READER_IDLE || r->held == 0) /* not idle: the source was stopped */
		return;
	if (s->short_of_memory) {
		take_over(s->short_of_memory, r);
		s->short_of_memory = NULL; /* until it has seen whether that is enough */
		pthread_cond_broadcast(&s->settled);
		return;
	}
	r->packed_end = 0;
	free_buffers(r);
	s->decoders--;
	s->memory_left += r->held;
	r->held = 0;
}

static struct reader *asleep(const struct source *s)
{
	struct reader *r = s->readers;

	while (r && !(r->asleep && r->held > 0))
		r = r->next;
	return r;
}

/* May it hold so much? Where no other reader holds anything it may take what it needs. */
static bool may_hold(const struct reader *r, int64_t bytes)
{
	const struct source *s = r->source;

	return s->memory_left + r->held >= s->memory ||
	       (s->memory_left + r->held >= bytes && (r->held > 0 || s->decoders < decoders(s)));
}

/* Waits until the reader may hold what it needs. */
static void reserve(struct reader *r, const struct need *n)
{
	const uint64_t bare = sum(&(struct reader){.held = 0}, n);
	struct source *s = r->source;

	lock_take(&s->lock);
	for (;;) {
		/* Buffers for a frame of another kind are kept while there is room for them. */
		if (sum(r, n) > larger(zstd_share(s), bare + bare / 8))
			free_buffers(r);
		const int64_t bytes = (int64_t)sum(r, n);
		const bool may = may_hold(r, bytes);
		struct reader *const idle = may && r->held > 0 ? NULL : asleep(s);
		if (idle) {
			take_over(r, idle);
			continue;
		}
		if (may || s->stopped) {
			s->decoders += r->held == 0;
			s->memory_left += r->held - bytes;
			r->held = bytes;
			break;
		}
		s->short_of_memory = r;
		lock_wait(&s->lock, &s->settled);
	}
	s->short_of_memory = NULL;
	lock_drop(&s->lock);
}

uint64_t zstd_whole_bytes(uint64_t packed, uint64_t out)
{
	return room_of(packed) + room_of(out) + CONTEXT_BYTES;
}

void zstd_reserve_whole(struct reader *r, uint64_t packed, uint64_t out)
{
	/* Frames of no bytes too are decoded to somewhere. */
	reserve(r, &(struct need){.packed = room_of(packed),
				  .context = CONTEXT_BYTES,
				  .first = room_of(larger(out, 1))});
}

int zstd_reserve_packed(struct reader *r, size_t n, uint64_t out, struct fail *fail)
{
	size_t room = r->packed_end + n;

	if (room <= r->packed_room)
		return 0;
	if (zstd_whole_bytes(2 * room, out) <= zstd_share(r->source))
		room = 2 * room;
	zstd_reserve_whole(r, room, out);
	if (room <= r->packed_room) /* it was taken over */
		return 0;
	unsigned char *larger = realloc(r->packed, room);
	if (!larger)
		return fail_errno(fail, "%s", r->in->name);
	r->packed = larger;
	r->packed_room = room;
	return 0;
}

void zstd_reserve_long(struct reader *r, uint64_t window)
{
	const uint64_t piece = room_of(zstd_piece_room(r->source));
	const uint64_t packed = r->in->is_file ? room_of(PACKED_BYTES) : 0;

	reserve(r, &(struct need){.packed = packed,
				  .ahead = packed,
				  .context = window + STREAM_BYTES,
				  .first = piece,
				  .others = piece});
}

/* SPDX-License-Identifier: MIT */
/* zstd_memory: what readers hold of the memory that decoders may take together. */
#include <assert.h>
#include <stdlib.h>

#include "base/huge.h"
#include "input/zstd_read.h"

#define CONTEXT_BYTES ((uint64_t)256 << 10) /* libzstd's, where it keeps no window ... */
#define STREAM_BYTES ((uint64_t)512 << 10)  /* ... and, the window aside, where it does */

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

uint64_t zstd_share(const struct source *s)
{
	const int64_t memory = __atomic_load_n(&s->memory, __ATOMIC_RELAXED);
	const uint64_t share = (uint64_t)(memory > 0 ? memory : 0) / s->spec.threads;

	/* One reader of eight may have to wait for the others: it still pays. */
	return s->spec.threads > 1 ? share + share / 8 : share;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void free_piece(struct piece *p)
{
	assert(p->state == PIECE_FREE);
	free(p->data);
	p->data = NULL;
	p->room = 0;
}

static void free_long(struct reader *r)
{
	ZSTD_freeDCtx(r->context);
	r->context = NULL;
	free(r->ahead);
	r->ahead = NULL;
	r->ahead_room = 0;
	for (unsigned i = 0; i < PIECES; i++)
		free_piece(&r->piece[i]);
}

static void free_packed(struct reader *r)
{
	free(r->packed);
	r->packed = NULL;
	r->packed_room = 0;
}

uint64_t zstd_held(const struct reader *r)
{
	uint64_t bytes =
		r->packed_room + r->ahead_room + (r->context ? ZSTD_sizeof_DCtx(r->context) : 0);

	for (unsigned i = 0; i < PIECES; i++)
		bytes += r->piece[i].room;
	return bytes;
}

uint64_t zstd_whole_bytes(uint64_t packed, uint64_t out)
{
	return room_of(packed) + room_of(out) + CONTEXT_BYTES;
}

/* With a window, of one that is decoded piece by piece. */
static uint64_t long_bytes(const struct source *s, uint64_t window)
{
	return window + STREAM_BYTES + PIECES * room_of(zstd_piece_room(s)) +
	       2 * room_of(PACKED_BYTES);
}

/* The reader may take `bytes` in all. */
static void reserve(struct reader *r, uint64_t bytes)
{
	struct source *s = r->source;
	const int64_t need = (int64_t)bytes;

	if (need <= r->held)
		return;
	lock_take(&s->lock);
	/* Where no other reader holds anything this one takes what it needs. */
	while (!s->stopped && s->memory_left < need - r->held &&
	       s->memory_left + r->held < s->memory) {
		s->memory_wanted = true;
		source_call_all(s);
		lock_wait(&s->lock, &s->settled);
	}
	s->memory_wanted = false;
	s->memory_left -= need - r->held;
	r->held = need;
	lock_drop(&s->lock);
}

void zstd_reserve_whole(struct reader *r, uint64_t packed, uint64_t out)
{
	struct piece *const p = &r->piece[0];

	if (r->piece[1].data || r->ahead ||
	    (r->context && ZSTD_sizeof_DCtx(r->context) > CONTEXT_BYTES))
		free_long(r);
	if (zstd_whole_bytes(larger(packed, r->packed_room), larger(out, p->room)) >
	    zstd_share(r->source)) {
		free_piece(p);
		if (r->packed_end == 0)
			free_packed(r);
	}
	reserve(r, larger(room_of(packed), r->packed_room) + larger(room_of(out), p->room) +
			   CONTEXT_BYTES);
}

int zstd_reserve_packed(struct reader *r, size_t n, uint64_t out, struct fail *fail)
{
	size_t room = r->packed_end + n;

	if (room <= r->packed_room)
		return 0;
	if (zstd_whole_bytes(2 * room, out) <= zstd_share(r->source))
		room = 2 * room;
	zstd_reserve_whole(r, room, out);
	unsigned char *larger = realloc(r->packed, room);
	if (!larger)
		return fail_errno(fail, "%s", r->in->name);
	r->packed = larger;
	r->packed_room = room;
	return 0;
}

void zstd_reserve_long(struct reader *r, uint64_t window)
{
	if (r->piece[0].room > room_of(zstd_piece_room(r->source)))
		free_piece(&r->piece[0]);
	if (r->context && ZSTD_sizeof_DCtx(r->context) > window + STREAM_BYTES)
		free_long(r);
	if (r->packed_end == 0 && r->packed_room > room_of(PACKED_BYTES))
		free_packed(r);
	reserve(r, long_bytes(r->source, window) + r->packed_room);
}

void zstd_release(struct reader *r)
{
	struct source *s = r->source;

	if (r->state != READER_IDLE) /* the source was stopped */
		return;
	free_long(r);
	free_packed(r);
	s->memory_left += r->held;
	r->held = 0;
	if (s->memory_wanted)
		pthread_cond_broadcast(&s->settled);
}

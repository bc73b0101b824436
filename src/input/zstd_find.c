/* SPDX-License-Identifier: MIT */
/*
 * zstd_find: units, found without decoding them. By an input's cutter, without the lock.
 *
 * A file's frames are followed from block header to block header, and read by the reader that decodes them.
 * A stream's are copied as they come: never more is waited for than the frame in hand needs, and where
 * -n may end inside it, than its next block needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "input/zstd_read.h"

#define WALK_MOST ((uint64_t)64 << 20) /* as far as a frame's end is looked for */
#define AHEAD ((uint64_t)8 << 20)      /* what a cold file is asked for ahead of that */
#define LOOK_LEAST ((size_t)256)       /* bytes around a block header that are read with it */
/* Larger frames would be counted long after they have left the caches, and a single one by one thread. */
#define WHOLE_MOST ((uint64_t)16 << 20)
/*
 * Frames up to SMALL are cut together with those that follow, up to UNIT: with frames of 16 KiB sixteen
 * readers were no faster than one, waiting for one another's turns.
 */
#define SMALL_BYTES ((uint64_t)128 << 10)
#define UNIT_BYTES ((uint64_t)512 << 10)
#define UNIT_MOST ((uint64_t)1 << 20) /* decoded in one go of frames that do not declare their sizes */
/* What a frame without a declared size is taken to decode to: more only means another go. */
#define RATIO 8u

typedef unsigned long long ull;

int zstd_bad(const struct input *in, uint64_t offset, struct fail *fail, const char *why)
{
	/* Samples may begin with the magic number by chance. */
	return fail_set(fail, STATUS_DATA, "%s: zstd frame at offset %llu: %s%s", in->name, (ull)offset, why,
			offset == 0 ? " (--raw counts it as it is)" : "");
}

/* ---- the compressed bytes ---- */

int zstd_stage_need(struct source *s, struct input *in, size_t n, struct fail *fail)
{
	struct zstd *z = in->zstd;
	size_t got;

	if (z->stage_end - z->stage_at >= n)
		return 0;
	memmove(z->stage, z->stage + z->stage_at, z->stage_end - z->stage_at);
	z->stage_end -= z->stage_at;
	z->stage_at = 0;
	const int rc =
		stream_read(s, in, z->stage + z->stage_end, n - z->stage_end, STAGE_BYTES - z->stage_end, &got, fail);
	z->stage_end += got;
	return rc;
}

void zstd_stage_take(struct zstd *z, size_t n)
{
	z->stage_at += n;
	z->next += n;
}

/* n bytes at `offset` of a file. Frames may be so small that the next ones are seen with them. */
static int look_file(struct input *in, uint64_t offset, unsigned char *bytes, size_t n, size_t *got, struct fail *fail)
{
	struct zstd *z = in->zstd;

	if (offset < z->look_at || offset + n > z->look_at + z->looked) {
		const bool small = offset >= z->look_at && offset - z->look_at < LOOK_MOST + SMALL_BYTES / 16;
		z->look_at = offset;
		z->looked = 0;
		if (file_read(in, z->look, small ? LOOK_MOST : LOOK_LEAST, offset, &z->looked, fail) != 0)
			return -1;
	}
	const size_t from = (size_t)(offset - z->look_at), there = z->looked - from;
	*got = there < n ? there : n;
	memcpy(bytes, z->look + from, *got);
	return 0;
}

/* Looks at n bytes at `offset` of a file, or at the head of a stream; *got < n: the end. */
static int look_at(struct source *s, struct input *in, uint64_t offset, unsigned char *bytes, size_t n, size_t *got,
		   struct fail *fail)
{
	struct zstd *z = in->zstd;

	if (in->is_file)
		return look_file(in, offset, bytes, n, got, fail);
	const int rc = zstd_stage_need(s, in, n, fail);
	*got = z->stage_end - z->stage_at < n ? z->stage_end - z->stage_at : n;
	memcpy(bytes, z->stage + z->stage_at, *got);
	return rc;
}

/* ---- headers ---- */

/* Steps over a skippable frame. 1: the source was stopped. */
static int skip_frame(struct source *s, struct input *in, const struct frame *f, struct fail *fail)
{
	struct zstd *z = in->zstd;
	uint64_t left = f->header.bytes + f->header.content;
	unsigned char last;
	size_t got;

	if (in->is_file) {
		z->next += left;
		if (look_file(in, z->next - 1, &last, 1, &got, fail) != 0)
			return -1;
		return got == 1 ? 0 : zstd_bad(in, f->offset, fail, "the input ends inside it");
	}
	while (left > 0) {
		const size_t n = left < STAGE_BYTES ? (size_t)left : STAGE_BYTES;
		const int rc = zstd_stage_need(s, in, n, fail);
		if (rc != 0)
			return rc;
		if (z->stage_end - z->stage_at < n)
			return zstd_bad(in, f->offset, fail, "the input ends inside it");
		zstd_stage_take(z, n);
		left -= n;
	}
	return 0;
}

/* What cannot be decoded, or not with this much memory. */
static int refuse(const struct source *s, const struct input *in, const struct frame *f, struct fail *fail)
{
	const uint64_t need = f->header.window;
	uint64_t memory = need;

	if (f->header.dictionary)
		return zstd_bad(in, f->offset, fail, "needs a dictionary, which is not supported");
	if (need <= s->spec.memory || f->header.content < s->spec.memory / 2)
		return 0;
	if (need > (uint64_t)1 << 31)
		return zstd_bad(in, f->offset, fail, "its window is larger than 2 GiB, which zstd does not decode");
	if (s->spec.memory_for)
		memory = s->spec.memory_for(s->spec.arg, need);
	return fail_set(fail, STATUS_LIMIT, "%s: zstd frame at offset %llu: a window of %llu bytes needs -M %lluK",
			in->name, (ull)f->offset, (ull)need, (ull)((memory + 1023) / 1024));
}

static int not_a_frame(const struct input *in, const struct frame *f, enum frame_kind kind, struct fail *fail)
{
	switch (kind) {
	case FRAME_SHORT:
		return zstd_bad(in, f->offset, fail, "the input ends inside its header");
	case FRAME_LEGACY:
		return zstd_bad(in, f->offset, fail, "written by zstd before 0.8, which is not supported");
	case FRAME_BROKEN:
		return zstd_bad(in, f->offset, fail, "a header that no version of zstd writes");
	default:
		return fail_set(fail, STATUS_DATA, "%s: garbage at offset %llu, after a zstd frame", in->name,
				(ull)f->offset);
	}
}

/* What was appended to a file that is cut into slices belongs to none of them. */
static bool at_end(const struct input *in)
{
	return in->sliced && in->zstd->next >= in->zstd->size;
}

enum find zstd_next_header(struct source *s, struct input *in, struct frame *f, struct fail *fail)
{
	struct zstd *z = in->zstd;
	unsigned char bytes[FRAME_HEADER_MAX];
	enum frame_kind kind;
	size_t got;

	while (!at_end(in)) {
		int rc;
		*f = (struct frame){.offset = z->next, .stored = UNKNOWN, .bound = UNKNOWN};
		/* Of a stream no more than the header needs: what follows may never come. */
		for (size_t n = in->is_file ? sizeof(bytes) : 5;; n++) {
			if ((rc = look_at(s, in, z->next, bytes, n, &got, fail)) != 0)
				return rc < 0 ? FIND_BAD : FIND_STOPPED;
			kind = frame_parse(bytes, got, &f->header);
			if (got < n || n == sizeof(bytes) || kind != FRAME_SHORT)
				break;
		}
		if (got == 0)
			return FIND_NONE;
		if (kind == FRAME_DATA)
			return refuse(s, in, f, fail) == 0 ? FIND_WHOLE : FIND_BAD;
		if (kind != FRAME_SKIPPABLE)
			return not_a_frame(in, f, kind, fail) == 0 ? FIND_NONE : FIND_BAD;
		if ((rc = skip_frame(s, in, f, fail)) != 0)
			return rc < 0 ? FIND_BAD : FIND_STOPPED;
	}
	return FIND_NONE;
}

/* ---- units ---- */

static bool is_small(const struct frame *f)
{
	return f->stored <= SMALL_BYTES && f->bound <= SMALL_BYTES;
}

/* Decoding in one call, libzstd does not see blocks that are larger than a small window allows. */
static bool small_window(const struct frame *f)
{
	return f->header.window < FRAME_BLOCK_MAX && f->header.content > f->header.window;
}

/* Can the frame be decoded in one call? Its bound, and of a stream its stored bytes, may be still to grow. */
static bool fits(const struct reader *r, const struct frame *f, uint64_t stored, uint64_t bound,
		 const struct request *q)
{
	return !small_window(f) && bound <= WHOLE_MOST && stored <= WHOLE_MOST && (q->want->lent || bound <= q->cap) &&
	       zstd_whole_bytes(stored, q->want->lent ? bound : 0) <= zstd_share(r->source);
}

static void begin_unit(struct unit *u, const struct frame *f)
{
	u->first = *f;
	u->stored = f->stored;
	u->content = f->header.content;
	u->most = f->bound;
	u->weight = f->header.content != UNKNOWN ? f->bound : RATIO * f->stored;
	u->frames = 1;
}

/* Adds the frame that follows to a unit of small ones. false: it does not belong there. */
static bool join(const struct reader *r, struct unit *u, const struct frame *f, const struct request *q)
{
	const uint64_t limit = r->in->zstd->limit;
	const bool known = u->content != UNKNOWN && f->header.content != UNKNOWN;
	const uint64_t content = known ? u->content + f->header.content : UNKNOWN;
	const uint64_t weight = u->weight + (f->header.content != UNKNOWN ? f->bound : RATIO * f->stored);
	uint64_t most = known ? content : u->most + f->bound;

	/* Of frames without a declared size as many are decoded in one go as fit. */
	if (!known && q->want->lent && most > UNIT_MOST)
		most = UNIT_MOST;
	if (!is_small(f) || small_window(f) || weight > UNIT_BYTES || u->stored + f->stored > UNIT_BYTES ||
	    (!q->want->lent && most > q->cap - q->got) ||
	    zstd_whole_bytes(u->stored + f->stored, q->want->lent ? most : 0) > zstd_share(r->source))
		return false;
	/* With -n, what comes after its last record must not be looked at. */
	if (limit != UINT64_MAX && (!known || u->at == UNKNOWN || u->at >= limit || content >= limit - u->at))
		return false;
	u->stored += f->stored;
	u->content = content;
	u->weight = weight;
	u->most = most;
	u->frames++;
	return true;
}

/* ---- of a file ---- */

/* What a frame's reader will read soon; headers that are looked at alone (zstd_skim.c) ask for nothing. */
static void hint(struct input *in, uint64_t at)
{
	struct zstd *z = in->zstd;

	if (at + AHEAD / 2 <= z->hinted)
		return;
	if (z->hinted < at) /* a frame was skipped */
		z->hinted = at;
	(void)posix_fadvise(in->fd, (off_t)z->hinted, (off_t)AHEAD, POSIX_FADV_WILLNEED);
	z->hinted += AHEAD;
}

int zstd_walk(struct input *in, struct frame *f, uint64_t most, struct fail *fail)
{
	struct frame_block block = {.last = false};
	uint64_t at = f->offset + f->header.bytes, blocks = 0;
	unsigned char bytes[3];
	size_t got;

	while (!block.last) {
		if (at - f->offset > most)
			return 0;
		if (most != UNKNOWN)
			hint(in, at);
		if (look_file(in, at, bytes, 3, &got, fail) != 0)
			return -1;
		if (got < 3)
			return zstd_bad(in, f->offset, fail, "the input ends inside it");
		if (frame_block_parse(bytes, &block) != 0)
			return zstd_bad(in, f->offset, fail, "corrupt block");
		at += 3 + block.stored;
		blocks++;
	}
	at += f->header.checksum ? FRAME_CHECKSUM : 0;
	if (look_file(in, at - 1, bytes, 1, &got, fail) != 0)
		return -1;
	if (got == 0)
		return zstd_bad(in, f->offset, fail, "the input ends inside it");
	f->stored = at - f->offset;
	f->bound = f->header.content != UNKNOWN ? f->header.content : blocks * frame_block_most(f);
	return 0;
}

/* Small frames that follow. What is wrong with one is found again, and reported, when it is the next. */
static void join_file(struct reader *r, struct input *in, const struct request *q)
{
	struct zstd *z = in->zstd;
	unsigned char bytes[FRAME_HEADER_MAX];
	size_t got;

	for (;;) {
		struct fail bad = {.status = STATUS_OK};
		struct frame next = {.offset = z->next, .stored = UNKNOWN, .bound = UNKNOWN};
		if (at_end(in) || look_file(in, z->next, bytes, sizeof(bytes), &got, &bad) != 0 ||
		    frame_parse(bytes, got, &next.header) != FRAME_DATA || refuse(r->source, in, &next, &bad) != 0 ||
		    (next.header.content != UNKNOWN && next.header.content > SMALL_BYTES) ||
		    zstd_walk(in, &next, WALK_MOST, &bad) != 0 || !join(r, &r->unit, &next, q))
			return;
		z->next += next.stored;
	}
}

static enum find find_in_file(struct reader *r, struct input *in, struct frame *f, const struct request *q,
			      struct fail *fail)
{
	struct unit *u = &r->unit;

	if (zstd_walk(in, f, WALK_MOST, fail) != 0)
		return FIND_BAD;
	begin_unit(u, f);
	if (f->stored != UNKNOWN)
		in->zstd->next += f->stored;
	if (!fits(r, f, f->stored, f->bound, q)) {
		r->read_at = f->offset;
		zstd_reserve_long(r, f->header.content < f->header.window ? f->header.content : f->header.window);
		return FIND_LONG;
	}
	if (is_small(f))
		join_file(r, in, q);
	zstd_reserve_whole(r, u->stored, q->want->lent ? u->most : 0);
	return FIND_WHOLE;
}

/* ---- of a stream ---- */

/* Room for n more compressed bytes. */
static int packed_grow(struct reader *r, const struct frame *f, size_t n, const struct request *q, struct fail *fail)
{
	if (r->packed_end + n <= r->packed_room)
		return 0;
	const uint64_t out = q->want->lent && f->header.content != UNKNOWN ? f->header.content : 0;
	size_t room = 2 * (r->packed_end + n);

	if (zstd_whole_bytes(room, out) > zstd_share(r->source))
		room = r->packed_end + n;
	zstd_reserve_whole(r, room, out);
	unsigned char *larger = realloc(r->packed, room);
	if (!larger)
		return fail_errno(fail, "%s", r->in->name);
	r->packed = larger;
	r->packed_room = room;
	return 0;
}

/*
 * The frame's bytes from the stage, block by block. FIND_LONG: what there is of it by then does not fit,
 * or -n may end in it, and who decodes it reads on.
 */
static enum find gather(struct reader *r, struct input *in, struct frame *f, const struct request *q, struct fail *fail)
{
	struct source *s = r->source;
	struct zstd *z = in->zstd;
	const bool declared = f->header.content != UNKNOWN;
	struct frame_block block = {.last = false};
	size_t piece = f->header.bytes;
	uint64_t bound = declared ? f->header.content : 0;
	int rc;

	for (;;) {
		if (!fits(r, f, r->packed_end + piece, bound, q))
			return FIND_LONG;
		if (packed_grow(r, f, piece, q, fail) != 0)
			return FIND_BAD;
		if ((rc = zstd_stage_need(s, in, piece, fail)) != 0)
			return rc < 0 ? FIND_BAD : FIND_STOPPED;
		if (z->stage_end - z->stage_at < piece)
			return zstd_bad(in, f->offset, fail, "the input ends inside it") == 0 ? FIND_NONE : FIND_BAD;
		memcpy(r->packed + r->packed_end, z->stage + z->stage_at, piece);
		zstd_stage_take(z, piece);
		r->packed_end += piece;
		if (block.last)
			break;
		if ((rc = zstd_stage_need(s, in, 3, fail)) != 0)
			return rc < 0 ? FIND_BAD : FIND_STOPPED;
		if (z->stage_end - z->stage_at < 3)
			return zstd_bad(in, f->offset, fail, "the input ends inside it") == 0 ? FIND_NONE : FIND_BAD;
		if (frame_block_parse(z->stage + z->stage_at, &block) != 0)
			return zstd_bad(in, f->offset, fail, "corrupt block") == 0 ? FIND_NONE : FIND_BAD;
		bound += declared ? 0 : frame_block_most(f);
		/* With a block its header, after the last one the checksum. */
		piece = 3 + block.stored + (block.last && f->header.checksum ? FRAME_CHECKSUM : 0);
	}
	f->stored = r->packed_end;
	f->bound = bound;
	return FIND_WHOLE;
}

/* Small frames that are in the stage already. */
static int join_stream(struct reader *r, struct input *in, const struct request *q, struct fail *fail)
{
	struct zstd *z = in->zstd;
	struct fail bad = {.status = STATUS_OK};
	struct frame next;

	while (frame_measure(z->stage + z->stage_at, z->stage_end - z->stage_at, &next)) {
		next.offset = z->next;
		if (refuse(r->source, in, &next, &bad) != 0 || !join(r, &r->unit, &next, q))
			break;
		if (packed_grow(r, &next, (size_t)next.stored, q, fail) != 0)
			return -1;
		memcpy(r->packed + r->packed_end, z->stage + z->stage_at, (size_t)next.stored);
		zstd_stage_take(z, (size_t)next.stored);
		r->packed_end += (size_t)next.stored;
	}
	return 0;
}

static enum find find_in_stream(struct reader *r, struct input *in, struct frame *f, const struct request *q,
				struct fail *fail)
{
	struct unit *u = &r->unit;
	const uint64_t limit = in->zstd->limit, content = f->header.content;
	/* All of a frame may be waited for where -n wants more than it holds. */
	const bool all = limit == UINT64_MAX ||
			 (content != UNKNOWN && u->at != UNKNOWN && u->at < limit && content < limit - u->at);
	const enum find found = all ? gather(r, in, f, q, fail) : FIND_LONG;

	begin_unit(u, f); /* as far as it is known now */
	if (found == FIND_WHOLE) {
		if (is_small(f) && join_stream(r, in, q, fail) != 0)
			return FIND_BAD;
		/* Where it must wait for the next request it may have to be decoded into memory of ours. */
		zstd_reserve_whole(r, u->stored, q->want->lent || u->most > q->cap - q->got ? u->most : 0);
	}
	if (found == FIND_LONG)
		zstd_reserve_long(r, content < f->header.window ? content : f->header.window);
	return found;
}

enum find zstd_find(struct reader *r, struct input *in, const struct request *q, struct fail *fail)
{
	struct frame f;
	const enum find found = zstd_next_header(r->source, in, &f, fail);

	if (found != FIND_WHOLE)
		return found;
	return in->is_file ? find_in_file(r, in, &f, q, fail) : find_in_stream(r, in, &f, q, fail);
}

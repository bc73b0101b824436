/* SPDX-License-Identifier: MIT */
/*
 * zstd_find: units, found without decoding them. By an input's cutter, without the lock.
 *
 * A file's frames are followed from block header to block header, and read by the reader that
 * decodes them. A stream's are copied as they come: never more is waited for than the frame in hand
 * needs, and where -n may end inside it, than its next block needs.
 */
#include <fcntl.h>
#include <string.h>

#include "input/zstd_read.h"

#define WALK_MOST ((uint64_t)64 << 20) /* as far as a frame's end is looked for */
#define AHEAD ((uint64_t)8 << 20)      /* what a cold file is asked for ahead of that */
#define LOOK_LEAST ((size_t)256)       /* bytes around a block header that are read with it ... */
#define LOOK_MOST ((size_t)16 << 10)   /* ... and where frames are small */
/*
 * Larger frames would be counted long after they have left the caches, and a single one by one
 * thread.
 */
#define WHOLE_MOST ((uint64_t)16 << 20)
/*
 * Frames up to SMALL are cut together with those that follow, up to UNIT: with frames of 16 KiB
 * sixteen readers were no faster than one, waiting for one another's turns.
 */
#define SMALL_BYTES ((uint64_t)128 << 10)
#define UNIT_BYTES ((uint64_t)512 << 10)
/* decoded in one go of frames that do not declare their sizes */
#define UNIT_MOST ((uint64_t)1 << 20)
/* What a frame without a declared size is taken to decode to: more only means another go. */
#define RATIO 8u

typedef unsigned long long ull;

int zstd_bad(const struct input *in, uint64_t offset, struct fail *fail, const char *why)
{
	/* Samples may begin with the magic number by chance. */
	return fail_set(fail, STATUS_DATA, "%s: zstd frame at offset %llu: %s%s", in->name,
			(ull)offset, why, offset == 0 ? " (--raw counts it as it is)" : "");
}

/* What a function that reads says, as what was found. */
static enum find not_found(int rc)
{
	return rc < 0 ? FIND_BAD : FIND_STOPPED;
}

/* ---- the compressed bytes ---- */

int zstd_look(struct source *s, struct input *in, uint64_t at, size_t n, unsigned char **bytes,
	      size_t *got, struct fail *fail)
{
	struct zstd *z = in->zstd;
	size_t read = 0;
	int rc = 0;

	if (at >= z->window_at && at + n <= z->window_at + z->window_bytes) {
		/* It was read. */
	} else if (in->is_file) {
		/* Frames may be so small that the next ones are seen with them. */
		const bool near =
			at >= z->window_at && at - z->window_at < LOOK_MOST + SMALL_BYTES / 16;
		z->window_at = at;
		z->window_bytes = 0;
		rc = file_read(in, z->window, near ? LOOK_MOST : LOOK_LEAST, at, &z->window_bytes,
			       fail);
	} else {
		const size_t cut = (size_t)(z->next - z->window_at),
			     need = (size_t)(at - z->next) + n;
		z->window_at = z->next;
		z->window_bytes -= cut;
		memmove(z->window, z->window + cut, z->window_bytes);
		rc = stream_read(s, in, z->window + z->window_bytes, need - z->window_bytes,
				 WINDOW_BYTES - z->window_bytes, &read, fail);
		z->window_bytes += read;
	}
	const size_t from = (size_t)(at - z->window_at);
	*bytes = z->window + from;
	*got = z->window_bytes > from ? z->window_bytes - from : 0;
	return rc;
}

/* ---- headers ---- */

/* Steps over a skippable frame; of a file without reading it. 1: the source was stopped. */
static int skip_frame(struct source *s, struct input *in, const struct frame *f, struct fail *fail)
{
	struct zstd *z = in->zstd;
	const uint64_t end = z->next + f->header.bytes + f->header.content;
	unsigned char *bytes;
	size_t got;

	if (in->is_file)
		z->next = end - 1;
	while (z->next < end) {
		const int rc = zstd_look(s, in, z->next, 1, &bytes, &got, fail);
		if (rc != 0)
			return rc;
		if (got == 0)
			return zstd_bad(in, f->offset, fail, "the input ends inside it");
		z->next += got < end - z->next ? got : end - z->next;
	}
	return 0;
}

/* What cannot be decoded, or not with this much memory. */
static int refuse(const struct source *s, const struct input *in, const struct frame *f,
		  struct fail *fail)
{
	const uint64_t need = f->header.window;
	uint64_t memory = need;

	if (f->header.dictionary)
		return zstd_bad(in, f->offset, fail, "needs a dictionary, which is not supported");
	if (need <= s->spec.memory || f->header.content < s->spec.memory / 2)
		return 0;
	if (need > (uint64_t)1 << 31)
		return zstd_bad(in, f->offset, fail,
				"its window is larger than 2 GiB, which zstd does not decode");
	if (s->spec.memory_for)
		memory = s->spec.memory_for(s->spec.arg, need);
	return fail_set(fail, STATUS_LIMIT,
			"%s: zstd frame at offset %llu: a window of %llu bytes needs -M %lluK",
			in->name, (ull)f->offset, (ull)need, (ull)((memory + 1023) / 1024));
}

static int not_a_frame(const struct input *in, const struct frame *f, enum frame_kind kind,
		       struct fail *fail)
{
	switch (kind) {
	case FRAME_SHORT:
		return zstd_bad(in, f->offset, fail, "the input ends inside its header");
	case FRAME_LEGACY:
		return zstd_bad(in, f->offset, fail,
				"written by zstd before 0.8, which is not supported");
	case FRAME_BROKEN:
		return zstd_bad(in, f->offset, fail, "a header that no version of zstd writes");
	default:
		return fail_set(fail, STATUS_DATA, "%s: garbage at offset %llu, after a zstd frame",
				in->name, (ull)f->offset);
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
	enum frame_kind kind = FRAME_SHORT;
	unsigned char *bytes;
	size_t got;

	while (!at_end(in)) {
		int rc = 0;
		*f = (struct frame){.offset = z->next, .stored = UNKNOWN, .bound = UNKNOWN};
		/* Of a stream no more than the header needs: what follows may never come. */
		for (size_t n = in->is_file ? FRAME_HEADER_MAX : 5; n <= FRAME_HEADER_MAX; n++) {
			if ((rc = zstd_look(s, in, z->next, n, &bytes, &got, fail)) != 0)
				return not_found(rc);
			kind = frame_parse(bytes, got, &f->header);
			if (got < n || kind != FRAME_SHORT)
				break;
		}
		if (got == 0)
			return FIND_NONE;
		if (kind == FRAME_DATA)
			return refuse(s, in, f, fail) == 0 ? FIND_WHOLE : FIND_BAD;
		if (kind != FRAME_SKIPPABLE)
			return not_found(not_a_frame(in, f, kind, fail));
		if ((rc = skip_frame(s, in, f, fail)) != 0)
			return not_found(rc);
	}
	return FIND_NONE;
}

/* ---- units ---- */

static bool is_small(const struct frame *f)
{
	return f->stored <= SMALL_BYTES && f->bound <= SMALL_BYTES;
}

/*
 * Decoding in one call, libzstd does not see blocks that are larger than a small window allows. It
 * is given room for `bound` bytes, so none is where these are no more than the window.
 */
static bool small_window(const struct frame *f, uint64_t bound)
{
	return f->header.window < FRAME_BLOCK_MAX && bound > f->header.window;
}

/* What it is taken to decode to. */
static uint64_t weight(const struct frame *f)
{
	return f->header.content != UNKNOWN ? f->bound : RATIO * f->stored;
}

/*
 * Can the frame be decoded in one call? Its bound, and of a stream its stored bytes, may be still
 * to grow.
 */
static bool fits(const struct reader *r, const struct frame *f, uint64_t stored, uint64_t bound,
		 const struct request *q)
{
	return !small_window(f, bound) && bound <= WHOLE_MOST && stored <= WHOLE_MOST &&
	       (q->want->lent || bound <= q->cap) &&
	       zstd_whole_bytes(stored, q->want->lent ? bound : 0) <= zstd_share(r->source);
}

/*
 * Copies what comes next of a stream. FIND_LONG: what there is of its frame by then does not fit.
 */
static enum find gather(struct reader *r, const struct frame *f, size_t n, uint64_t bound,
			const struct request *q, struct fail *fail)
{
	struct input *in = r->in;
	unsigned char *bytes;
	size_t got;

	if (!fits(r, f, r->packed_end + n, bound, q))
		return FIND_LONG;
	if (zstd_reserve_packed(r, n, q->want->lent && f->header.content != UNKNOWN ? bound : 0,
				fail) != 0)
		return FIND_BAD;
	const int rc = zstd_look(r->source, in, in->zstd->next, n, &bytes, &got, fail);
	if (rc != 0)
		return not_found(rc);
	if (got < n)
		return not_found(zstd_bad(in, f->offset, fail, "the input ends inside it"));
	memcpy(r->packed + r->packed_end, bytes, n);
	r->packed_end += n;
	in->zstd->next += n;
	return FIND_WHOLE;
}

/*
 * What a frame's reader will read soon; headers that are looked at alone (zstd_skim.c) ask for
 * nothing.
 */
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

/* zstd_walk of a file; of a stream with its reader, which copies the frame on the way. */
static enum find walk(struct source *s, struct reader *r, struct input *in, struct frame *f,
		      const struct request *q, uint64_t most, struct fail *fail)
{
	const bool declared = f->header.content != UNKNOWN;
	struct frame_block block = {.last = false};
	uint64_t at = f->offset, bound = declared ? f->header.content : 0;
	size_t piece = f->header.bytes, got;
	unsigned char *bytes;
	int rc;

	for (;;) {
		const enum find found =
			in->is_file ? FIND_WHOLE : gather(r, f, piece, bound, q, fail);
		if (found != FIND_WHOLE)
			return found;
		at += piece;
		if (block.last)
			break;
		if (at - f->offset > most)
			return FIND_LONG;
		if (in->is_file && most != UNKNOWN)
			hint(in, at);
		if ((rc = zstd_look(s, in, at, 3, &bytes, &got, fail)) != 0)
			return not_found(rc);
		if (got < 3)
			return not_found(zstd_bad(in, f->offset, fail, "the input ends inside it"));
		if (frame_block_parse(bytes, &block) != 0)
			return not_found(zstd_bad(in, f->offset, fail, "corrupt block"));
		bound += declared ? 0 : frame_block_most(f, &block);
		/* With a block its header, after the last one the checksum. */
		piece = 3 + block.stored + (block.last && f->header.checksum ? FRAME_CHECKSUM : 0);
	}
	if (in->is_file && (rc = zstd_look(s, in, at - 1, 1, &bytes, &got, fail)) != 0)
		return not_found(rc);
	if (in->is_file && got == 0)
		return not_found(zstd_bad(in, f->offset, fail, "the input ends inside it"));
	f->stored = at - f->offset;
	f->bound = bound;
	return FIND_WHOLE;
}

enum find zstd_walk(struct source *s, struct input *in, struct frame *f, uint64_t most,
		    struct fail *fail)
{
	return walk(s, NULL, in, f, NULL, most, fail);
}

/*
 * The frame that follows, if it may be a small one; of a stream, if all of it was read. What is
 * wrong with it is found again, and reported, when it is the next.
 */
static bool next_small(struct source *s, struct input *in, struct frame *f)
{
	struct fail bad = {.status = STATUS_OK};
	struct zstd *z = in->zstd;
	unsigned char *bytes;
	size_t got;

	*f = (struct frame){.offset = z->next, .stored = UNKNOWN, .bound = UNKNOWN};
	if (!in->is_file) {
		const size_t from = (size_t)(z->next - z->window_at);
		return frame_measure(z->window + from, z->window_bytes - from, f) &&
		       refuse(s, in, f, &bad) == 0;
	}
	return !at_end(in) &&
	       zstd_look(s, in, z->next, FRAME_HEADER_MAX, &bytes, &got, &bad) == 0 &&
	       frame_parse(bytes, got, &f->header) == FRAME_DATA && refuse(s, in, f, &bad) == 0 &&
	       (f->header.content == UNKNOWN || f->header.content <= SMALL_BYTES) &&
	       zstd_walk(s, in, f, WALK_MOST, &bad) == FIND_WHOLE;
}

/* Adds small frames that follow to a unit of one. */
static enum find join(struct reader *r, const struct request *q, struct fail *fail)
{
	struct zstd *z = r->in->zstd;
	struct unit *u = &r->unit;
	enum find found = FIND_WHOLE;
	struct frame f;

	while (found == FIND_WHOLE && next_small(r->source, r->in, &f)) {
		const bool known = u->content != UNKNOWN && f.header.content != UNKNOWN;
		const uint64_t content = known ? u->content + f.header.content : UNKNOWN,
			       stored = u->stored + f.stored;
		uint64_t most = known ? content : u->most + f.bound;
		/* Of frames without a declared size as many are decoded in one go as fit. */
		if (!known && q->want->lent && most > UNIT_MOST)
			most = UNIT_MOST;
		if (!is_small(&f) || small_window(&f, f.bound) ||
		    u->weight + weight(&f) > UNIT_BYTES || stored > UNIT_BYTES ||
		    (!q->want->lent && most > q->cap - q->got) ||
		    zstd_whole_bytes(stored, q->want->lent ? most : 0) > zstd_share(r->source))
			break;
		/* With -n, what comes after its last record must not be looked at. */
		if (z->limit != UINT64_MAX && (!known || u->at == UNKNOWN || u->at >= z->limit ||
					       content >= z->limit - u->at))
			break;
		if (r->in->is_file)
			z->next += f.stored;
		else
			found = gather(r, &f, (size_t)f.stored, f.bound, q, fail);
		u->stored = stored;
		u->content = content;
		u->weight += weight(&f);
		u->most = most;
		u->frames++;
	}
	return found;
}

enum find zstd_find(struct reader *r, struct input *in, const struct request *q, struct fail *fail)
{
	const uint64_t limit = in->zstd->limit;
	struct unit *u = &r->unit;
	struct frame f;
	enum find found = zstd_next_header(r->source, in, &f, fail);

	if (found != FIND_WHOLE)
		return found;
	/* All of a stream's frame may be waited for where -n wants more than it holds. */
	const uint64_t content = f.header.content;
	if (in->is_file || limit == UINT64_MAX ||
	    (content != UNKNOWN && u->at != UNKNOWN && u->at < limit && content < limit - u->at))
		found = walk(r->source, r, in, &f, q, in->is_file ? WALK_MOST : UNKNOWN, fail);
	else
		found = FIND_LONG;
	if (found != FIND_WHOLE && found != FIND_LONG)
		return found;
	u->first = f;
	u->stored = f.stored;
	u->content = content;
	u->most = f.bound;
	u->weight = weight(&f);
	u->frames = 1;
	if (in->is_file) {
		r->read_at = f.offset;
		in->zstd->next += f.stored != UNKNOWN ? f.stored : 0;
	}
	if (found == FIND_LONG || (in->is_file && !fits(r, &f, f.stored, f.bound, q))) {
		zstd_reserve_long(r, content < f.header.window ? content : f.header.window);
		return FIND_LONG;
	}
	if (is_small(&f) && (found = join(r, q, fail)) != FIND_WHOLE)
		return found;
	/* Where it must wait for the next request it may have to be decoded into memory of ours. */
	zstd_reserve_whole(r, u->stored, q->want->lent || u->most > q->cap - q->got ? u->most : 0);
	return FIND_WHOLE;
}

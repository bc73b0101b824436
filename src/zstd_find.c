/* zstd_find: frames, found without decoding them, one finder of an input at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "zstd_state.h"

#define WALK_MOST ((uint64_t)64 << 20) /* as far a frame's end is looked for */
#define AHEAD ((uint64_t)8 << 20)     /* what a cold file is asked for in front of that */

int zstd_bad(struct input *in, uint64_t offset, struct fail *fail, const char *why)
{
	/* Samples may begin with the magic number by chance. */
	return fail_set(fail, STATUS_DATA, "%s: zstd frame at offset %llu: %s%s", in->name, (ull)offset, why,
			offset == 0 ? " (--raw counts it as it is)" : "");
}

/* ---- the compressed bytes ---- */

int zstd_stage_need(struct source *s, struct input *in, size_t n, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	size_t got;

	if (z->stage_end - z->stage_at >= n)
		return 0;
	memmove(z->stage, z->stage + z->stage_at, z->stage_end - z->stage_at);
	z->stage_end -= z->stage_at;
	z->stage_at = 0;
	const int rc = stream_read(s, in, z->stage + z->stage_end, n - z->stage_end, STAGE - z->stage_end, &got, fail);
	z->stage_end += got;
	return rc;
}

void zstd_stage_take(struct zstd_input *z, size_t n)
{
	z->stage_at += n;
	z->next += n;
}

/* n bytes at `offset` of a file. Frames may be so small that the next one is seen with them. */
static int look_file(struct input *in, uint64_t offset, unsigned char *bytes, size_t n, size_t *got, struct fail *fail)
{
	struct zstd_input *z = in->zstd;

	if (offset < z->look_at || offset + n > z->look_at + z->looked) {
		z->look_at = offset;
		z->looked = 0;
		if (file_read(in, z->look, sizeof(z->look), offset, &z->looked, fail) != 0)
			return -1;
	}
	const size_t from = (size_t)(offset - z->look_at), there = z->looked - from;
	*got = there < n ? there : n;
	memcpy(bytes, z->look + from, *got);
	return 0;
}

/* Looks at n bytes at `offset` of a file, or at the head of a stream; *got < n: the end. */
static int look_at(struct source *s, struct input *in, uint64_t offset, unsigned char *bytes, size_t n,
		   size_t *got, struct fail *fail)
{
	struct zstd_input *z = in->zstd;

	if (in->is_file)
		return look_file(in, offset, bytes, n, got, fail);
	const int rc = zstd_stage_need(s, in, n, fail);
	*got = z->stage_end - z->stage_at < n ? z->stage_end - z->stage_at : n;
	memcpy(bytes, z->stage + z->stage_at, *got);
	return rc;
}

/* ---- finding ---- */

/* Steps over a skippable frame. */
static int skip_frame(struct source *s, struct input *in, const struct frame *f, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
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
		const size_t n = left < STAGE ? (size_t)left : STAGE;
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

/* Follows a file's frame from block to block to its end, or as far as that pays. */
static int walk(struct input *in, struct frame *f, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	const uint64_t most = f->header.window < FRAME_BLOCK_MAX ? f->header.window : FRAME_BLOCK_MAX;
	struct frame_block block = {.last = false};
	uint64_t at = f->offset + f->header.bytes, blocks = 0;
	unsigned char bytes[4];
	size_t got;

	while (!block.last) {
		if (at - f->offset > WALK_MOST)
			return 0;
		if (at + AHEAD / 2 > z->asked) {
			(void)posix_fadvise(in->fd, (off_t)z->asked, (off_t)AHEAD, POSIX_FADV_WILLNEED);
			z->asked += AHEAD;
		}
		if (look_file(in, at, bytes, 3, &got, fail) != 0)
			return -1;
		if (got < 3)
			return zstd_bad(in, f->offset, fail, "the input ends inside it");
		if (frame_block_parse(bytes, &block) != 0)
			return zstd_bad(in, f->offset, fail, "corrupt block");
		at += 3 + block.stored;
		blocks++;
	}
	at += f->header.checksum ? CHECKSUM_BYTES : 0;
	if (look_file(in, at - 1, bytes, 1, &got, fail) != 0)
		return -1;
	if (got == 0)
		return zstd_bad(in, f->offset, fail, "the input ends inside it");
	f->stored = at - f->offset;
	f->bound = f->header.content != FRAME_UNKNOWN ? f->header.content : blocks * most;
	return 0;
}

/* What cannot be decoded, or not with this much memory. */
static int refuse(struct source *s, struct input *in, const struct frame *f, struct fail *fail)
{
	const uint64_t need = f->header.window;
	uint64_t memory = need;

	if (f->header.dictionary)
		return zstd_bad(in, f->offset, fail, "needs a dictionary, which is not supported");
	if (need <= s->spec.memory || f->header.content < s->spec.memory / 2)
		return 0;
	if (f->header.window > (uint64_t)1 << 31)
		return zstd_bad(in, f->offset, fail, "its window is larger than 2 GiB, which zstd does not decode");
	if (s->spec.memory_for)
		memory = s->spec.memory_for(s->spec.arg, need);
	return fail_set(fail, STATUS_LIMIT, "%s: zstd frame at offset %llu: a window of %llu bytes needs -M %lluK",
			in->name, (ull)f->offset, (ull)need, (ull)((memory + 1023) / 1024));
}

/*
 * May a frame be joined with others? libzstd decodes them at once, which pays where a frame costs less to
 * decode than to hand out. It must say its size, and that it would be decoded at once alone too.
 */
static bool is_small(const struct frame *f)
{
	return f->header.content <= SMALL_BYTES && f->stored <= 2 * SMALL_BYTES &&
	       (f->header.window >= FRAME_BLOCK_MAX || f->header.content <= f->header.window);
}

static bool may_join(const struct frame *f, const struct frame *next)
{
	return is_small(next) && f->bound + next->bound <= JOINED_BYTES && f->stored + next->stored <= JOINED_BYTES;
}

static void join(struct frame *f, const struct frame *next)
{
	f->stored += next->stored;
	f->bound += next->bound;
	f->header.content = f->bound;
	f->header.window = FRAME_BLOCK_MAX;
	f->joined++;
}

/* Joins what follows a small frame of a file. Bad data is found again there, and told then. */
static int join_more(struct source *s, struct input *in, struct frame *f, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	unsigned char bytes[FRAME_HEADER_MAX];
	size_t got;

	while (is_small(f) || f->joined > 0) {
		struct frame next = {.offset = z->next, .stored = FRAME_UNKNOWN, .bound = FRAME_UNKNOWN};
		struct fail bad = {.status = STATUS_OK};
		if (look_file(in, z->next, bytes, sizeof(bytes), &got, fail) != 0)
			return -1;
		if (frame_parse(bytes, got, &next.header) != FRAME_DATA || next.header.content > SMALL_BYTES ||
		    refuse(s, in, &next, &bad) != 0)
			break;
		if (walk(in, &next, &bad) != 0) {
			if (bad.status == STATUS_SYSTEM)
				return fail_pass(fail, &bad);
			break;
		}
		if (!may_join(f, &next))
			break;
		join(f, &next);
		z->next += next.stored;
	}
	return 0;
}

void zstd_part(struct zstd_input *z)
{
	z->apart = true;
	z->frame = z->first;
	z->next = z->frame.offset + z->frame.stored;
}

int zstd_find(struct source *s, struct input *in, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	struct frame *f = &z->frame;
	unsigned char bytes[FRAME_HEADER_MAX];
	enum frame_kind kind;
	size_t got;
	int rc;

	for (;;) {
		*f = (struct frame){.offset = z->next, .stored = FRAME_UNKNOWN, .bound = FRAME_UNKNOWN};
		/* Of a stream no more than the header needs: what follows may never come. */
		for (size_t n = in->is_file ? sizeof(bytes) : 5;; n++) {
			if ((rc = look_at(s, in, z->next, bytes, n, &got, fail)) != 0)
				return rc;
			kind = frame_parse(bytes, got, &f->header);
			if (got < n || n == sizeof(bytes) || kind != FRAME_SHORT)
				break;
		}
		if (got == 0)
			return 2;
		switch (kind) {
		case FRAME_DATA:
			if (refuse(s, in, f, fail) != 0)
				return -1;
			rc = in->is_file ? walk(in, f, fail) : 0;
			z->first = *f;
			if (rc != 0 || f->stored == FRAME_UNKNOWN)
				return rc;
			z->next += f->stored;
			/* With -n only what is wanted is looked at. */
			return z->limit == UINT64_MAX && !z->apart ? join_more(s, in, f, fail) : 0;
		case FRAME_SKIPPABLE:
			if ((rc = skip_frame(s, in, f, fail)) != 0)
				return rc;
			continue;
		case FRAME_SHORT:
			return zstd_bad(in, f->offset, fail, "the input ends inside its header");
		case FRAME_LEGACY:
			return zstd_bad(in, f->offset, fail, "written by zstd before 0.8, which is not supported");
		case FRAME_BROKEN:
			return zstd_bad(in, f->offset, fail, "a header that no version of zstd writes");
		case FRAME_OTHER:
			return fail_set(fail, STATUS_DATA, "%s: garbage at offset %llu, behind a zstd frame",
					in->name, (ull)f->offset);
		}
	}
}

int zstd_gather(struct source *s, struct decoder *d, uint64_t enough, struct fail *fail)
{
	struct input *in = d->in;
	struct zstd_input *z = in->zstd;
	struct frame *f = &d->frame;
	const size_t most = d->most;
	const uint64_t block_most = f->header.window < FRAME_BLOCK_MAX ? f->header.window : FRAME_BLOCK_MAX;
	struct frame_block block = {.last = false};
	size_t used = 0, piece = f->header.bytes;
	uint64_t bound = 0;
	int rc;

	d->source = (ZSTD_inBuffer){.src = NULL};
	for (;;) {
		if (used + piece > d->packed_room) {
			const size_t twice = 2 * (used + piece) < most ? 2 * (used + piece) : most;
			const size_t room = twice > used + piece ? twice : used + piece;
			if (zstd_shed(d, room - d->packed_room, fail) != 0)
				return -1;
			unsigned char *larger = realloc(d->packed, room);
			if (!larger)
				return fail_errno(fail, "%s", in->name);
			d->packed = larger;
			d->packed_room = room;
		}
		/* In front of a block its header, behind the last one the checksum. */
		if ((rc = zstd_stage_need(s, in, piece, fail)) != 0)
			return rc;
		if (z->stage_end - z->stage_at < piece)
			return zstd_bad(in, f->offset, fail, "the input ends inside it");
		memcpy(d->packed + used, z->stage + z->stage_at, piece);
		zstd_stage_take(z, piece);
		used += piece;
		d->source = (ZSTD_inBuffer){.src = d->packed, .size = used};
		if (block.last)
			break;
		if (bound >= enough) {
			d->attached = true;
			return 0;
		}
		if ((rc = zstd_stage_need(s, in, 3, fail)) != 0)
			return rc;
		if (z->stage_end - z->stage_at < 3)
			return zstd_bad(in, f->offset, fail, "the input ends inside it");
		if (frame_block_parse(z->stage + z->stage_at, &block) != 0)
			return zstd_bad(in, f->offset, fail, "corrupt block");
		bound += block_most;
		piece = 3 + block.stored + (block.last && f->header.checksum ? CHECKSUM_BYTES : 0);
		if (used + piece > most) {
			d->attached = true;
			return 0;
		}
	}
	f->stored = used;
	f->bound = f->header.content != FRAME_UNKNOWN ? f->header.content : bound;
	return 0;
}

/* A frame that is there with all its bytes: n of them at p begin with it. */
static bool lies_there(const unsigned char *p, size_t n, struct frame *f)
{
	struct frame_block block = {.last = false};

	if (frame_parse(p, n, &f->header) != FRAME_DATA || f->header.dictionary)
		return false;
	for (f->stored = f->header.bytes; !block.last; f->stored += 3 + block.stored)
		if (f->stored + 3 > n || frame_block_parse(p + f->stored, &block) != 0)
			return false;
	f->stored += f->header.checksum ? CHECKSUM_BYTES : 0;
	f->bound = f->header.content;
	return f->stored <= n;
}

void zstd_gather_more(struct decoder *d, uint64_t most)
{
	struct zstd_input *z = d->in->zstd;
	struct frame *f = &d->frame, next;

	while (is_small(f) || f->joined > 0) {
		if (!lies_there(z->stage + z->stage_at, z->stage_end - z->stage_at, &next) || !may_join(f, &next) ||
		    f->bound + next.bound > most)
			break;
		struct frame all = *f;
		join(&all, &next);
		if (zstd_whole_bytes(&all, false) > d->memory)
			break;
		if (all.stored > d->packed_room) {
			const size_t room = (size_t)(all.stored + all.stored / 8);
			if (zstd_held(d) + room - d->packed_room > d->memory)
				break;
			unsigned char *larger = realloc(d->packed, room);
			if (!larger)
				break;
			d->packed = larger;
			d->packed_room = room;
		}
		memcpy(d->packed + f->stored, z->stage + z->stage_at, (size_t)next.stored);
		zstd_stage_take(z, (size_t)next.stored);
		*f = all;
		d->source = (ZSTD_inBuffer){.src = d->packed, .size = (size_t)f->stored};
	}
}

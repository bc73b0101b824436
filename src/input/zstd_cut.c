/* SPDX-License-Identifier: MIT */
/*
 * zstd_cut: the task "cut frames off". One reader at a time has an input's turn: it follows headers
 * and block headers, and makes a job of the next frame or of small ones that follow one another.
 *
 * A file's frames are read by those who decode them. A stream's are gathered in input.bytes: no
 * more is waited for than the frame in hand needs; where -n may end in it, only its header. A frame
 * that is longer than there is memory for is decoded in steps; the input goes on where that ends,
 * unless it is a file, whose next frame is looked for meanwhile.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "input/block.h"
#include "input/source_input.h"

#define BATCH_BYTES ((uint64_t)512 << 10)   /* decoded bytes of small frames in one job */
#define CONTEXT_BYTES ((uint64_t)256 << 10) /* libzstd's memory without a window ... */
#define STEPS_BYTES ((uint64_t)512 << 10)   /* ... and, the window aside, with one */
#define RATIO 4u /* what a frame that does not declare its size is taken to decode to */
#define AHEAD ((uint64_t)64 << 20) /* so far before its decoder a file's next frame is looked for */
#define HINT ((uint64_t)8 << 20)   /* what a cold file is asked for ahead of that */
#define LOOK_LEAST ((size_t)256)   /* bytes around a block header that are read with it ... */
#define LOOK_MOST ((size_t)16 << 10)     /* ... and where frames are small */
#define STREAM_LEAST ((size_t)128 << 10) /* of a stream, room for what may be there */
#define LARGE ((uint64_t)1 << 20) /* a job for which one more worker is called before it begins */
#define SEAM_SMALL 4096u          /* records whose seams do not count */
#define SLOTS_LEAST 8u            /* of a frame in blocks, where there is memory for them */
#define WORK_LEAST 4096u /* of an average block: literals, and three bytes for each sequence */

typedef unsigned long long ull;

int zstd_bad(const struct input *in, uint64_t offset, struct fail *fail, const char *why)
{
	/* Samples may begin with the magic number by chance. */
	return fail_set(fail, STATUS_DATA, "%s: zstd frame at offset %llu: %s%s", in->name,
			(ull)offset, why, offset == 0 ? " (--raw counts it as it is)" : "");
}

static int truncated(const struct input *in, uint64_t offset, struct fail *fail)
{
	return zstd_bad(in, offset, fail, "the input ends inside it");
}

/* ---- packed bytes; without the lock, by the thread whose turn it is ---- */

int zstd_begin(struct input *in, struct fail *fail)
{
	const bool rest = in->header.chunks && in->bound != NO_END;

	in->at = 0;
	in->keep = NO_END;
	if (in->is_file) {
		in->begin = in->pos = in->hinted = in->bytes_at = in->origin;
		in->have = 0;
	}
	if (rest && !in->rest)
		in->rest = malloc(REST_BYTES + INPUT_END_BYTES);
	if (rest && !in->rest)
		return fail_errno(fail, "%s", in->name);
	return in->is_file ? input_grow(in, LOOK_MOST, fail) : 0;
}

/* Of a stream: what lies before in->pos, or what is kept. */
static void drop(struct input *in)
{
	const size_t n = (size_t)lesser(lesser(in->pos, in->keep) - in->bytes_at, in->have);

	in->have -= n;
	in->bytes_at += n;
	if (n > 0)
		memmove(in->bytes, in->bytes + n, in->have);
}

/* Reads more of a stream, n bytes from `at` at least. */
static int look_further(struct source *s, struct input *in, uint64_t at, size_t n,
			struct fail *fail)
{
	int rc = 0;

	while (rc == 0 && at + n > in->bytes_at + in->have && !in->eof) {
		size_t got;
		if (at + n + STREAM_LEAST > in->bytes_at + in->room)
			drop(in);
		const size_t need = (size_t)(at + n - in->bytes_at), room = need + STREAM_LEAST;
		const uint64_t most = larger(room, lesser(room + room / 2, in->kept));
		if (in->room < room && input_grow(in, (size_t)most, fail) != 0)
			return -1;
		rc = stream_more(s, in, in->bytes + in->have, need - in->have, in->room - in->have,
				 &got, fail);
		in->have += got;
	}
	return rc;
}

int zstd_look(struct source *s, struct input *in, uint64_t at, size_t n, bool there,
	      const unsigned char **bytes, size_t *got, struct fail *fail)
{
	int rc = 0;

	if (at >= in->bytes_at && at + n <= in->bytes_at + in->have) {
		/* It was read. */
	} else if (in->is_file) {
		/* Frames may be so small that the next ones are seen with them. */
		const bool near = at >= in->bytes_at && at - in->bytes_at < 2 * LOOK_MOST;
		in->bytes_at = at;
		in->have = 0;
		if (input_grow(in, n, fail) != 0)
			return -1;
		rc = file_read(in, in->bytes, (size_t)larger(n, near ? LOOK_MOST : LOOK_LEAST), at,
			       &in->have, fail);
	} else if (!there) {
		rc = look_further(s, in, at, n, fail);
	}
	const uint64_t end = in->bytes_at + in->have;
	*got = at >= in->bytes_at && at < end ? (size_t)lesser(end - at, n) : 0;
	*bytes = *got > 0 ? in->bytes + (at - in->bytes_at) : (const unsigned char *)"";
	return rc;
}

/* ---- headers ---- */

/* A read that failed or was stopped, as what was found. */
static enum find not_found(int rc)
{
	return rc < 0 ? FIND_BAD : FIND_STOPPED;
}

/* Steps over a skippable frame; of a file without reading it. 1: the source was stopped. */
static int skip_frame(struct source *s, struct input *in, const struct frame *f, struct fail *fail)
{
	const uint64_t end = in->pos + f->header.bytes + f->header.content;
	const unsigned char *bytes;
	size_t got;

	if (in->is_file)
		in->pos = end - 1;
	while (in->pos < end) {
		const int rc = zstd_look(s, in, in->pos, 1, false, &bytes, &got, fail);
		if (rc != 0)
			return rc;
		if (got == 0)
			return truncated(in, f->offset, fail);
		in->pos += lesser(in->bytes_at + in->have - in->pos, end - in->pos);
	}
	return 0;
}

/* The -M with which decoders may take so much, in KiB, as messages name it. */
static ull memory_for(const struct source *s, uint64_t need)
{
	if (s->spec.memory_for)
		need = s->spec.memory_for(s->spec.arg, need);
	return (need + 1023) / 1024;
}

/* What cannot be decoded, or not with this much memory. */
static int refuse(const struct source *s, const struct input *in, const struct frame *f,
		  struct fail *fail)
{
	const uint64_t need = f->header.window;

	if (f->header.dictionary)
		return zstd_bad(in, f->offset, fail, "needs a dictionary, which is not supported");
	if (need <= s->spec.memory || f->header.content < s->spec.memory / 2)
		return 0;
	if (need > (uint64_t)1 << 31)
		return zstd_bad(in, f->offset, fail,
				"its window is larger than 2 GiB, which zstd does not decode");
	return fail_set(fail, STATUS_LIMIT,
			"%s: zstd frame at offset %llu: a window of %llu bytes needs -M %lluK",
			in->name, (ull)f->offset, (ull)need, memory_for(s, need));
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
static bool at_end(const struct input *in, uint64_t offset)
{
	return in->sliced && offset >= in->size;
}

/*
 * The header at an offset. Of a stream no more than that is waited for: what follows may not come.
 */
static int read_header(struct source *s, struct input *in, uint64_t offset, bool there,
		       struct frame *f, enum frame_kind *kind, size_t *got, struct fail *fail)
{
	const unsigned char *bytes;

	*f = (struct frame){.offset = offset, .stored = UNKNOWN, .bound = UNKNOWN, .plain = true};
	for (size_t n = in->is_file ? FRAME_HEADER_MAX : 5; n <= FRAME_HEADER_MAX; n++) {
		const int rc = zstd_look(s, in, offset, n, there, &bytes, got, fail);
		if (rc != 0)
			return rc;
		*kind = frame_parse(bytes, *got, &f->header);
		if (*got < n || *kind != FRAME_SHORT)
			break;
	}
	f->walked = f->header.bytes;
	return 0;
}

enum find zstd_next_header(struct source *s, struct input *in, struct frame *f, struct fail *fail)
{
	enum frame_kind kind = FRAME_SHORT;
	size_t got;

	while (!at_end(in, in->pos)) {
		int rc = read_header(s, in, in->pos, false, f, &kind, &got, fail);
		if (rc != 0)
			return not_found(rc);
		if (got == 0)
			return FIND_NONE;
		if (kind == FRAME_DATA)
			return refuse(s, in, f, fail) == 0 ? FIND_FRAME : FIND_BAD;
		if (kind != FRAME_SKIPPABLE)
			return not_found(not_a_frame(in, f, kind, fail));
		if ((rc = skip_frame(s, in, f, fail)) != 0)
			return not_found(rc);
	}
	return FIND_NONE;
}

/* ---- blocks ---- */

/* What its decoder will read soon; headers that are looked at alone ask for nothing. */
static void hint(struct input *in, uint64_t at)
{
	if (at + HINT / 2 <= in->hinted)
		return;
	if (in->hinted < at) /* a frame was skipped */
		in->hinted = at;
	(void)posix_fadvise(in->fd, (off_t)in->hinted, (off_t)HINT, POSIX_FADV_WILLNEED);
	in->hinted += HINT;
}

/*
 * Follows blocks to the end of the frame, or `most` packed bytes. FIND_FAR: it goes on after that,
 * or, with `there`, after what was read.
 */
static enum find walk(struct source *s, struct input *in, struct frame *f, uint64_t most,
		      bool there, struct fail *fail)
{
	struct frame_block block = {.last = false};
	const unsigned char *bytes;
	size_t got;
	int rc;

	while (!block.last) {
		if (f->walked > most || (!in->is_file && f->blocks > FIND_MAX))
			return FIND_FAR;
		if (in->is_file && most != UNKNOWN)
			hint(in, f->offset + f->walked);
		if ((rc = zstd_look(s, in, f->offset + f->walked, 3, there, &bytes, &got, fail)) !=
		    0)
			return not_found(rc);
		if (got < 3)
			return there ? FIND_FAR : not_found(truncated(in, f->offset, fail));
		if (frame_block_parse(bytes, &block) != 0)
			return not_found(zstd_bad(in, f->offset, fail, "corrupt block"));
		frame_add_block(f, &block);
	}
	f->walked += f->header.checksum ? FRAME_CHECKSUM : 0;
	if ((rc = zstd_look(s, in, f->offset + f->walked - 1, 1, there, &bytes, &got, fail)) != 0)
		return not_found(rc);
	if (got == 0)
		return there ? FIND_FAR : not_found(truncated(in, f->offset, fail));
	f->stored = f->walked;
	f->bound = f->header.content != UNKNOWN ? f->header.content : f->blocks;
	return FIND_FRAME;
}

enum find zstd_walk(struct source *s, struct input *in, struct frame *f, uint64_t most,
		    struct fail *fail)
{
	return walk(s, in, f, most, false, fail);
}

/* ---- what a job takes ---- */

/*
 * In one call libzstd does not see blocks that are larger than a small window allows. It is given
 * room for `bound` bytes, so none is where these are no more than the window.
 */
static bool small_window(const struct frame *f)
{
	return f->header.window < FRAME_BLOCK_MAX && f->bound > f->header.window;
}

/* The memory of a job: the room of a piece, and what libzstd needs. */
static void plan(const struct source *s, struct cut *c, enum how how, uint64_t room,
		 uint64_t context)
{
	const uint32_t record = s->spec.record;
	const bool calls = how == HOW_CALLS;

	c->how = how;
	/* What follows a stored block is read with it. */
	c->room = calls ? larger(room, 1) : PIECE_BYTES + FRAME_CHECKSUM;
	c->packed = calls || c->from == FROM_MEMORY ? c->stored
		    : how == HOW_STORED             ? 0
						    : PACKED_BYTES;
	c->context = how == HOW_STORED ? 0 : context;
	c->blocks = 0;
	for (c->pieces = calls || s->spec.threads == 1 ? 1 : PIECES;; c->pieces = 1) {
		c->seams = record <= SEAM_SMALL ? 0 : 2 * (uint64_t)record;
		c->need =
			job_room(c->room) * c->pieces + job_room(c->packed) + c->context + c->seams;
		if (c->pieces == 1 || c->need <= s->spec.memory)
			return;
	}
}

void cut_as_steps(const struct source *s, struct cut *c)
{
	plan(s, c, HOW_STEPS, 0, STEPS_BYTES + lesser(c->window, c->content));
}

/* A frame whose end was found. `last`: -n may end in it. */
static void plan_found(const struct source *s, struct cut *c, const struct frame *f, bool last)
{
	const uint64_t most = f->header.content != UNKNOWN ? WHOLE_MAX : FIND_MAX;

	c->stored = f->stored;
	if (f->plain && f->bound >= BATCH_BYTES) {
		plan(s, c, HOW_STORED, 0, 0);
		return;
	}
	/*
	 * A frame of unknown size is made in one call if possible: in steps, its pieces would wait
	 * for their places and hold it up.
	 */
	plan(s, c, HOW_CALLS, f->bound, CONTEXT_BYTES);
	const struct cut calls = *c;
	if (last || small_window(f) || f->bound > most || c->need > s->spec.memory) {
		cut_as_steps(s, c);
		if (!last && !small_window(f) && f->bound <= most && calls.need < c->need)
			*c = calls;
	}
}

/* ---- a long frame in blocks ---- */

/* In blocks, if that fits the memory. What it takes is enough for steps, too. */
static void plan_blocks(const struct source *s, struct cut *c)
{
	const struct cut steps = *c;
	const unsigned threads = s->spec.threads;
	const unsigned most = (unsigned)lesser(larger(4 * threads, SLOTS_LEAST), SLOTS_MOST);

	c->how = HOW_BLOCKS;
	c->room = c->context = 0;
	c->packed = c->from == FROM_FILE ? 0 : steps.packed;
	for (c->pieces = most; c->pieces >= lesser(threads + 2, most); c->pieces--) {
		const uint64_t bytes =
			blocks_bytes(lesser(c->window, c->content), c->pieces, threads);
		c->blocks = larger(bytes, steps.need);
		c->need = c->blocks + job_room(c->packed) + c->seams;
		if (c->need <= s->spec.memory)
			return;
	}
	*c = steps;
}

/*
 * Are there fewer frames like it than readers? Else each reader decodes its own, which takes less
 * of all cores, unless they are so long that the next one is not found in time.
 */
static bool few_left(const struct source *s, const struct input *in, const struct frame *f)
{
	const uint64_t here = in->size > f->offset ? in->size - f->offset : 0;
	const uint64_t left = here + (s->spec.path_count - in->index - 1) * in->size;
	uint64_t stored = f->stored;

	if (stored == UNKNOWN && f->header.content == UNKNOWN)
		stored = left;
	else if (stored == UNKNOWN)
		stored = (uint64_t)((double)f->header.content * (double)f->walked /
				    (double)f->blocks);
	return stored >= AHEAD || stored > left / s->spec.threads;
}

/*
 * Its first blocks are scanned. With few literals and sequences they are mostly long matches, or
 * very small, where libzstd is as fast as memory.
 */
static bool blocks_pay(struct source *s, struct input *in, const struct frame *f, unsigned most)
{
	uint64_t at = f->offset + f->header.bytes, work = 0;
	struct frame_block h = {.last = false};
	struct fail bad = {.status = STATUS_OK};
	const unsigned char *bytes;
	struct block_scan scan;
	struct block b;
	unsigned n = 0;
	size_t got;

	block_scan_begin(&scan, f->header.window);
	for (; n < most && !h.last; n++, at += h.stored) {
		if (zstd_look(s, in, at, 3, false, &bytes, &got, &bad) != 0 || got < 3 ||
		    frame_block_parse(bytes, &h) != 0)
			return false;
		at += 3;
		if (zstd_look(s, in, at, h.stored, false, &bytes, &got, &bad) != 0 ||
		    got < h.stored || block_scan(&scan, &h, bytes, &b))
			return false;
		work += b.literals + 3 * (uint64_t)b.sequences;
	}
	return work >= n * WORK_LEAST;
}

/* Is it decoded in blocks? */
static bool in_blocks(struct source *s, struct input *in, const struct frame *f, uint64_t at,
		      bool last)
{
	const struct frame_header *const h = &f->header;
	uint64_t bytes = lesser(h->content, f->bound);

	if (in->limit != NO_END && at != UNKNOWN)
		bytes = lesser(bytes, in->limit - at);
	if (!BLOCK_HOST || !h->checksum || h->window > BLOCK_WINDOW_MAX || bytes <= WHOLE_MAX ||
	    s->spec.threads < 2 || (in->is_file && !few_left(s, in, f)))
		return false;
	/* Of a stream no more may come soon. */
	return blocks_pay(s, in, f, !in->is_file && (last || s->spec.prompt) ? 1 : 4);
}

/* What it is taken to decode to. */
static uint64_t weight(const struct frame *f)
{
	return f->header.content != UNKNOWN ? f->bound : lesser(f->bound, RATIO * f->stored);
}

/* A small frame that follows, as far as it was read of a stream. */
static bool next_small(struct source *s, struct input *in, uint64_t offset, struct frame *f)
{
	struct fail bad = {.status = STATUS_OK};
	enum frame_kind kind = FRAME_SHORT;
	size_t got;

	return !at_end(in, offset) &&
	       read_header(s, in, offset, !in->is_file, f, &kind, &got, &bad) == 0 &&
	       kind == FRAME_DATA && refuse(s, in, f, &bad) == 0 &&
	       (f->header.content == UNKNOWN || f->header.content <= BATCH_BYTES / 4) &&
	       walk(s, in, f, BATCH_BYTES / 2, !in->is_file, &bad) == FIND_FRAME &&
	       !small_window(f) && f->bound <= BATCH_BYTES;
}

/*
 * Adds small frames that follow a first one; what is wrong with one is found again when it is the
 * first. With -n, what comes after its last record is not looked at.
 */
static void gather(struct source *s, struct input *in, const struct frame *first, uint64_t at,
		   struct cut *c)
{
	const struct cut alone = *c;
	uint64_t sum = first->bound, most = sum, weights = weight(first);
	struct frame f;

	while (weights < BATCH_BYTES && c->stored < BATCH_BYTES &&
	       next_small(s, in, c->offset + c->stored, &f)) {
		if (in->limit != NO_END && (at == UNKNOWN || at + sum + f.bound >= in->limit))
			break;
		c->stored += f.stored;
		c->content = c->content == UNKNOWN || f.header.content == UNKNOWN
				     ? UNKNOWN
				     : c->content + f.header.content;
		c->checksum = false; /* of several frames libzstd checks them */
		sum += f.bound;
		most = larger(most, f.bound);
		weights += weight(&f);
	}
	/* Of frames that do not declare their sizes as many are decoded at a time as fit. */
	plan(s, c, HOW_CALLS, sum < 2 * BATCH_BYTES ? sum : larger(most, 2 * BATCH_BYTES),
	     CONTEXT_BYTES);
	if (c->need > s->spec.memory) {
		*c = alone;
		plan_found(s, c, first, false);
	}
}

/* The next job of an input whose decoded bytes go on at `at`. */
static void find(struct source *s, struct input *in, uint64_t at, struct cut *c)
{
	struct frame f;

	*c = (struct cut){.content = UNKNOWN, .stored = UNKNOWN};
	enum find found = zstd_next_header(s, in, &f, &c->fail);
	c->offset = in->pos;
	if (found == FIND_FRAME) {
		const uint64_t content = f.header.content;
		/* -n may end in it: then a stream may be quiet before it has ended. */
		const bool last = in->limit != NO_END && (at == UNKNOWN || content == UNKNOWN ||
							  content >= in->limit - at);
		const uint64_t most = in->is_file ? FIND_MAX : in->kept - PACKED_BYTES;
		c->content = content;
		c->window = f.header.window;
		c->header = f.header.bytes;
		c->checksum = f.header.checksum;
		found = FIND_FAR;
		if (in->is_file || (!last && (content == UNKNOWN || content <= FIND_MAX)))
			found = walk(s, in, &f, most, false, &c->fail);
		/* Blocks that are stored are followed as far as they go. */
		while (found == FIND_FAR && in->is_file && f.plain)
			found = walk(s, in, &f, f.walked + most, false, &c->fail);
		/* What is wrong may lie behind -n's last record: its decoder will see. */
		if (found == FIND_BAD && last) {
			found = FIND_FAR;
			f.stored = 0;
			c->fail.status = STATUS_OK;
		}
		c->from = in->is_file ? FROM_FILE : found == FIND_FRAME ? FROM_MEMORY : FROM_STREAM;
		if (found == FIND_FRAME && !last && f.bound <= BATCH_BYTES / 4 &&
		    !small_window(&f)) {
			c->stored = f.stored;
			gather(s, in, &f, at, c);
		} else if (found == FIND_FRAME) {
			plan_found(s, c, &f, last);
		} else {
			cut_as_steps(s, c);
		}
		if (c->how == HOW_STEPS && c->from != FROM_MEMORY && in_blocks(s, in, &f, at, last))
			plan_blocks(s, c);
		in->walk = f; /* of a file, its end is looked for while it is decoded */
	}
	c->what = found == FIND_NONE || found == FIND_STOPPED ? CUT_END
		  : found == FIND_BAD                         ? CUT_BAD
							      : CUT_JOB;
	if (c->what == CUT_JOB && c->seams > 0 && c->need > s->spec.memory) {
		fail_set(&c->fail, STATUS_LIMIT,
			 "%s: zstd frame at offset %llu: records of %lu bytes in it need -M %lluK",
			 in->name, (ull)c->offset, (unsigned long)s->spec.record,
			 memory_for(s, c->need));
		c->what = CUT_BAD;
	}
}

/* ---- with the lock ---- */

bool cut_ready(const struct source *s, const struct request *q)
{
	const struct input *const in = s->current;

	/* With something in hand no stream is waited for. */
	if (!in || !in->is_zstd || in->busy || (q->got > 0 && !in->is_file))
		return false;
	if (in->cut.what == CUT_JOB)
		return job_fits(s, in->cut.need);
	if (s->jobs >= 2 * s->spec.decoders)
		return false;
	if (!in->open)
		return true;
	return in->is_file && s->spec.threads > 1 && in->walk.stored == UNKNOWN &&
	       in->walk.walked < __atomic_load_n(&in->open->taken, __ATOMIC_RELAXED) + AHEAD;
}

/* The end of a file's long frame is looked for, some blocks further. */
static void walk_on_unlocks(struct source *s, struct input *in)
{
	const struct zstd_job *const open = in->open;
	struct frame f = in->walk;
	struct fail bad = {.status = STATUS_OK};

	in->busy = true;
	lock_drop(&s->lock);
	const enum find found = walk(s, in, &f, f.walked + FIND_MAX, false, &bad);
	lock_take(&s->lock);
	in->busy = false;
	in->walk = f;
	if (found == FIND_BAD) /* its decoder will say why */
		in->walk.stored = 0;
	if (in->open != open || found != FIND_FRAME)
		return;
	in->open = NULL;
	in->pos = f.offset + f.stored;
}

static void swap_buffers(struct input *in, struct zstd_job *j)
{
	unsigned char *const bytes = in->bytes;
	const size_t room = in->room;

	in->bytes = j->packed;
	in->room = j->packed_room;
	j->packed = bytes;
	j->packed_room = room;
}

/* A stream's job takes what was read of it: all, or one frame. false: no memory. */
static bool hand_over(struct source *s, struct input *in, struct zstd_job *j)
{
	const bool all = j->cut.from == FROM_STREAM;
	const size_t before = (size_t)(j->cut.offset - in->bytes_at);
	const size_t mine = all ? in->have - before : (size_t)j->cut.stored;

	if (!all && !buffer_grow(&j->packed, &j->packed_room, mine, 0))
		return false;
	if (all)
		swap_buffers(in, j);
	else
		memcpy(j->packed, in->bytes + before, mine);
	j->packed_at = all ? before : 0;
	j->packed_end = j->packed_at + mine;
	j->taken = mine;
	in->pos = j->cut.offset + mine;
	if (all) {
		in->bytes_at = in->pos;
		in->have = 0;
	}
	/* The buffer may be larger than a decoder's own: the memory for it goes with it. */
	const uint64_t holds = job_holds(j), more = holds > j->held ? holds - j->held : 0;
	const uint64_t moved = lesser(more, in->kept);
	j->held += more;
	s->held += more - moved;
	in->kept -= moved;
	return true;
}

/* Makes a job of the cut, which fits the memory. */
static void start_job(struct source *s, struct input *in)
{
	struct cut *const c = &in->cut;
	struct zstd_job *const j = job_new(s, in, c);
	struct fail fail = {.status = STATUS_OK};

	if (!j || (!in->is_file && c->what == CUT_JOB && !hand_over(s, in, j))) {
		fail_errno(&fail, "%s", in->name);
		source_fail(s, in, in->pos, &fail);
	} else if (c->what == CUT_JOB) {
		if (c->from == FROM_STREAM || (in->is_file && c->stored == UNKNOWN))
			in->open = j;
		else if (in->is_file)
			in->pos += c->stored;
		in->at = in->at == UNKNOWN || c->content == UNKNOWN
				 ? UNKNOWN
				 : lesser(offset_sum(in->at, c->content), UNKNOWN - 1);
		/* One more worker is called for before a large job that is not the last. */
		s->wanted |= s->sleepers == 0 && (c->how != HOW_CALLS || c->room >= LARGE) &&
			     (!in->is_file || in->open == j || in->pos < in->size ||
			      c->how == HOW_BLOCKS);
		source_call(s);
	}
	const bool bad = c->what == CUT_BAD;
	c->what = CUT_NOTHING;
	if (j && bad) {           /* with its job the input may go, too */
		input_end(s, in); /* nothing more is looked for */
		j->running = true;
		job_end(s, j);
		j->running = false;
		job_check(s, j);
	}
}

static uint64_t kept_of(const struct source *s)
{
	return lesser(s->spec.memory / 4, FIND_MAX) + 2 * PACKED_BYTES;
}

void cut_run_unlocks(struct source *s, struct request *q)
{
	struct input *const in = s->current;
	const uint64_t at = in->at;

	(void)q;
	if (in->open) {
		walk_on_unlocks(s, in);
		if (in->ended) /* meanwhile */
			input_end(s, in);
		source_call(s);
		input_check(s, in);
		return;
	}
	if (in->cut.what != CUT_JOB) {
		if (!in->is_file) { /* for what is read before a job takes it */
			s->held += kept_of(s) - in->kept;
			in->kept = kept_of(s);
		}
		in->busy = true;
		lock_drop(&s->lock);
		if (at != UNKNOWN && at >= in->limit)
			in->cut = (struct cut){.what = CUT_END};
		else
			find(s, in, at, &in->cut);
		lock_take(&s->lock);
		in->busy = false;
		if (in->cut.what == CUT_END || in->ended) {
			input_end(s, in);
			input_check(s, in);
			return;
		}
		if (in->cut.what == CUT_JOB && !job_fits(s, in->cut.need))
			return;
	}
	start_job(s, in);
}

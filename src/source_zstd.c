/*
 * source_zstd: compressed inputs. Frames are found without decoding them, one finder at a time,
 * and decoded by whoever asks for samples.
 *
 *   whole    a frame that one worker's share of the memory holds, compressed and decoded, is
 *            decoded at once, beside others, and its samples are lent where they lie
 *   in turn  any other is decoded piece by piece: one worker stays with it as long as others take
 *            the pieces to count them. In a file such frames go side by side too; in a stream the
 *            next one begins where this one ends
 *
 * A piece's place in the decoded input says which of its bytes are skipped, which lie behind -n's
 * limit and where records begin. It is known when the sizes of all frames in front of it are;
 * where a frame does not tell its size, those behind it wait, decoded, until it is. Records that
 * frames cut are put together here, once.
 *
 * The source's lock guards all of it, but what a finder (z->finding) and whoever holds a decoder
 * (d->busy) do alone.
 */
#include <zstd.h>
#include <zstd_errors.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "source_input.h"
#include "zstd_frame.h"

#define STAGE ((size_t)128 << 10)     /* of compressed bytes at a time */
#define WALK_MOST ((uint64_t)64 << 20) /* as far a frame's end is looked for */
#define AHEAD ((uint64_t)8 << 20)     /* what a cold file is asked for in front of that */
#define PIECE_BYTES ((size_t)256 << 10) /* of a frame in turn */
#define DECODER_BYTES ((uint64_t)1280 << 10) /* of a decoder, the window aside */
#define NOWHERE UINT64_MAX

typedef unsigned long long ull;

/* A frame that was found. */
struct frame {
	struct frame_header header;
	uint64_t offset;   /* in the compressed input */
	uint64_t stored;   /* bytes of all of it; FRAME_UNKNOWN: a stream's, or not looked for to the end */
	uint64_t bound;    /* decoded bytes at most; FRAME_UNKNOWN likewise */
};

/* A record that lies in several frames, as far as it was put together. */
struct seam {
	uint64_t record;   /* which of the input */
	uint32_t have;
	unsigned char bytes[RECORD_MAX];
};

struct zstd_input {
	uint64_t next;      /* compressed offset behind the last frame that was found */
	uint64_t asked;     /* of a file, as far as the system was told to read ahead */
	bool finding;       /* somebody looks for the next frame, or reads a stream's */
	bool found_one;     /* frame is waiting for a decoder */
	bool no_more;       /* no frame follows, or none that -n wants */
	struct frame frame;
	uint64_t frames;    /* that were given to decoders */
	uint64_t placed;    /* of these, with a known place ... */
	uint64_t decoded;   /* ... and where the next one's is */
	uint64_t limit;     /* decoded bytes behind it are not wanted */
	struct seam *seams;
	size_t seam_count, seam_room;
	unsigned char *stage; /* of a stream: read and not yet used */
	size_t stage_at, stage_end;
};

/* Samples that were decoded and are not counted yet. */
struct piece {
	unsigned char *data;
	size_t room, from, bytes;
	enum { FREE, READY, LENT } state;
};
#define PIECES 3 /* one is decoded while one is counted and one waits */

struct decoder {
	struct decoder *next;
	struct input *in;      /* NULL: it has no frame */
	bool busy;
	pthread_t owner;       /* who used it last: its caches hold what it remembers */
	ZSTD_DCtx *context;
	uint64_t memory;       /* what it may have taken by now */
	struct frame frame;
	uint64_t number;       /* of the frame in its input */
	uint64_t size;         /* of the frame decoded, FRAME_UNKNOWN until known */
	uint64_t at;           /* place of its next byte in the decoded input, or NOWHERE */
	bool whole, attached;  /* attached: it reads on where the stream stands */
	bool decoded;          /* whole: out holds all of it */
	bool ended;            /* in turn: only its pieces are still to be handed out or returned */
	struct piece piece[PIECES];
	uint64_t read_at, read_end; /* file, in turn: what is still to be read of it */
	unsigned char *packed; /* compressed bytes */
	size_t packed_room;
	ZSTD_inBuffer source;
	unsigned char *out;    /* whole: decoded bytes ... */
	size_t out_room, out_at, out_end; /* ... of which these were not handed out */
};

struct zstd_pool {
	struct decoder *decoders;
	pthread_cond_t changed;   /* a decoder, a place, a frame, or the end */
	unsigned waiting;
	unsigned char *mended;    /* records that were put together, to be handed out */
	size_t mended_bytes, mended_room;
};

static int bad(struct input *in, uint64_t offset, struct fail *fail, const char *why)
{
	/* Samples may begin with the magic number by chance. */
	return fail_set(fail, STATUS_DATA, "%s: zstd frame at offset %llu: %s%s", in->name, (ull)offset, why,
			offset == 0 ? " (--raw counts it as it is)" : "");
}

/* ---- the compressed bytes ---- */

/* Bytes of a stream at its head, at least n of them unless it ends or the source is stopped. */
static int stage_need(struct source *s, struct input *in, size_t n, struct fail *fail)
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

static void stage_take(struct zstd_input *z, size_t n)
{
	z->stage_at += n;
	z->next += n;
}

/* Looks at n bytes at `offset` of a file, or at the head of a stream; *got < n: the end. */
static int look_at(struct source *s, struct input *in, uint64_t offset, unsigned char *bytes, size_t n,
		   size_t *got, struct fail *fail)
{
	struct zstd_input *z = in->zstd;

	if (in->is_file)
		return file_read(in, bytes, n, offset, got, fail);
	const int rc = stage_need(s, in, n, fail);
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
		if (file_read(in, &last, 1, z->next - 1, &got, fail) != 0)
			return -1;
		return got == 1 ? 0 : bad(in, f->offset, fail, "the input ends inside it");
	}
	while (left > 0) {
		const size_t n = left < STAGE ? (size_t)left : STAGE;
		const int rc = stage_need(s, in, n, fail);
		if (rc != 0)
			return rc;
		if (z->stage_end - z->stage_at < n)
			return bad(in, f->offset, fail, "the input ends inside it");
		stage_take(z, n);
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
		if (file_read(in, bytes, 3, at, &got, fail) != 0)
			return -1;
		if (got < 3)
			return bad(in, f->offset, fail, "the input ends inside it");
		if (frame_block_parse(bytes, &block) != 0)
			return bad(in, f->offset, fail, "corrupt block");
		at += 3 + block.stored;
		blocks++;
	}
	at += f->header.checksum ? 4 : 0;
	if (file_read(in, bytes, 1, at - 1, &got, fail) != 0)
		return -1;
	if (got == 0)
		return bad(in, f->offset, fail, "the input ends inside it");
	f->stored = at - f->offset;
	f->bound = f->header.content != FRAME_UNKNOWN ? f->header.content : blocks * most;
	return 0;
}

/* What cannot be decoded, or not with this much memory. */
static int refuse(struct source *s, struct input *in, const struct frame *f, struct fail *fail)
{
	const uint64_t need = f->header.window;

	if (f->header.dictionary)
		return bad(in, f->offset, fail, "needs a dictionary, which is not supported");
	if (need <= s->spec.memory || f->header.content < s->spec.memory / 2)
		return 0;
	if (f->header.window > (uint64_t)1 << 31)
		return bad(in, f->offset, fail, "its window is larger than 2 GiB, which zstd does not decode");
	return fail_set(fail, STATUS_LIMIT, "%s: zstd frame at offset %llu: a window of %llu bytes needs -M %lluK",
			in->name, (ull)f->offset, (ull)f->header.window,
			(ull)((s->spec.memory_all - s->spec.memory + need + 1023) / 1024));
}

/* The next frame into z->frame; without the lock. 1: the source was stopped; 2: there is none. */
static int find(struct source *s, struct input *in, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	struct frame *f = &z->frame;
	unsigned char bytes[FRAME_HEADER_MAX];
	size_t got;
	int rc;

	for (;;) {
		*f = (struct frame){.offset = z->next, .stored = FRAME_UNKNOWN, .bound = FRAME_UNKNOWN};
		if ((rc = look_at(s, in, z->next, bytes, sizeof(bytes), &got, fail)) != 0)
			return rc;
		if (got == 0)
			return 2;
		switch (frame_parse(bytes, got, &f->header)) {
		case FRAME_DATA:
			if (refuse(s, in, f, fail) != 0)
				return -1;
			rc = in->is_file ? walk(in, f, fail) : 0;
			if (f->stored != FRAME_UNKNOWN)
				z->next += f->stored;
			return rc;
		case FRAME_SKIPPABLE:
			if ((rc = skip_frame(s, in, f, fail)) != 0)
				return rc;
			continue;
		case FRAME_SHORT:
			return bad(in, f->offset, fail, "the input ends inside its header");
		case FRAME_LEGACY:
			return bad(in, f->offset, fail, "written by zstd before 0.8, which is not supported");
		case FRAME_BROKEN:
			return bad(in, f->offset, fail, "a header that no version of zstd writes");
		case FRAME_OTHER:
			return fail_set(fail, STATUS_DATA, "%s: garbage at offset %llu, behind a zstd frame",
					in->name, (ull)f->offset);
		}
	}
}

/* ---- decoders ---- */

static void decoder_free(struct decoder *d)
{
	ZSTD_freeDCtx(d->context);
	for (unsigned i = 0; i < PIECES; i++)
		free(d->piece[i].data);
	free(d->packed);
	free(d->out);
	free(d);
}

/* Gives back the memory of decoders that have no frame. */
static void pool_trim(struct zstd_pool *p)
{
	for (struct decoder **at = &p->decoders; *at;) {
		struct decoder *d = *at;
		if (d->in) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		decoder_free(d);
	}
}

static uint64_t pool_memory(const struct zstd_pool *p)
{
	uint64_t bytes = 0;

	for (const struct decoder *d = p->decoders; d; d = d->next)
		bytes += d->memory;
	return bytes;
}

static bool pool_idle(const struct zstd_pool *p)
{
	for (const struct decoder *d = p->decoders; d; d = d->next)
		if (d->in)
			return false;
	return true;
}

/* A worker's share of the memory decides how a frame is decoded. */
static bool fits_whole(const struct source *s, const struct frame *f)
{
	const uint64_t share = s->spec.memory / s->spec.threads;

	return f->stored != FRAME_UNKNOWN && f->bound < share && f->stored < share - f->bound;
}

static struct decoder *decoder_make(struct zstd_pool *p)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->context = ZSTD_createDCtx();
	if (!d->context || ZSTD_isError(ZSTD_DCtx_setParameter(d->context, ZSTD_d_windowLogMax, 31))) {
		decoder_free(d);
		return NULL;
	}
	d->next = p->decoders;
	p->decoders = d;
	return d;
}

/* One without a frame, the caller's own if there is one: its buffers are in the right caches. */
static struct decoder *decoder_free_one(const struct zstd_pool *p)
{
	struct decoder *any = NULL;

	for (struct decoder *d = p->decoders; d; d = d->next) {
		if (!d->in && pthread_equal(d->owner, pthread_self()))
			return d;
		if (!d->in)
			any = d;
	}
	return any;
}

/* A decoder that may take `need` bytes. NULL: others must end first, or there is no memory. */
static struct decoder *decoder_get(struct source *s, uint64_t need)
{
	struct zstd_pool *p = s->zstd;
	struct decoder *d = decoder_free_one(p);
	const uint64_t more = !d ? need : need > d->memory ? need - d->memory : 0;

	if (pool_memory(p) + more > s->spec.memory) {
		pool_trim(p);
		d = NULL;
		if (pool_memory(p) + need > s->spec.memory && !pool_idle(p))
			return NULL;
	}
	if (!d)
		d = decoder_make(p);
	if (d && d->memory < need)
		d->memory = need;
	return d;
}

static int grow(unsigned char **buffer, size_t *room, size_t bytes)
{
	if (*room >= bytes)
		return 0;
	free(*buffer);
	*room = 0;
	bytes += bytes / 8; /* the next frame may be a little larger */
	*buffer = malloc(bytes);
	if (!*buffer)
		return -1;
	*room = bytes;
	return 0;
}

/* The places of frames whose predecessors' sizes have become known. */
static void place(struct source *s, struct input *in)
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
			z->decoded += d->size;
			z->placed++;
			again = true;
		}
	}
	pthread_cond_broadcast(&s->zstd->changed);
}

/* The input has no more frames and no decoder works on one. */
static int finish(struct source *s, struct input *in, int rc, struct fail *fail)
{
	struct zstd_input *z = in->zstd;

	in->ended = true;
	s->totals.packed += z->next;
	s->totals.skipped += z->decoded < s->spec.skip ? z->decoded : s->spec.skip;
	s->totals.bytes += z->decoded < s->spec.skip ? z->decoded : s->spec.skip;
	if (z->decoded < s->spec.skip && rc == 0)
		rc = fail_set(fail, STATUS_DATA, "%s: ends before the %llu bytes to skip", in->name,
			      (ull)s->spec.skip);
	/* All others were completed: only the last record can lack something. */
	for (size_t i = 0; i < z->seam_count; i++)
		in->tail += z->seams[i].have;
	in->readers = 0;
	return input_settle(s, in, rc, fail);
}

static bool pieces_free(const struct decoder *d)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (d->piece[i].state != FREE)
			return false;
	return true;
}

/* Takes the frame off a decoder; pieces that nobody took are not wanted. */
static int decoder_done(struct source *s, struct decoder *d, int rc, struct fail *fail)
{
	struct input *in = d->in;

	for (unsigned i = 0; i < PIECES; i++)
		d->piece[i].state = d->piece[i].state == LENT ? LENT : FREE;
	d->in = NULL;
	d->busy = false;
	in->readers--;
	pthread_cond_broadcast(&s->zstd->changed);
	if (in->readers == 0 && !in->zstd->finding && in->zstd->no_more)
		return finish(s, in, rc, fail);
	return rc;
}

/* ---- a decoder gets its frame ---- */

/* The whole of a stream's frame into d->packed, if it is not too large; without the lock. */
static int gather(struct source *s, struct decoder *d, struct fail *fail)
{
	struct input *in = d->in;
	struct zstd_input *z = in->zstd;
	struct frame *f = &d->frame;
	const size_t most = (size_t)(s->spec.memory / s->spec.threads / 4);
	const uint64_t block_most = f->header.window < FRAME_BLOCK_MAX ? f->header.window : FRAME_BLOCK_MAX;
	struct frame_block block = {.last = false};
	size_t used = 0, piece = f->header.bytes;
	uint64_t bound = 0;

	d->source = (ZSTD_inBuffer){.src = NULL};
	for (;;) {
		if (used + piece > d->packed_room) {
			const size_t room = 2 * (used + piece) > STAGE ? 2 * (used + piece) : STAGE;
			unsigned char *larger = realloc(d->packed, room);
			if (!larger)
				return fail_errno(fail, "%s", in->name);
			d->packed = larger;
			d->packed_room = room;
		}
		/* In front of a block its header, behind the last one the checksum. */
		const int rc = stage_need(s, in, piece, fail);
		if (rc != 0)
			return rc;
		if (z->stage_end - z->stage_at < piece)
			return bad(in, f->offset, fail, "the input ends inside it");
		memcpy(d->packed + used, z->stage + z->stage_at, piece);
		stage_take(z, piece);
		used += piece;
		d->source = (ZSTD_inBuffer){.src = d->packed, .size = used};
		if (block.last)
			break;
		if (stage_need(s, in, 3, fail) != 0)
			return 1;
		if (z->stage_end - z->stage_at < 3)
			return bad(in, f->offset, fail, "the input ends inside it");
		if (frame_block_parse(z->stage + z->stage_at, &block) != 0)
			return bad(in, f->offset, fail, "corrupt block");
		bound += block_most;
		piece = 3 + block.stored + (block.last && f->header.checksum ? 4 : 0);
		if (used + piece > most) {
			d->attached = true;
			return 0;
		}
	}
	f->stored = used;
	f->bound = f->header.content != FRAME_UNKNOWN ? f->header.content : bound;
	return 0;
}

/* Gives z->frame to a decoder, when there is one for it: *out, busy. */
static int start(struct source *s, struct input *in, struct decoder **out, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	const struct frame *f = &z->frame;
	const bool whole = fits_whole(s, f);
	const uint64_t window = f->header.content < f->header.window ? f->header.content : f->header.window;
	const uint64_t share = s->spec.memory / s->spec.threads;
	/* How large a stream's frame is will show when it is gathered. */
	const uint64_t turn = in->is_file || window > share ? window : share;
	const uint64_t need = DECODER_BYTES + (whole ? f->stored + f->bound : turn);
	struct decoder *d = decoder_get(s, need > s->spec.memory ? s->spec.memory : need);

	*out = NULL;
	if (!d)
		return pool_idle(s->zstd) ? fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", in->name) : 0;
	d->in = in;
	d->busy = true;
	d->owner = pthread_self();
	d->frame = *f;
	d->number = z->frames++;
	d->size = f->header.content;
	d->at = NOWHERE;
	d->whole = whole;
	d->attached = d->decoded = d->ended = false;
	d->out_at = d->out_end = 0;
	d->read_at = f->offset;
	d->read_end = f->stored == FRAME_UNKNOWN ? UINT64_MAX : f->offset + f->stored;
	d->source = (ZSTD_inBuffer){.src = NULL};
	ZSTD_DCtx_reset(d->context, ZSTD_reset_session_only);
	z->found_one = false;
	in->readers++;
	place(s, in);
	*out = d;
	if (in->is_file) {
		d->attached = f->stored == FRAME_UNKNOWN;
		z->finding = d->attached;
		return 0;
	}
	z->finding = true;
	pthread_mutex_unlock(&s->lock);
	const int rc = gather(s, d, fail);
	pthread_mutex_lock(&s->lock);
	d->whole = rc == 0 && fits_whole(s, &d->frame);
	z->finding = d->attached;
	pthread_cond_broadcast(&s->zstd->changed);
	s->stopped |= rc != 0;
	return rc < 0 ? -1 : 0;
}

/* May the next frame of this input be looked for, or given to a decoder? */
static bool more_frames(const struct zstd_input *z)
{
	return !z->finding && !z->no_more;
}

/* The next frame of the current input in a decoder, or *out = NULL: none, or not now. */
static int next_frame(struct source *s, struct input *in, struct decoder **out, struct fail *fail)
{
	struct zstd_input *z = in->zstd;
	int rc = 0;

	*out = NULL;
	if (!z->found_one) {
		z->finding = true;
		pthread_mutex_unlock(&s->lock);
		rc = find(s, in, fail);
		pthread_mutex_lock(&s->lock);
		z->finding = false;
		z->found_one = rc == 0;
		z->no_more = rc == 2;
		in->next = z->next; /* where a redirected file is left */
		pthread_cond_broadcast(&s->zstd->changed);
		s->stopped |= rc == 1;
		if (rc == 1 || rc < 0)
			return rc < 0 ? -1 : 0;
	}
	/* What lies behind -n's limit is nobody's. */
	z->no_more |= z->placed == z->frames && z->decoded >= z->limit;
	if (!z->no_more)
		return start(s, in, out, fail);
	if (in->readers == 0)
		return finish(s, in, 0, fail);
	/* With a limit the next input waits until it is known what this one leaves of it. */
	if (s->budget == UINT64_MAX) {
		in->ended = true;
		return input_settle(s, in, 0, fail);
	}
	return 0;
}

/* ---- decoding ---- */

static int decode_error(struct decoder *d, size_t code, struct fail *fail)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", d->in->name);
	return bad(d->in, d->frame.offset, fail, ZSTD_getErrorName(code));
}

/* All of a frame at once; without the lock. */
static int decode_whole(struct decoder *d, struct fail *fail)
{
	const struct frame *f = &d->frame;
	size_t got;

	if (!d->source.src) {
		if (grow(&d->packed, &d->packed_room, (size_t)f->stored) != 0)
			return fail_errno(fail, "%s", d->in->name);
		if (file_read(d->in, d->packed, (size_t)f->stored, f->offset, &got, fail) != 0)
			return -1;
		d->source = (ZSTD_inBuffer){.src = d->packed, .size = got};
	}
	if (grow(&d->out, &d->out_room, (size_t)f->bound + 1) != 0)
		return fail_errno(fail, "%s", d->in->name);
	const size_t n = ZSTD_decompressDCtx(d->context, d->out, d->out_room, d->source.src, d->source.size);
	if (ZSTD_isError(n))
		return decode_error(d, n, fail);
	d->out_end = n;
	return 0;
}

/* More compressed bytes for a decoder that has used all it had. */
static int refill(struct source *s, struct decoder *d, struct fail *fail)
{
	struct input *in = d->in;
	struct zstd_input *z = in->zstd;
	size_t got;

	if (!in->is_file) {
		/* What is in the stage is the decoder's, until it says where its frame ends. */
		const int rc = stage_need(s, in, 1, fail);
		if (rc != 0)
			return rc;
		d->source = (ZSTD_inBuffer){.src = z->stage + z->stage_at, .size = z->stage_end - z->stage_at};
	} else {
		const uint64_t left = d->read_end - d->read_at;
		if (grow(&d->packed, &d->packed_room, STAGE) != 0)
			return fail_errno(fail, "%s", in->name);
		if (file_read(in, d->packed, left < STAGE ? (size_t)left : STAGE, d->read_at, &got, fail) != 0)
			return -1;
		d->read_at += got;
		d->source = (ZSTD_inBuffer){.src = d->packed, .size = got};
	}
	return d->source.size > 0 ? 0 : bad(in, d->frame.offset, fail, "the input ends inside it");
}

/*
 * Up to cap bytes of a frame in turn; *ended: they were its last. 1: the source was stopped.
 * Without the lock.
 */
static int decode_some(struct source *s, struct decoder *d, unsigned char *buffer, size_t cap, size_t *got,
		       bool *ended, struct fail *fail)
{
	const bool staged = !d->in->is_file && d->attached;
	ZSTD_outBuffer out = {.dst = buffer, .size = cap};

	*got = 0;
	*ended = false;
	for (;;) {
		/* A decoder may hold back bytes that its input is all there for. */
		const size_t before = out.pos, had = d->source.pos;
		const size_t n = ZSTD_decompressStream(d->context, &out, &d->source);
		if (ZSTD_isError(n))
			return decode_error(d, n, fail);
		if (staged && d->source.src != d->packed)
			stage_take(d->in->zstd, d->source.pos - had);
		*got = out.pos;
		*ended = n == 0;
		if (*ended || out.pos == out.size)
			break;
		if (d->source.pos < d->source.size || out.pos > before)
			continue;
		const int rc = refill(s, d, fail);
		if (rc != 0)
			return rc;
	}
	if (*ended && !d->attached &&
	    (d->source.pos < d->source.size || (d->in->is_file && d->read_at < d->read_end)))
		return bad(d->in, d->frame.offset, fail, "it ends before its last block");
	return 0;
}

/* ---- handing out ---- */

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

/* Records that were put together, into a request. */
static void take_mended(struct source *s, struct request *r)
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

/*
 * n decoded bytes whose place is `at`: those that are skipped or not wanted are passed over, parts
 * of records mended; *from and *length say which are whole records, at most `most` bytes of them,
 * which whoever hands them out accounts for. Returns how many of the n were dealt with, or -1.
 */
static int64_t sort_out(struct source *s, struct input *in, uint64_t at, const unsigned char *bytes, size_t n,
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

/* Samples of a whole frame: lent, or copied as far as there is room. */
static int give_whole(struct source *s, struct decoder *d, struct request *r)
{
	size_t from, length;
	const unsigned char *bytes = d->out + d->out_at;
	const size_t n = d->out_end - d->out_at;
	const size_t most = r->lease ? n : r->cap - r->got;
	const int64_t used = sort_out(s, d->in, d->at, bytes, n, most, &from, &length, r->fail);

	if (used < 0)
		return decoder_done(s, d, -1, r->fail);
	d->out_at += (size_t)used;
	d->at += (uint64_t)used;
	s->totals.bytes += length;
	if (s->budget != UINT64_MAX)
		s->budget -= length / s->spec.record;
	if (r->lease && length > 0) {
		*r->lease = (struct source_lease){.data = bytes + from, .bytes = length, .decoder = d};
		return 0; /* busy until the lease comes back */
	}
	if (length > 0)
		memcpy(r->buffer + r->got, bytes + from, length);
	r->got += length;
	d->busy = false;
	if (d->out_at == d->out_end)
		return decoder_done(s, d, 0, r->fail);
	pthread_cond_broadcast(&s->zstd->changed);
	return 0;
}

/* Works on a whole frame that is the caller's: decodes it, finds its place, hands it out. */
static int work_whole(struct source *s, struct decoder *d, struct request *r)
{
	if (!d->decoded) {
		pthread_mutex_unlock(&s->lock);
		const int rc = decode_whole(d, r->fail);
		pthread_mutex_lock(&s->lock);
		if (rc != 0)
			return decoder_done(s, d, -1, r->fail);
		d->decoded = true;
		d->size = d->out_end;
		place(s, d->in);
	}
	while (d->at == NOWHERE && !s->stopped)
		pthread_cond_wait(&s->zstd->changed, &s->lock);
	if (s->stopped)
		return decoder_done(s, d, 0, r->fail);
	return give_whole(s, d, r);
}

/* One that can be decoded into; all are allocated by the first. */
static struct piece *free_piece(struct decoder *d)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (d->piece[i].state == FREE)
			return &d->piece[i];
	return NULL;
}

/* The frame in turn has been decoded to its end, or as far as is wanted. */
static void end_in_turn(struct source *s, struct decoder *d)
{
	struct input *in = d->in;
	struct zstd_input *z = in->zstd;

	d->ended = true;
	if (d->attached) { /* the input goes on behind it */
		if (in->is_file)
			z->next = d->read_at - (d->source.size - d->source.pos);
		in->next = z->next;
		z->finding = false;
	}
	if (d->size == FRAME_UNKNOWN) {
		d->size = d->at - z->decoded; /* its place was z->decoded: nobody behind it has one */
		place(s, in);
	}
	pthread_cond_broadcast(&s->zstd->changed);
}

/* Decodes up to where the next records begin or into a piece; the caller's alone. */
static int decode_piece(struct source *s, struct decoder *d, struct piece *p, struct fail *fail)
{
	struct input *in = d->in;
	const uint64_t skip = s->spec.skip, limit = in->zstd->limit;
	const uint32_t record = s->spec.record;
	const uint32_t phase = d->at > skip ? (uint32_t)((d->at - skip) % record) : 0;
	size_t room = phase > 0 ? record - phase : PIECE_BYTES - PIECE_BYTES % record;
	size_t got, from, length;
	bool ended;

	if (d->at < skip && skip - d->at < room)
		room = (size_t)(skip - d->at);
	if (limit - d->at < room)
		room = (size_t)(limit - d->at);
	if (grow(&p->data, &p->room, PIECE_BYTES) != 0)
		return fail_errno(fail, "%s", in->name);
	pthread_mutex_unlock(&s->lock);
	const int rc = decode_some(s, d, p->data, room, &got, &ended, fail);
	pthread_mutex_lock(&s->lock);
	if (rc != 0) {
		s->stopped = true;
		return rc < 0 ? -1 : 0;
	}
	if (sort_out(s, in, d->at, p->data, got, room, &from, &length, fail) < 0)
		return -1;
	d->at += got;
	*p = (struct piece){.data = p->data, .room = p->room, .from = from, .bytes = length,
			    .state = length > 0 ? READY : FREE};
	if (length > 0 && s->zstd->waiting > 0)
		pthread_cond_broadcast(&s->zstd->changed);
	if (ended || d->at >= limit)
		end_in_turn(s, d);
	return 0;
}

/*
 * Works on a frame in turn: as long as there is room for what it decodes. With others who count it
 * stays with the decoder, whose window is in this processor's cache; alone it comes back to count.
 */
static int work_in_turn(struct source *s, struct decoder *d, struct request *r)
{
	struct piece *p;

	while (d->at == NOWHERE && !s->stopped)
		pthread_cond_wait(&s->zstd->changed, &s->lock);
	while (!s->stopped && !d->ended && (p = free_piece(d)) != NULL)
		if (decode_piece(s, d, p, r->fail) != 0)
			return decoder_done(s, d, -1, r->fail);
	d->busy = false;
	if (s->stopped || (d->ended && pieces_free(d)))
		return decoder_done(s, d, 0, r->fail);
	return 0;
}

/* Samples of a frame in turn that are ready: lent, or copied as far as there is room. */
static bool take_piece(struct source *s, struct request *r, int *rc)
{
	struct decoder *d = s->zstd->decoders;
	struct piece *p = NULL;

	for (; d && !p; d = p ? d : d->next)
		for (unsigned i = 0; i < PIECES && d->in && !p; i++)
			if (d->piece[i].state == READY)
				p = &d->piece[i];
	if (!p || (r->lease && r->got > 0))
		return false;
	size_t n = p->bytes;
	if (r->lease) {
		*r->lease = (struct source_lease){.data = p->data + p->from, .bytes = n, .decoder = d, .piece = p};
		p->state = LENT;
	} else {
		n = n < r->cap - r->got ? n : r->cap - r->got;
		memcpy(r->buffer + r->got, p->data + p->from, n);
		r->got += n;
		p->from += n;
		p->bytes -= n;
		p->state = p->bytes > 0 ? READY : FREE;
	}
	s->totals.bytes += n;
	if (s->budget != UINT64_MAX)
		s->budget -= n / s->spec.record;
	*rc = d->ended && !d->busy && pieces_free(d) ? decoder_done(s, d, 0, r->fail) : 0;
	return true;
}

/* ---- the pool ---- */

/* A decoder that can go on: one's own, or with any, whoever's. */
static struct decoder *pick(const struct source *s, bool any)
{
	for (struct decoder *d = s->zstd->decoders; d; d = d->next)
		if (d->in && !d->busy && (any || pthread_equal(d->owner, pthread_self())) &&
		    (d->whole || (!d->ended && free_piece(d))))
			return d;
	return NULL;
}

bool zstd_pending(const struct source *s)
{
	return s->zstd && (!pool_idle(s->zstd) || s->zstd->mended_bytes > 0);
}

/* Nothing is being found or decoded, or there is an input that can be read meanwhile. */
static bool nothing_to_wait_for(const struct source *s)
{
	if (s->current)
		return !s->current->zstd;
	return !zstd_pending(s) || s->next_path < s->spec.path_count;
}

/* The next frame of the current input, where it is zstd's. *again: look anew, things have changed. */
static int try_next_frame(struct source *s, struct decoder **d, bool *again, struct fail *fail)
{
	struct input *in = s->current;

	*again = false;
	if (!in || !in->zstd || !more_frames(in->zstd))
		return 0;
	const int rc = next_frame(s, in, d, fail);
	/* The input may be gone. */
	*again = rc == 0 && !*d && (s->current != in || (more_frames(in->zstd) && !in->zstd->found_one));
	return rc;
}

int zstd_fill(struct source *s, struct request *r)
{
	int rc = 0;
	bool again;

	while (rc == 0 && !s->stopped && s->budget > 0 && r->got < r->cap) {
		take_mended(s, r);
		if (r->got == r->cap)
			break;
		struct decoder *d = pick(s, false);
		if (!d && take_piece(s, r, &rc)) {
			if (r->lease)
				break;
			continue;
		}
		if (!d && (rc = try_next_frame(s, &d, &again, r->fail)) == 0 && again)
			continue;
		if (rc != 0 || s->stopped)
			break;
		if (!d)
			d = pick(s, true);
		if (d && d->whole && r->lease && r->got > 0) {
			d->busy = false; /* a lease is all that a request can hold: the next one's */
			break;
		}
		if (d) {
			d->busy = true;
			d->owner = pthread_self();
			rc = d->whole ? work_whole(s, d, r) : work_in_turn(s, d, r);
			if (r->lease && r->lease->bytes > 0)
				break;
			continue;
		}
		if (r->got > 0 || nothing_to_wait_for(s))
			break;
		s->zstd->waiting++;
		pthread_cond_wait(&s->zstd->changed, &s->lock);
		s->zstd->waiting--;
	}
	return rc;
}

bool zstd_backlog(const struct source *s, const struct input *in)
{
	/* One helper for a frame in turn; for frames side by side, as long as there are any. */
	return s->zstd->waiting == 0 && (in->zstd->finding || !in->zstd->no_more);
}

int zstd_return(struct source *s, struct source_lease *lease, struct fail *fail)
{
	struct decoder *d = lease->decoder;
	struct piece *p = lease->piece;

	*lease = (struct source_lease){.data = NULL};
	if (!d)
		return 0;
	if (!p)
		return decoder_done(s, d, 0, fail);
	p->state = FREE;
	pthread_cond_broadcast(&s->zstd->changed);
	return d->in && d->ended && !d->busy && pieces_free(d) ? decoder_done(s, d, 0, fail) : 0;
}

int zstd_begin(struct source *s, struct input *in, uint64_t offset, struct fail *fail)
{
	struct zstd_input *z = calloc(1, sizeof(*z));

	in->zstd = z;
	if (z && !in->is_file)
		z->stage = malloc(STAGE);
	if (!s->zstd && (s->zstd = calloc(1, sizeof(*s->zstd))) != NULL)
		pthread_cond_init(&s->zstd->changed, NULL);
	if (!z || !s->zstd || (!in->is_file && !z->stage))
		return fail_errno(fail, "%s", in->name);
	z->next = z->asked = offset;
	z->limit = s->budget > (UINT64_MAX - s->spec.skip) / s->spec.record
			   ? UINT64_MAX
			   : s->spec.skip + s->budget * s->spec.record;
	return 0;
}

void zstd_input_free(struct zstd_input *z)
{
	if (!z)
		return;
	free(z->seams);
	free(z->stage);
	free(z);
}

void zstd_wake(struct source *s)
{
	if (s->zstd)
		pthread_cond_broadcast(&s->zstd->changed);
}

/* No fill is running. Inputs that were left with frames undecoded go with their last decoder. */
void zstd_close(struct source *s)
{
	if (!s->zstd)
		return;
	for (struct decoder *d = s->zstd->decoders; d; d = d->next) {
		struct input *in = d->in;
		d->in = NULL;
		if (in && --in->readers == 0 && in != s->current)
			input_free(in);
	}
	pool_trim(s->zstd);
	pthread_cond_destroy(&s->zstd->changed);
	free(s->zstd->mended);
	free(s->zstd);
	s->zstd = NULL;
}

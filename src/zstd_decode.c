/* zstd_decode: decoders, the memory they share, and what they do with libzstd. */
#include <stdlib.h>
#include <zstd_errors.h>

#include "huge.h"
#include "zstd_state.h"

/* Larger frames would be counted long after they have left the caches, and one alone by nobody else. */
#define WHOLE_MOST ((uint64_t)16 << 20)
#define CONTEXT_BYTES ((uint64_t)256 << 10) /* libzstd's, where it keeps no window ... */
#define STREAM_BYTES ((uint64_t)512 << 10)  /* ... and, the window aside, where it does */
_Static_assert((PIECES * PIECE_BYTES + STAGE) / 8 * 9 + STREAM_BYTES <= DECODER_BYTES, "a decoder in turn");

static void buffer_free(unsigned char **buffer, size_t *room)
{
	free(*buffer);
	*buffer = NULL;
	*room = 0;
}

static void decoder_free(struct decoder *d)
{
	ZSTD_freeDCtx(d->context);
	for (unsigned i = 0; i < PIECES; i++)
		free(d->piece[i].data);
	free(d->packed);
	free(d->out);
	free(d);
}

/* After an error a piece may still be lent, or somebody may add to the checksum. */
static bool decoder_idle(const struct decoder *d)
{
	return !d->in && zstd_pieces_free(d) && !d->check.busy;
}

void zstd_pool_trim(struct zstd_pool *p)
{
	for (struct decoder **at = &p->decoders; *at;) {
		struct decoder *d = *at;
		if (!decoder_idle(d)) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		decoder_free(d);
	}
}

static uint64_t pool_limit(const struct source *s)
{
	return s->spec.memory + s->spec.memory_spare;
}

uint64_t zstd_share(const struct source *s)
{
	return pool_limit(s) / s->spec.threads;
}

static uint64_t pool_memory(const struct zstd_pool *p)
{
	uint64_t bytes = 0;

	for (const struct decoder *d = p->decoders; d; d = d->next)
		bytes += d->memory;
	return bytes;
}

bool zstd_pool_idle(const struct zstd_pool *p)
{
	for (const struct decoder *d = p->decoders; d; d = d->next)
		if (d->in)
			return false;
	return true;
}

/* The next frame may be a little larger; huge pages leave room for that anyway. */
static size_t zstd_room(size_t bytes)
{
	return huge_room(bytes < HUGE_PAGE ? bytes + bytes / 8 : bytes);
}

uint64_t zstd_whole_bytes(const struct frame *f, bool direct)
{
	return (direct ? 0 : zstd_room((size_t)f->bound)) + zstd_room((size_t)f->stored) + CONTEXT_BYTES;
}

uint64_t zstd_window(const struct frame_header *header)
{
	return header->content < header->window ? header->content : header->window;
}

size_t zstd_gather_most(const struct source *s, const struct frame_header *header)
{
	const uint64_t share = zstd_share(s);
	const bool known = header->content != FRAME_UNKNOWN;
	/* Beside it, the decoded frame, or the window of one that turns out to be too large. */
	const uint64_t window = zstd_window(header) + DECODER_BYTES;
	const uint64_t whole = known ? zstd_room((size_t)header->content) + CONTEXT_BYTES : 0;
	const uint64_t beside = whole > window ? whole : window;
	const uint64_t most = known ? WHOLE_MOST : share / 4;

	if (share < beside || (known && header->content > WHOLE_MOST))
		return 0;
	return (size_t)(share - beside < most ? share - beside : most);
}

bool zstd_fits_whole(const struct source *s, const struct frame *f, bool direct)
{
	const uint64_t share = zstd_share(s);

	/* Decoding at once, libzstd does not see blocks that are larger than a small window allows. */
	if (f->header.window < FRAME_BLOCK_MAX && f->header.content > f->header.window)
		return false;
	/* One worker of eight may have to wait for the others: it still pays. */
	return f->bound <= WHOLE_MOST && f->stored <= WHOLE_MOST &&
	       zstd_whole_bytes(f, direct) <= (s->spec.threads > 1 ? share + share / 8 : share);
}

static ZSTD_DCtx *context_make(void)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();

	if (context && ZSTD_isError(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31))) {
		ZSTD_freeDCtx(context);
		return NULL;
	}
	return context;
}

static struct decoder *decoder_make(struct zstd_pool *p)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->context = context_make();
	if (!d->context) {
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
		if (!decoder_idle(d))
			continue;
		if (pthread_equal(d->owner, pthread_self()))
			return d;
		any = d;
	}
	return any;
}

struct decoder *zstd_decoder_get(struct source *s, uint64_t need)
{
	struct zstd_pool *p = s->zstd;
	struct decoder *d = decoder_free_one(p);
	const uint64_t more = !d ? need : need > d->memory ? need - d->memory : 0;

	if (pool_memory(p) + more > pool_limit(s)) {
		zstd_pool_trim(p);
		d = NULL;
		if (pool_memory(p) + need > pool_limit(s) && !zstd_pool_idle(p))
			return NULL;
	}
	if (!d)
		d = decoder_make(p);
	if (d && d->memory < need)
		d->memory = need;
	return d;
}

bool zstd_reserve(struct source *s, struct decoder *d, uint64_t need)
{
	if (d->memory >= need)
		return true;
	if (pool_memory(s->zstd) + need - d->memory > pool_limit(s))
		return false;
	d->memory = need;
	return true;
}

uint64_t zstd_held(const struct decoder *d)
{
	uint64_t bytes = d->packed_room + d->out_room + ZSTD_sizeof_DCtx(d->context);

	for (unsigned i = 0; i < PIECES; i++)
		bytes += d->piece[i].room;
	return bytes;
}

int zstd_shed(struct decoder *d, uint64_t more, struct fail *fail)
{
	if (zstd_held(d) + more <= d->memory)
		return 0;
	unsigned char *packed;
	ZSTD_DCtx *context = context_make();
	if (!context)
		return fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", d->in->name);
	ZSTD_freeDCtx(d->context);
	d->context = context;
	buffer_free(&d->out, &d->out_room);
	for (unsigned i = 0; i < PIECES; i++)
		if (d->piece[i].state == FREE)
			buffer_free(&d->piece[i].data, &d->piece[i].room);
	if (!d->source.src)
		buffer_free(&d->packed, &d->packed_room);
	else if ((packed = realloc(d->packed, d->source.size)) != NULL) { /* the frame's beginning lies there */
		d->source.src = d->packed = packed;
		d->packed_room = d->source.size;
	}
	return 0;
}

/* By how much a buffer must grow. */
static uint64_t growth(uint64_t have, uint64_t want)
{
	return want > have ? want - have : 0;
}

int zstd_suit(struct decoder *d, struct fail *fail)
{
	const struct frame *f = &d->frame;
	uint64_t more = 0;

	if (d->whole) {
		more += d->source.src ? 0 : growth(d->packed_room, zstd_room((size_t)f->stored));
		more += d->direct ? 0 : growth(d->out_room, zstd_room((size_t)f->bound));
	} else {
		more += d->in->is_file ? growth(d->packed_room, zstd_room(STAGE)) : 0;
		more += growth(ZSTD_sizeof_DCtx(d->context), STREAM_BYTES + zstd_window(&f->header));
		for (unsigned i = 0; i < PIECES; i++)
			more += growth(d->piece[i].room, zstd_room(PIECE_BYTES));
	}
	return zstd_shed(d, more, fail);
}

int zstd_grow(unsigned char **buffer, size_t *room, size_t bytes)
{
	if (*room >= bytes)
		return 0;
	buffer_free(buffer, room);
	bytes = zstd_room(bytes);
	*buffer = bytes < HUGE_PAGE ? malloc(bytes) : huge_alloc(bytes);
	if (!*buffer)
		return -1;
	*room = bytes;
	return 0;
}

/* ---- decoding ---- */

static int decode_error(struct decoder *d, size_t code, struct fail *fail)
{
	if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
		return fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", d->in->name);
	return zstd_bad(d->in, d->frame.offset, fail, ZSTD_getErrorName(code));
}

/* Which of the frames that were joined is it that cannot be decoded? */
static int joined_error(struct decoder *d, size_t code, unsigned char *out, size_t room, struct fail *fail)
{
	const unsigned char *p = d->source.src;
	const uint64_t offset = d->frame.offset;

	for (size_t left = d->source.size, n; left > 0; left -= n, p += n, d->frame.offset += n) {
		n = ZSTD_findFrameCompressedSize(p, left);
		const size_t got = ZSTD_isError(n) ? n : ZSTD_decompressDCtx(d->context, out, room, p, n);
		if (ZSTD_isError(got))
			return decode_error(d, got, fail);
	}
	d->frame.offset = offset;
	return decode_error(d, code, fail);
}

/* How many of n bytes are frames that are there whole? Of one alone, none. */
static size_t whole_frames(const struct decoder *d, size_t n)
{
	size_t at = 0, bytes;

	while (d->frame.joined > 0) {
		bytes = ZSTD_findFrameCompressedSize(d->packed + at, n - at);
		if (ZSTD_isError(bytes))
			break;
		at += bytes;
	}
	return at;
}

int zstd_decode_whole(struct decoder *d, unsigned char *out, size_t room, size_t *got, struct fail *fail)
{
	const struct frame *f = &d->frame;
	size_t read;

	if (!d->source.src) {
		if (zstd_grow(&d->packed, &d->packed_room, (size_t)f->stored) != 0)
			return fail_errno(fail, "%s", d->in->name);
		if (file_read(d->in, d->packed, (size_t)f->stored, f->offset, &read, fail) != 0)
			return -1;
		if (read < f->stored) /* it was cut; of nothing libzstd would make nothing */
			return zstd_bad(d->in, f->offset + whole_frames(d, read), fail, "the input ends inside it");
		d->source = (ZSTD_inBuffer){.src = d->packed, .size = read};
	}
	if (!out) {
		if (zstd_grow(&d->out, &d->out_room, (size_t)f->bound) != 0)
			return fail_errno(fail, "%s", d->in->name);
		out = d->out;
		room = d->out_room;
	}
	zstd_check_hide(d, d->packed, d->source.size);
	if (d->check.ours) {
		d->source.size -= CHECKSUM_BYTES;
		zstd_check_told(d, d->packed + d->source.size);
	}
	*got = ZSTD_decompressDCtx(d->context, out, room, d->source.src, d->source.size);
	if (!ZSTD_isError(*got))
		return 0;
	return d->frame.joined > 0 ? joined_error(d, *got, out, room, fail) : decode_error(d, *got, fail);
}

/* More compressed bytes for a decoder that has used all it had. */
static int refill(struct source *s, struct decoder *d, struct fail *fail)
{
	struct input *in = d->in;
	struct zstd_input *z = in->zstd;
	size_t got;

	if (!in->is_file) {
		/* What is in the stage is the decoder's, until it says where its frame ends. */
		const int rc = zstd_stage_need(s, in, 1, fail);
		if (rc != 0)
			return rc;
		d->source = (ZSTD_inBuffer){.src = z->stage + z->stage_at, .size = z->stage_end - z->stage_at};
	} else {
		const uint64_t left = d->read_end - d->read_at;
		if (zstd_grow(&d->packed, &d->packed_room, STAGE) != 0)
			return fail_errno(fail, "%s", in->name);
		if (file_read(in, d->packed, left < STAGE ? (size_t)left : STAGE, d->read_at, &got, fail) != 0)
			return -1;
		if (d->read_at == d->frame.offset)
			zstd_check_hide(d, d->packed, got);
		d->read_at += got;
		d->source = (ZSTD_inBuffer){.src = d->packed, .size = got};
	}
	return d->source.size > 0 ? 0 : zstd_bad(in, d->frame.offset, fail, "the input ends inside it");
}

/* The decoder has used n more bytes. */
static void used(struct decoder *d, size_t n)
{
	if (!d->in->is_file && d->attached && d->source.src != d->packed)
		zstd_stage_take(d->in->zstd, n);
}

/* What stands behind the last block, where libzstd does not look for it. */
static int read_trailer(struct source *s, struct decoder *d, struct fail *fail)
{
	unsigned char trailer[CHECKSUM_BYTES];

	for (unsigned i = 0; i < CHECKSUM_BYTES; i++) {
		const int rc = d->source.pos == d->source.size ? refill(s, d, fail) : 0;
		if (rc != 0)
			return rc;
		trailer[i] = ((const unsigned char *)d->source.src)[d->source.pos++];
		used(d, 1);
	}
	zstd_check_told(d, trailer);
	return 0;
}

/* Until `out` is full or the frame ends. */
static int decompress(struct source *s, struct decoder *d, ZSTD_outBuffer *out, bool *ended, struct fail *fail)
{
	for (;;) {
		/* A decoder may hold back bytes that its input is all there for. */
		const size_t before = out->pos, had = d->source.pos;
		const size_t n = ZSTD_decompressStream(d->context, out, &d->source);
		if (ZSTD_isError(n))
			return decode_error(d, n, fail);
		used(d, d->source.pos - had);
		*ended = n == 0;
		if (*ended || out->pos == out->size)
			return 0;
		if (d->source.pos < d->source.size || out->pos > before)
			continue;
		const int rc = refill(s, d, fail);
		if (rc != 0)
			return rc;
	}
}

int zstd_decode_some(struct source *s, struct decoder *d, unsigned char *buffer, size_t cap, size_t *got,
		       bool *ended, struct fail *fail)
{
	const uint64_t content = d->frame.header.content, limit = d->in->zstd->limit;
	unsigned char beyond;
	ZSTD_outBuffer out = {.dst = buffer, .size = cap}, one = {.dst = &beyond, .size = 1};

	*ended = false;
	int rc = decompress(s, d, &out, ended, fail);
	*got = out.pos;
	d->made += out.pos;
	/*
	 * The places of frames behind it rest on its header: where that says the end is must be one. But
	 * where -n ends there too, nothing more is waited for.
	 */
	if (rc == 0 && !*ended && d->made == content && d->at + out.pos < limit) {
		rc = decompress(s, d, &one, ended, fail);
		d->made += one.pos;
	}
	if (rc == 0 && *ended && d->check.ours && (!d->attached || d->at + out.pos < limit))
		rc = read_trailer(s, d, fail);
	if (rc != 0)
		return rc;
	/* libzstd does not look where the last block is empty. */
	if (content != FRAME_UNKNOWN && (d->made > content || (*ended && d->made < content)))
		return zstd_bad(d->in, d->frame.offset, fail, "it does not hold as much as its header says");
	if (*ended && !d->attached &&
	    (d->source.pos < d->source.size || (d->in->is_file && d->read_at < d->read_end)))
		return zstd_bad(d->in, d->frame.offset, fail, "it ends before its last block");
	return 0;
}

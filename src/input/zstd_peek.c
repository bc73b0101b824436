/* SPDX-License-Identifier: MIT */
/*
 * zstd_peek: the first decoded bytes of an input, before its frames are found and shared. They are
 * decoded a second time by the readers. What is wrong with a frame is left to them: here the bytes
 * only end.
 *
 * Of a stream all compressed bytes are kept for the readers, from the first frame on that holds
 * something. What is before it, skippable frames and empty ones, may be of any length, and is
 * dropped; in a file it is passed over.
 */
#include "input/zstd_peek.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "input/zstd_read.h"

#define STEP ((size_t)64 << 10)
#define PACKED_MOST ((size_t)16 << 20) /* compressed bytes of a stream that are kept */

struct peek {
	struct source *source;
	struct input *in;
	ZSTD_DCtx *context;
	unsigned char *packed; /* compressed bytes ... */
	size_t room, at, end;
	uint64_t offset; /* ... of which the first is here in the input ... */
	size_t kept;     /* ... and those before this one are not needed any more */
	uint64_t skip;   /* bytes of a skippable frame that are still to be passed over ... */
	uint64_t frame;  /* ... which begins here */
	bool inside;     /* a frame of data */
	bool made;       /* something was decoded */
	bool wait;       /* for what is not there yet */
	bool dry;        /* it is not, and was not waited for */
	bool over;       /* there are no more bytes, or none that can be decoded: */
	bool failed;     /* a reader will say why */
};

static int no_memory(const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_SYSTEM, "%s: no memory for a decoder", in->name);
}

int peek_open(struct peek **out, struct source *s, struct input *in, struct fail *fail)
{
	struct peek *p = calloc(1, sizeof(*p));

	*out = p;
	if (p)
		p->context = ZSTD_createDCtx();
	if (!p || !p->context ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(p->context, ZSTD_d_windowLogMax, 31))) {
		peek_close(p);
		*out = NULL;
		return no_memory(in, fail);
	}
	p->source = s;
	p->in = in;
	p->packed = in->head;
	p->room = p->end = in->headed;
	in->head_used = in->headed; /* a read brings what comes after it */
	return 0;
}

/* Moves what is needed to the beginning. */
static void forget(struct peek *p)
{
	if (p->kept == 0)
		return;
	memmove(p->packed, p->packed + p->kept, p->end - p->kept);
	p->offset += p->kept;
	p->at -= p->kept;
	p->end -= p->kept;
	p->kept = 0;
}

void peek_close(struct peek *p)
{
	if (!p)
		return;
	if (p->in && !p->in->is_file) {
		forget(p);
		p->in->head = p->packed;
		p->in->headed = p->end;
		p->in->head_used = 0;
		p->in->dropped = p->offset;
	} else {
		free(p->packed);
	}
	ZSTD_freeDCtx(p->context);
	free(p);
}

/* More compressed bytes, a few at least; none: it is over, or dry. 1: the source was stopped. */
static int refill(struct peek *p, struct fail *fail)
{
	struct input *in = p->in;
	size_t got = 0;

	if (!p->wait && !in->is_file && !stream_ready(in)) {
		p->dry = true;
		return 0;
	}
	if (in->is_file)
		p->kept = p->at;
	forget(p);
	if (p->room - p->end < STEP / 2) {
		unsigned char *larger =
			p->room < PACKED_MOST ? realloc(p->packed, 2 * p->room + STEP) : NULL;
		if (p->room >= PACKED_MOST)
			return fail_set(fail, STATUS_DATA,
					"%s: more than 16 MiB of zstd before the samples: pipe it "
					"through `zstd -dc`",
					in->name);
		if (!larger)
			return fail_errno(fail, "%s", in->name);
		p->packed = larger;
		p->room = 2 * p->room + STEP;
	}
	const int rc = in->is_file ? file_read(in, p->packed + p->end, STEP / 2,
					       in->origin + p->offset + p->end, &got, fail)
				   : stream_read(p->source, in, p->packed + p->end, 1,
						 p->room - p->end, &got, fail);
	p->end += got;
	p->over = rc == 0 && got == 0;
	return rc;
}

/* Until something was decoded nothing before the next byte is needed again. */
static void drop(struct peek *p)
{
	if (!p->made)
		p->kept = p->at;
}

/* Goes on inside a skippable frame; a stream's are read, and may end there. */
static int pass_over(struct peek *p, struct fail *fail)
{
	const size_t there = p->end - p->at, n = p->skip < there ? (size_t)p->skip : there;

	p->at += n;
	p->skip -= n;
	if (p->skip > 0 && p->in->is_file) {
		p->offset += p->at + p->skip;
		p->at = p->end = 0;
		p->skip = 0;
	}
	drop(p);
	if (p->skip == 0)
		return 0;
	const int rc = refill(p, fail);
	return rc == 0 && p->over ? zstd_bad(p->in, p->frame, fail, "the input ends inside it")
				  : rc;
}

/*
 * Before a frame: is it one that may be decoded? A window larger than -M is refused by the reader
 * that finds the frame, with the -M that it wants.
 */
static int begin_frame(struct peek *p, struct fail *fail)
{
	const size_t there = p->end - p->at;
	struct frame_header header;
	/* Where nothing was read yet there is no address. */
	const enum frame_kind kind =
		there > 0 ? frame_parse(p->packed + p->at, there, &header) : FRAME_SHORT;

	drop(p);
	if (kind == FRAME_SHORT)
		return refill(p, fail);
	if (kind == FRAME_SKIPPABLE) {
		p->frame = p->offset + p->at;
		p->skip = header.bytes + header.content;
		return 0;
	}
	const uint64_t need = header.content < header.window ? header.content : header.window;
	p->over = p->failed =
		kind != FRAME_DATA || header.dictionary || need > p->source->spec.memory;
	p->inside = true;
	return 0;
}

bool peek_failed(const struct peek *p)
{
	return p->failed;
}

bool peek_ended(const struct peek *p)
{
	return p->over && !p->failed && !p->inside && p->at == p->end;
}

static int decode(struct peek *p, ZSTD_outBuffer *out, struct fail *fail)
{
	ZSTD_inBuffer packed = {.src = p->packed, .size = p->end, .pos = p->at};
	const size_t before = out->pos, had = p->at;
	const size_t left = ZSTD_decompressStream(p->context, out, &packed);

	p->at = packed.pos;
	p->inside = left != 0;
	p->made |= out->pos > before;
	p->over = p->failed = ZSTD_isError(left);
	/* Only what is wrong with the frame itself is found again by a reader. */
	if (p->over && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
		return no_memory(p->in, fail);
	/* A decoder may hold back bytes although all of its input is there. */
	return p->inside && !p->over && out->pos == before && p->at == had ? refill(p, fail) : 0;
}

int peek_read(struct peek *p, unsigned char *to, size_t n, bool wait, size_t *got,
	      struct fail *fail)
{
	ZSTD_outBuffer out = {.dst = to, .size = n};
	int rc = 0;

	p->wait = wait;
	p->dry = false;
	while (rc == 0 && !p->over && !p->dry && out.pos < n)
		rc = p->skip > 0  ? pass_over(p, fail)
		     : !p->inside ? begin_frame(p, fail)
				  : decode(p, &out, fail);
	*got = out.pos;
	return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * zstd_peek: the first decoded bytes of an input, before its frames are found and shared. They are
 * decoded a second time by the readers. What is wrong with a frame is left to them: here the bytes
 * only end.
 */
#include "input/zstd_peek.h"

#include <stdlib.h>
#include <string.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "input/zstd_frame.h"

#define STEP ((size_t)64 << 10)
#define PACKED_MOST ((size_t)16 << 20) /* compressed bytes that are kept for it */

struct peek {
	struct source *source;
	struct input *in;
	ZSTD_DCtx *context;
	/* compressed bytes from the input's beginning on: of a stream, its head */
	unsigned char *packed;
	size_t room, at, end;
	bool inside; /* a frame */
	bool over;   /* there are no more bytes, or none that can be decoded: */
	bool failed; /* a reader will say why */
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

void peek_close(struct peek *p)
{
	if (!p)
		return;
	if (p->in && !p->in->is_file) {
		p->in->head = p->packed;
		p->in->headed = p->end;
		p->in->head_used = 0;
	} else {
		free(p->packed);
	}
	ZSTD_freeDCtx(p->context);
	free(p);
}

/* More compressed bytes, a few at least; none: it is over. 1: the source was stopped. */
static int refill(struct peek *p, struct fail *fail)
{
	struct input *in = p->in;
	size_t got = 0;

	if (p->room - p->end < STEP / 2) {
		unsigned char *larger =
			p->room < PACKED_MOST ? realloc(p->packed, 2 * p->room + STEP) : NULL;
		if (p->room >= PACKED_MOST)
			return fail_set(fail, STATUS_DATA,
					"%s: more than 16 MiB of zstd before the samples (--raw "
					"does not look for them)",
					in->name);
		if (!larger)
			return fail_errno(fail, "%s", in->name);
		p->packed = larger;
		p->room = 2 * p->room + STEP;
	}
	const int rc = in->is_file ? file_read(in, p->packed + p->end, STEP / 2,
					       in->origin + p->end, &got, fail)
				   : stream_read(p->source, in, p->packed + p->end, 1,
						 p->room - p->end, &got, fail);
	p->end += got;
	p->over = rc == 0 && got == 0;
	return rc;
}

/*
 * Before a frame: is it one that may be decoded? A window larger than -M is refused by the reader
 * that finds the frame, with the -M that it wants.
 */
static int begin_frame(struct peek *p, struct fail *fail)
{
	struct frame_header header;

	for (;;) {
		const size_t there = p->end - p->at;
		/* Where nothing was read yet there is no address. */
		const enum frame_kind kind =
			there > 0 ? frame_parse(p->packed + p->at, there, &header) : FRAME_SHORT;
		if (kind == FRAME_SHORT) {
			const int rc = refill(p, fail);
			if (rc != 0 || p->over)
				return rc;
			continue;
		}
		const uint64_t need =
			header.content < header.window ? header.content : header.window;
		p->over = p->failed =
			kind != FRAME_SKIPPABLE &&
			(kind != FRAME_DATA || header.dictionary || need > p->source->spec.memory);
		p->inside = true;
		return 0;
	}
}

bool peek_failed(const struct peek *p)
{
	return p->failed;
}

int peek_read(struct peek *p, unsigned char *to, size_t n, size_t *got, struct fail *fail)
{
	ZSTD_outBuffer out = {.dst = to, .size = n};
	int rc = 0;

	*got = 0;
	while (rc == 0 && !p->over && out.pos < n) {
		if (!p->inside) {
			rc = begin_frame(p, fail);
			continue;
		}
		ZSTD_inBuffer packed = {.src = p->packed, .size = p->end, .pos = p->at};
		const size_t before = out.pos, had = p->at;
		const size_t left = ZSTD_decompressStream(p->context, &out, &packed);
		p->at = packed.pos;
		p->inside = left != 0;
		p->over = p->failed = ZSTD_isError(left);
		/* Only what is wrong with the frame itself is found again by a reader. */
		if (p->over && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
			return no_memory(p->in, fail);
		/* A decoder may hold back bytes although all of its input is there. */
		if (p->inside && !p->over && out.pos == before && p->at == had)
			rc = refill(p, fail);
	}
	*got = out.pos;
	return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * zstd_peek: the first decoded bytes of an input, before its frames are cut and shared. They are
 * decoded a second time by its jobs. What is wrong with a frame is left to them: here the bytes
 * only end.
 *
 * Of a stream all packed bytes are kept for the jobs, from the first frame on that holds something.
 * What is before it, skippable frames and empty ones, may be of any length, and is dropped; in a
 * file it is passed over.
 */
#include "input/zstd_peek.h"

#include <stdlib.h>

#include <zstd_errors.h>

#define KEPT_MOST ((uint64_t)16 << 20) /* packed bytes of a stream that are kept */

struct peek {
	struct source *source;
	struct input *in;
	ZSTD_DCtx *context;
	uint64_t at; /* packed offset of what is decoded next */
	bool inside; /* a frame of data */
	bool made;   /* something was decoded */
	bool wait;   /* for what is not there yet */
	bool dry;    /* it is not, and was not waited for */
	bool over;   /* there are no more bytes, or none that can be decoded: */
	bool failed; /* a job will say why */
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
	    ZSTD_isError(ZSTD_DCtx_setParameter(p->context, ZSTD_d_windowLogMax, 31)) ||
	    zstd_begin(in, fail) != 0) {
		peek_close(p);
		*out = NULL;
		return no_memory(in, fail);
	}
	p->source = s;
	p->in = in;
	p->at = in->pos;
	return 0;
}

void peek_close(struct peek *p)
{
	if (!p)
		return;
	if (p->in && p->in->keep != NO_END)
		p->in->pos = p->in->keep;
	ZSTD_freeDCtx(p->context);
	free(p);
}

bool peek_failed(const struct peek *p)
{
	return p->failed;
}

bool peek_ended(const struct peek *p)
{
	return p->over && !p->failed && !p->inside;
}

/* Reads more packed bytes, one at least; none: it is over, or dry. 1: the source was stopped. */
static int look(struct peek *p, struct fail *fail)
{
	const unsigned char *bytes;
	size_t got;

	struct input *const in = p->in;
	const uint64_t end = in->bytes_at + in->have;

	p->dry = !p->wait && !in->is_file && p->at >= end && !stream_ready(in);
	if (p->dry)
		return 0;
	if (!in->is_file && in->keep != NO_END && p->at - in->keep >= KEPT_MOST)
		return fail_set(fail, STATUS_DATA,
				"%s: more than 16 MiB of zstd before the samples: pipe it "
				"through `zstd -dc`",
				in->name);
	const int rc = zstd_look(p->source, in, p->at, 1, false, &bytes, &got, fail);
	p->over = rc == 0 && got == 0;
	return rc;
}

/*
 * Goes to the next frame of data, unless that would have to be waited for. A window larger than -M
 * is refused when the frame is cut off (zstd_cut.c), with the -M that it wants.
 */
static int begin_frame(struct peek *p, struct fail *fail)
{
	struct input *const in = p->in;
	struct fail bad = {.status = STATUS_OK};
	struct frame f;

	if (!p->wait) { /* a byte at a time: what a header needs may never come */
		const int rc = look(p, fail);
		if (rc != 0 || p->dry || p->over)
			return rc;
	}
	in->pos = p->at;
	const enum find found = zstd_next_header(p->source, in, &f, &bad);
	p->at = in->pos;
	if (found == FIND_STOPPED)
		return 1;
	/*
	 * What a stream had of a skippable frame is dropped, and no job will find it. A read that
	 * failed may not fail again.
	 */
	if (found == FIND_BAD &&
	    (bad.status == STATUS_SYSTEM || (!in->is_file && in->pos > f.offset)))
		return fail_pass(fail, &bad);
	p->over = found != FIND_FRAME;
	p->failed = found == FIND_BAD;
	p->inside = !p->over;
	return 0;
}

/* What is next of the frame, into `out`. A decoder may hold bytes back although all is there. */
static int decode(struct peek *p, ZSTD_outBuffer *out, struct fail *fail)
{
	struct input *const in = p->in;
	const size_t before = out->pos, from = (size_t)(p->at - in->bytes_at);
	ZSTD_inBuffer packed = {.src = in->bytes + from, .size = in->have - from};
	const size_t left = ZSTD_decompressStream(p->context, out, &packed);

	p->at += packed.pos;
	p->inside = left != 0;
	if (!p->made && out->pos > before) {
		p->made = true;
		in->keep = in->pos; /* the frame */
	}
	p->over = p->failed = ZSTD_isError(left);
	/* Only what is wrong with the frame itself is found again by a job. */
	if (p->over && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
		return no_memory(in, fail);
	return p->inside && !p->over && out->pos == before && packed.pos == 0 ? look(p, fail) : 0;
}

int peek_read(struct peek *p, unsigned char *to, size_t n, bool wait, size_t *got,
	      struct fail *fail)
{
	ZSTD_outBuffer out = {.dst = to, .size = n};
	int rc = 0;

	p->wait = wait;
	p->dry = false;
	while (rc == 0 && !p->over && !p->dry && out.pos < n)
		rc = p->inside ? decode(p, &out, fail) : begin_frame(p, fail);
	*got = out.pos;
	return rc;
}

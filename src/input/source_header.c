/* SPDX-License-Identifier: MIT */
/*
 * source_header: inputs that say what they are. The header is read when the input is opened: of a
 * file at offsets, of a stream without a byte too many, of zstd from the first decoded bytes. What
 * follows the samples is looked at when all samples have been taken, unless -n ended before.
 */
#include <stdlib.h>
#include <string.h>

#include "input/source_input.h"
#include "input/zstd_peek.h"

typedef unsigned long long ull;

/* ---- the header ---- */

/*
 * Where the bytes of an input come from: from the decoder of a compressed input, from the file, or
 * from the stream.
 */
struct view {
	struct source *source;
	struct input *in;
	struct peek *peek;                /* NULL: it is not compressed */
	uint64_t at;                      /* offset of the next byte of a stream or of a decoder */
	unsigned char first[FIRST_BYTES]; /* of a decoder: bytes that were looked at already ... */
	size_t firsts;                    /* ... and their number */
	unsigned char *bytes;             /* of HEADER_PIECE bytes */
};

static int next_bytes(struct view *v, unsigned char *to, size_t n, size_t *got, struct fail *fail)
{
	const size_t from = v->at < v->firsts ? (size_t)v->at : v->firsts, there = v->firsts - from;
	const size_t old = there < n ? there : n;
	int rc;

	for (size_t i = 0; i < old; i++)
		to[i] = v->first[from + i];
	if (v->peek)
		rc = peek_read(v->peek, to + old, n - old, true, got, fail);
	else
		rc = stream_read(v->source, v->in, to, n, n, got, fail);
	*got += old;
	v->at += *got;
	return rc;
}

/*
 * Reads n bytes at an offset that a stream has not passed yet; *got < n: the input ends. 1: the
 * source was stopped.
 */
static int view_read(struct view *v, uint64_t offset, size_t n, size_t *got, struct fail *fail)
{
	int rc = 0;

	*got = 0;
	if (v->in->is_file && !v->peek)
		return offset > INT64_MAX - v->in->origin
			       ? 0
			       : file_read(v->in, v->bytes, n, v->in->origin + offset, got, fail);
	for (*got = 1; rc == 0 && *got > 0 && v->at < offset;) {
		const uint64_t left = offset - v->at;
		rc = next_bytes(v, v->bytes, left < HEADER_PIECE ? (size_t)left : HEADER_PIECE, got,
				fail);
	}
	if (rc != 0 || v->at < offset) {
		*got = 0;
		return rc;
	}
	return next_bytes(v, v->bytes, n, got, fail);
}

/* Runs all steps of a scan. For NONE and FOUND it returns 0: the scan's header shows which. */
static int run_scan(struct view *v, struct header_scan *scan, enum header_result *result,
		    struct fail *fail)
{
	size_t got;
	int rc = 0;

	for (*result = HEADER_MORE; rc == 0 && *result == HEADER_MORE;) {
		rc = view_read(v, scan->at, scan->want, &got, fail);
		if (rc == 0)
			*result = header_step(scan, v->bytes, got);
	}
	return rc;
}

/*
 * Byte by byte, as long as they may show what it is: further bytes may never come. Those that -n
 * leaves are not waited for, and neither is, with --every, text.
 */
static int look_decoded(struct view *v, struct fail *fail)
{
	const struct source *s = v->source;
	const size_t wanted = input_wanted(s, FIRST_TEXT);
	struct input *in = v->in;
	size_t n = 0, got = 1;
	bool undecided = true;

	while (got > 0 && (undecided || text_open(&in->text))) {
		const bool wait = n < wanted && (undecided || !s->spec.prompt);
		unsigned char c = 0;
		const char *advice;
		const int rc = peek_read(v->peek, &c, 1, wait, &got, fail);
		if (rc != 0)
			return rc;
		if (got > 0 && v->firsts < FIRST_BYTES)
			v->first[v->firsts++] = c;
		n += got;
		in->magic = header_magic(v->first, v->firsts, got == 0) == HEADER_FOUND;
		in->unseen = peek_failed(v->peek);
		if (in->magic)
			return 0;
		if (first_refused(v->first, v->firsts, &advice) == HEADER_FOUND)
			return input_refuse(in, advice, fail);
		if (input_look_for_text(in, &c, got, peek_ended(v->peek), fail) != 0)
			return -1;
		undecided = n < FIRST_BYTES && input_undecided(s, v->first, v->firsts);
	}
	return 0;
}

/* A placeholder for a size is believed where it may be true: in a file that holds as much. */
static void settle_size(struct input *in)
{
	struct header *h = &in->header;
	const uint64_t behind = in->origin + h->begin;
	const uint64_t rest =
		in->is_file && !in->is_zstd && in->size > behind ? in->size - behind : 0;

	if (!h->open || (h->bytes > 0 && h->bytes <= rest))
		return;
	in->unsized = true;
	h->bytes = HEADER_TO_END;
}

/*
 * The option that counts an input without a look at its header; `named`: the message names the
 * option already. For zstd it is not --raw, which would not decode either.
 */
static const char *way_out(const struct input *in, bool named)
{
	if (named)
		return in->is_zstd ? ", after zstd -dc" : "";
	return in->is_zstd ? " (after zstd -dc, --raw counts it as it is)"
			   : " (--raw counts it as it is)";
}

static int read_header(struct view *v, struct fail *fail)
{
	struct input *in = v->in;
	struct header_scan *scan = &in->scan;
	enum header_result result;

	header_begin(scan);
	const int rc = run_scan(v, scan, &result, fail);
	if (rc != 0)
		return rc;
	/* A reader that finds no header either will say what is wrong with the frame. */
	in->unseen = result != HEADER_FOUND && v->peek && peek_failed(v->peek);
	if (in->unseen)
		return 0;
	if (result != HEADER_FOUND)
		return fail_set(fail, STATUS_DATA, "%s: %s header: %s%s", in->name,
				scan->header.format ? scan->header.format : "a changed", scan->why,
				way_out(in, strstr(scan->why, "--raw") != NULL));
	in->header = scan->header;
	settle_size(in);
	return 0;
}

int input_read_header(struct source *s, struct input *in, struct fail *fail)
{
	struct view v = {.source = s, .in = in};
	int rc = 0;

	if (!in->is_zstd && !in->magic)
		return 0;
	if (!(v.bytes = malloc(HEADER_PIECE)))
		return fail_errno(fail, "%s", in->name);
	if (in->is_zstd && (rc = peek_open(&v.peek, s, in, fail)) == 0)
		rc = look_decoded(&v, fail);
	if (rc == 0 && in->magic)
		rc = read_header(&v, fail);
	peek_close(v.peek);
	free(v.bytes);
	return rc;
}

/* ---- what it must agree with ---- */

static bool same_type(const struct sample_type *a, const struct sample_type *b)
{
	return strcmp(a->name, b->name) == 0;
}

int input_agrees(const struct source *s, const struct input *in, struct fail *fail)
{
	const struct header *h = &in->header, *first = &s->said;
	const char *const other = s->first_name;

	if (!s->spec.headers || s->spec.raw || in->unseen)
		return 0;
	if (s->spec.typed && h->format && !same_type(&h->type, &s->spec.type))
		return fail_set(fail, STATUS_USAGE, "--type %s: %s: its %s header says %s%s",
				s->spec.type.name, in->name, h->format, h->type.name,
				way_out(in, false));
	if (!s->spec.typed && !h->format != !first->format)
		return fail_set(fail, STATUS_DATA,
				"%s: has %s header, and %s has %s: --type must say what both are",
				in->name, h->format ? "a" : "no", other,
				first->format ? "one" : "none");
	if (h->format && first->format && !same_type(&h->type, &first->type))
		return fail_set(fail, STATUS_DATA, "%s: %s of %s, but %s is of %s", in->name,
				h->format, h->type.name, other, first->type.name);
	if (h->format && s->spec.channels > 0 && h->channels != s->spec.channels)
		return fail_set(fail, STATUS_DATA,
				"%s: %s of %lu channels, where there must be %lu", in->name,
				h->format, (unsigned long)h->channels,
				(unsigned long)s->spec.channels);
	if (h->format && s->spec.last > 0 && (h->last != s->spec.last || h->fortran))
		return fail_set(fail, STATUS_DATA,
				"%s: %s with a last axis of %llu%s, where it must be %llu",
				in->name, h->format, (ull)h->last,
				h->fortran ? " in Fortran order" : "", (ull)s->spec.last);
	return 0;
}

/* ---- where samples end ---- */

int input_too_skipped(const struct source *s, const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA, "%s: ends before the %llu bytes to skip", in->name,
			(ull)s->spec.skip);
}

int input_too_short(const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA,
			"%s: holds less than the %llu bytes of samples that its %s header "
			"announces (--ignore-tail counts "
			"what is there)",
			in->name, (ull)in->header.bytes, in->header.format);
}

int input_too_long(const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA,
			"%s: goes on after the %llu bytes of samples that its %s header announces",
			in->name, (ull)in->header.bytes, in->header.format);
}

/* Reads a stream to its end, so that its writer can finish. */
static int drain(struct view *v, struct fail *fail)
{
	size_t got = 1;
	int rc = 0;

	while (rc == 0 && got > 0 && !v->in->is_file)
		rc = next_bytes(v, v->bytes, HEADER_PIECE, &got, fail);
	return rc;
}

static int second_data(const struct input *in, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA, "%s: %s: %s: only one can be counted%s", in->name,
			in->header.format, in->scan.why, way_out(in, false));
}

int input_check_rest(struct input *in, const unsigned char *bytes, size_t n,
		     const unsigned char *end, struct fail *fail)
{
	struct header_scan *scan = &in->scan;
	enum header_result result = HEADER_MORE;

	for (header_go_on(scan, in->header.bytes); result == HEADER_MORE;) {
		const size_t at = scan->at - in->bound < n ? (size_t)(scan->at - in->bound) : n;
		result = header_step(scan, bytes + at, n - at < scan->want ? n - at : scan->want);
	}
	if (end && result == HEADER_NONE) {
		scan->at = in->header.end;
		scan->want = INPUT_END_BYTES;
		result = header_step(scan, end, INPUT_END_BYTES);
	}
	return result == HEADER_BAD ? second_data(in, fail) : 0;
}

int input_read_rest(struct source *s, struct input *in, struct fail *fail)
{
	struct view v = {.source = s, .in = in, .at = in->bound};
	enum header_result result;
	size_t got;

	if (!(v.bytes = malloc(HEADER_PIECE)))
		return fail_errno(fail, "%s", in->name);
	int rc;
	if (in->header.chunks) {
		header_go_on(&in->scan, in->header.bytes);
		rc = run_scan(&v, &in->scan, &result, fail);
		if (rc == 0 && result == HEADER_BAD)
			rc = second_data(in, fail);
		if (rc == 0)
			rc = drain(&v, fail);
	} else {
		rc = view_read(&v, in->bound, 1, &got, fail);
		if (rc == 0 && got > 0)
			rc = input_too_long(in, fail);
	}
	free(v.bytes);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/*
 * content: identifies an input; `judge` decides from the bytes that view_look reads or decodes.
 *
 * The jobs of the input decode these bytes a second time (zstd_cut.c), and report a damaged frame;
 * here the bytes just end.
 */
#include "format/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/little.h"
#include "base/utf8.h"
#include "format/first.h"
#include "zstd/frames.h"
#include "format/sigmf.h"
#include "zstd/zstd_reader.h"

#define PEEK_ROOM ((size_t)128 << 10)  /* bytes of the buffer; no look is longer */
#define PEEK_MOST ((uint64_t)16 << 20) /* packed bytes of a stream to keep for the jobs */
_Static_assert(PEEK_ROOM >= HEADER_PIECE && PEEK_ROOM >= FIRST_TEXT, "a look fits");

/* ---- first bytes, decoded ---- */

struct peek {
	struct zstd_reader *reader;
	uint64_t from; /* offset of the first decoded byte in the buffer */
	size_t have;   /* bytes in the buffer */
	unsigned char buffer[PEEK_ROOM];
};

static void peek_close(struct peek *p)
{
	if (p)
		zstd_reader_close(p->reader);
	free(p);
}

static struct peek *peek_open(struct bytes *b, const struct content_rules *rules, struct fail *fail)
{
	const struct zstd_reader_rules how = {
		.window = rules->window, .no_check = rules->no_check, .keep = PEEK_MOST};
	struct peek *const p = calloc(1, sizeof(*p));

	if (p && (p->reader = zstd_reader_open(b, &how, fail)) != NULL)
		return p;
	if (!p)
		fail_errno(fail, "%s", bytes_name(b));
	free(p);
	return NULL;
}

/* Look at decoded bytes as bytes_look does. Offsets must rise, as earlier bytes may be dropped. */
static int peek_look(struct peek *p, uint64_t at, size_t least, const unsigned char **bytes,
		     size_t *got, struct fail *fail)
{
	size_t n = 1;
	int rc = 0;

	while (rc == 0 && n > 0 && p->from + p->have < at + least) {
		if (p->from + PEEK_ROOM < at + least || p->have == PEEK_ROOM) {
			const size_t old =
				at - p->from < p->have ? (size_t)(at - p->from) : p->have;
			p->from += old;
			p->have -= old;
			memmove(p->buffer, p->buffer + old, p->have);
		}
		rc = zstd_reader_read(p->reader, p->buffer + p->have, PEEK_ROOM - p->have, &n,
				      fail);
		p->have += n;
	}
	const uint64_t end = p->from + p->have;
	*got = at < end ? (size_t)(end - at) : 0;
	*bytes = p->buffer + (*got > 0 ? at - p->from : 0);
	return rc;
}

/* Did decoding fail? A job will report why. */
static bool peek_failed(const struct peek *p)
{
	return p && zstd_reader_state(p->reader) == ZSTD_BAD;
}

/* ---- views ---- */

/* A source of plain or decoded bytes. */
struct view {
	struct bytes *bytes;
	struct peek *peek; /* decodes the bytes; NULL: they are not compressed */
};

/*
 * Find the bytes that start at `at`, valid until the next look; *got < least: the input ends. Take
 * `most` bytes of a stream at most. 1: the source was stopped.
 */
static int view_look(struct view *v, uint64_t at, size_t least, size_t most,
		     const unsigned char **bytes, size_t *got, struct fail *fail)
{
	if (v->peek)
		return peek_look(v->peek, at, least, bytes, got, fail);
	return bytes_look(v->bytes, at, least, most, bytes, got, fail);
}

/* ---- the judge ---- */

enum kind {
	KIND_MORE,
	KIND_SAMPLES,
	KIND_ZSTD,
	KIND_HEADER,
	KIND_LEGACY,
	KIND_FORMAT,
	KIND_TEXT,
	KIND_JSON
};

/* Identify an input by its first n bytes; `ended`: it has no more. Pure. */
static enum kind content_judge(const struct content_rules *rules, bool decoded,
			       const unsigned char *bytes, size_t n, bool ended,
			       const struct input_format **format)
{
	struct frame_header frame;
	/* Four bytes show only the magic number. */
	const enum frame_kind zstd =
		decoded ? FRAME_OTHER : frame_parse(bytes, n < 4 ? n : 4, &frame);
	const enum header_result found =
		first_format(bytes, n, rules->typed ? FORMATS_TYPED : FORMATS_ALL, format);
	const enum first_text text = rules->type_said ? TEXT_NONE : first_text(bytes, n, ended);

	if (n >= 4 && zstd == FRAME_SHORT)
		return KIND_ZSTD;
	if (zstd == FRAME_LEGACY)
		return KIND_LEGACY;
	if (found == HEADER_FOUND)
		return (*format)->header ? KIND_HEADER : KIND_FORMAT;
	if (text == TEXT_FOUND || text == TEXT_JSON)
		return text == TEXT_JSON ? KIND_JSON : KIND_TEXT;
	/*
	 * Magic numbers at later offsets are waited for in decoded bytes only, as these come in
	 * bulk.
	 */
	const bool later = decoded && !rules->typed && n < FIRST_LATER;
	return !ended && (n == 0 || zstd == FRAME_SHORT || found == HEADER_MORE ||
			  text == TEXT_MORE || later)
		       ? KIND_MORE
		       : KIND_SAMPLES;
}

/* Is it the index of a safetensors file's shards? If so, set *fail. */
static bool is_index(const char *name, struct fail *fail)
{
	static const char END[] = ".safetensors.index.json";
	const size_t length = strlen(name), end = sizeof(END) - 1;

	if (length < end || strcmp(name + length - end, END) != 0)
		return false;
	fail_set(fail, STATUS_DATA, "%s is an index of shards; give the shards: %.*s-*.safetensors",
		 name, (int)(length - end), name);
	return true;
}

/* Refuse an input that was identified, with advice. */
static int refuse_content(const struct content *c, struct view *v, enum kind kind,
			  const struct input_format *format, struct fail *fail)
{
	static const char *const WHY[] = {
		[KIND_LEGACY] =
			" was compressed by zstd before 0.8; pipe it through a `zstd -dc` that "
			"still reads it, or count it as it is with --raw",
		[KIND_TEXT] = " is text, but gpuhist reads binary samples; try --text",
		[KIND_JSON] = " is a histogram in JSON, but gpuhist reads samples; try --merge"};
	const char *const name = bytes_name(v->bytes);
	const unsigned char *bytes;
	size_t got;

	if (is_index(name, fail))
		return -1;
	if (kind != KIND_FORMAT)
		return fail_set(fail, STATUS_DATA, "%s%s%s", name, WHY[kind],
				kind == KIND_TEXT && c->is_zstd ? " after zstd -dc" : "");
	const int rc = view_look(v, 0, FIRST_LATER, FIRST_LATER, &bytes, &got, fail);
	if (rc != 0)
		return rc;
	return fail_set(fail, STATUS_DATA, "%s %s, or count it as it is with %s%s", name,
			first_advice(format, bytes, got), format->packed ? "--raw" : "-t",
			!c->is_zstd      ? format->packed ? "" : " or --raw"
			: format->packed ? ", after zstd -dc"
					 : "");
}

/* The suffix by which the name of an input promises its content, after decoding; or NULL. */
static const char *promise_of(const struct content *c, const struct content_rules *rules,
			      const char *name)
{
	const size_t whole = strlen(name), end = whole > 4 ? whole - 4 : 0;
	const bool packed = strcasecmp(name + end, ".zst") == 0;

	if (rules->tensor || rules->tensors) /* read_tensors says what is wrong */
		return NULL;
	return packed && !c->is_zstd ? ".zst" : first_promise(name, packed ? end : whole);
}

/* Do the first n bytes belong to the format that the name promises? */
static bool keeps(const char *promise, enum kind kind, const unsigned char *bytes, size_t n)
{
	const struct input_format *format;

	return kind == KIND_ZSTD || (first_format(bytes, n, FORMATS_ALL, &format) == HEADER_FOUND &&
				     format->suffix && strcmp(format->suffix, promise) == 0);
}

/* Does the input need more bytes to show that it is what its name promises? */
static bool may_keep(const char *promise, enum kind kind, const unsigned char *bytes, size_t n)
{
	return promise && strcmp(promise, ".zst") != 0 && n < FIRST_BYTES &&
	       !keeps(promise, kind, bytes, n);
}

/* -1: the input is not what its name promises. */
static int check_promise(const struct content *c, const struct view *v, const char *promise,
			 enum kind kind, const unsigned char *bytes, size_t n, struct fail *fail)
{
	if (!promise || c->unseen || keeps(promise, kind, bytes, n))
		return 0;
	return fail_set(fail, STATUS_DATA,
			n == 0 ? "%s is empty; a %s file never is (--raw counts it anyway)"
			       : "%s does not begin like a %s file (--raw counts it as it is)",
			bytes_name(v->bytes), promise);
}

/* Is it a safetensors file, or must it be one? */
static bool has_tensors(const struct content_rules *rules, enum kind kind,
			const struct input_format *format)
{
	return rules->tensor || rules->tensors || (kind == KIND_FORMAT && !format->advice);
}

/* Look at as many first bytes as are needed to identify the input. */
static int look_first(struct content *c, struct view *v, const struct content_rules *rules,
		      enum kind *kind, const struct input_format **format, struct fail *fail)
{
	const size_t most = !rules->type_said ? FIRST_TEXT
			    : !rules->typed   ? FIRST_LATER
					      : FIRST_BYTES;
	const unsigned char *bytes;
	const bool file = !v->peek && bytes_in_file(v->bytes);
	/* A file is looked at in one step, a stream byte by byte, so that no byte is waited for. */
	const size_t step = file ? most : 1;
	const size_t taken = file ? most : FIRST_TEXT;
	const char *const promise = promise_of(c, rules, bytes_name(v->bytes));
	size_t n, got = 0;
	bool ended;

	do {
		n = got;
		const int rc = view_look(v, 0, n + step, taken, &bytes, &got, fail);
		if (rc != 0)
			return rc;
		ended = got < n + step &&
			(!v->peek || zstd_reader_state(v->peek->reader) == ZSTD_ENDED);
		*kind = content_judge(rules, c->is_zstd, bytes, got, ended, format);
	} while ((*kind == KIND_MORE || may_keep(promise, *kind, bytes, got)) && got > n &&
		 got < most);
	c->unseen = peek_failed(v->peek);
	if (*kind > KIND_HEADER && (*kind != KIND_FORMAT || (*format)->advice))
		return refuse_content(c, v, *kind, *format, fail);
	if (rules->zstd && !c->is_zstd && *kind != KIND_ZSTD)
		return fail_set(fail, STATUS_DATA,
				"%s is not compressed by zstd, which --zstd requires",
				bytes_name(v->bytes));
	/* If the first bytes of a file are text, look whether more of them are. */
	if (*kind == KIND_SAMPLES && file && first_text(bytes, got, true) != TEXT_NONE) {
		const int rc = view_look(v, 0, FIRST_TEXT, FIRST_TEXT, &bytes, &got, fail);
		if (rc != 0)
			return rc;
	}
	c->text = *kind == KIND_SAMPLES && !c->unseen && first_text(bytes, got, true) != TEXT_NONE;
	return check_promise(c, v, promise, *kind, bytes, got, fail);
}

/* ---- headers ---- */

const char *content_way_out(const struct content *c, bool named)
{
	if (named)
		return c->is_zstd ? ", after zstd -dc" : "";
	return c->is_zstd ? " (after zstd -dc, --raw counts it as it is)"
			  : " (--raw counts it as it is)";
}

/* Believe a size that may be a placeholder only if the file holds that many bytes. */
static void settle_size(struct content *c, const struct bytes *b)
{
	struct header *const h = &c->header;
	const uint64_t size = c->is_zstd ? 0 : bytes_size(b);
	const uint64_t rest = size > h->begin ? size - h->begin : 0;

	if (!h->open || (h->bytes > 0 && h->bytes <= rest))
		return;
	c->unsized = true;
	h->bytes = HEADER_TO_END;
}

/* Feed a scan until it has a result. */
static int run_scan(struct content *c, struct view *v, enum header_result *result,
		    struct fail *fail)
{
	struct header_scan *const scan = &c->scan;
	const unsigned char *bytes;
	size_t got;
	int rc = 0;

	for (*result = HEADER_MORE; rc == 0 && *result == HEADER_MORE;) {
		if (!v->peek)
			rc = bytes_pass(v->bytes, scan->at, fail);
		if (rc == 0)
			rc = view_look(v, scan->at, scan->want, scan->want, &bytes, &got, fail);
		if (rc == 0)
			*result = header_step(scan, bytes, got < scan->want ? got : scan->want);
	}
	return rc;
}

static int read_header(struct content *c, struct view *v, const struct content_rules *rules,
		       const struct input_format *format, struct fail *fail)
{
	const struct header_scan *const scan = &c->scan;
	enum header_result result;

	header_begin(&c->scan, format->header, format->length);
	const int rc = run_scan(c, v, &result, fail);
	if (rc != 0)
		return rc;
	c->unseen = result != HEADER_FOUND && peek_failed(v->peek);
	if (c->unseen)
		return 0;
	if (result != HEADER_FOUND)
		return fail_set(fail, STATUS_DATA,
				"%s has a %s header that gpuhist cannot use: %s%s",
				bytes_name(v->bytes), scan->header.format, scan->why,
				content_way_out(c, strstr(scan->why, "--raw") != NULL));
	c->header = scan->header;
	if (scan->header.untyped && !rules->typed)
		return fail_set(fail, STATUS_DATA,
				"%s has samples of %lu bytes without a type, as NumPy writes "
				"bfloat16; count them with -t %s",
				bytes_name(v->bytes), sample_bytes(&scan->header.type, 1),
				scan->header.type.name);
	settle_size(c, v->bytes);
	return v->peek ? 0 : bytes_pass(v->bytes, c->header.begin, fail);
}

/* ---- tensors ---- */

/* The advice on --raw, for an input that may be no safetensors file after all. */
static const char *way_out(const struct content *c, const struct content_rules *rules)
{
	return rules->tensor || rules->tensors ? "" : content_way_out(c, false);
}

/* Read the header's JSON piece by piece into t->text; NULL: the input is no safetensors file. */
static int read_text(const struct content *c, struct view *v, const struct content_rules *rules,
		     struct tensors *t, struct fail *fail)
{
	const uint64_t most = lesser(TENSORS_MOST, rules->memory / TENSORS_SHARE);
	const char *const name = bytes_name(v->bytes);
	const unsigned char *bytes;
	size_t got, capacity = 0;
	int rc = view_look(v, 0, TENSORS_LENGTH + 1, TENSORS_LENGTH + 1, &bytes, &got, fail);

	if (rc != 0 || got < TENSORS_LENGTH + 1 || bytes[TENSORS_LENGTH] != '{')
		return rc;
	const uint64_t length = little64(bytes);
	if (length == 0 || length > TENSORS_MOST)
		return fail_set(fail, STATUS_DATA,
				"%s has a safetensors header of %llu bytes, but the format allows "
				"2 to %u%s",
				name, (ull)length, TENSORS_MOST, way_out(c, rules));
	/* A length that the file cannot hold asks for no memory. */
	const bool whole = v->peek || !bytes_in_regular(v->bytes) ||
			   bytes_size(v->bytes) >= TENSORS_LENGTH + length;
	if (length > most && whole)
		return fail_set(fail, STATUS_LIMIT,
				"%s has a safetensors header of %llu bytes, which needs -M %lluK",
				name, (ull)length, (ull)(length * TENSORS_SHARE + 1023) / 1024);
	while (rc == 0 && t->length < length) {
		const uint64_t at = TENSORS_LENGTH + t->length;
		const size_t want = (size_t)lesser(length - t->length, HEADER_PIECE);
		if (t->length + want >= capacity) {
			capacity = 2 * (t->length + want);
			char *const text = realloc(t->text, capacity);
			if (!text)
				return fail_errno(fail, "%s", name);
			t->text = text;
		}
		if (!v->peek)
			rc = bytes_pass(v->bytes, at, fail);
		if (rc == 0)
			rc = view_look(v, at, want, want, &bytes, &got, fail);
		if (rc == 0 && got < want && peek_failed(v->peek)) {
			tensors_free(t);
			return 0;
		}
		if (rc == 0 && got < want)
			return fail_set(fail, STATUS_DATA,
					"%s ends inside its safetensors header of %llu bytes%s",
					name, (ull)length, way_out(c, rules));
		if (rc == 0)
			memcpy(t->text + t->length, bytes, want);
		t->length += want;
		t->text[t->length] = '\0';
	}
	return rc;
}

/* Find the tensor to count. */
static int content_pick(struct content *c, struct view *v, const struct content_rules *rules,
			const struct tensors *list, struct fail *fail)
{
	const char *near = NULL;
	const struct tensor *const t = tensors_find(list, rules->tensor, &near);

	if (t && !tensor_header(&c->header, list, t))
		return fail_set(fail, STATUS_DATA,
				"%s has tensor %s in type %.20s, which gpuhist cannot count",
				bytes_name(v->bytes), t->name, t->dtype);
	if (!t) {
		c->absent = true;
		snprintf(c->near, sizeof(c->near), "%s", near ? near : "");
		tensor_header(&c->header, list,
			      &(struct tensor){.dtype = "U8", .begin = list->end});
	}
	return v->peek ? 0 : bytes_pass(v->bytes, c->header.begin, fail);
}

/* Refuse a safetensors file, as no option says which tensors to count. */
static int refuse_tensors(const char *name, const struct tensors *list, struct fail *fail)
{
	char text[TENSORS_TEXT], shown[1024];

	tensors_first(text, list);
	snprintf(shown, sizeof(shown), "%s", name);
	utf8_make_plain(shown);
	fail->lines = fail->status == STATUS_OK;
	return fail_set(fail, STATUS_DATA,
			"%s is a safetensors file; --tensor=NAME counts one of its tensors, and "
			"--each=tensor --stats describes all:%s",
			shown, text);
}

static int read_tensors(struct content *c, struct view *v, const struct content_rules *rules,
			struct fail *fail)
{
	const char *const name = bytes_name(v->bytes);
	struct tensors list = {.n = 0};
	char why[HEADER_WHY];
	int rc = read_text(c, v, rules, &list, fail);

	c->unseen = rc == 0 && !list.text && peek_failed(v->peek);
	if (c->unseen)
		return 0;
	if (rc == 0 && !list.text && is_index(name, fail)) {
		rc = -1;
	} else if (rc == 0 && !list.text) {
		rc = fail_set(fail, STATUS_DATA, "%s is not a safetensors file, which --%s needs",
			      name, rules->tensor ? "tensor" : "each=tensor");
	} else if (rc == 0 && tensors_parse(&list, why) != 0) {
		rc = why[0] ? fail_set(fail, STATUS_DATA,
				       "%s has a safetensors header that gpuhist cannot use: %s%s",
				       name, why, way_out(c, rules))
			    : fail_errno(fail, "%s", name);
	} else if (rc == 0 && rules->tensor) {
		rc = content_pick(c, v, rules, &list, fail);
	} else if (rc == 0 && rules->tensors) {
		*rules->tensors = list;
		return 0;
	} else if (rc == 0) {
		rc = refuse_tensors(name, &list, fail);
	}
	tensors_free(&list);
	return rc;
}

int content_open(struct content *c, struct bytes *b, const struct content_rules *asked,
		 struct fail *fail)
{
	struct content_rules own = *asked, *const rules = &own;
	struct view v = {.bytes = b};
	const struct input_format *format = NULL;
	enum kind kind = KIND_SAMPLES;
	int rc;

	*c = (struct content){.is_zstd = false};
	if (rules->raw)
		return 0;
	const int sigmf =
		rules->tensor || rules->tensors ? 0 : sigmf_read(&c->header, bytes_name(b), fail);
	if (sigmf < 0)
		return -1;
	if (sigmf > 0) /* the samples may begin like a header */
		own.typed = own.type_said = true;
	rc = look_first(c, &v, rules, &kind, &format, fail);
	if (rc == 0 && kind == KIND_ZSTD) {
		c->is_zstd = true;
		if (!(v.peek = peek_open(b, rules, fail)))
			return -1;
		rc = look_first(c, &v, rules, &kind, &format, fail);
	}
	if (rc == 0 && has_tensors(rules, kind, format))
		rc = read_tensors(c, &v, rules, fail);
	else if (rc == 0 && kind == KIND_HEADER && sigmf == 0)
		rc = read_header(c, &v, rules, format, fail);
	peek_close(v.peek);
	return rc;
}

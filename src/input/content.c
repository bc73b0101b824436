/* SPDX-License-Identifier: MIT */
/*
 * content: identifies an input; `judge` decides from the bytes that view_look reads or decodes.
 *
 * The jobs of the input decode these bytes a second time (zstd_cut.c), and report a damaged frame;
 * here the bytes just end. For the jobs, all packed bytes of a stream are kept from the first frame
 * that holds data; empty frames before it may be of any length, and are dropped.
 */
#include "input/content.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <zstd.h>
#include <zstd_errors.h>

#include "base/little.h"
#include "base/utf8.h"
#include "input/first.h"
#include "input/frames.h"
#include "input/sigmf.h"

#define PEEK_ROOM ((size_t)128 << 10)  /* bytes of the buffer; no look is longer */
#define PEEK_MOST ((uint64_t)16 << 20) /* packed bytes of a stream to keep for the jobs */
_Static_assert(PEEK_ROOM >= HEADER_PIECE && PEEK_ROOM >= FIRST_TEXT, "a look fits");

typedef unsigned long long ull;

/* ---- first bytes, decoded ---- */

struct peek {
	struct bytes *bytes;
	ZSTD_DCtx *context;
	uint64_t pos;    /* packed offset of the next byte to decode */
	bool inside;     /* `pos` is inside a frame of data */
	bool no_check;   /* checksums are hidden from libzstd */
	size_t hide;     /* bytes of a frame header whose checksum flag is to be hidden; or 0 */
	size_t trailer;  /* bytes of the hidden checksum after the frame's last block */
	bool made;       /* at least one byte was decoded */
	uint64_t window; /* bytes of the largest window that may be decoded */
	bool over;       /* no more bytes can be decoded */
	bool failed;     /* decoding failed, and a job will report why */
	uint64_t from;   /* offset of the first decoded byte in the buffer */
	size_t have;     /* bytes in the buffer */
	unsigned char buffer[PEEK_ROOM];
};

static int no_memory(const struct bytes *b, struct fail *fail)
{
	return fail_set(fail, STATUS_SYSTEM, "%s: not enough memory for a decoder", bytes_name(b));
}

static void peek_close(struct peek *p)
{
	if (!p)
		return;
	bytes_go_back(p->bytes);
	ZSTD_freeDCtx(p->context);
	free(p);
}

static struct peek *peek_open(struct bytes *b, const struct content_rules *rules, struct fail *fail)
{
	struct peek *const p = calloc(1, sizeof(*p));

	if (p) {
		p->bytes = b;
		p->window = rules->window;
		p->no_check = rules->no_check;
		p->context = ZSTD_createDCtx();
	}
	if (p && p->context &&
	    !ZSTD_isError(ZSTD_DCtx_setParameter(p->context, ZSTD_d_windowLogMax, 31)))
		return p;
	peek_close(p);
	no_memory(b, fail);
	return NULL;
}

/* Reads at least one packed byte, or sets p->over. */
static int peek_read(struct peek *p, struct fail *fail)
{
	struct bytes *const b = p->bytes;
	const unsigned char *bytes;
	size_t got;

	if (!bytes_in_file(b) && p->made && p->pos - bytes_passed(b) >= PEEK_MOST)
		return fail_set(fail, STATUS_DATA,
				"%s has more than 16 MiB of zstd before the first sample; pipe it "
				"through `zstd -dc`",
				bytes_name(b));
	const int rc = bytes_look(b, p->pos, 1, SIZE_MAX, &bytes, &got, fail);
	p->over = rc == 0 && got == 0;
	return rc;
}

/* Finds the next frame of data. */
static int peek_frame(struct peek *p, struct fail *fail)
{
	struct fail bad = {.status = STATUS_OK};
	const uint64_t before = p->pos;
	struct frame f;

	const enum find found = frames_next(p->bytes, &p->pos, &f, &bad);
	if (found == FIND_STOPPED)
		return 1;
	/*
	 * No job sees a skippable frame of a stream, which is dropped; a failed read may not recur.
	 */
	if (found == FIND_BAD && (bad.status == STATUS_SYSTEM ||
				  (!bytes_in_file(p->bytes) && bytes_passed(p->bytes) > before)))
		return fail_pass(fail, &bad);
	/* zstd_cut.c refuses a window that is too large, and names the -M that it needs. */
	p->failed = found == FIND_BAD || (found == FIND_FRAME && f.header.window > p->window);
	p->over = p->failed || found == FIND_NONE;
	p->inside = !p->over;
	const bool hidden = p->inside && p->no_check && f.header.checksum;
	p->hide = hidden ? f.header.bytes : 0;
	p->trailer = hidden ? FRAME_CHECKSUM : 0;
	/* Until a byte was decoded, a stream's jobs need no bytes before this frame. */
	return p->inside && !p->made ? bytes_pass(p->bytes, p->pos, fail) : 0;
}

/* Decodes bytes that were read; if they give no output, reads more. */
static int peek_decode(struct peek *p, struct fail *fail)
{
	ZSTD_outBuffer out = {p->buffer, PEEK_ROOM, p->have};
	ZSTD_inBuffer in = {.pos = 0};
	unsigned char header[FRAME_HEADER_MAX];
	const unsigned char *bytes;

	if (bytes_look(p->bytes, p->pos, 0, 0, &bytes, &in.size, fail) != 0)
		return -1;
	in.src = bytes;
	if (p->hide > 0) { /* the whole header was read, as it was parsed */
		memcpy(header, bytes, p->hide);
		frame_hide_checksum(header);
		in = (ZSTD_inBuffer){header, p->hide, 0};
		p->hide = 0;
	}
	const size_t left = ZSTD_decompressStream(p->context, &out, &in);
	const bool stuck = out.pos == p->have && in.pos == 0;
	if (!p->made && out.pos > p->have) {
		p->made = true;
		bytes_keep(p->bytes, bytes_passed(p->bytes)); /* from the frame's first byte */
	}
	p->pos += in.pos + (left == 0 ? p->trailer : 0);
	p->have = out.pos;
	p->inside = left != 0;
	p->over = p->failed = ZSTD_isError(left);
	/* A job will find damage of the frame again, but perhaps not a lack of memory. */
	if (p->over && ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
		return no_memory(p->bytes, fail);
	return p->inside && !p->over && stuck ? peek_read(p, fail) : 0;
}

/* Looks at decoded bytes as bytes_look does. Offsets must rise, as earlier bytes may be dropped. */
static int peek_look(struct peek *p, uint64_t at, size_t least, const unsigned char **bytes,
		     size_t *got, struct fail *fail)
{
	int rc = 0;

	while (rc == 0 && !p->over && p->from + p->have < at + least) {
		if (p->from + PEEK_ROOM < at + least || p->have == PEEK_ROOM) {
			const size_t n = at - p->from < p->have ? (size_t)(at - p->from) : p->have;
			p->from += n;
			p->have -= n;
			memmove(p->buffer, p->buffer + n, p->have);
		}
		rc = p->inside ? peek_decode(p, fail) : peek_frame(p, fail);
	}
	const uint64_t end = p->from + p->have;
	*got = at < end ? (size_t)(end - at) : 0;
	*bytes = p->buffer + (*got > 0 ? at - p->from : 0);
	return rc;
}

/* Was all input decoded without a failure? */
static bool peek_ended(const struct peek *p)
{
	return p->over && !p->failed && !p->inside;
}

/* ---- views ---- */

/* A source of plain, decoded or kept bytes. */
struct view {
	struct bytes *bytes;
	struct peek *peek;         /* decodes the bytes; NULL: they are not compressed */
	const unsigned char *kept; /* bytes from content_after_decoded; or NULL */
	uint64_t from;             /* offset of the first kept byte */
	uint64_t to;               /* offset of the end of the input, if bytes are kept */
};

static int kept_look(const struct view *v, uint64_t at, const unsigned char **bytes, size_t *got)
{
	const uint64_t there = v->to - v->from < CONTENT_REST ? v->to - v->from : CONTENT_REST;
	const uint64_t before = at - v->from;

	*got = before < there ? (size_t)(there - before) : 0;
	*bytes = v->kept + (*got > 0 ? before : 0);
	return 0;
}

/*
 * Finds the bytes from `at` on, valid until the next look; *got < least: they end there. Takes
 * `most` bytes of a stream at most. 1: the source was stopped.
 */
static int view_look(struct view *v, uint64_t at, size_t least, size_t most,
		     const unsigned char **bytes, size_t *got, struct fail *fail)
{
	if (v->kept)
		return kept_look(v, at, bytes, got);
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

/* Identifies n first bytes; `ended`: the input has no more. Pure. */
static enum kind judge(const struct content_rules *rules, bool decoded, const unsigned char *bytes,
		       size_t n, bool ended, const struct input_format **format)
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

/* Is it the index of a safetensors file's shards? Then sets *fail. */
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

/* Refuses an input that was identified, with advice. */
static int refuse(const struct content *c, struct view *v, enum kind kind,
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

/* Are n first bytes those of the format that the name promises? */
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

/* Looks at as many first bytes as are needed to identify the input. */
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
		ended = got < n + step && (!v->peek || peek_ended(v->peek));
		*kind = judge(rules, c->is_zstd, bytes, got, ended, format);
	} while ((*kind == KIND_MORE || may_keep(promise, *kind, bytes, got)) && got > n &&
		 got < most);
	c->unseen = v->peek && v->peek->failed;
	if (*kind > KIND_HEADER && (*kind != KIND_FORMAT || (*format)->advice))
		return refuse(c, v, *kind, *format, fail);
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

/* Believes a size that may be a placeholder only if the file holds that many bytes. */
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

/* Feeds a scan until it has a result. */
static int run_scan(struct content *c, struct view *v, enum header_result *result,
		    struct fail *fail)
{
	struct header_scan *const scan = &c->scan;
	const unsigned char *bytes;
	size_t got;
	int rc = 0;

	for (*result = HEADER_MORE; rc == 0 && *result == HEADER_MORE;) {
		if (!v->peek && !v->kept)
			rc = bytes_pass(v->bytes, scan->at, fail);
		if (rc == 0)
			rc = view_look(v, scan->at, scan->want, scan->want, &bytes, &got, fail);
		if (rc == 0)
			*result = header_step(scan, bytes, got < scan->want ? got : scan->want);
	}
	return rc;
}

static int read_header(struct content *c, struct view *v, const struct input_format *format,
		       struct fail *fail)
{
	const struct header_scan *const scan = &c->scan;
	enum header_result result;

	header_begin(&c->scan, format->header, format->length);
	const int rc = run_scan(c, v, &result, fail);
	if (rc != 0)
		return rc;
	c->unseen = result != HEADER_FOUND && v->peek && v->peek->failed;
	if (c->unseen)
		return 0;
	if (result != HEADER_FOUND)
		return fail_set(fail, STATUS_DATA,
				"%s has a %s header that gpuhist cannot use: %s%s",
				bytes_name(v->bytes), scan->header.format, scan->why,
				content_way_out(c, strstr(scan->why, "--raw") != NULL));
	c->header = scan->header;
	settle_size(c, v->bytes);
	return v->peek ? 0 : bytes_pass(v->bytes, c->header.begin, fail);
}

/* ---- tensors ---- */

/* The advice on --raw, for an input that may be no safetensors file after all. */
static const char *way_out(const struct content *c, const struct content_rules *rules)
{
	return rules->tensor || rules->tensors ? "" : content_way_out(c, false);
}

/* Reads the header's JSON piece by piece into t->text; NULL: the input is no safetensors file. */
static int read_text(const struct content *c, struct view *v, const struct content_rules *rules,
		     struct tensors *t, struct fail *fail)
{
	const uint64_t most = lesser(TENSORS_MOST, rules->memory / TENSORS_SHARE);
	const char *const name = bytes_name(v->bytes);
	const unsigned char *bytes;
	size_t got, room = 0;
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
		if (t->length + want >= room) {
			room = 2 * (t->length + want);
			char *const text = realloc(t->text, room);
			if (!text)
				return fail_errno(fail, "%s", name);
			t->text = text;
		}
		if (!v->peek)
			rc = bytes_pass(v->bytes, at, fail);
		if (rc == 0)
			rc = view_look(v, at, want, want, &bytes, &got, fail);
		if (rc == 0 && got < want && v->peek && v->peek->failed) {
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

/* Finds the tensor to count. */
static int pick(struct content *c, struct view *v, const struct content_rules *rules,
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

/* Refuses a safetensors file, as no option says which tensors to count. */
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

	c->unseen = rc == 0 && !list.text && v->peek && v->peek->failed;
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
		rc = pick(c, v, rules, &list, fail);
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
		rc = read_header(c, &v, format, fail);
	peek_close(v.peek);
	return rc;
}

/* ---- after the samples ---- */

static int too_long(const struct content *c, const struct bytes *b, struct fail *fail)
{
	return fail_set(fail, STATUS_DATA,
			"%s goes on after the %llu bytes of samples that its %s header announces",
			bytes_name(b), (ull)c->header.bytes, c->header.format);
}

/* Does a safetensors file end with the last of its tensors? Decoded bytes end at v->to. */
static int check_tensors(struct content *c, struct view *v, uint64_t bound, struct fail *fail)
{
	const uint64_t end = c->header.end, last = end > bound ? end - 1 : bound;
	const unsigned char *bytes;
	size_t got = 0;
	int rc = v->to > 0 ? 0 : bytes_pass(v->bytes, last, fail);

	if (rc == 0 && v->to == 0)
		rc = bytes_look(v->bytes, last, 2, 2, &bytes, &got, fail);
	const uint64_t to = v->to > 0 ? v->to : last + got;
	if (rc == 0 && to > end)
		return tensors_too_long(bytes_name(v->bytes), end, fail);
	c->shorter = rc == 0 && to < end;
	return rc;
}

static int look_behind(struct content *c, struct view *v, uint64_t bound, struct fail *fail)
{
	struct header_scan *const scan = &c->scan;
	enum header_result result;
	const unsigned char *bytes;
	size_t got;

	if (c->header.within)
		return check_tensors(c, v, bound, fail);
	if (!c->header.chunks) {
		const int rc = view_look(v, bound, 1, 1, &bytes, &got, fail);
		return rc == 0 && got > 0 ? too_long(c, v->bytes, fail) : rc;
	}
	header_go_on(scan, c->header.bytes);
	const int rc = run_scan(c, v, &result, fail);
	/* Skip the bytes between the kept ones and the end of the file. */
	if (rc == 0 && result == HEADER_NONE && v->kept && c->header.end <= v->to - CONTENT_END) {
		scan->at = c->header.end;
		scan->want = CONTENT_END;
		result = header_step(scan, v->kept + CONTENT_REST, CONTENT_END);
	}
	if (rc == 0 && result == HEADER_BAD)
		return fail_set(fail, STATUS_DATA, "%s has %s, but gpuhist counts only one%s",
				bytes_name(v->bytes), scan->why, content_way_out(c, false));
	return rc;
}

int content_after(struct content *c, struct bytes *b, uint64_t bound, struct fail *fail)
{
	struct view v = {.bytes = b};
	const int rc = look_behind(c, &v, bound, fail);

	/* A stream is read to its end, so that its writer can finish. */
	return rc == 0 && (c->header.chunks || c->header.within) ? bytes_pass(b, NO_END, fail) : rc;
}

int content_after_decoded(struct content *c, struct bytes *b, uint64_t bound, uint64_t at,
			  const unsigned char *kept, struct fail *fail)
{
	struct view v = {.bytes = b, .kept = kept, .from = bound, .to = at};

	if (at <= bound && !c->header.within)
		return 0;
	return kept || c->header.within ? look_behind(c, &v, bound, fail) : too_long(c, b, fail);
}

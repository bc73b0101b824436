/* SPDX-License-Identifier: MIT */
/* json_read: the buffer, the grammar, texts; arrays of numbers are in json_numbers.c. */
#include "document/json_read.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/again.h"
#include "base/path.h"
#include "base/utf8.h"
#include "bins/number.h"

int json_open(struct json_reader **out, const char *path, struct fail *fail)
{
	const char *const name = path ? path_shown(path) : "a document";
	struct json_reader *const r = calloc(1, sizeof(*r));
	struct stat st;

	*out = NULL;
	if (!r)
		return fail_errno(fail, "%s", name);
	r->fd = -1;
	r->name = strdup(name);
	r->buffer = malloc(JSON_BUFFER + 1);
	if (!r->name || !r->buffer)
		goto failed;
	r->at = r->end = r->buffer;
	*r->end = 0;
	if (path) {
		r->fd = path_is_stdin(path) ? STDIN_FILENO
					    : open_again(path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
		if (r->fd < 0)
			goto failed;
		if (fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode))
			r->size = (uint64_t)st.st_size;
	}
	*out = r;
	return 0;
failed:
	fail_errno(fail, "%s", name);
	json_close(r);
	return -1;
}

/* Nothing is left of a document. */
static void forget(struct json_reader *r)
{
	for (size_t i = 0; i < r->values; i++) {
		free(r->value[i].counts);
		free(r->value[i].reals);
	}
	r->values = r->used = 0;
}

void json_close(struct json_reader *r)
{
	if (!r)
		return;
	forget(r);
	if (r->fd > STDIN_FILENO)
		close(r->fd); /* for reading only, so close cannot lose anything */
	free(r->name);
	free(r->buffer);
	free(r->value);
	free(r->text);
	free(r);
}

int json_bad(const struct json_reader *r, uint64_t offset, struct fail *fail, const char *format,
	     ...)
{
	char why[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return fail_set(fail, STATUS_DATA, "%s: document %llu: byte %llu: %s", r->name,
			(unsigned long long)r->documents, (unsigned long long)offset + 1, why);
}

/* ---- the buffer ---- */

/* Reads some bytes, or finds the end. */
static int read_some(struct json_reader *r, struct fail *fail)
{
	const size_t room = JSON_BUFFER - (size_t)(r->end - r->buffer);
	struct pollfd ready = {.fd = r->fd, .events = POLLIN};
	ssize_t n;

	while ((n = read(r->fd, r->end, room)) < 0 && (errno == EINTR || errno == EAGAIN))
		if (errno == EAGAIN && poll(&ready, 1, -1) < 0 && errno != EINTR)
			break;
	if (n < 0) {
		r->broken = true;
		return fail_errno(fail, "%s", r->name);
	}
	r->ended = n == 0;
	r->end += n;
	*r->end = 0;
	return 0;
}

int json_fill(struct json_reader *r, size_t want, struct fail *fail)
{
	const size_t left = (size_t)(r->end - r->at);

	if (left >= want || r->ended)
		return 0;
	memmove(r->buffer, r->at, left);
	r->offset += (uint64_t)(r->at - r->buffer);
	r->at = r->buffer;
	r->end = r->buffer + left;
	while ((size_t)(r->end - r->at) < want && !r->ended)
		if (read_some(r, fail) != 0)
			return -1;
	return 0;
}

int json_peek(struct json_reader *r, struct fail *fail)
{
	for (;;) {
		while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')
			r->at++;
		if (r->at < r->end)
			return *r->at;
		if (r->ended || json_fill(r, 1, fail) != 0)
			return -1;
	}
}

/* "WANTED expected, not 'x'", for the next byte. Returns -1. */
static int unexpected(const struct json_reader *r, const char *wanted, struct fail *fail)
{
	const unsigned c = *r->at;

	if (r->at == r->end)
		return json_bad(r, json_offset(r), fail, "%s expected, not the end of the input",
				wanted);
	return json_bad(r, json_offset(r), fail,
			c > ' ' && c < 0x7f ? "%s expected, not '%c'"
					    : "%s expected, not the byte 0x%02x",
			wanted, c);
}

/* ---- texts ---- */

/* Adds bytes to the texts, and a zero after them that the next ones replace. */
static int keep(struct json_reader *r, const void *bytes, size_t n, struct fail *fail)
{
	if (r->used + n >= r->text_room) {
		const size_t room = 2 * (r->used + n) + 1024;
		char *const text = realloc(r->text, room);
		if (!text)
			return fail_errno(fail, "%s", r->name);
		r->text = text;
		r->text_room = room;
	}
	memcpy(r->text + r->used, bytes, n);
	r->used += n;
	r->text[r->used] = '\0';
	return 0;
}

/* The value of the four digits of \uXXXX at p; -1: they are not digits. */
static int32_t hexadecimal(const unsigned char *p)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		const int c = p[i] | 32;
		if (!(c >= '0' && c <= '9' && p[i] == c) && !(c >= 'a' && c <= 'f'))
			return -1;
		value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return value;
}

static size_t utf8_of(char out[4], uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return n;
}

/* Called at a backslash. A zero follows the bytes in the buffer, so no digit is read past them. */
static int take_escape(struct json_reader *r, struct fail *fail)
{
	static const char LETTERS[] = "\"\\/bfnrt", MEANING[] = "\"\\/\b\f\n\r\t";
	char utf8[4];

	if (json_fill(r, 12, fail) != 0)
		return -1;
	const unsigned char *const p = r->at;
	const char *const letter = p[1] != 0 ? strchr(LETTERS, p[1]) : NULL;
	if (letter) {
		r->at += 2;
		return keep(r, &MEANING[letter - LETTERS], 1, fail);
	}
	int32_t c = p[1] == 'u' ? hexadecimal(p + 2) : -1;
	if (c < 0)
		return json_bad(r, json_offset(r), fail, "a backslash that JSON does not have");
	size_t length = 6;
	if (c >= 0xd800 && c <= 0xdbff && p[6] == '\\' && p[7] == 'u') {
		const int32_t low = hexadecimal(p + 8);
		if (low >= 0xdc00 && low <= 0xdfff) {
			c = 0x10000 + (c - 0xd800) * 0x400 + (low - 0xdc00);
			length = 12;
		}
	}
	if (c >= 0xd800 && c <= 0xdfff)
		return json_bad(r, json_offset(r), fail, "half of a surrogate pair");
	r->at += length;
	return keep(r, utf8, utf8_of(utf8, (uint32_t)c), fail);
}

/* Takes a text from its quote on, and adds it to the texts. */
static int take_string(struct json_reader *r, struct fail *fail)
{
	const size_t begin = r->used;

	r->at++;
	for (;;) {
		const unsigned char *p = r->at;
		while (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
			p++;
		if (keep(r, r->at, (size_t)(p - r->at), fail) != 0)
			return -1;
		r->at = r->buffer + (p - r->buffer);
		if (r->used - begin >= JSON_TEXT)
			return json_bad(r, json_offset(r), fail, "a text of more than %zu bytes",
					JSON_TEXT - 1);
		/* A character has at most four bytes. */
		if (r->end - r->at < 4 && json_fill(r, 4, fail) != 0)
			return -1;
		if (*r->at == '"')
			break;
		if (*r->at == '\\') {
			if (take_escape(r, fail) != 0)
				return -1;
		} else if (*r->at >= 0x80) {
			const size_t n = utf8_length(r->at, (size_t)(r->end - r->at));
			if (n == 0)
				return json_bad(r, json_offset(r), fail,
						"a text that is not UTF-8");
			if (keep(r, r->at, n, fail) != 0)
				return -1;
			r->at += n;
		} else if (*r->at < 0x20) {
			return unexpected(r, "the end of a text", fail);
		}
	}
	r->at++;
	return 0;
}

/* ---- values ---- */

static struct json_value *new_value(struct json_reader *r, enum json_kind kind, struct fail *fail)
{
	if (r->values == JSON_VALUES) {
		json_bad(r, json_offset(r), fail, "more than %zu values", JSON_VALUES);
		return NULL;
	}
	if (r->values == r->room) {
		const size_t room = 2 * r->room + 64;
		struct json_value *const value = realloc(r->value, room * sizeof(*value));
		if (!value) {
			fail_errno(fail, "%s", r->name);
			return NULL;
		}
		r->value = value;
		r->room = room;
	}
	const size_t path_at = r->used;
	if (keep(r, r->path, r->path_length + 1, fail) != 0)
		return NULL;
	struct json_value *const v = &r->value[r->values++];
	*v = (struct json_value){.kind = kind,
				 .at = json_offset(r),
				 .path_at = path_at,
				 .path_length = r->path_length,
				 .text_at = r->used};
	return v;
}

/* The text of the last value ends here. */
static int end_text(struct json_reader *r, struct fail *fail)
{
	struct json_value *const v = &r->value[r->values - 1];

	v->length = r->used - v->text_at;
	return keep(r, "", 1, fail);
}

/* Skips digits, of which there must be one; NULL: there is none. */
static const unsigned char *digits(const unsigned char *p)
{
	const unsigned char *const begin = p;

	while (*p >= '0' && *p <= '9')
		p++;
	return p > begin ? p : NULL;
}

/* Skips a number; NULL: it is not one of JSON. */
static const unsigned char *number_end(const unsigned char *p)
{
	p += *p == '-';
	p = *p == '0' ? p + 1 : digits(p);
	if (p && *p == '.')
		p = digits(p + 1);
	if (p && (*p == 'e' || *p == 'E')) {
		p++;
		p = digits(p + (*p == '-' || *p == '+'));
	}
	return p;
}

int json_numeral(struct json_reader *r, char text[JSON_NUMBER + 1], struct fail *fail)
{
	const int c = json_peek(r, fail);

	if (json_fill(r, JSON_NUMBER + 1, fail) != 0)
		return -1;
	if (c != '-' && !(c >= '0' && c <= '9'))
		return unexpected(r, "a number", fail);
	const unsigned char *const end = number_end(r->at);
	if (!end)
		return json_bad(r, json_offset(r), fail, "a number that JSON does not have");
	const size_t length = (size_t)(end - r->at);
	if (length > JSON_NUMBER)
		return json_bad(r, json_offset(r), fail, "a number of more than %u characters",
				JSON_NUMBER);
	memcpy(text, r->at, length);
	text[length] = '\0';
	r->at += length;
	return 0;
}

static inline bool ends_in(const struct json_reader *r, const char *end)
{
	const size_t n = strlen(end);

	return r->path_length >= n && strcmp(r->path + r->path_length - n, end) == 0;
}

static int take_numeral(struct json_reader *r, struct fail *fail)
{
	char text[JSON_NUMBER + 1];

	if (!new_value(r, JSON_NUMERAL, fail) || json_numeral(r, text, fail) != 0)
		return -1;
	if (ends_in(r, ".bins"))
		r->likely = strtoull(text, NULL, 10) + 2;
	return keep(r, text, strlen(text), fail) == 0 ? end_text(r, fail) : -1;
}

static int take_word(struct json_reader *r, const char *word, struct fail *fail)
{
	const size_t n = strlen(word);

	if (!new_value(r, JSON_WORD, fail) || json_fill(r, n, fail) != 0)
		return -1;
	if (strncmp((const char *)r->at, word, n) != 0)
		return unexpected(r, "a value", fail);
	r->at += n;
	return keep(r, word, n, fail) == 0 ? end_text(r, fail) : -1;
}

int json_more(struct json_reader *r, int close, bool first, struct fail *fail)
{
	const int c = json_peek(r, fail);

	if (c == close) {
		r->at++;
		return 0;
	}
	if (first)
		return 1;
	if (c != ',')
		return unexpected(r, close == ']' ? "',' or ']'" : "',' or '}'", fail);
	r->at++;
	return 1;
}

static int take_value(struct json_reader *r, unsigned depth, struct fail *fail);

/*
 * Takes the value of a member or an element, with its name in the path. A path that does not fit is
 * longer than any that is asked for, and stays as it is.
 */
static int take_named(struct json_reader *r, const char *name, size_t length, unsigned depth,
		      struct fail *fail)
{
	const size_t before = r->path_length, dot = before > 0;
	bool odd = length >= JSON_PATH / 2;

	for (size_t i = 0; i < length && !odd; i++)
		odd = name[i] == '.' || name[i] == '\0';
	if (odd) {
		name = "?";
		length = 1;
	}
	if (before + dot + length < JSON_PATH) {
		r->path[before] = '.';
		memcpy(r->path + before + dot, name, length);
		r->path_length = before + dot + length;
		r->path[r->path_length] = '\0';
	}
	const int rc = take_value(r, depth, fail);
	r->path_length = before;
	r->path[before] = '\0';
	return rc;
}

/* Keeps the first bytes of an object that begins here. */
static int keep_head(struct json_reader *r, struct fail *fail)
{
	if (json_fill(r, JSON_HEAD, fail) != 0 || !new_value(r, JSON_OBJECT, fail))
		return -1;
	const size_t left = (size_t)(r->end - r->at);
	return keep(r, r->at, left < JSON_HEAD ? left : JSON_HEAD, fail) == 0 ? end_text(r, fail)
									      : -1;
}

static int take_object(struct json_reader *r, unsigned depth, struct fail *fail)
{
	char name[JSON_PATH];
	int more;

	const bool channel = depth == 2 && strncmp(r->path, "channel", 7) == 0;
	if ((depth == 1 || channel) && keep_head(r, fail) != 0)
		return -1;
	r->at++;
	for (bool first = true; (more = json_more(r, '}', first, fail)) > 0; first = false) {
		const size_t begin = r->used;
		if (json_peek(r, fail) != '"')
			return unexpected(r, "the name of a member", fail);
		if (take_string(r, fail) != 0)
			return -1;
		const size_t n = r->used - begin, length = n < JSON_PATH ? n : JSON_PATH;
		memcpy(name, r->text + begin, length);
		r->used = begin;
		if (json_peek(r, fail) != ':')
			return unexpected(r, "':'", fail);
		r->at++;
		if (take_named(r, name, length, depth, fail) != 0)
			return -1;
	}
	return more;
}

static int take_array(struct json_reader *r, unsigned depth, struct fail *fail)
{
	const bool reals = ends_in(r, ".edges"),
		   counts = ends_in(r, ".values") || ends_in(r, ".index.0");
	struct json_value *const v = new_value(r,
					       reals    ? JSON_REALS
					       : counts ? JSON_COUNTS
							: JSON_ARRAY,
					       fail);
	const size_t array = r->values - 1;
	char name[NUMBER_TEXT];
	uint64_t n;
	int more;

	if (!v)
		return -1;
	r->at++;
	if (v->kind != JSON_ARRAY)
		return json_numbers(r, v, fail);
	for (n = 0; (more = json_more(r, ']', n == 0, fail)) > 0; n++) {
		if (take_named(r, name, number_format_count(name, n), depth, fail) != 0)
			return -1;
	}
	r->value[array].n = n;
	return more;
}

static int take_value(struct json_reader *r, unsigned depth, struct fail *fail)
{
	const int c = json_peek(r, fail);

	if ((c == '{' || c == '[') && depth == JSON_DEPTH)
		return json_bad(r, json_offset(r), fail, "values in values, more than %u deep",
				JSON_DEPTH);
	switch (c) {
	case '{':
		return take_object(r, depth + 1, fail);
	case '[':
		return take_array(r, depth + 1, fail);
	case '"':
		if (!new_value(r, JSON_STRING, fail) || take_string(r, fail) != 0)
			return -1;
		return end_text(r, fail);
	case 't':
		return take_word(r, "true", fail);
	case 'f':
		return take_word(r, "false", fail);
	case 'n':
		return take_word(r, "null", fail);
	default:
		if (c != '-' && !(c >= '0' && c <= '9'))
			return unexpected(r, "a value", fail);
		return take_numeral(r, fail);
	}
}

int json_next(struct json_reader *r, struct fail *fail)
{
	forget(r);
	const int c = json_peek(r, fail);
	if (c < 0)
		return r->broken ? -1 : 0;
	r->documents++;
	r->begin = json_offset(r);
	if (c != '{')
		return unexpected(r, "an object", fail);
	if (take_object(r, 1, fail) != 0)
		return -1;
	for (size_t i = 0; i < r->values; i++) {
		r->value[i].path = r->text + r->value[i].path_at;
		r->value[i].text = r->text + r->value[i].text_at;
	}
	return 1;
}

int json_reread(struct json_reader *r, const char *text, size_t bytes, struct fail *fail)
{
	memcpy(r->buffer, text, bytes);
	r->at = r->buffer;
	r->end = r->buffer + bytes;
	*r->end = 0;
	r->ended = true;
	return json_next(r, fail);
}

struct json_value *json_find(const struct json_reader *r, const char *path)
{
	const size_t length = strlen(path);

	for (size_t i = 0; i < r->values; i++)
		if (r->value[i].path_length == length &&
		    memcmp(r->value[i].path, path, length) == 0)
			return &r->value[i];
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/* json_string: texts: escapes are resolved, and nothing that is not UTF-8 is accepted. */
#include <stdlib.h>
#include <string.h>

#include "document/json_read.h"
#include "base/utf8.h"

static int keep(struct json_reader *r, size_t *used, const void *bytes, size_t n, struct fail *fail)
{
	/* With a zero after it. */
	if (*used + n >= JSON_TEXT)
		return json_bad(r, json_offset(r), fail, "a text of more than %zu bytes",
				JSON_TEXT - 1);
	if (*used + n >= r->text_room) {
		size_t room = r->text_room;
		while (*used + n >= room)
			room *= 2;
		char *const text = realloc(r->text, room);
		if (!text)
			return fail_errno(fail, "%s", r->name);
		r->text = text;
		r->text_room = room;
	}
	memcpy(r->text + *used, bytes, n);
	*used += n;
	r->text[*used] = '\0';
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
static int take_escape(struct json_reader *r, size_t *used, struct fail *fail)
{
	static const char LETTERS[] = "\"\\/bfnrt", MEANING[] = "\"\\/\b\f\n\r\t";
	char utf8[4];

	if (json_fill(r, 12, fail) != 0)
		return -1;
	const unsigned char *const p = r->at;
	const char *const letter = p[1] != 0 ? strchr(LETTERS, p[1]) : NULL;
	if (letter) {
		r->at += 2;
		return keep(r, used, &MEANING[letter - LETTERS], 1, fail);
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
	return keep(r, used, utf8, utf8_of(utf8, (uint32_t)c), fail);
}

int json_string(struct json_reader *r, const char **text, size_t *length, struct fail *fail)
{
	size_t used = 0;

	if (json_take(r, '"', "a text", fail) != 0 || keep(r, &used, "", 0, fail) != 0)
		return -1;
	for (;;) {
		const unsigned char *p = r->at;
		while (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
			p++;
		if (keep(r, &used, r->at, (size_t)(p - r->at), fail) != 0)
			return -1;
		r->at = r->buffer + (p - r->buffer);
		/* A character has at most four bytes. */
		if (r->end - r->at < 4 && json_fill(r, 4, fail) != 0)
			return -1;
		if (*r->at == '"')
			break;
		if (*r->at >= 0x80) {
			const size_t n = utf8_length(r->at, (size_t)(r->end - r->at));
			if (n == 0)
				return json_bad(r, json_offset(r), fail,
						"a text that is not UTF-8");
			if (keep(r, &used, r->at, n, fail) != 0)
				return -1;
			r->at += n;
		} else if (*r->at == '\\') {
			if (take_escape(r, &used, fail) != 0)
				return -1;
		} else if (*r->at < 0x20) {
			return json_unexpected(r, "the end of a text", fail);
		}
	}
	r->at++;
	*text = r->text;
	*length = used;
	return 0;
}

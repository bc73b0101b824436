/* SPDX-License-Identifier: MIT */
/* json: the buffer, texts, tokens; arrays of numbers are in json_numbers.c. */
#include "document/json.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/path.h"
#include "base/utf8.h"

int json_open(struct json *r, const char *path, struct fail *fail)
{
	*r = (struct json){.name = path_shown(path), .fd = -1};
	r->buffer = malloc(JSON_BUFFER + 1);
	if (!r->buffer)
		return fail_errno(fail, "%s", r->name);
	r->at = r->end = r->buffer;
	*r->end = 0;
	r->fd = path_is_stdin(path) ? STDIN_FILENO
				    : open_again(path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
	return r->fd >= 0 ? 0 : fail_errno(fail, "%s", r->name);
}

void json_close(struct json *r)
{
	if (r->fd > STDIN_FILENO)
		close(r->fd); /* for reading only, so close cannot lose anything */
	free(r->buffer);
	free(r->text);
}

int json_bad(const struct json *r, uint64_t offset, struct fail *fail, const char *format, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return fail_set(fail, STATUS_DATA, "%s: document %llu: byte %llu: %s", r->name,
			(unsigned long long)r->documents, (unsigned long long)offset + 1, why);
}

int json_unexpected(const struct json *r, const char *wanted, struct fail *fail)
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

/* ---- the buffer ---- */

/* Reads some bytes, or finds the end. */
static int read_some(struct json *r, struct fail *fail)
{
	const size_t room = JSON_BUFFER - (size_t)(r->end - r->buffer);
	struct pollfd ready = {.fd = r->fd, .events = POLLIN};
	ssize_t n;

	while ((n = read(r->fd, r->end, room)) < 0 && (errno == EINTR || errno == EAGAIN))
		if (errno == EAGAIN && poll(&ready, 1, -1) < 0 && errno != EINTR)
			break;
	if (n < 0)
		return fail_errno(fail, "%s", r->name);
	r->ended = n == 0;
	r->end += n;
	*r->end = 0;
	return 0;
}

int json_fill(struct json *r, size_t want, struct fail *fail)
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

int json_peek(struct json *r, struct fail *fail)
{
	for (;;) {
		while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')
			r->at++;
		if (r->at < r->end || r->ended)
			return 0;
		if (json_fill(r, 1, fail) != 0)
			return -1;
	}
}

/* ---- texts ---- */

/* Adds bytes to the text, and a zero after them that the next ones replace. */
static int add_text(struct json *r, const void *bytes, size_t n, struct fail *fail)
{
	if (r->used + n >= JSON_TEXT)
		return json_bad(r, json_offset(r), fail, "texts of more than %zu bytes", JSON_TEXT);
	if (r->used + n >= r->room) {
		const size_t room = 2 * (r->used + n) + 1024;
		char *const text = realloc(r->text, room);
		if (!text)
			return fail_errno(fail, "%s", r->name);
		r->text = text;
		r->room = room;
	}
	memcpy(r->text + r->used, bytes, n);
	r->used += n;
	r->text[r->used] = '\0';
	return 0;
}

/* Adds the next bytes of the buffer to the text, and takes them. */
static int take_text(struct json *r, size_t n, struct fail *fail)
{
	if (add_text(r, r->at, n, fail) != 0)
		return -1;
	r->at += n;
	return 0;
}

static int take_escape(struct json *r, struct fail *fail)
{
	char utf8[4];
	size_t taken;

	if (json_fill(r, 12, fail) != 0)
		return -1;
	const size_t length = utf8_unescape(utf8, r->at, &taken);
	if (length == 0)
		return json_bad(r, json_offset(r), fail,
				taken > 0 ? "half of a surrogate pair"
					  : "a backslash that JSON does not have");
	r->at += taken;
	return add_text(r, utf8, length, fail);
}

/* Takes a text from its quote on. */
static int take_string(struct json *r, struct fail *fail)
{
	r->at++;
	for (;;) {
		const unsigned char *p = r->at;
		while (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
			p++;
		if (take_text(r, (size_t)(p - r->at), fail) != 0)
			return -1;
		/* A character has at most four bytes. */
		if (r->end - r->at < 4 && json_fill(r, 4, fail) != 0)
			return -1;
		if (*r->at == '"')
			break;
		if (*r->at < 0x20)
			return json_unexpected(r, "the end of a text", fail);
		if (*r->at == '\\') {
			if (take_escape(r, fail) != 0)
				return -1;
		} else if (*r->at >= 0x80) {
			const size_t n = utf8_length(r->at, (size_t)(r->end - r->at));
			if (n == 0)
				return json_bad(r, json_offset(r), fail,
						"a text that is not UTF-8");
			if (take_text(r, n, fail) != 0)
				return -1;
		}
	}
	r->at++;
	return 0;
}

/* ---- tokens ---- */

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

size_t json_numeral(struct json *r, struct fail *fail)
{
	if (json_fill(r, JSON_NUMBER + 1, fail) != 0)
		return 0;
	const unsigned char *const end = number_end(r->at);
	const size_t length = end ? (size_t)(end - r->at) : 0;
	if (*r->at != '-' && !(*r->at >= '0' && *r->at <= '9'))
		json_unexpected(r, "a number", fail);
	else if (!end)
		json_bad(r, json_offset(r), fail, "a number that JSON does not have");
	else if (length > JSON_NUMBER)
		json_bad(r, json_offset(r), fail, "a number of more than %u characters",
			 JSON_NUMBER);
	else
		return length;
	return 0;
}

static int take_word(struct json *r, struct fail *fail)
{
	static const char *const WORDS[] = {"true", "false", "null"};

	if (json_fill(r, 5, fail) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strncmp((const char *)r->at, WORDS[i], strlen(WORDS[i])) == 0)
			return take_text(r, strlen(WORDS[i]), fail);
	return json_unexpected(r, "a value", fail);
}

int json_token(struct json *r, struct json_token *token, struct fail *fail)
{
	size_t length;
	int rc;

	if (json_peek(r, fail) != 0)
		return -1;
	if (r->at == r->end)
		return 0;
	*token = (struct json_token){.kind = (char)*r->at, json_offset(r), r->used};
	switch (token->kind) {
	case '{':
	case '}':
	case '[':
	case ']':
	case ':':
	case ',':
		r->may_end = token->kind == '[';
		rc = take_text(r, 1, fail);
		break;
	case '"':
		rc = take_string(r, fail);
		break;
	case 't':
	case 'f':
	case 'n':
		token->kind = JSON_WORD;
		rc = take_word(r, fail);
		break;
	default:
		if (token->kind != '-' && !(token->kind >= '0' && token->kind <= '9'))
			return json_unexpected(r, "a value", fail);
		token->kind = JSON_NUMERAL;
		length = json_numeral(r, fail);
		rc = length > 0 ? take_text(r, length, fail) : -1;
	}
	token->length = r->used++ - token->text;
	return rc == 0 ? 1 : -1;
}

int json_begin(struct json *r, struct fail *fail)
{
	if (json_peek(r, fail) != 0)
		return -1;
	if (r->at == r->end)
		return 0;
	r->documents++;
	r->begin = json_offset(r);
	return *r->at == '{' ? 1 : json_unexpected(r, "an object", fail);
}

/* SPDX-License-Identifier: MIT */
/*
 * json_read: the buffer, and all kinds of values but texts (json_string.c) and arrays of numbers
 * (json_numbers.c).
 */
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
#include "base/xxh64.h"

#define TEXT_ROOM 256u /* at first */

int json_open(struct json_reader **out, const char *path, struct fail *fail)
{
	const bool standard = strcmp(path, "-") == 0;
	const char *const name = standard ? "standard input" : path;
	struct json_reader *const r = calloc(1, sizeof(*r));

	*out = NULL;
	if (!r)
		return fail_errno(fail, "%s", name);
	r->name = malloc(strlen(name) + 1);
	r->buffer = malloc(JSON_BUFFER + 1);
	r->text = malloc(TEXT_ROOM);
	r->text_room = TEXT_ROOM;
	r->fd = -1;
	if (!r->name || !r->buffer || !r->text) {
		fail_errno(fail, "%s", name);
		json_close(r);
		return -1;
	}
	memcpy(r->name, name, strlen(name) + 1);
	r->at = r->end = r->buffer;
	*r->end = 0;
	r->fd = standard ? STDIN_FILENO : open_again(path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
	if (r->fd < 0) {
		fail_errno(fail, "%s", name);
		json_close(r);
		return -1;
	}
	struct stat st;
	if (fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode))
		r->size = (uint64_t)st.st_size;
	*out = r;
	return 0;
}

void json_close(struct json_reader *r)
{
	if (!r)
		return;
	if (r->fd > STDIN_FILENO)
		close(r->fd); /* for reading only, so close cannot lose anything */
	free(r->name);
	free(r->buffer);
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

/* Reads some bytes, or finds the end. */
static int read_some(struct json_reader *r, struct fail *fail)
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

int json_peek(struct json_reader *r, int *next, struct fail *fail)
{
	for (;;) {
		while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')
			r->at++;
		if (r->at < r->end || r->ended)
			break;
		if (json_fill(r, 1, fail) != 0)
			return -1;
	}
	*next = r->at < r->end ? *r->at : -1;
	return 0;
}

int json_unexpected(const struct json_reader *r, const char *wanted, struct fail *fail)
{
	if (r->at == r->end)
		return json_bad(r, json_offset(r), fail, "%s expected, not the end of the input",
				wanted);
	if (*r->at > ' ' && *r->at < 0x7f)
		return json_bad(r, json_offset(r), fail, "%s expected, not '%c'", wanted, *r->at);
	return json_bad(r, json_offset(r), fail, "%s expected, not the byte 0x%02x", wanted,
			*r->at);
}

int json_take(struct json_reader *r, int c, const char *wanted, struct fail *fail)
{
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	if (next != c)
		return json_unexpected(r, wanted, fail);
	r->at++;
	return 0;
}

int json_document(struct json_reader *r, struct fail *fail)
{
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	if (next < 0)
		return 0;
	r->documents++;
	return 1;
}

/* ---- objects and arrays ---- */

static int enter(struct json_reader *r, struct fail *fail)
{
	if (r->depth == JSON_DEPTH)
		return json_bad(r, json_offset(r), fail, "values in values, more than %u deep",
				JSON_DEPTH);
	r->level[r->depth++] = (struct json_level){.first = true, .names = r->names};
	return 0;
}

/* 1: a member or element follows. 0: the byte was `close`, and that level was left. */
static int go_on(struct json_reader *r, int close, const char *wanted, struct fail *fail)
{
	struct json_level *const level = &r->level[r->depth - 1];
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	if (next == close) {
		r->at++;
		r->names = level->names;
		r->depth--;
		return 0;
	}
	if (!level->first && next != ',')
		return json_unexpected(r, wanted, fail);
	r->at += !level->first;
	level->first = false;
	return 1;
}

int json_object(struct json_reader *r, struct fail *fail)
{
	return json_take(r, '{', "an object", fail) == 0 ? enter(r, fail) : -1;
}

int json_array(struct json_reader *r, struct fail *fail)
{
	return json_take(r, '[', "an array", fail) == 0 ? enter(r, fail) : -1;
}

int json_element(struct json_reader *r, struct fail *fail)
{
	return go_on(r, ']', "',' or ']'", fail);
}

/* The name that was just taken must be new in its object. */
static int check_name(struct json_reader *r, uint64_t offset, size_t length, struct fail *fail)
{
	struct xxh64 h;

	xxh64_begin(&h);
	xxh64_add(&h, (const unsigned char *)r->text, length);
	const uint64_t sum = xxh64_end(&h);
	for (size_t i = r->level[r->depth - 1].names; i < r->names; i++)
		if (r->known[i] == sum)
			return json_bad(r, offset, fail, "a name that the object has already");
	if (r->names == JSON_NAMES)
		return json_bad(r, offset, fail, "more than %u members", JSON_NAMES);
	r->known[r->names++] = sum;
	return 0;
}

int json_member(struct json_reader *r, const char **name, struct fail *fail)
{
	const int more = go_on(r, '}', "',' or '}'", fail);
	size_t length;
	int next;

	if (more <= 0)
		return more;
	if (json_peek(r, &next, fail) != 0)
		return -1;
	const uint64_t offset = json_offset(r);
	if (next != '"')
		return json_unexpected(r, "the name of a member", fail);
	if (json_string(r, name, &length, fail) != 0 || check_name(r, offset, length, fail) != 0 ||
	    json_take(r, ':', "':'", fail) != 0)
		return -1;
	/* A name with a zero byte is none that the caller asks for. */
	if (strlen(*name) != length)
		*name = "";
	return 1;
}

/* ---- the other values ---- */

/* Skips the digits of a number, of which there must be one; NULL: there is none. */
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

int json_number(struct json_reader *r, const char **text, struct fail *fail)
{
	int next;

	if (json_peek(r, &next, fail) != 0 || json_fill(r, JSON_NUMBER + 1, fail) != 0)
		return -1;
	if (next != '-' && !(next >= '0' && next <= '9'))
		return json_unexpected(r, "a number", fail);
	const unsigned char *const end = number_end(r->at);
	if (!end)
		return json_bad(r, json_offset(r), fail, "a number that JSON does not have");
	const size_t length = (size_t)(end - r->at);
	if (length > JSON_NUMBER)
		return json_bad(r, json_offset(r), fail, "a number of more than %u characters",
				JSON_NUMBER);
	memcpy(r->number, r->at, length);
	r->number[length] = '\0';
	r->at += length;
	*text = r->number;
	return 0;
}

/* Takes true, false or null. */
static int take_word(struct json_reader *r, const char *word, const char *wanted, struct fail *fail)
{
	const size_t length = strlen(word);

	if (json_fill(r, length, fail) != 0)
		return -1;
	if (strncmp((const char *)r->at, word, length) != 0)
		return json_unexpected(r, wanted, fail);
	r->at += length;
	return 0;
}

int json_bool(struct json_reader *r, bool *value, struct fail *fail)
{
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	*value = next == 't';
	return take_word(r, next == 't' ? "true" : "false", "true or false", fail);
}

int json_skip(struct json_reader *r, struct fail *fail)
{
	const unsigned outside = r->depth;
	const char *unused;
	size_t length;
	int next, more;

	/*
	 * Not recursive. Elements of arrays and members of objects alike are values; the levels
	 * know which they are.
	 */
	bool object[JSON_DEPTH];
	do {
		if (json_peek(r, &next, fail) != 0)
			return -1;
		switch (next) {
		case '{':
		case '[':
			if ((next == '{' ? json_object(r, fail) : json_array(r, fail)) != 0)
				return -1;
			object[r->depth - 1] = next == '{';
			break;
		case '"':
			if (json_string(r, &unused, &length, fail) != 0)
				return -1;
			break;
		case 't':
		case 'f':
		case 'n':
			if (take_word(r,
				      next == 't'   ? "true"
				      : next == 'f' ? "false"
						    : "null",
				      "a value", fail) != 0)
				return -1;
			break;
		default:
			if (next != '-' && !(next >= '0' && next <= '9'))
				return json_unexpected(r, "a value", fail);
			if (json_number(r, &unused, fail) != 0)
				return -1;
		}
		/* Levels that end here are left, up to one that has another value. */
		for (more = 0; more == 0 && r->depth > outside;) {
			more = object[r->depth - 1] ? json_member(r, &unused, fail)
						    : json_element(r, fail);
			if (more < 0)
				return -1;
		}
	} while (more > 0);
	return 0;
}

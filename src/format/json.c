/* SPDX-License-Identifier: MIT */
/* json: the buffer, plain values, brackets, lists of numbers. */
#include "format/json.h"

#include <ctype.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "base/inline.h"
#include "base/minmax.h"
#include "base/path.h"
#include "base/utf8.h"
#include "bins/edges.h"
#include "bins/exact.h"
#include "format/words.h"

#define AHEAD (JSON_NUMBER + 1)      /* enough for a whole number, escape or word */
#define PLAIN 32u                    /* more than a plain number and its comma need */
#define MOST ((size_t)BINS_MAX + 2)  /* longest list: all bins, under and over */
#define PAIRS_MOST ((size_t)1 << 22) /* longest list of pairs: all cells of a digest of f64 */

int json_open(struct json *r, const char *path, struct fail *fail)
{
	*r = (struct json){.name = path_shown(path), .fd = -1};
	snprintf(r->label, JSON_LABEL, "%.*s", PATH_MAX, r->name);
	r->buffer = malloc(JSON_BUFFER + 1);
	if (!r->buffer)
		return fail_errno(fail, "%s", r->name);
	r->at = r->end = r->buffer;
	*r->end = 0;
	r->fd = path_is_stdin(path) ? STDIN_FILENO
				    : open_again(path, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
	return r->fd < 0 ? fail_errno(fail, "%s", r->name) : 0;
}

void json_memory(struct json *r, char *text, size_t length, uint64_t offset)
{
	*r = (struct json){.fd = -1, .ended = true, .offset = offset, .text = text};
	r->capacity = SIZE_MAX;
	r->buffer = r->at = (unsigned char *)text;
	r->end = r->at + length;
}

void json_close(struct json *r)
{
	if (r->fd > STDIN_FILENO)
		close(r->fd); /* read-only, so close cannot lose data */
	free(r->buffer);
	free(r->text);
}

/* ---- messages ---- */

int json_bad(const struct json *r, struct fail *fail, const char *format, ...)
{
	char why[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return fail_set(fail, STATUS_DATA, "%s%sbyte %llu: %s", r->label, r->name ? ": " : "",
			(unsigned long long)(r->offset + (uint64_t)(r->at - r->buffer) + 1), why);
}

int json_unexpected(const struct json *r, const char *wanted, struct fail *fail)
{
	const unsigned c = *r->at;

	if (r->at == r->end)
		return json_bad(r, fail, "expected %s, but the input ends", wanted);
	return json_bad(r, fail,
			c > ' ' && c < 0x7f ? "expected %s, not '%c'"
					    : "expected %s, not the byte 0x%02x",
			wanted, c);
}

/* ---- the buffer ---- */

/* Read some bytes, or find the end. */
static int read_some(struct json *r, struct fail *fail)
{
	const size_t rest = JSON_BUFFER - (size_t)(r->end - r->buffer);
	struct pollfd ready = {.fd = r->fd, .events = POLLIN};
	ssize_t n;

	while ((n = read(r->fd, r->end, rest)) < 0 && (errno == EINTR || errno == EAGAIN))
		if (errno == EAGAIN && poll(&ready, 1, -1) < 0 && errno != EINTR)
			break;
	if (n < 0)
		return fail_errno(fail, "%s", r->name);
	r->ended = n == 0;
	r->end += n;
	*r->end = 0;
	return 0;
}

/* Make AHEAD bytes available at r->at, unless the input ends first. */
static int look_ahead(struct json *r, struct fail *fail)
{
	const size_t left = (size_t)(r->end - r->at);

	if (left >= AHEAD || r->ended)
		return 0;
	memmove(r->buffer, r->at, left);
	r->offset += (uint64_t)(r->at - r->buffer);
	r->at = r->buffer;
	r->end = r->buffer + left;
	while (r->end - r->at < (ptrdiff_t)AHEAD && !r->ended)
		if (read_some(r, fail) != 0)
			return -1;
	return 0;
}

static inline const unsigned char *skip_white(const unsigned char *p)
{
	while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
		p++;
	return p;
}

int json_peek(struct json *r, struct fail *fail)
{
	do {
		if (look_ahead(r, fail) != 0)
			return -1;
		r->at += skip_white(r->at) - r->at;
	} while (r->end - r->at < (ptrdiff_t)AHEAD && !r->ended);
	return *r->at;
}

int json_begin(struct json *r, struct fail *fail)
{
	static const char MARK[] = "\xef\xbb\xbf"; /* some programs write it before UTF-8 */

	r->depth = 0;
	if (json_peek(r, fail) < 0)
		return -1;
	/* A zero follows the last byte, so nothing after it is compared. */
	if (strncmp((const char *)r->at, MARK, sizeof(MARK) - 1) == 0) {
		r->at += sizeof(MARK) - 1;
		if (json_peek(r, fail) < 0)
			return -1;
	}
	if (r->at < r->end && r->documents++ > 0)
		snprintf(r->label, JSON_LABEL, "%.*s, document %llu", PATH_MAX, r->name,
			 (unsigned long long)r->documents);
	return r->at < r->end;
}

int json_end(struct json *r, struct fail *fail)
{
	if (json_peek(r, fail) < 0)
		return -1;
	return r->at == r->end ? 0 : json_unexpected(r, "the end", fail);
}

int json_mark(struct json *r, const char *marks, struct fail *fail)
{
	const int mark = json_peek(r, fail);
	char wanted[16];

	if (mark < 0)
		return -1;
	if (mark > 0 && strchr(marks, mark))
		return *r->at++;
	snprintf(wanted, sizeof(wanted), marks[1] != 0 ? "'%c' or '%c'" : "'%c'", marks[0],
		 marks[1]);
	return json_unexpected(r, wanted, fail);
}

/* ---- texts ---- */

/* Append bytes to the text, with a zero that the next bytes overwrite. */
static int add_text(struct json *r, const void *bytes, size_t n, struct fail *fail)
{
	if (r->used + n >= r->capacity) {
		const size_t capacity = lesser(2 * (r->used + n) + 1024, JSON_TEXT);
		if (r->used + n >= JSON_TEXT)
			return json_bad(r, fail, "the texts take more than %zu bytes", JSON_TEXT);
		char *const text = realloc(r->text, capacity);
		if (!text)
			return fail_errno(fail, "%s", r->name);
		r->text = text;
		r->capacity = capacity;
	}
	memmove(r->text + r->used, bytes, n);
	r->used += n;
	r->text[r->used] = '\0';
	return 0;
}

/* Consume the next bytes of the buffer and append them to the text. */
static int take_text(struct json *r, size_t n, struct fail *fail)
{
	if (add_text(r, r->at, n, fail) != 0)
		return -1;
	r->at += n;
	return 0;
}

/* Called at a backslash. The zero after the bytes in the buffer ends any run of digits. */
static int take_escape(struct json *r, struct fail *fail)
{
	char utf8[4];
	size_t taken;
	const size_t length = utf8_unescape(utf8, r->at, &taken);

	if (taken == 0)
		return json_bad(r, fail, "this backslash begins no escape of JSON");
	if (length == 0 || utf8[0] == '\0')
		return take_text(r, taken, fail);
	r->at += taken;
	return add_text(r, utf8, length, fail);
}

/* Consume a string, starting at its quote. */
static int take_string(struct json *r, struct fail *fail)
{
	for (r->at++;;) {
		const unsigned char *p = r->at;
		while (*p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
			p++;
		if (take_text(r, (size_t)(p - r->at), fail) != 0 || look_ahead(r, fail) != 0)
			return -1;
		const size_t more = utf8_length(r->at, (size_t)(r->end - r->at));
		if (*r->at == '"')
			return r->at++, 0;
		if (*r->at == '\\' ? take_escape(r, fail) != 0
				   : *r->at < 0x20 || more == 0 || take_text(r, more, fail) != 0)
			return json_unexpected(r, "the end of a text", fail);
	}
}

/* ---- numbers and words ---- */

/* Skip one or more digits; NULL: there are none. */
static const unsigned char *digits(const unsigned char *p)
{
	const unsigned char *const begin = p;

	while (*p >= '0' && *p <= '9')
		p++;
	return p > begin ? p : NULL;
}

/* Length of the number at r->at, or 0 with *fail set. */
static size_t numeral(struct json *r, struct fail *fail)
{
	const unsigned char *p = r->at + (*r->at == '-');

	p = *p == '0' ? p + 1 : digits(p);
	if (p && *p == '.')
		p = digits(p + 1);
	if (p && (*p == 'e' || *p == 'E'))
		p = digits(p + 1 + (p[1] == '-' || p[1] == '+'));
	if (p && p - r->at <= (ptrdiff_t)JSON_NUMBER)
		return (size_t)(p - r->at);
	if (p)
		json_bad(r, fail, "a number has more than %u characters", JSON_NUMBER);
	else
		json_unexpected(r, "a JSON number", fail);
	return 0;
}

int json_plain(struct json *r, size_t *at, struct fail *fail)
{
	static const char *const WORDS[] = {"true", "false", "null"};
	const int c = json_peek(r, fail);
	size_t length = 0;
	int rc = -1;

	*at = r->used;
	if (c == '"') {
		rc = take_string(r, fail);
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		length = numeral(r, fail);
	} else if (c >= 0) {
		for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
			if (strncmp((const char *)r->at, WORDS[i], strlen(WORDS[i])) == 0)
				length = strlen(WORDS[i]);
		if (length == 0)
			json_unexpected(r, "a value", fail);
	}
	if (length > 0)
		rc = take_text(r, length, fail);
	r->used++;
	return rc;
}

int json_string(struct json *r, const char *wanted, size_t *at, struct fail *fail)
{
	const int c = json_peek(r, fail);

	if (c != '"')
		return c < 0 ? -1 : json_unexpected(r, wanted, fail);
	return json_plain(r, at, fail);
}

int json_whole(struct json *r, const char *what, size_t *at, uint64_t *n, struct fail *fail)
{
	const int c = json_peek(r, fail);
	bool fits = false;

	if (c < 0 || json_plain(r, at, fail) != 0)
		return -1;
	struct words digits = {r->text + *at, r->text + r->used - 1};
	if (c == '"' || !words_number(&digits, n, &fits) || !fits || digits.at < digits.end)
		return json_bad(r, fail, "%s is %.60s, not a whole number below 2^64", what,
				c == '"' ? "text" : r->text + *at);
	return 0;
}

/* ---- brackets ---- */

static int leave(struct json *r)
{
	r->depth--;
	r->objects >>= 1;
	return 0;
}

int json_enter(struct json *r, char open, struct fail *fail)
{
	if (r->depth == JSON_DEPTH)
		return json_bad(r, fail, "brackets are nested more than %u deep", JSON_DEPTH);
	if (json_mark(r, (char[]){open, '\0'}, fail) < 0)
		return -1;
	r->depth++;
	r->objects = r->objects << 1 | (open == '{');
	const int c = json_peek(r, fail);
	if (c != (open == '{' ? '}' : ']'))
		return c < 0 ? -1 : 1;
	r->at++;
	return leave(r);
}

int json_next(struct json *r, struct fail *fail)
{
	const int mark = json_mark(r, r->objects & 1 ? ",}" : ",]", fail);

	return mark < 0 ? -1 : mark == ',' ? 1 : leave(r);
}

int json_name(struct json *r, size_t *at, struct fail *fail)
{
	return json_string(r, "a name", at, fail) == 0 && json_mark(r, ":", fail) > 0 ? 0 : -1;
}

int json_skip(struct json *r, struct fail *fail)
{
	const unsigned depth = r->depth;
	const size_t used = r->used;
	size_t at;
	int more;

	do {
		const int open = json_peek(r, fail);
		more = open < 0                     ? -1
		       : open == '{' || open == '[' ? json_enter(r, (char)open, fail)
						    : json_plain(r, &at, fail);
		while (more == 0 && r->depth > depth)
			more = json_next(r, fail);
		if (more > 0 && r->objects & 1 && json_name(r, &at, fail) != 0)
			return -1;
		r->used = used;
	} while (more > 0);
	return more;
}

/* ---- lists ---- */

/*
 * Read a number of up to 19 digits without an exponent, and without a point if it is a count, and
 * the comma directly after it. NULL: the text has another form.
 */
INLINE const unsigned char *plain_number(const unsigned char *p, bool real, uint64_t *to)
{
	const bool negative = real && *p == '-';
	const unsigned char *const begin = p += negative;
	uint64_t n = 0, digit;

	for (; (digit = (uint64_t)*p - '0') <= 9; p++)
		n = n * 10 + digit;
	const unsigned char *const point = p;
	if (real && *p == '.')
		for (p++; (digit = (uint64_t)*p - '0') <= 9; p++)
			n = n * 10 + digit;
	const bool fraction = p > point;
	if (*p != ',' || point == begin || p == point + 1 || (*begin == '0' && point > begin + 1) ||
	    p - begin > 19 + fraction)
		return NULL;
	*to = n;
	if (real) {
		const int power = fraction ? (int)(point + 1 - p) : 0;
		const double x = exact_double(exact_decimal(n, power)),
			     signed_x = negative ? -x : x;
		memcpy(to, &signed_x, sizeof(*to));
	}
	return p + 1;
}

/* Consume plain numbers, at most `most`. Return how many. */
INLINE size_t take_plain(struct json *r, bool real, uint64_t *to, size_t most)
{
	const unsigned char *p = r->at, *next;
	size_t n = 0;

	while (n < most) {
		const unsigned char *const begin = skip_white(p);
		if (r->end - begin < (ptrdiff_t)PLAIN ||
		    !(next = plain_number(begin, real, &to[n])))
			break;
		p = next;
		n++;
	}
	r->at += p - r->at;
	return n;
}

/* Consume any JSON number and the mark after it, like json_next. */
static int take_number(struct json *r, bool real, uint64_t *to, struct fail *fail)
{
	static const int128_t SURE = (int128_t)1 << 53; /* smaller integers are exact */
	struct number n;
	size_t length;

	if (json_peek(r, fail) < 0 || (length = numeral(r, fail)) == 0)
		return -1;
	const char *const text = (const char *)r->at;
	const bool finite = number_parse(&n, text, length) == 0;
	if (real && !finite)
		return json_bad(r, fail, "a number exceeds the largest binary64");
	if (!real && (!finite || !n.exact || n.integer < 0 || n.integer > (int128_t)UINT64_MAX ||
		      (n.integer > SURE && strspn(text, "0123456789") < length)))
		return json_bad(r, fail,
				"a count must be a whole number from 0 to 2^64 - 1, in digits "
				"alone if it is above 2^53");
	*to = (uint64_t)n.integer;
	if (real)
		memcpy(to, &n.value, sizeof(*to));
	r->at += length;
	return json_next(r, fail);
}

void *json_list(struct json *r, int more, enum json_numbers what, size_t *n, struct fail *fail)
{
	size_t most = (MOST >> 18) + 1; /* doubled 18 times, it is just above MOST */
	uint64_t *list = malloc(most * sizeof(*list)), *longer;

	*n = 0;
	if (!list)
		more = fail_errno(fail, "%s", r->name);
	while (more > 0) {
		*n += what == JSON_REALS ? take_plain(r, true, list + *n, most - *n)
					 : take_plain(r, false, list + *n, most - *n);
		if (*n < most)
			more = take_number(r, what == JSON_REALS, list + (*n)++, fail);
		else if (*n > MOST)
			more = json_bad(r, fail, "a list has more than %zu numbers", MOST);
		else if (!(longer = realloc(list, 2 * most * sizeof(*list))))
			more = fail_errno(fail, "%s", r->name);
		else {
			list = longer;
			most *= 2;
		}
	}
	if (more == 0)
		return list;
	free(list);
	return NULL;
}

/* ---- strings of pairs ---- */

/* Consume digits. False: there are none, or too many. */
static bool take_count(struct json *r, uint64_t *to)
{
	struct words digits = {(const char *)r->at, (const char *)r->end};
	bool fits;
	const bool is_number = words_number(&digits, to, &fits);

	r->at += digits.at - (const char *)r->at;
	return is_number && fits;
}

static bool take_pair(struct json *r, struct json_pair *pair)
{
	const bool negative = *r->at == '-';
	uint64_t size;

	r->at += negative;
	if (!take_count(r, &size) || size > INT64_MAX || *r->at != ' ')
		return false;
	r->at++;
	pair->key = negative ? -(int64_t)size : (int64_t)size;
	return take_count(r, &pair->count);
}

struct json_pair *json_pairs(struct json *r, size_t *n, struct fail *fail)
{
	size_t most = 64;
	struct json_pair *list = malloc(most * sizeof(*list)), *more;
	int mark = ',';

	*n = 0;
	if (!list)
		mark = fail_errno(fail, "%s", r->name);
	else if (*++r->at == '"')
		mark = *r->at++;
	while (mark == ',') {
		if (*n < most) {
			mark = -1;
			if (look_ahead(r, fail) != 0)
				break;
			if (!take_pair(r, &list[(*n)++]) || (*r->at != ',' && *r->at != '"'))
				json_unexpected(r, "cells and counts", fail);
			else
				mark = *r->at++;
		} else if (*n >= PAIRS_MOST) {
			mark = json_bad(r, fail, "a list has more than %zu cells", PAIRS_MOST);
		} else if (!(more = realloc(list, 2 * most * sizeof(*list)))) {
			mark = fail_errno(fail, "%s", r->name);
		} else {
			list = more;
			most *= 2;
		}
	}
	if (mark == '"')
		return list;
	free(list);
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/* edges_arg: text and .npy to rising numbers, and messages that name the place of an error. */
#include "cli/edges_arg.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/again.h"
#include "bins/number.h"
#include "bins/sample.h"
#include "input/header.h"

#define FILE_MAX ((size_t)64 << 20) /* 60 bytes for each of the most numbers that there may be */
#define TOO_MANY "more than 1048577 edges (2^20 bins)"
#define SHOWN 40 /* characters of a text that is not a number */

/* What is being read, and what was found. */
struct reading {
	const char *what; /* before the colon of a message */
	bool is_file;     /* comments are allowed, and messages name lines */
	double *edges;    /* room for `room` of them */
	size_t count, room;
	size_t line; /* of a text; 0: there are none */
	struct fail *fail;
};

/* "--edges @FILE: line 3: what is wrong with the number there". */
static int refuse(const struct reading *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int refuse(const struct reading *r, const char *format, ...)
{
	const bool lines = r->line > 0 && r->is_file;
	char why[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return fail_set(r->fail, STATUS_USAGE, "%s: %s %zu: %s", r->what, lines ? "line" : "number",
			lines ? r->line : r->count + 1, why);
}

static int add(struct reading *r, double x)
{
	char before[NUMBER_TEXT], now[NUMBER_TEXT];

	if (!isfinite(x))
		return refuse(r, "is not finite");
	if (r->count == EDGES_MAX)
		return refuse(r, TOO_MANY);
	if (r->count > 0 && !(r->edges[r->count - 1] < x)) {
		number_format(before, r->edges[r->count - 1]);
		number_format(now, x);
		return refuse(r, "edges must rise, and %s is not above %s", now, before);
	}
	if (r->count == r->room) {
		const size_t room = r->room ? 2 * r->room : 64;
		double *const more = realloc(r->edges, room * sizeof(*more));
		if (!more)
			return fail_errno(r->fail, "%s", r->what);
		r->edges = more;
		r->room = room;
	}
	r->edges[r->count++] = x + 0.0; /* -0 is 0 */
	return 0;
}

/* ---- text ---- */

static int add_text(struct reading *r, const char *text, size_t length)
{
	struct number n;
	char shown[SHOWN + 1];
	size_t i = 0;

	if (number_parse(&n, text, length) == 0)
		return add(r, n.value);
	for (; i < length && i < SHOWN; i++)
		shown[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
	shown[i] = '\0';
	return refuse(r, "'%s%s' is not a finite number", shown, length > SHOWN ? "..." : "");
}

/* Is it a character that ends a number? */
static bool ends(const struct reading *r, char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' ||
	       (c == '#' && r->is_file);
}

static int parse_text(struct reading *r, const char *text, size_t size)
{
	bool comma = false; /* since the last number */

	r->line = 1;
	for (size_t i = 0; i < size;) {
		const size_t start = i;
		while (i < size && !ends(r, text[i]))
			i++;
		if (i > start) {
			if (add_text(r, text + start, i - start) != 0)
				return -1;
			comma = false;
			continue;
		}
		if (text[i] == ',' && (comma || r->count == 0))
			return refuse(r, "no number before the comma");
		comma |= text[i] == ',';
		if (text[i] == '#')
			while (i + 1 < size && text[i + 1] != '\n')
				i++;
		r->line += text[i++] == '\n';
	}
	if (comma)
		return fail_set(r->fail, STATUS_USAGE, "%s: no number after the last comma",
				r->what);
	return 0;
}

/* ---- .npy ---- */

static double sample_value(const unsigned char *p, const struct sample_type *t)
{
	const unsigned spare = 64 - 8 * t->bytes;
	uint64_t bits = 0;
	float f;
	double d;

	for (uint32_t k = 0; k < t->bytes; k++)
		bits |= (uint64_t)p[k] << 8 * (t->big ? t->bytes - 1 - k : k);
	if (t->kind == SAMPLE_UNSIGNED)
		return (double)bits;
	if (t->kind == SAMPLE_SIGNED)
		return (double)((int64_t)(bits << spare) >> spare);
	if (t->bytes == 2)
		return sample_half(t, (uint32_t)bits);
	const uint32_t low = (uint32_t)bits;
	memcpy(&f, &low, sizeof(f));
	memcpy(&d, &bits, sizeof(d));
	return t->bytes == 4 ? (double)f : d;
}

static int parse_npy(struct reading *r, const unsigned char *bytes, size_t size)
{
	struct header_scan scan;

	if (header_parse(&scan, bytes, size) != HEADER_FOUND)
		return fail_set(r->fail, STATUS_USAGE, "%s: %s", r->what, scan.why);
	const struct header *const h = &scan.header;
	const uint64_t count = h->bytes / h->type.bytes;
	if (h->axes != 1 || h->channels != 1)
		return fail_set(r->fail, STATUS_USAGE,
				"%s: a .npy file must be real numbers in one dimension", r->what);
	if (count > EDGES_MAX)
		return fail_set(r->fail, STATUS_USAGE, "%s: " TOO_MANY, r->what);
	if (size - h->begin != h->bytes)
		return fail_set(r->fail, STATUS_USAGE,
				"%s: %llu numbers of %s take %llu bytes, and there are %llu",
				r->what, (unsigned long long)count, h->type.name,
				(unsigned long long)h->bytes,
				(unsigned long long)(size - h->begin));
	for (size_t i = 0; i < count; i++)
		if (add(r, sample_value(bytes + h->begin + i * h->type.bytes, &h->type)) != 0)
			return -1;
	return 0;
}

int edges_arg_parse(double **edges, size_t *count, const char *what, const unsigned char *bytes,
		    size_t size, int is_file, struct fail *fail)
{
	struct reading r = {.what = what, .is_file = is_file != 0, .fail = fail};
	const bool npy = is_file && size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0;
	int rc = npy ? parse_npy(&r, bytes, size) : parse_text(&r, (const char *)bytes, size);

	if (rc == 0 && r.count < 2)
		rc = fail_set(fail, STATUS_USAGE, "%s: %zu edge%s, where two or more are needed",
			      what, r.count, r.count == 1 ? "" : "s");
	if (rc != 0) {
		free(r.edges);
		r.edges = NULL;
	}
	*edges = r.edges;
	*count = rc == 0 ? r.count : 0;
	return rc;
}

/* ---- the file ---- */

/* Reads all of a file, up to FILE_MAX. The caller frees *bytes, also after a failure. */
static int slurp(unsigned char **bytes, size_t *size, int fd, const char *what, struct fail *fail)
{
	size_t room = 0;
	ssize_t n = 1;

	for (*size = 0; n > 0 && *size <= FILE_MAX; *size += (size_t)n) {
		if (*size == room) {
			room = room ? 2 * room : (size_t)64 << 10;
			unsigned char *const more = realloc(*bytes, room);
			if (!more)
				return fail_errno(fail, "%s", what);
			*bytes = more;
		}
		do
			n = read(fd, *bytes + *size, room - *size);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return fail_errno(fail, "%s", what);
	}
	if (*size > FILE_MAX)
		return fail_set(fail, STATUS_USAGE, "%s: longer than %zu MiB", what,
				FILE_MAX >> 20);
	return 0;
}

int edges_arg_read(double **edges, size_t *count, const char *argument, struct fail *fail)
{
	char what[4200];
	unsigned char *bytes = NULL;
	size_t size;

	*edges = NULL;
	*count = 0;
	if (argument[0] != '@')
		return edges_arg_parse(edges, count, "--edges", (const unsigned char *)argument,
				       strlen(argument), 0, fail);
	snprintf(what, sizeof(what), "--edges %.4100s", argument);
	const int fd = open_again(argument + 1, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
	if (fd < 0)
		return fail_errno(fail, "%s", what);
	int rc = slurp(&bytes, &size, fd, what, fail);
	close(fd);
	if (rc == 0)
		rc = edges_arg_parse(edges, count, what, bytes, size, 1, fail);
	free(bytes);
	return rc;
}

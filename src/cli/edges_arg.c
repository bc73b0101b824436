/* SPDX-License-Identifier: MIT */
/* edges_arg: turns text into increasing numbers; error messages give the position. */
#include "cli/edges_arg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/again.h"
#include "bins/number.h"

#define FILE_MAX ((size_t)64 << 20) /* maximum file size: over 60 bytes per number */
#define SHOWN 40                    /* characters of an invalid number shown in a message */

struct reading {
	const char *what; /* prefix of messages */
	double *edges;
	size_t count;
	struct fail *fail;
};

/* "--edges @FILE: number 3" */
#define WHICH(r) (r)->what, (r)->count + 1

static bool is_infinite(const char *text, size_t length)
{
	const size_t sign = length > 0 && (*text == '-' || *text == '+');

	return (length - sign == 3 && strncasecmp(text + sign, "inf", 3) == 0) ||
	       (length - sign == 8 && strncasecmp(text + sign, "infinity", 8) == 0);
}

static int add_edge(struct reading *r, const char *text, size_t length)
{
	struct number n;
	char before[NUMBER_TEXT], now[NUMBER_TEXT];

	if (number_parse(&n, text, length) != 0)
		return fail_set(r->fail, STATUS_USAGE,
				"%s: number %zu is '%.*s', which is not a finite number%s",
				WHICH(r), (int)(length < SHOWN ? length : SHOWN), text,
				is_infinite(text, length)
					? "; --flow writes the samples beyond the outer edges"
					: "");
	if (r->count == EDGES_MAX)
		return fail_set(r->fail, STATUS_USAGE,
				"%s: there are more than 1048577 edges (2^20 bins)", r->what);
	if (r->count > 0 && !(r->edges[r->count - 1] < n.value)) {
		number_format(before, r->edges[r->count - 1]);
		number_format(now, n.value);
		return fail_set(r->fail, STATUS_USAGE,
				"%s: number %zu is %s, which is not above %s; edges must increase",
				WHICH(r), now, before);
	}
	r->edges[r->count++] = n.value + 0.0; /* -0 is 0 */
	return 0;
}

static bool ends(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == '#';
}

static int read_numbers(struct reading *r, const char *text, size_t size)
{
	bool comma = true; /* a number must follow, as at the start or after a comma */

	for (size_t i = 0; i < size;) {
		const size_t start = i;
		while (i < size && !ends(text[i]))
			i++;
		if (i > start) {
			if (add_edge(r, text + start, i - start) != 0)
				return -1;
			comma = false;
			continue;
		}
		if (text[i] == ',' && comma)
			break;
		comma |= text[i] == ',';
		if (text[i] == '#')
			while (i + 1 < size && text[i + 1] != '\n')
				i++;
		i++;
	}
	if (comma || r->count < 2)
		return fail_set(
			r->fail, STATUS_USAGE,
			"%s: number %zu is missing; edges are at least two numbers, such as 0,1,10",
			WHICH(r));
	return 0;
}

int edges_arg_parse(double **edges, size_t *count, const char *what, const char *text, size_t size,
		    struct fail *fail)
{
	/* A separator follows each number except the last. */
	const size_t half = size / 2 + 1, most = half < EDGES_MAX ? half : EDGES_MAX;
	struct reading r = {.what = what, .fail = fail, .edges = malloc(most * sizeof(double))};
	const int rc = r.edges ? read_numbers(&r, text, size) : fail_errno(fail, "%s", what);

	if (rc != 0) {
		free(r.edges);
		r.edges = NULL;
	}
	*edges = r.edges;
	*count = rc == 0 ? r.count : 0;
	return rc;
}

/* Read a whole file into `text`, which has FILE_MAX + 1 bytes. */
static int slurp(char *text, size_t *size, int fd, const char *what, struct fail *fail)
{
	ssize_t n = 1;

	for (*size = 0; n > 0 && *size <= FILE_MAX; *size += (size_t)n) {
		do
			n = read(fd, text + *size, FILE_MAX + 1 - *size);
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return fail_errno(fail, "%s", what);
	}
	if (*size > FILE_MAX)
		return fail_set(fail, STATUS_USAGE, "%s is longer than %zu MiB", what,
				FILE_MAX >> 20);
	return 0;
}

int edges_arg_read(double **edges, size_t *count, const char *argument, struct fail *fail)
{
	char what[4200];
	size_t size = 0;

	*edges = NULL;
	*count = 0;
	if (argument[0] != '@')
		return edges_arg_parse(edges, count, "--edges", argument, strlen(argument), fail);
	snprintf(what, sizeof(what), "--edges %.4100s", argument);
	const int fd = open_again(argument + 1, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
	if (fd < 0)
		return fail_errno(fail, "%s", what);
	/* Pages behind the file's end stay untouched. */
	char *const text = malloc(FILE_MAX + 1);
	int rc = text ? slurp(text, &size, fd, what, fail) : fail_errno(fail, "%s", what);
	close(fd);
	if (rc == 0)
		rc = edges_arg_parse(edges, count, what, text, size, fail);
	free(text);
	return rc;
}

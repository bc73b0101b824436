/* SPDX-License-Identifier: MIT */
/* csv_line: builds a line of csv or tsv from its fields. */
#ifndef GPUHIST_CSV_LINE_H
#define GPUHIST_CSV_LINE_H

#include "output/output.h"

/* A line that is being built, or an empty one. Fields are buffered. */
struct csv_line {
	struct output *out;
	char comma;
	size_t used;
	char text[4096];
};

/* Begin with an empty line; `comma` separates fields. */
static inline void csv_begin(struct csv_line *l, struct output *out, char comma)
{
	l->out = out;
	l->comma = comma;
	l->used = 0;
}

/* Add a field: a text shorter than NUMBER_TEXT without special characters, or a count. */
void csv_text(struct csv_line *l, const char *text);
void csv_count(struct csv_line *l, uint64_t count);

/*
 * Add a name, of any length, with quotes if it would not be one field without them. On a terminal,
 * characters that would control it are replaced.
 */
void csv_name(struct csv_line *l, const char *name, bool terminal);

/* End the line, which has a field. The next field begins another. */
void csv_end(struct csv_line *l);

#endif

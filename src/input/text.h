/* SPDX-License-Identifier: MIT */
/*
 * text: --text: lines of text to samples. Pure: the caller reads.
 *
 * Each line holds one number, or a number in one of its fields. The separator of fields is what the
 * first line has: a tab, else a comma, else a semicolon, else blanks. Blank lines and lines that
 * begin with # are skipped. Lines may be of any length, a number may have TEXT_FIELD_MOST bytes.
 */
#ifndef GPUHIST_INPUT_TEXT_H
#define GPUHIST_INPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

#define TEXT_FIELD_MOST ((size_t)64 << 10)
#define TEXT_SHOWN 60 /* bytes of a bad line in a message */

/* --text as it was given. */
struct text_spec {
	bool on;
	const char *column;      /* NULL: a line is a number */
	uint64_t number;         /* of the column, from 1; 0: `column` is its name in a header */
	struct sample_type type; /* of the samples to make: whole bytes */
};

/* Position of the next byte in its line. */
enum text_place {
	TEXT_BEGIN,
	TEXT_FIELDS, /* after some fields, or inside one that is skipped */
	TEXT_REST,   /* in a line that is skipped */
};

/* The text of one FILE. */
struct text {
	struct text_spec spec; /* with the number of the column, once that is known */
	bool named;            /* the header says which column it is */
	bool begun;            /* the first bytes were looked at */
	bool first;            /* no line came but blank ones and comments */
	bool fractions;        /* a number was not written as a whole one */
	char separator;        /* of fields; 0: not known yet; a newline: a line is a field */
	uint64_t line;         /* number of the line that the next byte is in, from 1 */
	enum text_place place;
	uint64_t fields;   /* fields of the line that were taken */
	bool inside;       /* the next byte is in a field that does not matter */
	bool quoted, open; /* the last field that was looked at is in quotes, which are open */
	char head[2 * TEXT_SHOWN]; /* unless place is BEGIN: how the line begins */
	char what[320];            /* is wrong with the line */
	char why[512];             /* "", or the rest of a message, after the name of the FILE */
	/* the caller's: */
	bool ended; /* the text has ended */
	bool cut;   /* ... because of a signal: a last line without a newline may be incomplete */
	size_t at, have; /* bytes of the buffer that were taken; that are there */
	char buffer[3 * TEXT_FIELD_MOST + 1]; /* but for the last byte */
};

struct text *text_open(const struct text_spec *spec); /* NULL: no memory. Freed by free() */

/* Makes room for more text behind `have`, and says how much there is. */
size_t text_room(struct text *t);

/* Makes up to cap bytes of samples; fewer if it needs more text. -1: bad input (why). */
int text_take(struct text *t, unsigned char *out, size_t cap, size_t *made);

#endif

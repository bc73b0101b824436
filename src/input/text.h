/* SPDX-License-Identifier: MIT */
/*
 * text: turns lines of text into samples (--text). Pure: the caller reads.
 *
 * Each line holds one number, or a number in one of its fields. The first line determines the
 * separator of fields: a tab if it has one, else a semicolon, else a comma, else blanks. Blank
 * lines and lines that begin with # are skipped. Lines may be of any length, but a number must have
 * fewer than TEXT_FIELD_MOST bytes.
 */
#ifndef GPUHIST_INPUT_TEXT_H
#define GPUHIST_INPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

#define TEXT_FIELD_MOST ((size_t)64 << 10)
#define TEXT_SHOWN 60 /* bytes of a bad line in a message */

/* The options of --text. */
struct text_spec {
	bool on;
	const char *column;      /* argument of --text; NULL: each line is a number */
	uint64_t number;         /* number of the column, from 1; 0: `column` is a name */
	struct sample_type type; /* type of the samples to make; of whole bytes */
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
	bool named;            /* the column is given by name */
	bool begun;            /* the first bytes were looked at */
	bool first;            /* only blank lines and comments came so far */
	bool fractions;        /* some number was not written as an integer */
	bool words;            /* the first line has a field that is no number */
	bool missing;          /* the first line's number is missing, or a name */
	bool torn;             /* a line has a CR that is not before LF */
	bool dropped;          /* the last line was incomplete, because of `cut` */
	char separator;        /* of fields; 0: not known yet; a newline: a line is a field */
	uint64_t line;         /* number of the line of the next byte, from 1 */
	enum text_place place;
	uint64_t fields;           /* fields of the line that were taken */
	bool inside;               /* the next byte is inside a skipped field */
	bool quoted;               /* the current field begins with a quote */
	bool open;                 /* its quotes are not closed yet */
	char head[2 * TEXT_SHOWN]; /* unless place is BEGIN: the beginning of the line */
	char what[320];            /* the fault of a line, for `why` */
	char why[512];             /* "", or the rest of a message, after the name of the FILE */
	/* The caller's: */
	bool ended;  /* the text has ended */
	bool cut;    /* a signal has ended it, so a last line without a newline may be incomplete */
	size_t at;   /* bytes of the buffer that were taken */
	size_t have; /* bytes in the buffer */
	char buffer[3 * TEXT_FIELD_MOST + 1]; /* one spare byte for a newline */
};

struct text *text_open(const struct text_spec *spec); /* NULL: no memory. Freed by free() */

/* Moves the text to the start of the buffer, and returns the number of free bytes after it. */
size_t text_room(struct text *t);

/* Makes up to cap bytes of samples, fewer if it needs more text. -1: bad input (why). */
int text_take(struct text *t, unsigned char *out, size_t cap, size_t *made);

#endif

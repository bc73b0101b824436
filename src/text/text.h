/* SPDX-License-Identifier: MIT */
/*
 * text: turns whole lines of text into samples (--text). Pure: the caller reads.
 *
 * Each line holds one number, or a number in one of its fields. The first line that is not blank or
 * a comment determines the separator of fields for its FILE, and whether it is a header.
 */
#ifndef GPUHIST_INPUT_TEXT_H
#define GPUHIST_INPUT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/sample.h"

#define TEXT_LINE_MOST ((size_t)16 << 20) /* bytes of the longest line */
#define TEXT_SHOWN 60                     /* bytes of a bad line in a message */
#define TEXT_WHY 1024                     /* bytes of the text why a line is bad */
#define TEXT_PAD ((size_t)64)             /* bytes after the lines that may be read */
#define TEXT_KEY 4u                       /* bytes of a key's index */
#define TEXT_WORDS 128u                   /* words of 64 bytes that are marked at a time */
#define TEXT_COLUMNS 64u                  /* columns that are read from a line, at most */

struct text_keys; /* text_keys.h */

/* A column that is asked for, by its number or its name. */
struct text_column {
	const char *name; /* as given, without the quotes around it; borrowed */
	size_t length;
	bool quoted;     /* it was in quotes, so "" in it stands for a quote */
	uint64_t number; /* from 1; 0: it has that name */
};

/* The options of --text. */
struct text_spec {
	bool on;
	bool skip_bad;     /* skip bad lines, and count them */
	const char *given; /* argument of --text, or NULL */
	uint32_t columns;  /* their number; 0: each line is a number */
	struct text_column column[TEXT_COLUMNS];
	const char *missing;     /* --missing: values with commas; words among them are NaN, too */
	struct sample_type type; /* type of the samples to make; of whole bytes */
	/*
	 * --by: the column of keys; NULL: none. Then a sample is followed by TEXT_KEY bytes: the
	 * index of its line's key in `keys`, little endian.
	 */
	const char *by;
	uint64_t by_number; /* number of that column, from 1; 0: `by` is a name */
	struct text_keys *keys;
};

/* How the lines of a FILE are read: decided by its first line, const from then on. */
struct text_table {
	const struct text_spec *spec;
	uint64_t number[TEXT_COLUMNS]; /* numbers of the columns, from 1 */
	uint64_t last;                 /* the greatest of all these numbers */
	uint64_t by;                   /* --by: number of the keys' column; else 0 */
	char separator; /* of fields; a blank: blanks and tabs; a newline: a line is a field */
};

/* A bit for each byte of some words. */
struct text_marks {
	const char *from; /* the first byte; NULL: nothing is marked */
	size_t words;
	/* The word after the last one has no marks. */
	uint64_t lines[TEXT_WORDS + 1];      /* newlines */
	uint64_t separators[TEXT_WORDS + 1]; /* of several blanks the first */
	uint64_t odd[TEXT_WORDS + 1];        /* quotes, and CRs that are not before LF */
};

/* Some whole lines, each with its newline, and the results of reading them. */
struct text_lines {
	const char *at, *end; /* lines to read; TEXT_PAD bytes after them may be read, too */
	bool starts_text;     /* they are the first of the text */
	uint64_t taken;       /* lines read */
	uint64_t bad;         /* bad lines among them, if these are skipped */
	uint64_t bad_line;    /* number of the first bad line, from 1; or 0 */
	char why[TEXT_WHY];   /* "", or the rest of a message, after FILE or the line's number */
	struct text_marks marks;
};

/* Samples that text_take makes of a line. */
static inline uint32_t text_samples(const struct text_spec *spec)
{
	return spec->columns > 1 ? spec->columns : 1;
}

/* Bytes that it makes of a line. */
static inline uint32_t text_bytes(const struct text_spec *spec)
{
	return text_samples(spec) * spec->type.bits / 8 + (spec->by ? TEXT_KEY : 0);
}

#define TEXT_NAME 256 /* bytes of a column's name in messages and output */

/*
 * Read the argument of --text: numbers or names of columns, with commas between them. False: it is
 * none, or has the column in `twice` twice, else "".
 */
bool text_columns(struct text_spec *spec, const char *given, char twice[TEXT_NAME]);

/* Write the name of a column, cut to what `text` holds. */
void text_column_name(char text[TEXT_NAME], const struct text_column *column);

/*
 * Read lines up to the first that is not blank or a comment, which decides on the table, and past
 * it if it is a header. 0: no such line. -1: bad input (why).
 */
int text_begin(struct text_table *t, const struct text_spec *spec, struct text_lines *l);

/*
 * Make up to cap bytes of samples. Stop after that, at the end of the lines, or at a bad line
 * (why).
 */
size_t text_take(const struct text_table *t, struct text_lines *l, unsigned char *out, size_t cap);

/* ---- text.c and text_loops.c ---- */

/* Make a sample of the field from p to end. Return NULL, or the fault for the message. */
const char *text_field(const struct text_table *t, const char *p, const char *end,
		       unsigned char *out);

/*
 * Read lines that need no special care, until *to + the bytes of a sample exceeds `full`, or up to
 * a line that text.c must read.
 */
typedef void text_loop(const struct text_table *t, struct text_lines *l, unsigned char **to,
		       const unsigned char *full);
extern text_loop text_loop_base, text_loop_avx2;

/* Write a code of the type. */
static inline unsigned char *text_put(const struct sample_type *type, uint64_t code,
				      unsigned char *to)
{
	if (type->big)
		code = __builtin_bswap64(code) >> (64 - type->bits);
	if (type->bits == 64) /* a store, not a call */
		__builtin_memcpy(to, &code, 8);
	else
		__builtin_memcpy(to, &code, type->bits / 8);
	return to + type->bits / 8;
}

#define TEXT_BLANKS ' ' /* a separator: any number of blanks and tabs */

#endif

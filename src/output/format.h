/* SPDX-License-Identifier: MIT */
/*
 * format: the one table of output formats. One more format is one row in format.c and one file with
 * its writer; options, messages, publish and the tests take everything they know of a format from
 * here.
 */
#ifndef GPUHIST_FORMAT_H
#define GPUHIST_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "output/write.h"

struct format {
	const char *name; /* as -f names it */
	/* of files that get it without -f, in lower case; NULL after the last */
	const char *suffixes[3];
	write_fn *write;
	enum counter_kind counter; /* without -C */
	unsigned counters;         /* those that -C may ask for: for each a bit, 1 << kind */
	bool binary;               /* must not be written to a terminal */
	bool rows;                 /* a row for each bin: takes --no-header, --nonzero and --flow */
	/* takes --nonzero: only bins that hold something need be written */
	bool sparse;
	bool flow;    /* under, over and NaN are written without --flow too */
	bool partial; /* can mark counts as partial: takes --every */
};

/* Row i; NULL after the last. The first is the default. */
const struct format *format_row(size_t i);

/* NULL: there is no format of this name. */
const struct format *format_find(const char *name);

/*
 * The format for the suffix of a file, in either case; the default if there is no suffix, an
 * unknown one, or path is NULL. NULL if the suffix promises a format that is not written, and why
 * says so.
 */
#define FORMAT_WHY 256
const struct format *format_of_path(const char *path, char why[FORMAT_WHY]);

/*
 * The names for a message, such as "csv, tsv or raw" with last = "or": of all formats, of those
 * with rows, or of those that take --nonzero.
 */
enum format_which { FORMATS_ALL, FORMATS_ROWS, FORMATS_NONZERO };
#define FORMAT_LIST 96
void format_list(char list[FORMAT_LIST], enum format_which which, const char *last);

#endif

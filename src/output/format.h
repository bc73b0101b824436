/* SPDX-License-Identifier: MIT */
/*
 * format: counters, styles, the one table of output formats with their writers, and publishing.
 *
 * One more format is one row in format.c and one file with its writer; options, messages and tests
 * take everything they know of a format from here. A writer is given a finished histogram and where
 * its counts come from, and never the job. It does not fail: output_commit reports what happened to
 * the bytes.
 */
#ifndef GPUHIST_FORMAT_H
#define GPUHIST_FORMAT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "hist/hist.h"
#include "output/output.h"

/* What -C writes of a count; inside the program it is always exact and has 64 bits. */
enum counter_kind { COUNTER_U64, COUNTER_U32, COUNTER_SAT8, COUNTER_SAT16, COUNTER_SAT32 };
/* in that order */
#define COUNTER_NAMES "u64, u32, sat8, sat16 or sat32"

extern const struct counter {
	const char *name;
	uint32_t bytes;
	uint64_t max; /* the largest count that it can hold */
} COUNTERS[];

/* How a picture is drawn. The same settings give the same bytes. */
struct canvas {
	bool utf8;         /* bars have eighths of a block; else '#' */
	bool colour;       /* it carries no meaning */
	bool log;          /* values are shown by their logarithms */
	bool terminal;     /* it goes to a terminal */
	bool live;         /* what is behind the end of each line is erased */
	unsigned up;       /* lines to go up first: those of the picture that this one replaces */
	unsigned columns;  /* of text: 40 to 200 */
	unsigned lines;    /* of text: how many there may be */
	const char *title; /* any text; borrowed, NULL: none */
};

/* How the user wants it to look; each writer uses the members that its format has. */
struct style {
	enum counter_kind counter;
	bool header;  /* a line with the names of the columns */
	bool nonzero; /* only bins that hold something */
	bool flow;    /* rows for under, over and NaN */
	struct canvas canvas;
};

/* Where the counts come from, for formats that say so; of all inputs and channels together. */
struct provenance {
	uint64_t inputs;  /* how many were read */
	uint64_t bytes;   /* decoded bytes of all inputs, with those skipped and the tail */
	uint64_t skipped; /* bytes skipped at the starts of inputs */
	uint64_t tail;    /* bytes of incomplete records at the ends of inputs */
	bool partial;     /* these are the counts so far, of a run that goes on */
	/* the counts are of slice `part`, from 1, of `parts` slices; 1 of 1: of all records */
	uint32_t part, parts;
	/* of a part: a number for the state of all inputs (source_totals); 0: not known */
	uint64_t state;
	/*
	 * The options that decide what is counted and into which bins, as a shell reads them;
	 * borrowed, NULL for "".
	 */
	const char *options;
	const char *row_of;              /* the input of a row of --each; NULL: not a row */
	uint64_t row_first, row_records; /* records of that input before the row, and in it */
	const char *tensor, *shape;      /* of a row that is a tensor; else NULL */
};

typedef void write_fn(struct output *out, const struct hist *hist, const struct style *style,
		      const struct provenance *from);

write_fn write_csv, write_tsv, write_raw, write_npy; /* write.c */
/* The header of npy: rows (NULL: none) x channels (where there are several) x bins. */
#define NPY_HEAD 128
void npy_head(char head[NPY_HEAD + 1], const struct style *style, const uint64_t *rows,
	      uint32_t channels, uint32_t bins);
write_fn write_json; /* exact counts, whatever -C says: the rescue file is one of these */
write_fn write_plot, write_svg;

enum format_kind {
	FORMAT_ROWS,   /* a row for each bin: takes --no-header, --nonzero and --flow */
	FORMAT_BINARY, /* never to a terminal */
	/* From here on: exact, with under, over and NaN; can say "partial", so takes --every */
	FORMAT_DOCUMENT, /* takes --nonzero */
	FORMAT_PICTURE,
};

struct format {
	const char *name;        /* as -f names it */
	const char *suffixes[3]; /* of files that get it without -f, in lower case, then NULL */
	write_fn *write;
	enum format_kind kind;
	enum counter_kind counter; /* the counters that it has without -C */
};

#define FORMAT_NAMES "csv, tsv, raw, npy, json, plot or svg"
#define FORMAT_SUFFIXES ".csv, .tsv, .bin, .raw, .npy, .json or .svg"
const struct format *format_find(const char *name); /* NULL: there is no such format */

/*
 * The format for the suffix of a file, in either case; the default if there is no suffix or path is
 * NULL; NULL if the suffix is unknown.
 */
const struct format *format_of_path(const char *path);

/*
 * Writes the histogram, and closes out in any case. Under -C u32 a count above 2^32-1 publishes
 * nothing: the exact histogram is saved beside a file as NAME.rescue.json, otherwise as
 * gpuhist-PID.rescue.json in the working folder, $TMPDIR or /tmp, and *fail, STATUS_LIMIT, names
 * it.
 */
int publish(struct output *out, const struct format *format, const struct style *style,
	    const struct hist *hist, const struct provenance *from, struct fail *fail);

/*
 * Saves the exact histogram of a run that could not be added to the file `path`: beside it as
 * FILE.rescue.json, or as FILE.2.rescue.json and so on if an earlier one exists, which is kept; if
 * that fails, in a folder, as publish does. Gives the name of that file. -1: it could not be saved;
 * *fail says why. Call it while no output is open.
 */
int publish_rescue(const char *path, const struct hist *hist, const struct provenance *from,
		   char name[PATH_MAX], struct fail *fail);

#endif

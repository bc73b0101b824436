/* SPDX-License-Identifier: MIT */
/*
 * format: counters, styles, the table of output formats with their writers, and publishing.
 *
 * To add a format, add a row in format.c and a file with its writer; options, messages and tests
 * take everything they know about a format from here. A writer gets a finished histogram and its
 * provenance, never the job. It returns no error: output_commit reports failed writes.
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

/* Counters for -C in the output; inside the program every count is exact, in 64 bits. */
enum counter_kind { COUNTER_U64, COUNTER_U32, COUNTER_SAT8, COUNTER_SAT16, COUNTER_SAT32 };
/* in that order */
#define COUNTER_NAMES "u64, u32, sat8, sat16 or sat32"

extern const struct counter_form {
	const char *name;
	uint32_t bytes;
	uint64_t max; /* largest count it can hold */
} COUNTERS[];

static inline uint64_t counter_clip(enum counter_kind kind, uint64_t count)
{
	return count < COUNTERS[kind].max ? count : COUNTERS[kind].max;
}

/* How to draw a picture. The same settings give the same bytes. */
struct canvas {
	bool utf8;         /* draw bars in eighths of a block, not with '#' */
	bool colour;       /* for looks only; it carries no meaning */
	bool log;          /* logarithmic values */
	bool terminal;     /* the output is a terminal */
	bool redraws;      /* erase the rest of each line */
	unsigned lines_up; /* lines to move up first, to draw over the previous picture */
	unsigned columns;  /* width in characters, 40 to 200 */
	unsigned lines;    /* maximum height in lines of text */
	const char *title; /* any text, borrowed; NULL: none */
};

/* How the output should look; each writer uses the members that apply to its format. */
struct style {
	enum counter_kind counter;
	bool header;        /* a line with the column names */
	bool nonzero;       /* only bins that are not empty */
	bool flow;          /* rows for under, over and NaN */
	bool table;         /* --stats on a terminal: rows as aligned columns */
	bool figures;       /* --stats: rows have figures instead of bins */
	const char *metric; /* prom: the name of the metric; borrowed */
	struct canvas canvas;
};

/* The origin of the counts, over all inputs and channels, for formats that record it. */
struct provenance {
	uint64_t inputs;  /* number of inputs read */
	uint64_t bytes;   /* decoded bytes of all inputs, including skipped and tail */
	uint64_t skipped; /* bytes skipped at the starts of inputs */
	uint64_t tail;    /* bytes of incomplete records at the ends of inputs */
	uint64_t bad;     /* lines of text that --skip-bad left out */
	bool partial;     /* interim counts of a run that is still going */
	/* slice that was counted, from 1, and number of slices; 1 of 1: all records */
	uint32_t part, parts;
	uint64_t state; /* for a slice: fingerprint of all inputs (source_totals); 0: unknown */
	/* options that select samples and bins, quoted for a shell; borrowed, NULL for "" */
	const char *options;
	const char *row_of;              /* input of a row of --each; NULL: not a row */
	uint64_t row_first, row_records; /* records before the row in that input, and in the row */
	const char *tensor, *shape;      /* if the row is a tensor; else NULL */
};

typedef void write_fn(struct output *out, const struct hist *hist, const struct style *style,
		      const struct provenance *from);

write_fn write_csv, write_tsv, write_raw, write_npy; /* write.c */
/* The npy header for rows (NULL: none) x channels (if more than one) x bins. */
#define NPY_HEAD 128
void npy_head(char head[NPY_HEAD + 1], const struct style *style, const uint64_t *rows,
	      uint32_t channels, uint32_t bins);
write_fn write_json; /* writes exact counts, whatever -C says; also used for rescue files */
write_fn write_plot, write_svg;

write_fn write_prom;
bool prom_has_sum(const struct hist *hist); /* does write_prom write _sum? */

/* -1: the names of keys, which become UTF-8, would be the same label (STATUS_DATA), or no memory. */
int prom_check(const struct hist *hist, struct fail *fail);

enum format_kind {
	FORMAT_ROWS,   /* a row per bin; takes --no-header, --nonzero and --flow */
	FORMAT_BINARY, /* never written to a terminal */
	/* From here on: exact; with under, over and NaN; can say "partial", so takes --every */
	FORMAT_METRIC,   /* implies --stats; --title is the name of the metric */
	FORMAT_DOCUMENT, /* takes --nonzero */
	FORMAT_PICTURE,
};

struct format {
	const char *name;        /* for -f */
	const char *suffixes[3]; /* file suffixes that select it, lower case; NULL at the end */
	write_fn *write;
	enum format_kind kind;
	enum counter_kind counter; /* default for -C */
};

#define FORMAT_NAMES "csv, tsv, raw, npy, json, plot, svg or prom"
#define FORMAT_SUFFIXES ".csv, .tsv, .bin, .raw, .npy, .json, .svg or .prom"
const struct format *format_find(const char *name); /* NULL: no such format */

/*
 * Return the format for the file's suffix, ignoring case; the default if path is NULL or has no
 * suffix; NULL if the suffix is unknown.
 */
const struct format *format_of_path(const char *path);

/*
 * Write the histogram; closes out, even on failure. If a count is above 2^32-1 under -C u32,
 * publish nothing: save the exact histogram next to the output file as NAME.rescue.json, or as
 * gpuhist-PID.rescue.json in the working directory, $TMPDIR or /tmp; *fail (STATUS_LIMIT) names it.
 */
int publish(struct output *out, const struct format *format, const struct style *style,
	    const struct hist *hist, const struct provenance *from, struct fail *fail);

/*
 * Save the exact histogram of a run that could not be added to the file `path`, next to it as
 * FILE.rescue.json, or FILE.2.rescue.json and so on if an earlier one exists; if that fails, in a
 * directory, as publish does. Stores the file's name in `name`. -1: it could not be saved; *fail
 * says why. Call it while no output is open.
 */
int publish_rescue(const char *path, const struct hist *hist, const struct provenance *from,
		   char name[PATH_MAX], struct fail *fail);

#endif

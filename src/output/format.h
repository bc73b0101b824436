/* SPDX-License-Identifier: MIT */
/*
 * format: counters, styles, what a format is, and publishing. The table of formats is each/formats.c.
 *
 * To add a format, add a row to the table, a file with its writer, and its name to FORMAT_NAMES and
 * to -h; options and messages take everything else from the row. A writer gets a finished histogram
 * and its provenance, never the job. It returns no error: output_commit reports failed writes.
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
	const char *value; /* the name of the values, such as a column's; borrowed; NULL: none */
};

/* How the output should look; each writer uses the members that apply to its format. */
struct style {
	enum counter_kind counter;
	bool header;        /* a line with the column names */
	bool nonzero;       /* only bins that are not empty */
	bool flow;          /* rows for under, over and NaN */
	bool table;         /* --stats on a terminal: rows as aligned columns */
	bool figures;       /* --stats: rows have figures instead of bins */
	bool binless;       /* -b 0: a single series is a row of figures, too */
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

/* Abilities of a format. A job needs some of them (each/formats.h); the last ones are properties. */
enum format_can {
	CAN_TITLE = 1 << 0,
	CAN_LINES = 1 << 1,    /* a line per bin: --flow, --no-header */
	CAN_NONZERO = 1 << 2,  /* bins that are not empty, alone */
	CAN_CLIP = 1 << 3,     /* counters that saturate */
	CAN_TERMINAL = 1 << 4, /* it is text */
	CAN_RESIDUES = 1 << 5, /* --mod */
	CAN_PARTIAL = 1 << 6,  /* it says that counts are partial: --every */
	CAN_EACH = 1 << 7,     /* rows of --each */
	CAN_FIGURES = 1 << 8,  /* rows of figures */
	CAN_UNLIKE = 1 << 9,   /* rows with axes of their own */
	CAN_STREAM = 1 << 10,  /* rows of unknown number */
	CAN_SPARSE = 1 << 11,  /* --nonzero with rows, keys or more than 64 channels */
	CAN_KEYS = 1 << 12,
	CAN_NAMES = 1 << 13,   /* keys that are text */
	CAN_BINLESS = 1 << 14, /* figures of a single series: -b 0 */
	HAS_FLOW = 1 << 15,    /* always with under, over and NaN */
	IS_DOCUMENT = 1 << 16, /* it can be read again, and holds digests */
	IS_PICTURE = 1 << 17,
	NEEDS_STATS = 1 << 18,
};

struct format;
typedef void list_fn(struct output *out, const struct hist *hist, const struct style *style,
		     const struct provenance *from, const struct format *format);
struct row_spec; /* each/row.h */
struct row_place;
typedef void row_begin_fn(struct output *out, const struct row_spec *spec);
typedef void row_add_fn(struct output *out, const struct row_spec *spec,
			const struct row_place *row, const struct hist *hist);
typedef void row_end_fn(struct output *out, const struct row_spec *spec, uint64_t rows);

struct format {
	const char *name;          /* for -f */
	const char *suffixes[3];   /* file suffixes that select it, lower case; NULL at the end */
	enum counter_kind counter; /* default for -C */
	unsigned can;
	write_fn *write;
	/* Can it hold these counts? -1: no (STATUS_LIMIT, STATUS_DATA). NULL: it holds all. */
	int (*check)(const struct hist *hist, struct fail *fail);
	/* Write many channels, or keys, as rows; NULL: `write` holds any number of channels. */
	list_fn *list;
	/* --each: the text before the rows, a row, the text after them; may be NULL. */
	row_begin_fn *begin;
	row_add_fn *add;
	row_end_fn *end;
};

/* Write a finished histogram. */
void format_write(struct output *out, const struct format *format, const struct hist *hist,
		  const struct style *style, const struct provenance *from);

/*
 * Write the histogram; closes out, even on failure. If a count is above 2^32-1 under -C u32, or the
 * format's check fails, publish nothing: save the exact histogram next to the output file as
 * NAME.rescue.json, or as gpuhist-PID.rescue.json in the working directory, $TMPDIR or /tmp; *fail
 * (STATUS_LIMIT) names it.
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

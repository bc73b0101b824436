/* SPDX-License-Identifier: MIT */
/* row: a row of --each in every format. */
#ifndef GPUHIST_EACH_ROW_H
#define GPUHIST_EACH_ROW_H

#include "hist/hist.h"
#include "output/format.h"
#include "output/output.h"
#include "output/sheet.h"
#include "output/table.h"

#define ROW_IS_INPUT UINT64_MAX         /* --each=file: a row for each input */
#define ROW_IS_TENSOR (UINT64_MAX - 1)  /* --each=tensor: rows of runs with types of their own */
#define ROW_IS_CHANNEL (UINT64_MAX - 2) /* a row for each channel of a histogram (list.h) */
#define ROW_IS_KEY (UINT64_MAX - 3)     /* a row for each key (--by) */
#define ROW_IS_ALL (UINT64_MAX - 4)     /* one row for a histogram of one channel (-b 0) */
#define ROW_RECORDS_MAX (UINT64_MAX - 5)

/* The properties that all rows of a run share. All pointers are borrowed. */
struct row_spec {
	char *const *paths;
	size_t path_count;
	uint64_t size;           /* records of a row, or ROW_IS_ */
	const struct axis *axis; /* ROW_IS_TENSOR: of the next row */
	const struct codebook *book;
	uint32_t channels;
	uint32_t record; /* bytes of a record, or of `packed` records together */
	uint32_t packed; /* records that share bytes; 0 or 1: none do */
	uint64_t skip;   /* -S */
	uint64_t *begin; /* offset of each input's first record (source_use); NULL: text, tensors */
	const struct quantiles *asked; /* --stats: its quantiles; NULL: no figures */
	/* names the channels of each row, or those that are rows (ROW_IS_KEY, ROW_IS_CHANNEL) */
	const struct hist *series;
	const struct format *format;
	const struct style *style;
	uint64_t joined;            /* plot on a terminal: rows that are drawn as one; 0: one */
	const char *options;        /* as in struct provenance */
	const char *tensor, *shape; /* name and shape of the next row; NULL: it is not a tensor */
	const struct strip *strip;  /* plot: the cells of each strip; else NULL */
	struct table_rows known;    /* for the table */
	const struct sheet *sheet;  /* svg: the sheet that gets each row as numbers; else NULL */
};

/* The position of a row. */
struct row_place {
	size_t path;      /* its input */
	uint64_t first;   /* its first record there */
	uint64_t records; /* number of records */
};

/* The name of an input; "-": standard input. */
const char *row_name(const struct row_spec *spec, size_t path);
/* The title of the first column of pictures and tables, and whether it holds names. */
const char *row_head(const struct row_spec *spec);
bool row_is_named(const struct row_spec *spec);
bool row_is_listed(const struct row_spec *spec); /* rows are the channels of one histogram */
/* A row's text in that column: a name, a channel's number, or the offset or record where it begins. */
const char *row_text(char number[NUMBER_TEXT], const struct row_spec *spec,
		     const struct row_place *row, const struct hist *hist);

/* For the table: learn the names of all rows. */
void row_know_names(struct row_spec *spec, const char *const *name, size_t n);

/* For svg: make the sheet of these rows. */
void row_begin_sheet(struct sheet *s, const struct row_spec *spec);

/* For plot: make the strip of these rows. False: the format has none. */
bool row_begin_strip(struct strip *strip, const struct row_spec *spec);

/* For plot: make the strip of all rows (row_plot.c). */
void row_plot_strip(struct strip *strip, const struct row_spec *spec);
/* The number of neighbouring rows to join into one so that `rows` rows fit a terminal; at least 1. */
uint64_t row_plot_joined(const struct row_spec *spec, uint64_t rows);

/* The parts of struct format. */
row_begin_fn row_lines_begin, row_npy_begin, row_plot_begin;
row_add_fn row_lines_add, row_raw_add, row_json_add, row_plot_write, row_svg_add;
row_end_fn row_npy_end, row_plot_end, row_svg_end;

/* Write the text before the first row. */
void row_begin(struct output *out, const struct row_spec *spec);

void row_write(struct output *out, const struct row_spec *spec, const struct row_place *row,
	       const struct hist *hist);

/* Write the text after the last of `rows` rows. */
void row_end(struct output *out, const struct row_spec *spec, uint64_t rows);

#endif

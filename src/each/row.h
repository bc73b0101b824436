/* SPDX-License-Identifier: MIT */
/* row: a row of --each in every format. */
#ifndef GPUHIST_EACH_ROW_H
#define GPUHIST_EACH_ROW_H

#include "hist/hist.h"
#include "output/format.h"
#include "output/output.h"
#include "output/sheet.h"

#define ROW_IS_INPUT UINT64_MAX        /* --each=file: a row for each input */
#define ROW_IS_TENSOR (UINT64_MAX - 1) /* --each=tensor: rows of runs with types of their own */

/* What all rows of a run have in common; borrows what it points to. */
struct row_spec {
	char *const *paths;
	size_t path_count;
	uint64_t size;           /* records of a row, ROW_IS_INPUT or ROW_IS_TENSOR */
	const struct axis *axis; /* ROW_IS_TENSOR: of the next row */
	const struct codebook *book;
	uint32_t channels;
	uint32_t record;               /* bytes of a record, or that `packed` records share */
	uint32_t packed;               /* records that share bytes; 0 or 1: they do not */
	uint64_t skip;                 /* bytes before the first record of each input */
	const struct quantiles *asked; /* --stats; NULL: none */
	const struct format *format;
	const struct style *style;
	const char *options;        /* as in provenance */
	const char *tensor, *shape; /* of the next row; NULL: no row is a tensor */
	const struct sheet *sheet;  /* svg: each row becomes numbers of this sheet; else NULL */
};

/* A row: its input, its first record there, how many records it has. */
struct row_place {
	size_t path;
	uint64_t first, records;
};

/* Why rows cannot be written in this format, or to what -o says; NULL: they can. */
const char *row_refused(const struct format *format, bool stats, const char *output);

/* Makes the sheet of these rows, in svg. */
void row_begin_sheet(struct sheet *s, const struct row_spec *spec);

/* Write what comes before the first row, a row, and what comes after all `rows` rows. */
void row_begin(struct output *out, const struct row_spec *spec);
void row_write(struct output *out, const struct row_spec *spec, const struct row_place *row,
	       const struct hist *hist);
void row_end(struct output *out, const struct row_spec *spec, uint64_t rows);

#endif

/* SPDX-License-Identifier: MIT */
/* formats: the table of formats, and the refusal of a format that cannot do the job. */
#ifndef GPUHIST_EACH_FORMATS_H
#define GPUHIST_EACH_FORMATS_H

#include "output/format.h"

#define FORMAT_NAMES "csv, tsv, raw, npy, json, plot, svg or prom"
#define FORMAT_SUFFIXES ".csv, .tsv, .bin, .raw, .npy, .json, .svg or .prom"
const struct format *format_find(const char *name); /* NULL: no such format */

/*
 * Return the format for the file's suffix, ignoring case; the default if path is NULL or has no
 * suffix; NULL if the suffix is unknown.
 */
const struct format *format_of_path(const char *path);

/* Abilities that a job needs of its format. */
struct format_asks {
	unsigned can;        /* of enum format_can */
	const char *counter; /* for messages: of -C */
	const char *rows;    /* for messages: what makes rows, such as "--each 64K" */
};

/* -1: the format lacks an ability (STATUS_USAGE). Used for options, shapes and documents. */
int format_refuses(const struct format *format, const struct format_asks *asks, struct fail *fail);

/* The same for a sum of documents. */
int format_refuses_sum(const struct format *format, const struct style *style,
		       const struct hist *hist, struct fail *fail);

#endif

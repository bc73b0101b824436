/* SPDX-License-Identifier: MIT */
/*
 * document: histograms read back from JSON that gpuhist wrote, in any order of members and any
 * spelling. Members that are not known are ignored.
 *
 * Nothing in a text is believed. The axis is made again from type, binning and range, and its edges
 * are compared with the edges that the text has; bins, under, over and NaN must add up to the
 * samples. A text of any length or content is a histogram or an error, in memory that its length
 * and its bins bound.
 */
#ifndef GPUHIST_DOCUMENT_H
#define GPUHIST_DOCUMENT_H

#include "base/fail.h"
#include "hist/hist.h"
#include "output/format.h"

/* One histogram with all its channels, and what it says of where its counts come from. */
struct document {
	struct hist hist;       /* without statistics, even if the document has them */
	struct provenance from; /* the origin of its counts; a row of --each is a run like others */
	char *options;          /* memory of from.options; owned */
	char *name;             /* for messages: "FILE", or "FILE, document 3"; owned */
};

/* The documents of one file or stream, one after another. */
struct documents;

/* path "-" is standard input; it is borrowed. On failure *out is NULL and *fail says why. */
int documents_open(struct documents **out, const char *path, struct fail *fail);

/*
 * 1: *document is the next one; the caller frees it by document_free. 0: there are no more;
 * *document is empty. -1: it is not JSON, or not a histogram of gpuhist (STATUS_DATA), or could not
 * be read; *fail names the input and, if it is not JSON, the place in it.
 */
int documents_next(struct documents *d, struct document *document, struct fail *fail);

/* Frees what documents_next left. */
void document_free(struct document *document);

/* Takes NULL. */
void documents_close(struct documents *d);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * document: reads back histograms that gpuhist wrote as JSON, with members in any order and in any
 * valid JSON spelling. Unknown members are ignored.
 *
 * Nothing in the text is trusted. The axis is rebuilt from type, binning and range, and compared
 * with the edges in the text; bins, under, over and NaN must add up to the samples. Any text,
 * however long, gives a histogram or an error, and memory is bounded by its length and its bins.
 */
#ifndef GPUHIST_DOCUMENT_H
#define GPUHIST_DOCUMENT_H

#include "base/fail.h"
#include "hist/hist.h"
#include "output/format.h"

/* One histogram with all its channels, and its provenance. */
struct document {
	struct hist hist;       /* with figures and digests, if the document has them */
	struct axis_spec bins;  /* the options that make its bins; a list is the histogram's */
	struct provenance from; /* a row of --each is treated like any other run */
	char *options;          /* memory for from.options; owned */
	char *name;             /* for messages: "FILE", or "FILE, document 3"; owned */
};

/* A sequence of documents in one file or stream. */
struct documents;

/* path "-" is standard input; it is borrowed. On failure *out is NULL and *fail says why. */
int documents_open(struct documents **out, const char *path, struct fail *fail);

/*
 * 1: *document is the next document, which the caller frees with document_free. 0: there are no
 * more; *document is empty. -1: the input could not be read, or is not JSON or not a gpuhist
 * histogram (STATUS_DATA); *fail names the input and, if it is not JSON, the position.
 */
int documents_next(struct documents *d, struct document *document, struct fail *fail);

/*
 * Read a file that holds exactly one document. -1: *document is empty, and *fail says what is
 * wrong with the file.
 */
int document_only(struct document *document, const char *path, struct fail *fail);

void document_free(struct document *document);

/* Accepts NULL. */
void documents_close(struct documents *d);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * sum: adds up histograms and their provenance, one after another.
 *
 * Histograms must match: same type, same axis, same channels, and both or neither clamped, both or
 * neither closed. Those of --by have keys of the same name; a key that one of them lacks is empty
 * there. Parts of a whole (part K of N), counted with the same options from unchanged inputs, add
 * up to the whole if each part is added exactly once. Rows of --each add up to the run that they
 * divide. Nothing overflows, and nothing is rounded if all have exact sums.
 */
#ifndef GPUHIST_SUM_H
#define GPUHIST_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "document/document.h"

struct sum_part;

/* A sum of documents; initialize it to {0}. */
struct sum {
	struct document total;  /* the sum, with the name of the first document */
	uint64_t documents;     /* number of documents added */
	struct sum_part *parts; /* one per document, if they are parts of a whole; owned */
};

/*
 * Can `more` be added to h? False: `why` names the difference. Ignores counts, and the edges of
 * --auto.
 */
bool sum_fits(char why[AXIS_WHY], const struct hist *h, const struct hist *more);

/*
 * Add a document. The first is moved into the sum, leaving *document empty; later ones still belong
 * to the caller. -1: it does not match the sum (STATUS_DATA, both are named), or a number passes
 * 2^64 - 1 (STATUS_LIMIT). After a failure only sum_free may be called.
 */
int sum_add(struct sum *s, struct document *document, struct fail *fail);

/*
 * Call it after the last document; at least one must have been added. -1: a part is missing or was
 * added twice (STATUS_DATA, with its number).
 */
int sum_finish(struct sum *s, struct fail *fail);

/* Accepts {0}. */
void sum_free(struct sum *s);

/*
 * Add all documents in these files ("-": standard input), in order, and finish the sum.
 * Each file must have at least one. Besides the sum, one document at a time is in memory. The
 * caller always calls sum_free, even after -1.
 */
int merge_files(struct sum *sum, char *const *paths, size_t count, struct fail *fail);

#endif

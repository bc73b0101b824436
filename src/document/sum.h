/* SPDX-License-Identifier: MIT */
/*
 * sum: histograms added up, one after another, with what they say of where their counts come from.
 *
 * Only histograms that belong together are added: of one type, one axis, clamped and closed alike,
 * with the same channels. Parts of one whole (part K of N), counted with the same options from
 * inputs in the same state, add up to it if all of them are there, each once. Rows of --each add up
 * to what they were cut from. Nothing is rounded and nothing overflows.
 */
#ifndef GPUHIST_SUM_H
#define GPUHIST_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "document/document.h"

struct sum_part;

/* A sum of documents, which begins as {0}. */
struct sum {
	struct document total;  /* the sum, with the name of the document that was added first */
	uint64_t documents;     /* how many were added */
	struct sum_part *parts; /* one for each document, if they are parts of a whole; owned */
};

/*
 * Can `more` be added to h? False: why says what differs. Counts are not looked at, nor are edges
 * of --auto.
 */
bool sum_fits(char why[AXIS_WHY], const struct hist *h, const struct hist *more);

/*
 * Adds a document. The first one is moved into the sum, and *document is empty then; later ones
 * stay the caller's. -1: it does not belong to those before it (STATUS_DATA, both are named), or a
 * sum is above 2^64 - 1 (STATUS_LIMIT). After a failure sum_free is the only call allowed.
 */
int sum_add(struct sum *s, struct document *document, struct fail *fail);

/*
 * Call it after the last document; there must have been one. -1: a part is there twice, or is
 * missing (STATUS_DATA, they are named).
 */
int sum_finish(struct sum *s, struct fail *fail);

/* Takes {0} too. */
void sum_free(struct sum *s);

/*
 * merge.c: adds all documents of some files ("-": standard input), each of which must hold one, in
 * their order, and finishes the sum. One document is in memory beside the sum. The caller calls
 * sum_free in any case; after -1 *sum is good for nothing else.
 */
int merge_files(struct sum *sum, char *const *paths, size_t count, struct fail *fail);

#endif

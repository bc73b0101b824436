/* SPDX-License-Identifier: MIT */
/*
 * sum: histograms added up, one after another, with what they say of where their counts come from.
 *
 * Only histograms that belong together are added: of one type, one axis, clamped and closed alike,
 * with the same channels. Parts of one whole (part K of N), counted with the same options from
 * inputs in the same state, add up if all of them are there, each once, or to a sum of some of
 * them, which says which. Sums of some are parts again, so that a tree of merges ends with the
 * whole. Nothing is rounded and nothing overflows.
 *
 * It knows nothing of files; a path is only a name for messages.
 */
#ifndef GPUHIST_SUM_H
#define GPUHIST_SUM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "document/document.h"
#include "document/held.h"

/* Names a document in messages. The path is borrowed while the sum is used. */
struct sum_name {
	const char *path; /* "-": standard input */
	uint64_t number;  /* in the file, from 1 */
};

/* Parts that were added together. */
struct sum_part {
	struct sum_name name;
	uint64_t order; /* the order in which they were added, from 0 */
	struct held_range range;
};

/* Begins as {0}. */
struct sum {
	/* as a document, once there is one; after sum_finish it says which parts it holds */
	struct document total;
	uint64_t documents; /* how many were added */
	uint64_t foreign;   /* how many of these gpuhist did not write ... */
	struct sum_name foreign_first;
	struct sum_name first;
	struct sum_part *parts; /* all parts that were added, if they are parts of a whole; owned */
	size_t ranges, room;    /* how many, and for how many there is room */
};

/*
 * Can `more` be added to h? False: why says what differs, such as "its samples are i8, not u8".
 * Counts are not looked at, nor are edges of --auto.
 */
#define SUM_WHY (4 * NUMBER_TEXT + 64)
bool sum_fits(char why[SUM_WHY], const struct hist *h, const struct hist *more);

/* "FILE", or "FILE, document 3"; a path that is too long is cut. */
#define SUM_NAME (PATH_MAX + 64)
void sum_name_text(char text[SUM_NAME], const struct sum_name *name);

/*
 * Adds a document. The first one is moved into the sum, and *document is empty then; later ones
 * stay the caller's. -1: it does not belong to those before it (STATUS_DATA, both are named), or a
 * sum is above 2^64 - 1 (STATUS_LIMIT). After a failure sum_free is the only call allowed.
 */
int sum_add(struct sum *s, struct document *document, const struct sum_name *name,
	    struct fail *fail);

/*
 * Call it after the last document; there must have been one. -1: a part is there twice, or is
 * missing, unless some of them are enough (STATUS_DATA, they are named). All parts make a whole; a
 * sum of some parts says which it has.
 */
int sum_finish(struct sum *s, bool some, struct fail *fail);

/* Takes {0} too. */
void sum_free(struct sum *s);

/* ---- what sum.c has of sum_parts.c ---- */

/*
 * Can both be parts of one whole, counted alike from inputs that did not change? False: why says
 * what differs.
 */
#define SUM_PARTS_WHY 2500
bool sum_parts_fit(char why[SUM_PARTS_WHY], const struct provenance *sum,
		   const struct provenance *more);

/* Remembers which parts a document holds. */
int sum_note_parts(struct sum *s, const struct provenance *from, const struct sum_name *name,
		   struct fail *fail);

#endif

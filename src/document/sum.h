/* SPDX-License-Identifier: MIT */
/*
 * sum: histograms added up, one after another, with what they say of where their counts come from.
 *
 * Only what belongs together is added: one type, one axis, clamped and closed alike, the same channels. Slices of
 * one whole (part K of N) add up only if all of them are there, each once. Nothing is rounded and nothing wraps.
 *
 * Knows nothing of files; a path is a name for messages.
 */
#ifndef GPUHIST_SUM_H
#define GPUHIST_SUM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "document/document.h"

/* Which document this is, for messages. The path is borrowed as long as the sum is used. */
struct sum_name {
	const char *path; /* "-": standard input */
	uint64_t number;  /* in the file, from 1 */
};

/* A slice that was added. */
struct sum_part {
	struct sum_name name;
	uint64_t order; /* in which it was added, from 0 */
	uint32_t part;
};

/* Begins as {0}. */
struct sum {
	struct document total; /* as a document, once there is one: its own parts are 1 of 1 only after sum_finish */
	uint64_t documents;    /* that were added */
	struct sum_name first;
	struct sum_part *slices; /* all that were added, where they are parts of a whole; owned */
	size_t room;             /* for so many */
};

/*
 * Can `more` be added to h? False: why says what differs, as in "its samples are i8, not u8". Counts are not looked at;
 * of --auto nor are edges.
 */
#define SUM_WHY 256
bool sum_fits(char why[SUM_WHY], const struct hist *h, const struct hist *more);

/* "FILE", or "FILE, document 3"; too long a path is cut. */
#define SUM_NAME (PATH_MAX + 64)
void sum_name_text(char text[SUM_NAME], const struct sum_name *name);

/*
 * Adds a document. The first one is taken over, and *document is empty then; the others stay the caller's. -1: it
 * does not belong to those before it (STATUS_DATA, both are named), or a sum is past 2^64 - 1 (STATUS_LIMIT). After a
 * failure a sum is good for sum_free alone.
 */
int sum_add(struct sum *s, struct document *document, const struct sum_name *name, struct fail *fail);

/*
 * After the last document, of which there was one at least. -1: a slice is missing, or is there twice (STATUS_DATA,
 * they are named). What all slices make is a whole.
 */
int sum_finish(struct sum *s, struct fail *fail);

/* Takes {0} too. */
void sum_free(struct sum *s);

#endif

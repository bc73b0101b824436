/* SPDX-License-Identifier: MIT */
/*
 * held: which parts of a whole a sum of some of them holds, as its document says it: "1-4,7". Pure.
 *
 * There is one spelling: ranges that rise, with at least one part missing between two of them,
 * without signs, blanks or leading zeros. So sums of the same parts, added in any order and
 * grouping, say the same.
 */
#ifndef GPUHIST_HELD_H
#define GPUHIST_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest list that is written or read, with the zero after it: some 70,000 ranges. */
#define HELD_TEXT ((size_t)512 << 10)

/* Parts first .. last. */
struct held_range {
	uint32_t first, last;
};

/*
 * 1: *range is the next one, and *text is after it. 0: there are no more. -1: it is not in this
 * spelling.
 */
int held_next(const char **text, struct held_range *range);

/*
 * Is it at least one of `parts` parts, but not all, in the one spelling? The first one is *first.
 */
bool held_is_valid(const char *text, uint32_t parts, uint32_t *first);

/* A list that is being written: begins as {0}, and takes no memory before the first range. */
struct held_writer {
	char *text; /* the caller frees it; NULL: nothing was added */
	size_t used, room;
	/* not written yet, because the next one may follow directly; 0: none */
	struct held_range open;
};

/*
 * Ranges must rise. -1: no memory (errno ENOMEM), or the list would be longer than HELD_TEXT
 * (EOVERFLOW).
 */
int held_add(struct held_writer *w, const struct held_range *range);

/* Call it after the last range. */
int held_end(struct held_writer *w);

#endif

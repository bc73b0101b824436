/* SPDX-License-Identifier: MIT */
/*
 * near: which word of a list a mistyped one stands for, for messages. Pure: any thread.
 *
 * A word is near if it is at most one slip away for each three letters of the shorter word. A slip
 * is a letter too many, one too few, a wrong one, or two neighbours exchanged. So "rnage" is near
 * "range", and "rate" is near nothing: a wrong suggestion costs the user more than none.
 */
#ifndef GPUHIST_NEAR_H
#define GPUHIST_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#define NEAR_WORD 24u /* a longer word is near nothing */

/* The number of slips from one word to the other; NEAR_WORD where there are too many to be near. */
unsigned near_slips(const char *text, const char *word);

/* The nearest of many words: begin with {0}, call near_ask with each, then read `word`. */
struct near {
	const char *word; /* the nearest one; NULL: none is near, or two are equally so */
	unsigned slips;   /* of the nearest seen */
	bool any;         /* one was near */
};

/*
 * Compares text with one more word of the list. `word` is borrowed; the same word may come twice.
 */
void near_ask(struct near *near, const char *text, const char *word);

#endif

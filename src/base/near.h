/* SPDX-License-Identifier: MIT */
/*
 * near: which word of a list a mistyped one stands for, for messages. Pure: any thread.
 *
 * Near is one slip for each three letters of the shorter word, at most; a slip is a letter too many, too few,
 * another one, or two neighbours exchanged. So "rnage" is near "range", and "rate" is near nothing: a wrong
 * suggestion costs a reader more than none.
 */
#ifndef GPUHIST_NEAR_H
#define GPUHIST_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#define NEAR_WORD 24u /* a longer word is near nothing */

/* The slips from one word to the other; NEAR_WORD where they are too many to be near. */
unsigned near_slips(const char *text, const char *word);

/* The best of many: begin with {0}, ask for each word, read `word`. */
struct near {
	const char *word; /* the nearest one; NULL: none is near, or two are equally so */
	unsigned slips;   /* of the nearest seen */
	bool any;         /* one was near */
};

/* `word` is borrowed; the same word may come twice. */
void near_ask(struct near *near, const char *text, const char *word);

#endif

/* SPDX-License-Identifier: MIT */
/* near: which word of a list a mistyped one stands for, for messages. Pure: any thread. */
#ifndef GPUHIST_NEAR_H
#define GPUHIST_NEAR_H

/*
 * The word of the list, which ends with NULL, that is nearest to the text in either case; NULL if
 * none is near. A wrong suggestion is worse than none: so the word must be nearer than any other,
 * with at most one slip for each three letters of the shorter of word and text. A slip is a letter
 * too many, one too few, a wrong one, or two neighbours exchanged: "rnage" is near "range", "rate"
 * near nothing.
 */
const char *near_word(const char *text, const char *const *list);

#endif

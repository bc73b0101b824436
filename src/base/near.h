/* SPDX-License-Identifier: MIT */
/* near: which word of a list a mistyped one stands for, for messages. Pure: any thread. */
#ifndef GPUHIST_NEAR_H
#define GPUHIST_NEAR_H

/*
 * The word of the list, which ends with NULL, that is nearest to the text in any case, or NULL: a
 * wrong suggestion costs the user more than none, so nothing is near that is more than one slip
 * away for each three letters of the shorter word, or as near as another. A slip is a letter too
 * many, one too few, a wrong one, or two neighbours exchanged: "rnage" is near "range", "rate" near
 * nothing.
 */
const char *nearest(const char *text, const char *const *list);

#endif

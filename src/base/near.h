/* SPDX-License-Identifier: MIT */
/* near: finds the word that a mistyped one stands for, for messages. Pure function. */
#ifndef GPUHIST_NEAR_H
#define GPUHIST_NEAR_H

/*
 * Return the word in the NULL-terminated list that is nearest to the text, ignoring case; NULL if
 * none is near. A wrong suggestion is worse than none, so the word must be nearer than any other,
 * with at most one slip per three letters of the shorter of word and text. A slip is an extra,
 * missing or wrong letter, or two adjacent letters swapped: "rnage" is near "range", "rate" is near
 * nothing.
 */
const char *near_word(const char *text, const char *const *list);

#endif

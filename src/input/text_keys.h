/* SPDX-License-Identifier: MIT */
/*
 * text_keys: numbers for the keys of text (--by=COLUMN), in the order in which they come.
 *
 * All readers share one table of keys, into which keys are only inserted. Looking one up takes no
 * lock, inserting one does.
 */
#ifndef GPUHIST_INPUT_TEXT_KEYS_H
#define GPUHIST_INPUT_TEXT_KEYS_H

#include <stddef.h>
#include <stdint.h>

struct text_keys;

struct text_keys *text_keys_new(void);    /* NULL: no memory */
void text_keys_free(struct text_keys *k); /* accepts NULL */

/*
 * The number of a key. Keys past KEYS_MOST all have one number more, and so has one without memory:
 * that is a key too many (count/keys.h).
 */
uint32_t text_keys_number(struct text_keys *k, const char *text, size_t length);

/* The text of each key, by its number. */
char *const *text_keys_names(const struct text_keys *k);

#endif

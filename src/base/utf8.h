/* SPDX-License-Identifier: MIT */
/* utf8: which bytes of a text are UTF-8, and which of these a terminal obeys. */
#ifndef GPUHIST_UTF8_H
#define GPUHIST_UTF8_H

#include <stddef.h>

/*
 * The length of the character at p, where at least one and at most `left` bytes can be read; 0
 * where no valid character begins. The bounds of the second byte are those of the Unicode Standard:
 * no overlong form, no surrogates, nothing above U+10FFFF.
 */
size_t utf8_length(const unsigned char *p, size_t left);

/*
 * Decodes an escape of JSON, whose backslash is at p: \n or \u00e4, or two of these for a surrogate
 * pair. Returns how many bytes of UTF-8 it makes, and in *taken its length. 0: JSON has no such
 * escape, and *taken is 0, or it is half of a surrogate pair. A zero must follow the text.
 */
size_t utf8_unescape(char out[4], const unsigned char *p, size_t *taken);

/*
 * Replaces what a terminal would obey by '?': a file name must not be able to move the cursor, fake
 * a line or show itself backwards. Bytes that are not UTF-8 are replaced, too: they mean something
 * else to each terminal, or are control characters of eight bits.
 */
void utf8_make_plain(char *text);

#endif

/* SPDX-License-Identifier: MIT */
/* utf8: finds valid UTF-8, its width, and characters that control a terminal. */
#ifndef GPUHIST_UTF8_H
#define GPUHIST_UTF8_H

#include <stddef.h>

/*
 * Length of the character at p, which has `left` (at least 1) readable bytes; 0 if it is not valid.
 * As in the Unicode Standard, overlong forms, surrogates and code points above U+10FFFF are not
 * valid.
 */
size_t utf8_length(const unsigned char *p, size_t left);

/*
 * Columns of a terminal that a valid character of this length takes: 0 if it joins the one before,
 * 2 for most East Asian characters and emoji, else 1. The C library knows only its locale's
 * characters.
 */
unsigned utf8_columns(const unsigned char *p, size_t length);

/*
 * Decode the JSON escape whose backslash is at p: \n or \u00e4, or two for a surrogate pair. Half
 * of a pair, \udc80 to \udcff, is a byte that is not UTF-8 (write_json.c). Return the number of
 * UTF-8 bytes, and set *taken to the escape's length. 0: JSON has no such escape (*taken is 0), or
 * it is another half of a pair. A zero must follow the text.
 */
size_t utf8_unescape(char out[4], const unsigned char *p, size_t *taken);

/*
 * Replace characters that control a terminal with '?': a file name must not be able to move the
 * cursor, fake a line or reverse the text. Invalid UTF-8 is replaced too: terminals interpret it
 * differently, and it may be 8-bit control characters.
 */
void utf8_make_plain(char *text);

#endif

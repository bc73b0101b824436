/* SPDX-License-Identifier: MIT */
/* utf8: what of a text is UTF-8. */
#ifndef GPUHIST_UTF8_H
#define GPUHIST_UTF8_H

#include <stddef.h>

/*
 * The length of the character at p, of at most `left` bytes, at least one; 0 where there is none. The bounds of
 * the second byte are those of the Unicode Standard: no longer form than needed, no surrogates, nothing
 * past U+10FFFF.
 */
size_t utf8_length(const unsigned char *p, size_t left);

#endif

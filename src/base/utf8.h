/* SPDX-License-Identifier: MIT */
/* utf8: which bytes of a text are UTF-8. */
#ifndef GPUHIST_UTF8_H
#define GPUHIST_UTF8_H

#include <stddef.h>

/*
 * The length of the character at p, where at least one and at most `left` bytes can be read; 0
 * where no valid character begins. The bounds of the second byte are those of the Unicode Standard:
 * no overlong form, no surrogates, nothing above U+10FFFF.
 */
size_t utf8_length(const unsigned char *p, size_t left);

#endif

/* SPDX-License-Identifier: MIT */
/* utf8: characters of UTF-8, by the table of well-formed byte sequences of the Unicode Standard. */
#include "base/utf8.h"

size_t utf8_length(const unsigned char *p, size_t left)
{
	const size_t length = p[0] < 0x80   ? 1
			      : p[0] < 0xc2 ? 0
			      : p[0] < 0xe0 ? 2
			      : p[0] < 0xf0 ? 3
			      : p[0] < 0xf5 ? 4
					    : 0;
	const unsigned char least = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
	const unsigned char most = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;

	if (length > left)
		return 0;
	if (length > 1 && (p[1] < least || p[1] > most))
		return 0;
	for (size_t i = 2; i < length; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return length;
}

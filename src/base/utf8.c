/* SPDX-License-Identifier: MIT */
/* utf8: characters of UTF-8, by the table of well-formed byte sequences of the Unicode Standard. */
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

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

/*
 * Would a terminal obey the character? Beside ASCII's control characters these are U+0080 to
 * U+009F, which act like ESC and a letter, and those that break lines or change their direction.
 */
static bool is_control(const unsigned char *p, size_t length)
{
	if (length == 1)
		return p[0] < ' ' || p[0] == 0x7f;
	if (length == 2)
		return p[0] == 0xc2 && p[1] < 0xa0;
	return length == 3 && p[0] == 0xe2 &&
	       ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) ||
		(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

void utf8_make_plain(char *text)
{
	unsigned char *const p = (unsigned char *)text;
	const size_t used = strlen(text);

	for (size_t i = 0; i < used;) {
		const size_t length = utf8_length(p + i, used - i), bytes = length > 0 ? length : 1;
		if (length == 0 || is_control(p + i, length))
			memset(p + i, '?', bytes);
		i += bytes;
	}
}

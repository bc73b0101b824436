/* SPDX-License-Identifier: MIT */
/* utf8: follows the Unicode Standard's table of well-formed UTF-8 byte sequences. */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
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

unsigned utf8_columns(const unsigned char *p, size_t length)
{
	/* Combining marks and variation selectors, then wide characters. */
	static const struct {
		uint32_t first, last;
		unsigned columns;
	} BLOCKS[] = {
		{0x300, 0x36f, 0},     {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
		{0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0x1100, 0x115f, 2},
		{0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
		{0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},   {0xff01, 0xff60, 2},
		{0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
		{0x1f900, 0x1f9ff, 2}, {0x20000, 0x3ffff, 2},
	};
	uint32_t c = length > 1 ? p[0] & (0xffu >> (length + 1)) : p[0];

	for (size_t i = 1; i < length; i++)
		c = c << 6 | (p[i] & 0x3f);
	for (size_t i = 0; i < sizeof(BLOCKS) / sizeof(*BLOCKS); i++)
		if (c >= BLOCKS[i].first && c <= BLOCKS[i].last)
			return BLOCKS[i].columns;
	return 1;
}

/* Value of the four digits of \uXXXX at p; -1: not digits. */
static int32_t hexadecimal(const unsigned char *p)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		const int c = p[i] | 32;
		if (!(c >= '0' && c <= '9' && p[i] == c) && !(c >= 'a' && c <= 'f'))
			return -1;
		value = value * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return value;
}

static size_t utf8_of(char out[4], uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | c);
	return n;
}

size_t utf8_unescape(char out[4], const unsigned char *p, size_t *taken)
{
	static const char LETTERS[] = "\"\\/bfnrt", MEANING[] = "\"\\/\b\f\n\r\t";
	const char *const letter = p[1] != 0 ? strchr(LETTERS, p[1]) : NULL;
	int32_t c = !letter && p[1] == 'u' ? hexadecimal(p + 2) : -1;

	*taken = letter ? 2 : c < 0 ? 0 : 6;
	if (letter)
		out[0] = MEANING[letter - LETTERS];
	if (c < 0)
		return letter ? 1 : 0;
	if (c >= 0xd800 && c <= 0xdbff && p[6] == '\\' && p[7] == 'u') {
		const int32_t low = hexadecimal(p + 8);
		if (low >= 0xdc00 && low <= 0xdfff) {
			c = 0x10000 + (c - 0xd800) * 0x400 + (low - 0xdc00);
			*taken = 12;
		}
	}
	if (c >= 0xdc80 && c <= 0xdcff)
		return out[0] = (char)c, 1;
	return c >= 0xd800 && c <= 0xdfff ? 0 : utf8_of(out, (uint32_t)c);
}

/*
 * Does the character control a terminal? Besides ASCII's control characters these are U+0080 to
 * U+009F, which act like ESC and a letter, and characters that break lines or change direction.
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

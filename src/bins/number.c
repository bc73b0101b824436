/* SPDX-License-Identifier: MIT */
/* number: text to numbers and numbers to text, without losing a bit. */
#include "bins/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -1 for a character that is no digit. */
static int digit_of(char c, bool hex)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	return hex && isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

/*
 * The digits of a text that strtod has accepted, and the integer if it is one below WHOLE_LIMIT.
 * strtod cannot do this: it rounds 18446744073709551615 and 0xffffffffffffffff.
 */
static void parse_digits(struct number *n, const char *text)
{
	const char *p = text + (*text == '-' || *text == '+');
	const bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	const int base = hex ? 16 : 10, per_digit = hex ? 4 : 1;
	/* Up to three bits of a hexadecimal digit may be after the point. */
	const int128_t digits_limit = WHOLE_LIMIT * 8;
	int128_t digits = 0; /* more than can be held are WHOLE_LIMIT or more */
	long scale = 0;      /* the number is digits 10^scale, or 2^scale if it is hexadecimal */
	bool point = false;
	long zeros = 0; /* zeros seen and not yet multiplied in */
	int last = 0;   /* the last digit that is no zero */

	for (p += hex ? 2 : 0; digit_of(*p, hex) >= 0 || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		scale -= point ? per_digit : 0;
		zeros++;
		if (*p == '0')
			continue;
		last = digit_of(*p, hex);
		for (; zeros > 0 && digits < digits_limit; zeros--)
			digits *= base;
		zeros = 0;
		digits += last;
	}
	if (last == 0) {
		n->whole = n->exact = true;
		return;
	}
	scale += zeros * per_digit;
	if (*p != '\0') {
		long exponent = strtol(p + 1, NULL, 10);
		scale += exponent < -100000 ? -100000 : exponent > 100000 ? 100000 : exponent;
	}
	for (; hex && last % 2 == 0; last /= 2) {
		digits /= 2;
		scale++;
	}
	n->whole = scale >= 0;
	for (; scale > 0 && digits < WHOLE_LIMIT; scale--)
		digits *= hex ? 2 : 10;
	n->exact = n->whole && digits < WHOLE_LIMIT;
	n->integer = *text == '-' ? -digits : digits;
}

int number_parse(struct number *n, const char *text, size_t length)
{
	char copy[512];
	char *end;

	if (length == 0 || length >= sizeof(copy))
		return -1;
	memcpy(copy, text, length);
	copy[length] = '\0';
	/* strtod would also accept white space, "inf" and "nan(...)". */
	if (strspn(copy, "0123456789+-.eExXpPabcdfABCDF") < length)
		return -1;
	*n = (struct number){.value = strtod(copy, &end)};
	if (end == copy || *end != '\0' || !isfinite(n->value))
		return -1;
	parse_digits(n, copy);
	return 0;
}

int number_parse_count(uint64_t *count, const char *text)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (errno || *end != '\0')
		return -1;
	*count = v;
	return 0;
}

int number_parse_size(uint64_t *bytes, const char *text)
{
	static const char UNITS[] = "kmgt";
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	uint64_t v = strtoull(text, &end, hex ? 16 : 10);
	if (errno)
		return -1;
	const char *unit = isalpha((unsigned char)*end) ? strchr(UNITS, *end | 32) : NULL;
	if (unit) {
		const char *rest = end + 1;
		uint64_t base = strcmp(rest, "B") == 0 ? 1000 : 1024;
		if (*rest != '\0' && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0)
			return -1;
		for (long i = unit - UNITS; i >= 0; i--) {
			if (v > UINT64_MAX / base)
				return -1;
			v *= base;
		}
	} else if (*end != '\0') {
		return -1;
	}
	*bytes = v;
	return 0;
}

size_t number_format_count(char text[NUMBER_TEXT], uint64_t x)
{
	size_t n = 1;

	for (uint64_t rest = x; rest >= 10; rest /= 10)
		n++;
	text[n] = '\0';
	for (size_t i = n; i-- > 0; x /= 10)
		text[i] = (char)('0' + x % 10);
	return n;
}

size_t number_format_integer(char text[NUMBER_TEXT], int128_t x)
{
	const uint128_t split = (uint128_t)10000000000000000000U; /* 10^19 */
	uint128_t magnitude = x < 0 ? -(uint128_t)x : (uint128_t)x;
	size_t used = 0;

	if (x < 0)
		text[used++] = '-';
	if (magnitude < split)
		return used + number_format_count(text + used, (uint64_t)magnitude);
	/* |x| < 2^127 < 10^39: two pieces are enough. */
	used += number_format_count(text + used, (uint64_t)(magnitude / split));
	used += (size_t)snprintf(text + used, NUMBER_TEXT - used, "%019llu",
				 (unsigned long long)(magnitude % split));
	return used;
}

size_t number_format_whole(char text[NUMBER_TEXT], double x)
{
	if (fabs(x) < 0x1p127)
		return number_format_integer(text, (int128_t)x);
	return (size_t)snprintf(text, NUMBER_TEXT, "%.0f", x);
}

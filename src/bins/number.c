/* SPDX-License-Identifier: MIT */
/* number: text to numbers, and integers to text. */
#include "bins/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/decimal.h"

int number_parse(struct number *n, const char *text, size_t length)
{
	struct decimal d;
	uint128_t magnitude = 0;
	char copy[512];

	if (length == 0 || length >= sizeof(copy))
		return -1;
	memcpy(copy, text, length);
	copy[length] = '\0';
	if (decimal_read(&d, copy) != copy + length || d.kind != DECIMAL_NUMBER)
		return -1;
	*n = (struct number){.value = strtod(copy, NULL)};
	if (!isfinite(n->value))
		return -1;
	/* strtod rounds 18446744073709551615 and 0xffffffffffffffff. */
	const enum decimal_fit fit = decimal_whole(&d, &magnitude);
	n->whole = fit != DECIMAL_FRACTION;
	n->exact = fit == DECIMAL_FITS && magnitude < (uint128_t)WHOLE_LIMIT;
	n->integer = d.negative ? -(int128_t)magnitude : (int128_t)magnitude;
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

/* Read the digits after a point into *digits; *power is 10 to their number. -1: too many. */
static int read_fraction(const char **at, uint64_t *digits, uint64_t *power)
{
	const char *p = *at;

	for (*power = 1; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(*digits, (uint64_t)10, digits) ||
		    __builtin_add_overflow(*digits, (uint64_t)(*p - '0'), digits) ||
		    __builtin_mul_overflow(*power, (uint64_t)10, power))
			return -1;
	}
	const bool any = p > *at;
	*at = p;
	return any ? 0 : -1;
}

int number_parse_size(uint64_t *bytes, const char *text)
{
	static const char UNITS[] = "kmgt";
	const bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t power = 1;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -1;
	errno = 0;
	uint64_t digits = strtoull(text, &end, hex ? 16 : 10);
	const char *at = end;
	if (errno || (!hex && *at == '.' && (at++, read_fraction(&at, &digits, &power) != 0)))
		return -1;
	const char *const unit = isalpha((unsigned char)*at) ? strchr(UNITS, *at | 32) : NULL;
	uint128_t v = digits;
	if (unit) {
		const char *const rest = at + 1;
		const unsigned base = strcmp(rest, "B") == 0 ? 1000 : 1024;
		if (*rest != '\0' && strcmp(rest, "B") != 0 && strcmp(rest, "iB") != 0)
			return -1;
		for (long i = unit - UNITS; i >= 0; i--)
			v *= base; /* below 2^64 times 2^40 */
	} else if (*at != '\0') {
		return -1;
	}
	if (v % power != 0 || v / power > UINT64_MAX)
		return -1;
	*bytes = (uint64_t)(v / power);
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
	/* Two pieces are enough, because |x| is below 10^39. */
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

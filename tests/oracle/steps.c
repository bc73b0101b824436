/* SPDX-License-Identifier: MIT */
/* steps: how many STEPs there are from LO to HI, by long division of their decimal digits. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

enum { BEHIND = 400, PLACES = 800 }; /* digits behind the point, and all of them */

struct decimal {
	bool negative;
	unsigned char digit[PLACES]; /* the last one first */
};

static struct decimal parse_decimal(const char *text, size_t length)
{
	struct decimal d = {.negative = *text == '-'};
	const char *const end = text + length;
	const char *from = text + (*text == '-' || *text == '+'), *at = from;
	long place = BEHIND - 1, exponent = 0;

	while (at < end && (isdigit((unsigned char)*at) || *at == '.'))
		at++;
	const char *const stop = at;
	if (at < end && tolower((unsigned char)*at) == 'e')
		exponent = strtol(at + 1, (char **)&at, 10);
	if (at != end || stop == from || exponent < -PLACES || exponent > PLACES)
		fail(FAIL_USAGE, text, "not a decimal number, or too far from 1");
	/* the place of the first digit */
	for (at = from; at < stop && *at != '.'; at++)
		place++;
	place += exponent;
	for (at = from; at < stop; at++) {
		if (*at == '.')
			continue;
		if (*at != '0' && (place < 0 || place >= PLACES))
			fail(FAIL_USAGE, text, "too many digits");
		if (*at != '0')
			d.digit[place] = (unsigned char)(*at - '0');
		place--;
	}
	return d;
}

/* Of the numbers without their signs. */
static int compare_decimals(const struct decimal *a, const struct decimal *b)
{
	for (int i = PLACES - 1; i >= 0; i--)
		if (a->digit[i] != b->digit[i])
			return a->digit[i] < b->digit[i] ? -1 : 1;
	return 0;
}

/* Of the numbers without their signs; *a is not below *b. */
static void subtract(struct decimal *a, const struct decimal *b)
{
	int borrow = 0;

	for (int i = 0; i < PLACES; i++) {
		int d = a->digit[i] - b->digit[i] - borrow;

		borrow = d < 0;
		a->digit[i] = (unsigned char)(d + 10 * borrow);
	}
}

static void add(struct decimal *a, const struct decimal *b)
{
	int carry = 0;

	for (int i = 0; i < PLACES; i++) {
		int d = a->digit[i] + b->digit[i] + carry;

		carry = d > 9;
		a->digit[i] = (unsigned char)(d % 10);
	}
}

/* HI - LO, which is above 0. */
static struct decimal distance(struct decimal lo, struct decimal hi, const char *text)
{
	struct decimal *high = hi.negative ? &lo : &hi, *low = hi.negative ? &hi : &lo;

	if (lo.negative && !hi.negative)
		add(high, low);
	else if (lo.negative == hi.negative && compare_decimals(high, low) >= 0)
		subtract(high, low);
	else
		fail(FAIL_USAGE, text, "LO must be below HI");
	return *high;
}

uint64_t count_steps(const char *text)
{
	static const struct decimal zero;
	const char *hi = strchr(text, ':') + 1, *step = strchr(hi, ':') + 1;
	struct decimal width = distance(parse_decimal(text, (size_t)(hi - 1 - text)),
					parse_decimal(hi, (size_t)(step - 1 - hi)), text);
	struct decimal by = parse_decimal(step, strlen(step)), rest = zero;
	uint64_t n = 0;

	if (by.negative || !compare_decimals(&by, &zero))
		fail(FAIL_USAGE, text, "STEP must be above 0");
	for (int i = PLACES - 1; i >= 0; i--) {
		memmove(rest.digit + 1, rest.digit, PLACES - 1);
		rest.digit[0] = width.digit[i];
		for (n *= 10; compare_decimals(&rest, &by) >= 0; n++)
			subtract(&rest, &by);
		if (n > MAX_BINS)
			fail(FAIL_USAGE, text, "too many bins");
	}
	if (compare_decimals(&rest, &zero))
		fail(FAIL_USAGE, text, "not a whole number of steps");
	return n;
}

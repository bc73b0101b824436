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
 * If the text, which strtod has accepted, names an integer, records that, and the integer if it is
 * below WHOLE_LIMIT. strtod cannot do this: it rounds 18446744073709551615 and 0xffffffffffffffff.
 */
static void parse_whole(struct number *n, const char *text)
{
	const char *p = text + (*text == '-' || *text == '+');
	const bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	const int base = hex ? 16 : 10, power = hex ? 2 : 10, per_digit = hex ? 4 : 1;
	/* Up to three bits of a hexadecimal digit may be after the point. */
	const int128_t digits_limit = WHOLE_LIMIT * 8;
	int128_t integer = 0;
	long scale = 0;   /* the number is integer * power^scale ... */
	bool big = false; /* ... unless its digits were too many to hold */
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
		for (; zeros > 0 && !big; zeros--) {
			integer *= base;
			big = integer >= digits_limit;
		}
		zeros = 0;
		integer += last;
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
		integer /= 2;
		scale++;
	}
	n->whole = scale >= 0;
	for (; n->whole && scale > 0 && !big; scale--) {
		integer *= power;
		big = integer >= WHOLE_LIMIT;
	}
	n->exact = n->whole && !big && integer < WHOLE_LIMIT;
	if (n->exact)
		n->integer = *text == '-' ? -integer : integer;
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
	parse_whole(n, copy);
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
	static const char PAIRS[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
		"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";
	char digits[20], *p = digits + sizeof(digits);

	if (x < 10) {
		text[0] = (char)('0' + x);
		text[1] = '\0';
		return 1;
	}
	for (; x >= 100; x /= 100)
		memcpy(p -= 2, PAIRS + 2 * (x % 100), 2);
	memcpy(p -= 2, PAIRS + 2 * x, 2);
	p += x < 10;
	const size_t n = (size_t)(digits + sizeof(digits) - p);
	memcpy(text, p, n);
	text[n] = '\0';
	return n;
}

/*
 * Above a power of two the binary64 numbers are twice as far apart as below it, so the nearest
 * decimal of 16 digits may belong to its lower neighbour while the next decimal up is its own.
 */
static bool next_decimal(char text[NUMBER_TEXT], double x)
{
	char next[NUMBER_TEXT];

	/* Sixteen digits and an exponent: such a power of two is far from the small numbers. */
	snprintf(next, sizeof(next), "%.15e", x);
	char *last = strchr(next, 'e') - 1;
	if (*last == '9') /* its successor is shorter still, and was found before */
		return false;
	++*last;
	if (strtod(next, NULL) != x)
		return false;
	memcpy(text, next, strlen(next) + 1);
	return true;
}

/* The decimal of n and k digits after the point: the digits of n, its last k after the point. */
static size_t format_decimal(char text[NUMBER_TEXT], bool negative, uint64_t n, unsigned k)
{
	char digits[NUMBER_TEXT];
	size_t length = number_format_count(digits, n), used = 0;

	if (negative)
		text[used++] = '-';
	const size_t whole = length > k ? length - k : 0;
	if (whole == 0)
		text[used++] = '0';
	memcpy(text + used, digits, whole);
	used += whole;
	text[used++] = '.';
	for (size_t zeros = length < k ? k - length : 0; zeros > 0; zeros--)
		text[used++] = '0';
	memcpy(text + used, digits + whole, length - whole);
	used += length - whole;
	text[used] = '\0';
	return used;
}

/*
 * The shortest decimal of a number that is not whole and 1e-4 <= x < 1e15, without rounding
 * anything.
 *
 * x = m 2^e, and everything nearer to x than half a unit of m reads back as x. That interval is
 * multiplied by 4 * 10^k = 4 * 5^k * 2^k, so that its ends are whole numbers, below 2^(55 + 49),
 * times 2^(e + k). With this k, x has 17 or 18 digits before the point, and there is a whole number
 * in the interval. While one of its multiples of ten is in it too, one digit less is enough.
 *
 * An end of the interval has 1 - e digits after the point, more than k, so it is no candidate
 * itself. Below a power of two the interval is narrower; but such numbers, if not whole, have at
 * most 10 digits here.
 */
static size_t format_between(char text[NUMBER_TEXT], bool negative, double x)
{
	int e;
	const uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53);
	unsigned k = 21;
	uint64_t five = 476837158203125; /* 5^k */

	for (double power = 1e-3; x >= power; power *= 10, k--)
		five /= 5;
	const unsigned shift = (unsigned)(53 - e + 2) - k; /* 2 .. 47 */
	const uint128_t middle = (uint128_t)(4 * m) * five, mask = ((uint128_t)1 << shift) - 1;
	/* The whole numbers in the interval run from a to b; the middle is rounded down. */
	uint64_t a = (uint64_t)((middle - 2 * five) >> shift) + 1,
		 b = (uint64_t)((middle + 2 * five) >> shift);
	const uint64_t c = (uint64_t)(middle >> shift);
	uint64_t ten = 1;

	for (; (a + 9) / 10 <= b / 10; k--) {
		a = (a + 9) / 10;
		b /= 10;
		ten *= 10;
	}
	/* Take the nearest to the middle; of two, the even one. */
	const uint128_t rest = ((uint128_t)(c % ten) << shift) + (middle & mask),
			half = (uint128_t)ten << (shift - 1);
	const uint64_t n = c / ten;
	return format_decimal(text, negative, n + (rest > half || (rest == half && n % 2 == 1)), k);
}

size_t number_format(char text[NUMBER_TEXT], double x)
{
	if (isnan(x))
		return (size_t)snprintf(text, NUMBER_TEXT, "nan");
	if (isinf(x))
		return (size_t)snprintf(text, NUMBER_TEXT, x < 0 ? "-inf" : "inf");
	if (x == 0)
		return (size_t)snprintf(text, NUMBER_TEXT, "0");
	/* The common case: bin edges that are small whole numbers. */
	if (fabs(x) < 1e15 && x == floor(x))
		return number_format_integer(text, (int128_t)x);
	/* Most other edges; the rest by trial. */
	if (fabs(x) >= 1e-4 && fabs(x) < 1e15)
		return format_between(text, x < 0, fabs(x));
	/*
	 * Any decimal of up to 15 digits survives binary64 and back, so %.15g, which drops
	 * trailing zeros, finds every shorter text too. Denormals hold fewer digits.
	 */
	int first = fabs(x) < 0x1p-1022 ? 1 : 15;
	for (int digits = first; digits <= 17; digits++) {
		snprintf(text, NUMBER_TEXT, "%.*g", digits, x);
		if (strtod(text, NULL) == x || (digits == 16 && next_decimal(text, x)))
			break;
	}
	return strlen(text);
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

static int bit_length(uint128_t x)
{
	uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;

	return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

double number_ratio(int128_t numerator, uint32_t denominator)
{
	uint128_t magnitude = numerator < 0 ? -(uint128_t)numerator : (uint128_t)numerator;
	/* Both are binary64 numbers: their quotient is rounded once. */
	if (magnitude <= (uint128_t)1 << 53)
		return (double)numerator / denominator;
	uint128_t whole = magnitude / denominator, rest = magnitude % denominator;

	/* Enough fraction bits for a quotient of 55 bits or more, or all that 128 bits can hold. */
	int room = 120 - bit_length(whole);
	int shift = room > 84 ? 84 : room;
	if (shift < 0)
		shift = 0;
	uint128_t fraction = rest << shift;
	uint128_t quotient = (whole << shift) + fraction / denominator;
	bool sticky = fraction % denominator != 0;

	int excess = bit_length(quotient) - 54; /* keep 53 bits and the one that rounds */
	if (excess > 0) {
		sticky |= (quotient & (((uint128_t)1 << excess) - 1)) != 0;
		quotient >>= excess;
	} else {
		excess = 0;
	}
	if (bit_length(quotient) == 54) {
		bool half = quotient & 1;
		quotient >>= 1;
		excess++;
		if (half && (sticky || (quotient & 1)))
			quotient++;
	}
	double value = ldexp((double)(uint64_t)quotient, excess - shift);
	return numerator < 0 ? -value : value;
}

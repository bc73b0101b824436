/* SPDX-License-Identifier: MIT */
/* number: text to numbers and numbers to text, without losing a bit. */
#include "bins/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
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

/*
 * The shortest decimal of a double, by Raffaello Giulietti's Schubfach ("The Schubfach way to
 * render doubles", 2021), which proves what is claimed here; sections and names are his.
 *
 * x = c 2^q, and all that lies between the middles to its two neighbours reads back as x; the
 * middles do too if c is even. 10^k is the largest power of ten that is not above the width of that
 * interval. So at most one multiple of 10^(k+1) is in it, and at least one of 10^k: the first if
 * there is one, else the multiple of 10^k that is nearer to x, is the shortest. x and both ends are
 * needed in units of 10^k / 4, rounded to odd; g, 126 bits of 10^-k, is enough for that (section
 * 9.9).
 */
#define TEN_LEAST (-292) /* the least -k of any q */
#define TEN_MOST 324
#define TEN_WORDS 16 /* 5^324 has 753 bits; 2^1023 / 5^292 has 345 */

static uint128_t ten[TEN_MOST - TEN_LEAST + 1]; /* g: the first 126 bits of a power, plus 1 */
static pthread_once_t ten_once = PTHREAD_ONCE_INIT;

static uint128_t first_bits(const uint64_t word[TEN_WORDS])
{
	int i = TEN_WORDS - 1;

	while (word[i] == 0)
		i--;
	const uint64_t next = i > 0 ? word[i - 1] : 0, last = i > 1 ? word[i - 2] : 0;
	const int zeros = __builtin_clzll(word[i]);
	const uint128_t high = ((uint128_t)word[i] << 64 | next) << zeros;
	return (high | (uint128_t)last << zeros >> 64) >> 2;
}

/*
 * 10^n has the bits of 5^n. Those of 5^-n are the bits of 2^1023 / 5^n, whose whole part is made
 * exactly by dividing by 5 and rounding down, n times.
 */
static void set_ten(void)
{
	uint64_t power[TEN_WORDS] = {1}, inverse[TEN_WORDS] = {[TEN_WORDS - 1] = (uint64_t)1 << 63};

	for (int n = 0; n <= TEN_MOST; n++) {
		uint128_t carry = 0, rest = 0;
		ten[n - TEN_LEAST] = first_bits(power) + 1;
		if (n <= -TEN_LEAST && n > 0)
			ten[-n - TEN_LEAST] = first_bits(inverse) + 1;
		for (int i = 0; i < TEN_WORDS; i++) {
			carry += (uint128_t)power[i] * 5;
			power[i] = (uint64_t)carry;
			carry >>= 64;
		}
		for (int i = TEN_WORDS - 1; n < -TEN_LEAST && i >= 0; i--) {
			rest = rest << 64 | inverse[i];
			inverse[i] = (uint64_t)(rest / 5);
			rest %= 5;
		}
	}
}

/* The product, rounded to odd (figure 8: rop). */
static uint64_t multiply_odd(uint128_t g, uint64_t c)
{
	const uint64_t low = UINT64_MAX >> 1;
	const uint128_t high = (uint128_t)(uint64_t)(g >> 63) * c;
	const uint64_t middle =
		((uint64_t)high >> 1) + (uint64_t)((uint128_t)((uint64_t)g & low) * c >> 64);

	return ((uint64_t)(high >> 64) + (middle >> 63)) | ((middle & low) != 0);
}

/* The shortest decimal of x > 0 is the result times 10^*power. */
static uint64_t shortest(double x, int *power)
{
	uint64_t c;

	memcpy(&c, &x, sizeof(c));
	const int exponent = (int)(c >> 52), q = exponent > 0 ? exponent - 1075 : -1074;
	c &= ((uint64_t)1 << 52) - 1;
	/* The neighbour below a power of two is nearer; not so for the smallest normal number. */
	const bool narrow = c == 0 && exponent > 1;
	c += exponent > 0 ? (uint64_t)1 << 52 : 0;

	/*
	 * Floors of q log10(2), less log10(4/3), and of -k log2(10); true for these q (section 9).
	 */
	const int k = (int)((q * 661971961083 - (narrow ? 274743187321 : 0)) >> 41);
	const int shift = q + (int)((-k * 913124641741) >> 38) + 2;
	const uint128_t g = ten[-k - TEN_LEAST];
	const uint64_t odd = c & 1, at = multiply_odd(g, 4 * c << shift),
		       from = multiply_odd(g, (4 * c - (narrow ? 1 : 2)) << shift) + odd,
		       to = multiply_odd(g, (4 * c + 2) << shift) - odd;
	const uint64_t s = at / 4, s10 = s / 10;

	if ((from <= 40 * s10) != (40 * s10 + 40 <= to)) {
		*power = k + 1;
		return s10 + (from > 40 * s10);
	}
	*power = k;
	if ((from <= 4 * s) != (4 * s + 4 <= to))
		return s + (from > 4 * s);
	return s + (at > 4 * s + 2 || (at == 4 * s + 2 && s % 2 == 1));
}

/*
 * As printf's %.15g writes it, or %.16g or %.17g where so many digits are needed: with an exponent
 * if that is below -4 or not below the number of digits.
 */
static size_t format_real(char text[NUMBER_TEXT], double x)
{
	char digits[NUMBER_TEXT];
	size_t used = 0;
	int power;

	pthread_once(&ten_once, set_ten);
	int n = (int)number_format_count(digits, shortest(fabs(x), &power));
	const int exponent = power + n - 1;
	while (digits[n - 1] == '0')
		n--;
	if (x < 0)
		text[used++] = '-';
	const bool scientific = exponent < -4 || exponent >= (n > 15 ? n : 15);
	if (!scientific && exponent < 0) {
		memcpy(text + used, "0.0000", 6);
		used += (size_t)(1 - exponent);
	}
	const int whole = scientific ? 1 : exponent < 0 ? n : exponent + 1;
	memcpy(text + used, digits, (size_t)whole);
	used += (size_t)whole;
	if (whole < n) {
		text[used] = '.';
		memcpy(text + used + 1, digits + whole, (size_t)(n - whole));
		used += (size_t)(n - whole + 1);
	}
	if (scientific) {
		const int e = abs(exponent);
		text[used++] = 'e';
		text[used++] = exponent < 0 ? '-' : '+';
		if (e >= 100)
			text[used++] = (char)('0' + e / 100);
		text[used++] = (char)('0' + e / 10 % 10);
		text[used++] = (char)('0' + e % 10);
	}
	text[used] = '\0';
	return used;
}

size_t number_format(char text[NUMBER_TEXT], double x)
{
	if (isnan(x))
		return (size_t)snprintf(text, NUMBER_TEXT, "nan");
	if (isinf(x))
		return (size_t)snprintf(text, NUMBER_TEXT, x < 0 ? "-inf" : "inf");
	/* The common case: bin edges that are small whole numbers. */
	if (fabs(x) < 1e15 && x == floor(x))
		return number_format_integer(text, (int128_t)x);
	return format_real(text, x);
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

double number_ratio(int128_t numerator, uint32_t denominator)
{
	const uint128_t magnitude = numerator < 0 ? -(uint128_t)numerator : (uint128_t)numerator;
	const uint64_t high = (uint64_t)(magnitude >> 64), low = (uint64_t)magnitude;

	/* Both are binary64 numbers: their quotient is rounded once. */
	if (magnitude <= (uint128_t)1 << 53)
		return (double)numerator / denominator;
	/*
	 * The quotient of 128 bits by 28 has 100 or more. Rounding to 53 of them sees the rest as a
	 * last bit that is set.
	 */
	const int shift = high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
	const uint128_t shifted = magnitude << shift, quotient = shifted / denominator;
	const bool more = quotient * denominator != shifted;
	const double value = ldexp((double)(quotient | more), -shift);
	return numerator < 0 ? -value : value;
}

/* SPDX-License-Identifier: MIT */
/* ticks: round numbers, and where they are on the axis. */
#include "output/ticks.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZEROS "00000000000000000000000000000000"

double ticks_log2(double x)
{
	int e;
	double m = frexp(x, &e), sum = 0;

	/*
	 * 1/sqrt(2) <= m < sqrt(2): log m = 2 atanh z, |z| < 0.172, and the omitted terms are below
	 * 2^-60.
	 */
	if (m < 0.70710678118654752) {
		m *= 2;
		e--;
	}
	const double z = (m - 1) / (m + 1), square = z * z;
	for (int k = 25; k >= 1; k -= 2)
		sum = sum * square + 1.0 / k;
	return e + 2 * z * sum * 1.4426950408889634;
}

/* x 2^-e: differences of any two such numbers are finite. */
static double shrunk(double x, int e)
{
	return isinf(x) ? copysign(ldexp(1, 1024 - e), x) : ldexp(x, -e);
}

static double log2_of_end(double x)
{
	return isinf(x) ? 1024 : ticks_log2(x);
}

double span_at(const struct span *span, double x)
{
	double lo, hi;
	int e = 1024;

	if (!(x > span->lo))
		return 0;
	if (x >= span->hi)
		return 1;
	/*
	 * Between numbers this close, logarithms are a straight line, and have lost the digits that
	 * tell the numbers apart.
	 */
	if (span->log && span->hi / span->lo > 1 + 0x1p-20) {
		lo = log2_of_end(span->lo);
		hi = log2_of_end(span->hi);
		x = ticks_log2(x);
	} else {
		const double most =
			fabs(span->lo) > fabs(span->hi) ? fabs(span->lo) : fabs(span->hi);
		if (!isinf(most))
			(void)frexp(most, &e);
		lo = shrunk(span->lo, e);
		hi = shrunk(span->hi, e);
		x = shrunk(x, e);
	}
	const double at = (x - lo) / (hi - lo);
	return at > 0 ? (at < 1 ? at : 1) : 0; /* where lo and hi have one logarithm, 0 / 0 */
}

/* digits * 10^power, to the nearest binary64. */
static double decimal(int64_t digits, int power)
{
	char text[64];

	snprintf(text, sizeof(text), "%llde%d", (long long)digits, power);
	return strtod(text, NULL);
}

/*
 * The largest power of ten that is not above x > 0; if x is below all powers that binary64 has,
 * some small one.
 */
static int power_of(double x)
{
	int p = (int)floor(ticks_log2(x) / LOG2_OF_10) + 1;

	while (p > -330 && decimal(1, p) > x)
		p--;
	return p;
}

void ticks_power(char text[TICK_TEXT], int n)
{
	static const char *const DIGITS[] = {
		"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
		"\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
	char plain[16];
	size_t used = 2;

	snprintf(plain, sizeof(plain), "%d", n);
	memcpy(text, "10", used + 1);
	for (const char *p = plain; *p; p++) {
		const char *const small = *p == '-' ? "\xe2\x81\xbb" : DIGITS[*p - '0'];
		memcpy(text + used, small, strlen(small) + 1);
		used += strlen(small);
	}
}

/*
 * digits * 10^power without an exponent. NUMBER_TEXT has room for 39 digits; more are never needed.
 */
static void plain_text(char text[TICK_TEXT], int128_t digits, int power)
{
	char plain[NUMBER_TEXT];
	const bool negative = digits < 0;
	const int length = (int)number_format_integer(plain, negative ? -digits : digits);
	const int whole = length + power;
	int used = 0;

	if (digits == 0) {
		strcpy(text, "0");
		return;
	}
	if (negative)
		used = snprintf(text, TICK_TEXT, "\xe2\x88\x92");
	if (power >= 0)
		snprintf(text + used, TICK_TEXT - (size_t)used, "%s%.*s", plain, power, ZEROS);
	else if (whole > 0)
		snprintf(text + used, TICK_TEXT - (size_t)used, "%.*s.%s", whole, plain,
			 plain + whole);
	else
		snprintf(text + used, TICK_TEXT - (size_t)used, "0.%.*s%s", -whole, ZEROS, plain);
}

/* Characters of UTF-8. */
static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/*
 * Texts are below their ticks with two blanks between them; long ones at the ends may be moved by
 * half.
 */
static bool fits(const struct ticks *ticks, size_t room)
{
	size_t longest = 0;

	for (unsigned i = 0; i < ticks->count; i++) {
		const size_t some = characters(ticks->tick[i].text);
		longest = some > longest ? some : longest;
	}
	const double wanted = (double)longest + 2 + (longest > 8 ? (double)longest / 2 : 0);
	for (unsigned i = 1; i < ticks->count; i++)
		if ((ticks->tick[i].at - ticks->tick[i - 1].at) * (double)room < wanted)
			return false;
	return true;
}

/*
 * The power of ten that is written once beside the axis instead of with every number. None if the
 * numbers are short without it, or if they have a small range far from zero, because then their
 * digits are needed anyway.
 */
static int factor_of(int128_t largest, int power)
{
	char digits[NUMBER_TEXT];
	const int e =
		(int)number_format_integer(digits, largest < 0 ? -largest : largest) - 1 + power;
	const int factor = e >= 0 ? e - e % 3 : -((2 - e) / 3 * 3);

	if (e >= -3 && e < 6 && power > -16)
		return 0;
	if (e >= 6 && e <= 20 && power >= 0 && factor - power > 3)
		return 0;
	return factor;
}

static void name_all(struct ticks *ticks, const int128_t *digits, int power)
{
	int128_t largest = 0;

	for (unsigned i = 0; i < ticks->count; i++)
		if ((digits[i] < 0 ? -digits[i] : digits[i]) > largest)
			largest = digits[i] < 0 ? -digits[i] : digits[i];
	ticks->factor = factor_of(largest, power);
	for (unsigned i = 0; i < ticks->count; i++)
		plain_text(ticks->tick[i].text, digits[i], power - ticks->factor);
}

/* The step of 1, 2 or 5 times a power of ten that is not below `least`. */
static int round_step(double least, int *power)
{
	static const int ROUND[] = {1, 2, 5};

	for (*power = power_of(least);; ++*power)
		for (int i = 0; i < 3; i++)
			if (decimal(ROUND[i], *power) >= least)
				return ROUND[i];
}

static void linear(struct ticks *ticks, const struct span *span, unsigned most, bool counts)
{
	int128_t digits[TICKS_MAX];
	/* --auto may begin at -2^1024 and end at 2^1024. */
	const double lo = isinf(span->lo) ? -DBL_MAX : span->lo,
		     hi = isinf(span->hi) ? DBL_MAX : span->hi;
	double least = hi / most - lo / most;
	int power;

	ticks->count = 0;
	ticks->factor = 0;
	if (counts && least < 1)
		least = 1;
	if (!(least > 0)) /* between neighbours near zero */
		return;
	const int m = round_step(least, &power);
	const double step = decimal(m, power), first = ceil(lo / step) - 1;
	if (isinf(step) || !(fabs(first) < 0x1p60))
		return;
	/*
	 * The quotient of numbers that are close together for their size may be some units too
	 * large or too small.
	 */
	for (int64_t j = (int64_t)first - 16; ticks->count < TICKS_MAX && ticks->count <= 2 * most;
	     j++) {
		const double x = decimal(j * m, power);
		if (x > hi)
			break;
		if (x < lo)
			continue;
		digits[ticks->count] = (int128_t)j * m;
		ticks->tick[ticks->count++].at = span_at(span, x);
	}
	name_all(ticks, digits, power);
}

/* Powers of ten, or every second, third ..., and the numbers between them if there is room. */
static void decades(struct ticks *ticks, const struct span *span, unsigned most, bool counts)
{
	const int first = power_of(span->lo), last = power_of(isinf(span->hi) ? DBL_MAX : span->hi);
	const int every = 1 + (last - first) / (int)most;
	const bool plain = first >= -4 && last <= 5;

	ticks->count = 0;
	ticks->factor = 0;
	for (int p = counts && first < 0 ? 0 : first; p <= last; p++) {
		for (int m = 1; m < (every == 1 && last - first <= 12 ? 10 : 2); m++) {
			const double x = decimal(m, p);
			if (x < span->lo || x > span->hi || ticks->count == TICKS_MAX)
				continue;
			struct tick *const tick = &ticks->tick[ticks->count];
			tick->at = span_at(span, x);
			tick->text[0] = '\0';
			if (m == 1 && p % every == 0) {
				if (plain)
					plain_text(tick->text, 1, p);
				else
					ticks_power(tick->text, p);
			} else if (every > 1) {
				continue;
			}
			ticks->count++;
		}
	}
}

/* 1, 2 and 5 times the powers of ten. */
static void ones_twos_fives(struct ticks *ticks, const struct span *span, bool counts)
{
	int128_t digits[TICKS_MAX];
	const int first = power_of(span->lo), last = power_of(isinf(span->hi) ? DBL_MAX : span->hi);

	ticks->count = 0;
	for (int p = counts && first < 0 ? 0 : first; p <= last; p++) {
		for (int m = 1; m <= 5; m += m + (m == 2)) {
			const double x = decimal(m, p);
			if (x < span->lo || x > span->hi || ticks->count == TICKS_MAX)
				continue;
			digits[ticks->count] = m;
			for (int k = first; k < p; k++)
				digits[ticks->count] *= 10;
			ticks->tick[ticks->count++].at = span_at(span, x);
		}
	}
	name_all(ticks, digits, first);
	for (unsigned i = 0; i < ticks->count; i++) {
		char *const text = ticks->tick[i].text;
		size_t length = strchr(text, '.') ? strlen(text) : 0;
		while (length > 0 && text[length - 1] == '0')
			text[--length] = '\0';
		if (length > 0 && text[length - 1] == '.')
			text[length - 1] = '\0';
	}
}

static unsigned named(const struct ticks *ticks)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ticks->count; i++)
		n += ticks->tick[i].text[0] != '\0';
	return n;
}

void ticks_of_span(struct ticks *ticks, const struct span *span, unsigned most, size_t room,
		   bool counts)
{
	if (span->log) {
		decades(ticks, span, most, counts);
		if (named(ticks) >= 3)
			return;
		ones_twos_fives(ticks, span, counts);
		if (named(ticks) >= (counts ? 1 : 3))
			return;
	}
	for (unsigned n = most; n > 1; n--) {
		linear(ticks, span, n, counts);
		if (fits(ticks, room))
			return;
	}
}

void ticks_of_whole(struct ticks *ticks, int128_t lo, int128_t width, unsigned most, size_t room)
{
	for (unsigned n = most; n > 1; n--) {
		int128_t digits[TICKS_MAX], step;
		int power;
		const double least = (double)width / n;
		const int m = round_step(least > 1 ? least : 1, &power);

		step = m;
		for (int p = 0; p < power; p++)
			step *= 10;
		int128_t j = lo / step - 1;
		for (ticks->count = 0; j * step <= lo + width && ticks->count < TICKS_MAX; j++) {
			if (j * step < lo)
				continue;
			digits[ticks->count] = j * m;
			ticks->tick[ticks->count++].at = (double)(j * step - lo) / (double)width;
		}
		name_all(ticks, digits, power);
		if (fits(ticks, room))
			return;
	}
}

/* SPDX-License-Identifier: MIT */
/* scale: positions of numbers on a linear or logarithmic line, and its ticks at round numbers. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/ruler.h"

#define NEAR 0.03 /* minimum distance of a tick from zero on a logarithmic line */

double scale_doublings(double a, double b)
{
	return b / a < 2 ? log1p((b - a) / a) / log(2) : log2(b) - log2(a);
}

/* Is there a band about 0? */
static bool has_band(const struct scale *s)
{
	return s->log && s->lo <= 0 && s->hi >= 0;
}

static double linear_at(const struct scale *s, double x)
{
	const double half = isinf(s->hi - s->lo) ? 0.5 : 1;

	return (x * half - s->lo * half) / (s->hi * half - s->lo * half);
}

double scale_at(const struct scale *s, double x)
{
	const double from = s->band[1] + s->gap, to = s->band[0] - s->gap;

	if (x < s->lo || (x <= s->lo && !has_band(s)))
		return 0;
	if (x > s->hi || (x >= s->hi && !has_band(s)))
		return 1;
	if (!s->log)
		return linear_at(s, x);
	if (!has_band(s))
		return s->lo > 0
			       ? scale_doublings(s->lo, x) / scale_doublings(s->lo, s->hi)
			       : 1 - scale_doublings(-s->hi, -x) / scale_doublings(-s->hi, -s->lo);
	if (x > 0 && s->above > 0 && x >= s->above)
		return from +
		       (1 - from) * scale_doublings(s->above, x) / scale_doublings(s->above, s->hi);
	if (x < 0 && s->below > 0 && x <= -s->below)
		return to - to * scale_doublings(s->below, -x) / scale_doublings(s->below, -s->lo);
	return (s->band[0] + s->band[1]) / 2;
}

/* digits * 10^power, to the nearest binary64. */
static double decimal(int64_t digits, int power)
{
	char text[64];

	snprintf(text, sizeof(text), "%llde%d", (long long)digits, power);
	return strtod(text, NULL);
}

/* Exponent of the largest power of ten up to x > 0; for denormals, a small one. */
static int power_of(double x)
{
	char text[64];

	snprintf(text, sizeof(text), "%.14e", x);
	const int p = atoi(strchr(text, 'e') + 1);
	return decimal(1, p) > x ? p - 1 : p;
}

double scale_below(double x)
{
	const int p = power_of(x);

	return fmax(decimal(1, decimal(1, p) < x ? p : p - 1), DBL_MIN);
}

/*
 * Make about `most` ticks at steps of 1, 2 or 5 times a power of ten or, in hexadecimal, a power of
 * two. Makes none if lo is too many steps from zero.
 */
static void linear(struct scale *s, unsigned most)
{
	const double some = s->hi / most - s->lo / most, least = s->whole ? fmax(some, 1) : some;
	int64_t m = 1;
	int power = 0;

	s->ticks = 0;
	while (s->hex && (double)m < least)
		m *= 2;
	if (!s->hex && least > 0)
		for (power = power_of(least); decimal(m, power) < least;) {
			power += m == 5;
			m = m == 1 ? 2 : m == 2 ? 5 : 1;
		}
	const double first = floor(s->lo / decimal(m, power));
	if (!(fabs(first) < 0x1p50)) /* NaN if lo and hi are adjacent numbers near zero */
		return;
	/* Write short numbers in full, and long ones that differ only in their last digits. */
	const int last = power_of(fmax(fabs(s->lo), fabs(s->hi)));
	const bool plain =
		power > -8 && (last < 10 || (power >= 0 && last < 21 && last - power > 3));
	/* Rounding may make the quotient a few units too large. */
	int64_t j = (int64_t)first - 16;
	for (unsigned tries = 0; tries < TICKS_MAX; tries++, j++) {
		const double x = decimal(j * m, power);
		if (x < s->lo || x > s->hi)
			continue;
		struct tick *const tick = &s->tick[s->ticks++];
		tick->at = scale_at(s, x);
		if (s->hex)
			snprintf(tick->text, TICK_TEXT, "0x%llX", (long long)(j * m));
		else if (plain || j == 0)
			snprintf(tick->text, TICK_TEXT, "%.*f", power < 0 && j != 0 ? -power : 0,
				 x);
		else
			snprintf(tick->text, TICK_TEXT, "%.*e",
				 (int)fmin(fmax(power_of(fabs(x)) - power, 0), 17), x);
	}
}

/*
 * Make ticks at zero and at positive and negative powers of ten, or every second, third ... of
 * them, with minor ticks in between; `more`: label 2 and 5 times these too. Return the number of
 * labels.
 */
static unsigned logarithmic(struct scale *s, unsigned most, bool more)
{
	const bool crosses = has_band(s);
	const double nearest = !crosses                       ? fmin(fabs(s->lo), fabs(s->hi))
			       : s->below > 0 && s->above > 0 ? fmin(s->below, s->above)
							      : fmax(s->below, s->above);
	const int first = power_of(nearest), last = power_of(fmax(fabs(s->lo), fabs(s->hi)));
	const int every = 1 + (last - first) * (s->lo < 0 && s->hi > 0 ? 2 : 1) / (int)most;
	const int steps = every == 1 && last - first <= 12 ? 9 : 1;
	const double zero = crosses ? scale_at(s, 0) : -1;
	unsigned named = crosses;

	s->ticks = crosses;
	s->tick[0] = (struct tick){zero, "0"};
	for (int i = 0; i < 2 * (last - first + 1) * steps && s->ticks < TICKS_MAX; i++) {
		const int p = first + i / 2 / steps, m = 1 + i / 2 % steps;
		const double x = decimal(i % 2 ? m : -m, p);
		struct tick *const tick = &s->tick[s->ticks];
		if (x < s->lo || x > s->hi || p % every != 0 || (s->whole && p < 0) ||
		    (crosses &&
		     (fabs(scale_at(s, x) - zero) < NEAR ||
		      (x > 0 ? s->above <= 0 || x < s->above : s->below <= 0 || x > -s->below))))
			continue;
		*tick = (struct tick){.at = scale_at(s, x)};
		s->ticks++;
		if (m > 1 && !(more && (m == 2 || m == 5)))
			continue;
		named++;
		if (first >= -4 && last <= 5)
			snprintf(tick->text, TICK_TEXT, "%.*f", p < 0 ? -p : 0, x);
		else
			snprintf(tick->text, TICK_TEXT, "%.0e", x);
	}
	return named;
}

/* Do labels fit below their ticks, two blanks apart? A long one at an end may move by half. */
static bool scale_fits(const struct scale *s, unsigned characters)
{
	size_t longest = 0;
	double gap = 1;

	for (unsigned i = 0; i < s->ticks; i++) {
		longest = (size_t)fmax((double)longest, (double)strlen(s->tick[i].text));
		gap = i > 0 ? fmin(gap, s->tick[i].at - s->tick[i - 1].at) : gap;
	}
	return gap * characters >= (double)(longest + 2 + (longest > 8 ? longest / 2 : 0));
}

void scale_ticks(struct scale *s, unsigned most, unsigned characters)
{
	const unsigned named = s->log ? logarithmic(s, most, false) : 0;

	if (named == 2)
		logarithmic(s, most, true);
	if (named >= 2)
		return;
	do
		linear(s, most);
	while (!scale_fits(s, characters) && --most > 1);
}

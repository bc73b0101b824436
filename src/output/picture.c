/* SPDX-License-Identifier: MIT */
/* picture: bins joined, edges as text, ticks. */
#include "output/picture.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_EDGE 12 /* characters that can be read at a glance */
#define WHOLE_EDGE 21 /* those of all 64-bit integers, and of the edge after the last */

/* How many bins bin 0 is from the beginning of its part: only parts of --auto are aligned. */
static uint64_t lead_of(const struct axis *axis, uint32_t per)
{
	if (axis->kind != AXIS_AUTO)
		return 0;
	const int128_t first = edges_first(&axis->edges, &axis->type);
	return (uint64_t)((first % per + per) % per);
}

static uint64_t parts_of(const struct axis *axis, uint32_t first, uint32_t end, uint32_t per)
{
	const uint64_t lead = lead_of(axis, per);

	return (lead + end - 1) / per - (lead + first) / per + 1;
}

/* 1, 2 or 5 times a power of ten, or a power of two. */
static bool is_round(uint32_t n)
{
	if ((n & (n - 1)) == 0)
		return true;
	while (n % 10 == 0)
		n /= 10;
	return n == 1 || n == 2 || n == 5;
}

/*
 * The edges of --auto are round in powers of two. Otherwise the number is best a round divisor of
 * the bins, then any divisor; none above twice what is needed is looked for.
 */
static uint32_t bins_a_part(const struct axis *axis, uint32_t first, uint32_t end, uint32_t most)
{
	const uint32_t bins = axis_bins(axis), least = (end - first - 1) / most + 1;
	uint32_t best = 0;

	for (uint32_t per = 1; axis->kind == AXIS_AUTO; per *= 2)
		if (parts_of(axis, first, end, per) <= most)
			return per;
	for (uint32_t per = least; per <= 2 * least; per++) {
		if (parts_of(axis, first, end, per) > most)
			continue;
		if (bins % per == 0 && is_round(per))
			return per;
		if (best == 0 || (bins % per == 0 && bins % best != 0))
			best = per;
	}
	return best;
}

void parts_join(struct parts *parts, const struct axis *axis, uint32_t first, uint32_t end,
		uint32_t most)
{
	const uint32_t bins = axis_bins(axis), per = bins_a_part(axis, first, end, most);
	const uint64_t lead = lead_of(axis, per);
	struct part *const part = parts->part;

	assert(4 <= most && most <= PARTS_MOST && first < end && end <= bins);
	parts->per = per;
	parts->count = 0;
	for (uint64_t at = (lead + first) / per * per; at < lead + end; at += per)
		part[parts->count++] = (struct part){
			.first = at > lead ? (uint32_t)(at - lead) : 0,
			.end = at + per - lead < bins ? (uint32_t)(at + per - lead) : bins,
		};
	const struct part *const last = &part[parts->count - 1];
	if (parts->count > 1 && 2 * (uint64_t)(last->end - last->first) < per)
		part[--parts->count - 1].end = last->end;
	if (parts->count > 1 && 2 * (uint64_t)(part->end - part->first) < per) {
		part[1].first = part->first;
		memmove(part, part + 1, --parts->count * sizeof(*part));
	}
	if (parts->count == 1)
		parts->per = part->end - part->first;
	for (uint32_t i = 0; i < parts->count; i++)
		part[i].scale = (double)parts->per / (part[i].end - part[i].first);
}

uint64_t part_sum(const struct part *part, const struct hist *hist, uint32_t channel)
{
	const uint64_t *const count = hist->count + channel * hist->stride;
	uint64_t sum = 0;

	for (uint32_t i = part->first; i < part->end; i++)
		sum += count[i];
	return sum;
}

void filled_bins(struct filled *f, const struct hist *hist, uint32_t channel)
{
	const uint32_t bins = axis_bins(&hist->axis);

	*f = (struct filled){.bins = 0};
	for (uint32_t i = 0; i < bins; i++) {
		const uint64_t count = hist_count(hist, channel, i);
		if (count == 0)
			continue;
		if (f->bins++ == 0)
			f->first = i;
		f->end = i + 1;
		if (count > f->most)
			f->fullest = i;
		f->most = count > f->most ? count : f->most;
	}
}

bool edge_is_whole(const char *text)
{
	return text[strspn(text, "-0123456789")] == '\0' && strlen(text) <= WHOLE_EDGE;
}

void edge_text(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i)
{
	if (edges_format(&axis->edges, i, text) > SHORT_EDGE && !edge_is_whole(text))
		snprintf(text, NUMBER_TEXT, "%.6g", edges_value(&axis->edges, i));
}

void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin)
{
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);
	const bool end = bin == 0 || bin + 1 == bins, closed = edges->closed && bin + 1 == bins;
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];

	edge_text(lower, axis, bin);
	edge_text(upper, axis, bin + 1);
	if (axis->kind == AXIS_MOD)
		snprintf(text, BIN_TEXT, "%lu", (unsigned long)bin);
	else if (axis->type.kind != SAMPLE_FLOAT && edges->exact && edges->width == bins &&
		 !closed && !(axis->clamp && end))
		snprintf(text, BIN_TEXT, "%s", lower);
	else
		snprintf(text, BIN_TEXT, "[%s, %s%c", lower, upper, closed ? ']' : ')');
}

double picture_log2(double x)
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

double span_at(const struct span *span, double x)
{
	double lo = span->lo, hi = span->hi;

	if (!(x > lo))
		return 0;
	if (x >= hi)
		return 1;
	/*
	 * Between numbers this close, logarithms are a straight line, and have lost the digits that
	 * tell the numbers apart.
	 */
	if (span->log && hi / lo > 1 + 0x1p-20) {
		lo = picture_log2(lo);
		hi = picture_log2(hi);
		x = picture_log2(x);
	} else if (isinf(hi - lo)) {
		lo /= 2;
		hi /= 2;
		x /= 2;
	}
	return (x - lo) / (hi - lo);
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
	int p = (int)floor(picture_log2(x) / 3.3219280948873623) + 1;

	while (p > -330 && decimal(1, p) > x)
		p--;
	return p;
}

void tick_power(char text[TICK_TEXT], int n)
{
	static const char DIGITS[][4] = {
		"\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
		"\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
	char plain[16];

	snprintf(plain, sizeof(plain), "%d", n);
	strcpy(text, "10");
	for (const char *p = plain; *p; p++)
		strcat(text, *p == '-' ? "\xe2\x81\xbb" : DIGITS[*p - '0']);
}

/* digits * 10^power without an exponent; never more than 40 characters. */
static void plain_text(char text[TICK_TEXT], int128_t digits, int power)
{
	static const char ZEROS[] = "00000000000000000000000000000000";
	char plain[NUMBER_TEXT];
	const int length = (int)number_format_integer(plain, digits < 0 ? -digits : digits);
	const int whole = length + power;
	const char *const sign = digits < 0 ? "\xe2\x88\x92" : "";

	if (power >= 0 || digits == 0)
		snprintf(text, TICK_TEXT, "%s%s%.*s", sign, plain, digits == 0 ? 0 : power, ZEROS);
	else if (whole > 0)
		snprintf(text, TICK_TEXT, "%s%.*s.%s", sign, whole, plain, plain + whole);
	else
		snprintf(text, TICK_TEXT, "%s0.%.*s%s", sign, -whole, ZEROS, plain);
}

/*
 * The power of ten that is written once beside the axis instead of with every number. None where
 * numbers are short without it, or have a small range far from zero and need their digits anyway.
 */
static int factor_of(int128_t largest, int power)
{
	char digits[NUMBER_TEXT];
	const int e = (int)number_format_integer(digits, largest) - 1 + power;
	const int factor = e >= 0 ? e - e % 3 : -((2 - e) / 3 * 3);

	if ((e >= -3 && e < 6 && power > -16) ||
	    (e >= 6 && e <= 20 && power >= 0 && factor - power > 3))
		return 0;
	return factor;
}

/* Where digits * 10^power is; below 0 and above 1: outside. */
static double place(const struct span *span, int128_t digits, int power)
{
	if (!span->exact) {
		const double x = decimal((int64_t)digits, power);
		return x < span->lo ? -1 : x > span->hi ? 2 : span_at(span, x);
	}
	for (int p = 0; p < power; p++)
		digits *= 10;
	return (double)(digits - span->whole_lo) / (double)span->width;
}

/*
 * Steps of 1, 2 or 5 times a power of ten; some `most` of them. None where lo is too many of them
 * from zero.
 */
static void linear(struct ticks *ticks, const struct span *span, unsigned most)
{
	int128_t digits[TICKS_MAX], largest = 0, j;
	double least = span->exact ? (double)span->width / most : span->hi / most - span->lo / most;
	int m = 1, power;

	ticks->count = 0;
	ticks->factor = 0;
	if (span->whole && least < 1)
		least = 1;
	if (!(least > 0)) /* between neighbours near zero */
		return;
	for (power = power_of(least); decimal(m, power) < least; m = m == 1 ? 2 : m == 2 ? 5 : 1)
		power += m == 5;
	if (span->exact) {
		j = span->whole_lo / m;
		for (int p = 0; p < power; p++)
			j /= 10;
	} else {
		const double first = floor(span->lo / decimal(m, power));
		if (!(fabs(first) < 0x1p58))
			return;
		j = (int128_t)first;
	}
	/*
	 * A quotient of numbers that are close for their size may be some units too large; of
	 * denormals it may be far off, and there are no ticks.
	 */
	j -= 16;
	for (unsigned tries = 0; tries < TICKS_MAX; tries++, j++) {
		const double at = place(span, j * m, power);
		if (at > 1)
			break;
		if (at < 0)
			continue;
		digits[ticks->count] = j * m;
		ticks->tick[ticks->count++].at = at;
		const int128_t size = j < 0 ? -j * m : j * m;
		largest = size > largest ? size : largest;
	}
	ticks->factor = factor_of(largest, power);
	for (unsigned i = 0; i < ticks->count; i++)
		plain_text(ticks->tick[i].text, digits[i], power - ticks->factor);
}

/* Powers of ten, or every second, third ..., with small ticks between them. How many have texts? */
static unsigned logarithmic(struct ticks *ticks, const struct span *span, unsigned most)
{
	const int first = power_of(span->lo), last = power_of(span->hi);
	const int every = 1 + (last - first) / (int)most;
	unsigned named = 0;

	ticks->count = 0;
	ticks->factor = 0;
	for (int p = span->whole && first < 0 ? 0 : first; p <= last; p++) {
		for (int m = 1; m < (every == 1 && last - first <= 12 ? 10 : 2); m++) {
			const double at = place(span, m, p);
			struct tick *const tick = &ticks->tick[ticks->count];
			if (at < 0 || at > 1 || p % every != 0 || ticks->count == TICKS_MAX)
				continue;
			*tick = (struct tick){.at = at};
			if (m == 1 && first >= -4 && last <= 5)
				plain_text(tick->text, m, p);
			else if (m == 1)
				tick_power(tick->text, p);
			ticks->count++;
			named += m == 1;
		}
	}
	return named;
}

/* Texts are below their ticks, two blanks apart; a long one at an end may be moved by half. */
static bool fits(const struct ticks *ticks, unsigned room)
{
	size_t longest = 0;
	double gap = 1;

	for (unsigned i = 0; i < ticks->count; i++) {
		const size_t some = strlen(ticks->tick[i].text);
		longest = some > longest ? some : longest;
		if (i > 0 && ticks->tick[i].at - ticks->tick[i - 1].at < gap)
			gap = ticks->tick[i].at - ticks->tick[i - 1].at;
	}
	return gap * room >= (double)(longest + 2 + (longest > 8 ? longest / 2 : 0));
}

void ticks_find(struct ticks *ticks, const struct span *span, unsigned most, unsigned room)
{
	if (span->log && logarithmic(ticks, span, most) >= 2)
		return;
	do
		linear(ticks, span, most);
	while (!fits(ticks, room) && --most > 1);
}

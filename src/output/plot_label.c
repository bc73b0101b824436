/* SPDX-License-Identifier: MIT */
/* plot_label: the shortest way to write edges that tells them apart. */
#include "output/plot_label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_LABEL 10 /* characters: up to this length whole numbers are written in full */
/* a label this many times nearer is the edge, except for linspace's rounding */
#define EXACT 1e9
/* a label must be this many times nearer to its edge than the next edge is */
#define NEAR 20
#define FIXED_LIMIT 1e15    /* from this magnitude on no zeros are filled in before the point */
#define FIXED_MOST 17       /* digits after the point */
#define ROUND_MOST 17       /* digits of a binary64 */
#define EXPONENT_FROM 1e7   /* from here on, and below ... */
#define EXPONENT_BELOW 1e-4 /* ... numbers have an exponent */

/* A number that is rounded to 0 has no sign: "-0.00" becomes "0.00". */
static size_t without_sign(char text[NUMBER_TEXT])
{
	if (text[0] == '-' && text[strspn(text, "-0.")] == '\0')
		memmove(text, text + 1, strlen(text));
	return strlen(text);
}

size_t plot_label_exponent(char text[NUMBER_TEXT], double x, int digits)
{
	char form[NUMBER_TEXT];

	snprintf(form, sizeof(form), "%.*e", digits - 1, x);
	/* Drops the zeros at the end of the digits, and writes "e7" for "e+07". */
	const size_t whole = strcspn(form, "e");
	size_t used = whole;
	while (memchr(form, '.', whole) && form[used - 1] == '0')
		used--;
	used -= form[used - 1] == '.';
	memcpy(text, form, used);
	return used + (size_t)snprintf(text + used, NUMBER_TEXT - used, "e%ld",
				       strtol(form + whole + 1, NULL, 10));
}

size_t plot_label_round(char text[NUMBER_TEXT], double x, int digits)
{
	const size_t length = plot_label_exponent(text, x, digits);
	const double rounded = strtod(text, NULL);

	if (rounded == 0 || (fabs(rounded) >= EXPONENT_BELOW && fabs(rounded) < EXPONENT_FROM))
		return number_format(text, rounded);
	return length;
}

/* Without an exponent, digits before the point are not rounded: 85 1/3 is 85, never 90. */
static int whole_digits(double x)
{
	int digits = 0;

	for (double bound = 1; fabs(x) < EXPONENT_FROM && fabs(x) >= bound; bound *= 10)
		digits++;
	return digits;
}

size_t plot_label_text(const struct plot_label *label, uint32_t bin, char text[NUMBER_TEXT])
{
	const double x = edges_value(label->edges, bin);

	if (label->way == LABEL_EXACT || !isfinite(x))
		return edges_format(label->edges, bin, text);
	if (label->way == LABEL_ROUND && fabs(x) < label->none)
		return number_format(text, 0);
	if (label->way == LABEL_ROUND)
		return plot_label_round(
			text, x, label->digits > whole_digits(x) ? label->digits : whole_digits(x));
	snprintf(text, NUMBER_TEXT, "%.*f", label->digits, x);
	return without_sign(text);
}

/*
 * Half of the distance from a bin's edge to the nearer of the edges beside it; halves do not
 * overflow. 0 if there is none.
 */
static double half_gap(const struct edges *e, uint32_t bin, uint32_t step)
{
	const uint32_t bins = e->binning.bins;
	const double x = edges_value(e, bin);
	const double after = edges_value(e, bins - bin > step ? bin + step : bins) / 2 - x / 2;
	const double before =
		bin > 0 ? x / 2 - edges_value(e, bin > step ? bin - step : 0) / 2 : after;
	const double gap = before < after ? before : after;

	return isfinite(gap) ? gap : isfinite(after) ? after : isfinite(before) ? before : 0;
}

/* Is every label near its edge: is its error times `near` at most the gap? Sets the width. */
static bool fits(struct plot_label *label, const uint32_t *bins, size_t n, uint32_t step,
		 double near)
{
	char text[NUMBER_TEXT];

	label->width = 0;
	for (size_t i = 0; i < n; i++) {
		const double x = edges_value(label->edges, bins[i]),
			     gap = half_gap(label->edges, bins[i], step);
		if (label->way == LABEL_FIXED && fabs(x) >= FIXED_LIMIT)
			return false;
		const size_t length = plot_label_text(label, bins[i], text);
		const double shown = strtod(text, NULL);
		if (isfinite(x) &&
		    !(gap > 0 && isfinite(shown) && fabs(shown / 2 - x / 2) * near <= gap))
			return false;
		label->width = length > label->width ? length : label->width;
	}
	return true;
}

/* Finds the smallest number of digits with which all labels are near. */
static bool choose_digits(struct plot_label *label, enum plot_label_way way, const uint32_t *bins,
			  size_t n, uint32_t step)
{
	const int most = way == LABEL_FIXED ? FIXED_MOST : ROUND_MOST;

	label->way = way;
	for (label->digits = way == LABEL_ROUND; label->digits <= most; label->digits++)
		if (fits(label, bins, n, step, NEAR))
			return true;
	return false;
}

/*
 * Up to two digits more are accepted if they make all labels exact, except for linspace's rounding.
 */
static void prefer_exact(struct plot_label *label, const uint32_t *bins, size_t n, uint32_t step)
{
	const struct plot_label least = *label;
	const int most = label->way == LABEL_FIXED ? FIXED_MOST : ROUND_MOST;

	for (int more = 0; more <= 2; more++) {
		label->digits = least.digits + more;
		if (label->digits <= most && fits(label, bins, n, step, EXACT))
			return;
	}
	*label = least;
}

/* Are all edges whole numbers, written exactly? Sets the width. */
static bool choose_exact(struct plot_label *label, const uint32_t *bins, size_t n)
{
	char text[NUMBER_TEXT];
	bool whole = label->edges->exact;

	label->way = LABEL_EXACT;
	label->width = 0;
	for (size_t i = 0; i < n; i++) {
		const size_t length = plot_label_text(label, bins[i], text);
		whole = whole && text[strspn(text, "-0123456789")] == '\0';
		label->width = length > label->width ? length : label->width;
	}
	return whole;
}

void plot_label_choose(struct plot_label *label, const struct edges *edges, const uint32_t *bins,
		       size_t n, uint32_t step, bool aligned)
{
	struct plot_label fixed = {.edges = edges}, rounded = {.edges = edges};

	rounded.none = INFINITY;
	for (size_t i = 0; i < n; i++)
		rounded.none = fmin(rounded.none, half_gap(edges, bins[i], step) / EXACT);
	*label = (struct plot_label){.edges = edges};
	if (choose_exact(label, bins, n) && label->width <= SHORT_LABEL)
		return;
	const bool has_fixed = aligned && choose_digits(&fixed, LABEL_FIXED, bins, n, step);
	const bool has_rounded = choose_digits(&rounded, LABEL_ROUND, bins, n, step);
	if (has_fixed)
		prefer_exact(&fixed, bins, n, step);
	if (has_rounded)
		prefer_exact(&rounded, bins, n, step);
	/*
	 * Where edges are not equally far apart, the same number of digits after the point has no
	 * advantage.
	 */
	const bool uneven = edges->list != NULL && rounded.width <= fixed.width;
	if (has_rounded &&
	    (!has_fixed || uneven || (fixed.width > SHORT_LABEL && rounded.width < fixed.width)))
		*label = rounded;
	else if (has_fixed)
		*label = fixed;
}

/* SPDX-License-Identifier: MIT */
/* picture: joining bins into bars, their values, edges as text. scale.c has scales and ticks. */
#include "output/picture.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define SHORT_EDGE 12 /* longest text that can be read at a glance */
#define WHOLE_EDGE 21 /* longest 64-bit integer, or the edge past it */

/* ---- bars ---- */

/* 1, 2 or 5 times a power of ten, or a power of two. */
static bool is_round(uint32_t n)
{
	if ((n & (n - 1)) == 0)
		return true;
	while (n % 10 == 0)
		n /= 10;
	return n == 1 || n == 2 || n == 5;
}

static bool has_samples(const struct picture *p, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (hist_is_filled(p->hist, i))
			return true;
	return false;
}

/* Has the axis a band at 0? */
static bool has_band(const struct picture *p)
{
	return axis_kind_of(&p->hist->axis)->spacing == SPACING_RANKS &&
	       p->ruler.zero < p->ruler.positive;
}

/* Find the band, with the empty bins next to it. */
static void find_band(struct picture *p)
{
	struct ruler *const r = &p->ruler;

	ruler_zero(r, &p->hist->axis);
	if (!has_band(p))
		return;
	while (r->zero > p->first && !hist_is_filled(p->hist, r->zero - 1))
		r->zero--;
	while (r->positive < p->end && !hist_is_filled(p->hist, r->positive))
		r->positive++;
}

static bool is_power(const struct edges *edges, uint32_t i)
{
	int exponent;

	return fabs(frexp(edges_value(edges, i), &exponent)) <= 0.5;
}

/* Return a first bin for bars of bins first .. end - 1, so that powers of two are between bars. */
static uint32_t find_start(const struct picture *p, uint32_t first, uint32_t end)
{
	const struct edges *const edges = &p->hist->axis.edges;

	if (end - first <= p->per)
		return first;
	/* Each power of two has the most bins where the numbers are large. */
	if (edges_value(edges, first) < 0) {
		for (uint32_t i = first; i < end; i++)
			if (is_power(edges, i))
				return i;
	} else {
		for (uint32_t i = end; i > first; i--)
			if (is_power(edges, i))
				return i;
	}
	return first;
}

/*
 * Add bars of p->per bins up to `end`; more than `most`: they do not fit. `whole`: a bar at an end
 * with less than half as many bins is joined to its neighbour, because the density of a few samples
 * in a narrow bar is mostly chance.
 */
static void add_bars(struct picture *p, uint32_t first, uint32_t end, uint32_t start, bool whole,
		     uint32_t most)
{
	const uint32_t per = p->per, before = (first % per + per - start % per) % per;
	int64_t at = (int64_t)first - before;

	if (whole && before > per / 2)
		at += per;
	for (bool begun = false; at < end; at += per, begun = true) {
		if (p->bars >= most) {
			p->bars = most + 1;
			return;
		}
		const int64_t next = at + per < end ? at + per : end;
		if (whole && begun && next - at < (per + 1) / 2)
			p->bar[p->bars - 1].end = (uint32_t)next;
		else
			p->bar[p->bars++] =
				(struct bar){begun ? (uint32_t)at : first, (uint32_t)next, 1};
	}
}

/* Make bars of p->per bins; returns their number, or more than `most`. */
static uint32_t make_bars(struct picture *p, uint32_t most)
{
	const uint32_t bins = axis_bins(&p->hist->axis);
	const struct ruler *const r = &p->ruler;

	p->bars = 0;
	if (axis_kind_of(&p->hist->axis)->spacing != SPACING_RANKS) {
		/* The first and the last bar may hold empty bins that are hidden otherwise. */
		const uint32_t first = p->first - p->first % p->per,
			       last = p->end + (p->per - p->end % p->per) % p->per;
		add_bars(p, first, last < bins ? last : bins, 0, false, most);
		return p->bars;
	}
	const uint32_t zero = r->zero < p->end ? r->zero : p->end,
		       positive = r->positive > p->first ? r->positive : p->first;
	if (p->first < zero)
		add_bars(p, p->first, zero, find_start(p, p->first, zero), true, most);
	if (p->bars <= most && positive > zero) {
		if (p->bars >= most)
			return most + 1;
		p->bar[p->bars++] = (struct bar){zero, positive, 1};
	}
	if (p->bars <= most && positive < p->end)
		add_bars(p, positive, p->end, find_start(p, positive, p->end), true, most);
	return p->bars;
}

/*
 * Choose the number of bins per bar. With --auto, use a power of two, like the width of the bins.
 * Otherwise prefer a round divisor of the number of bins, then any divisor, up to twice the
 * smallest number that fits.
 */
void picture_join(struct picture *p, uint32_t most)
{
	const struct axis *const axis = &p->hist->axis;
	const uint32_t bins = axis_bins(axis), least = (p->end - p->first - 1) / most + 1;
	uint32_t best = 0;

	assert(2 <= most && most <= BARS_MOST);
	if (p->first == p->end)
		return;
	if (axis_kind_of(axis)->from_samples) {
		for (p->per = 1; make_bars(p, most) > most;)
			p->per *= 2;
		return;
	}
	for (uint32_t per = least; best == 0 || per <= 2 * least; per++) {
		if ((p->end - 1) / per - p->first / per >= most)
			continue;
		if (best == 0 || (bins % per == 0 && bins % best != 0))
			best = per;
		if (bins % per == 0 && is_round(per)) {
			best = per;
			break;
		}
	}
	p->per = best;
	make_bars(p, most);
}

/* Set the axis, the unit and the weights of the bars. */
static void set_axis(struct picture *p)
{
	struct ruler *const r = &p->ruler;

	ruler_make(r, p->bar[0].first, p->bar[p->bars - 1].end, 0);
	p->unit = r->x.log ? 1 : r->counted ? p->per : DBL_MAX;
	for (uint32_t k = 0; k < p->bars; k++) {
		struct bar *const bar = &p->bar[k];
		bar->weight = ruler_width(r, bar->first, bar->end);
		if (!r->x.log && !r->counted && bar->weight < p->unit &&
		    has_samples(p, bar->first, bar->end))
			p->unit = bar->weight;
	}
	p->unit = p->unit < DBL_MAX ? p->unit : 1; /* all bars are empty */
	for (uint32_t k = 0; k < p->bars; k++)
		p->bar[k].weight = p->unit / p->bar[k].weight;
}

/* Find the first nonempty bin and the end of the last one. */
static void find_filled(struct picture *p)
{
	uint32_t first = 0, end = p->end;

	while (first < end && !hist_is_filled(p->hist, first))
		first++;
	while (end > first && !hist_is_filled(p->hist, end - 1))
		end--;
	p->first = first;
	p->end = end;
}

int picture_open(struct picture *p, const struct hist *hist, bool all, uint32_t most)
{
	*p = (struct picture){.hist = hist, .end = axis_bins(&hist->axis)};
	p->bar = malloc(most * sizeof(*p->bar));
	p->sum = malloc(hist->channels * (size_t)most * sizeof(*p->sum));
	if (!p->bar || !p->sum) {
		picture_free(p);
		return -1;
	}
	if (!all)
		find_filled(p);
	find_band(p);
	return 0;
}

void picture_free(struct picture *p)
{
	free(p->bar);
	free(p->sum);
}

/* Add up the bins of a bar. */
static uint64_t count_bar(const uint64_t *count, const struct bar *bar, struct facts *facts)
{
	uint64_t sum = 0;

	for (uint32_t i = bar->first; i < bar->end; i++) {
		sum += count[i];
		facts->filled += count[i] > 0;
		if (count[i] > facts->most) {
			facts->most = count[i];
			facts->fullest = i;
		}
	}
	facts->samples += sum;
	return sum;
}

void picture_count(struct picture *p)
{
	const struct hist *const hist = p->hist;

	for (uint32_t c = 0; c < hist->channels; c++) {
		p->facts[c] = (struct facts){.samples = 0};
		for (uint32_t k = 0; k < p->bars; k++)
			p->sum[(size_t)c * p->bars + k] =
				count_bar(hist->count + c * hist->stride, &p->bar[k], &p->facts[c]);
	}
	if (p->bars > 0)
		set_axis(p);
	p->least = DBL_MAX;
	for (uint32_t i = 0; i < hist->channels * p->bars; i++) {
		const double value = picture_value(p, i / p->bars, i % p->bars);
		p->least = value > 0 ? fmin(p->least, value) : p->least;
		p->most = fmax(p->most, value);
		p->most = fmax(p->most, picture_reference(p, i / p->bars, i % p->bars));
	}
}

double picture_value(const struct picture *p, uint32_t channel, uint32_t k)
{
	const uint64_t sum = picture_sum(p, channel, k);

	/* The product may be too small for a number. */
	return sum > 0 ? fmax((double)sum * p->bar[k].weight, 2 * DBL_MIN) : 0;
}

double picture_reference(const struct picture *p, uint32_t channel, uint32_t k)
{
	const double *const of = p->hist->reference;
	double sum = 0;

	for (uint32_t i = p->bar[k].first; i < p->bar[k].end && of; i++)
		sum += of[(size_t)channel * axis_bins(&p->hist->axis) + i];
	return sum * p->bar[k].weight;
}

double picture_base(const struct picture *p)
{
	return scale_below(p->least);
}

bool picture_is_even(const struct picture *p)
{
	for (uint32_t k = 0; k < p->bars; k++)
		if (!picture_is_band(p, k) && p->bar[k].end - p->bar[k].first != p->per)
			return false;
	return true;
}

uint32_t picture_gaps(const struct picture *p)
{
	const struct ruler *const r = &p->ruler;

	if (!has_band(p) || r->positive <= p->first || p->end <= r->zero)
		return 0;
	return (r->zero > p->first ? 1u : 0) + (r->positive < p->end ? 1 : 0);
}

void picture_unit(char text[UNIT_TEXT], const struct picture *p)
{
	if (p->ruler.x.log)
		strcpy(text, "doubling");
	else if (!p->ruler.counted)
		snprintf(text, UNIT_TEXT, "%.6g", p->unit);
	else if (p->per > 1)
		snprintf(text, UNIT_TEXT, "%u bins", p->per);
	else
		strcpy(text, "bin");
}

/* ---- numbers as text ---- */

double picture_round(double x)
{
	return floor(x + 0.5 + 1e-9);
}

/* The columns of the character at p, and its length; an invalid byte takes one. */
static unsigned columns_of(const char *p, size_t *length)
{
	const unsigned char *const at = (const unsigned char *)p;

	*length = utf8_length(at, strlen(p));
	if (*length > 0)
		return utf8_columns(at, *length);
	*length = 1;
	return 1;
}

size_t picture_cut(const char *text, size_t columns)
{
	size_t used = 0, length;

	while (text[used]) {
		const unsigned width = columns_of(text + used, &length);
		if (width > columns)
			break;
		columns -= width;
		used += length;
	}
	return used;
}

size_t picture_width(const char *text)
{
	size_t n = 0, length;

	for (; *text; text += length)
		n += columns_of(text, &length);
	return n;
}

void percent_text(char text[NUMBER_TEXT], uint64_t count, uint64_t samples)
{
	const unsigned thousandth =
		samples > 0 ? (unsigned)(((uint128_t)count * 1000 + samples / 2) / samples) : 0;

	if (count > 0 && thousandth == 0)
		strcpy(text, "<0.1%");
	else if (count < samples && thousandth == 1000)
		strcpy(text, ">99.9%");
	else
		snprintf(text, NUMBER_TEXT, "%u.%u%%", thousandth / 10, thousandth % 10);
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

bool bin_is_value(const struct axis *axis, uint32_t bin)
{
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);
	const bool end = bin == 0 || bin + 1 == bins, closed = edges->closed && bin + 1 == bins;

	return axis->type.kind != SAMPLE_FLOAT && !closed && !(axis->clamp && end) &&
	       (edges->auto_bins.log ? edges_value(edges, bin + 1) - edges_value(edges, bin) <= 1
				     : edges_are_values(edges));
}

void bin_text(char text[BIN_TEXT], const struct axis *axis, uint32_t bin)
{
	const bool closed = axis->edges.closed && bin + 1 == axis_bins(axis);
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];

	edge_text(lower, axis, bin);
	edge_text(upper, axis, bin + 1);
	if (bin_is_value(axis, bin))
		snprintf(text, BIN_TEXT, "%s", lower);
	else
		snprintf(text, BIN_TEXT, "[%s, %s%c", lower, upper, closed ? ']' : ')');
}

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

static double bounded(double x)
{
	return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x;
}

static double edge(const struct picture *p, uint32_t i)
{
	return bounded(edges_value(&p->hist->axis.edges, i));
}

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

/* With --log=auto, the bin that begins at zero; the histogram may not include it. */
static int64_t zero_of(const struct picture *p)
{
	return -(int64_t)edges_first(&p->hist->axis.edges);
}

static bool is_filled(const struct picture *p, int64_t bin)
{
	return bin >= p->first && bin < p->end && hist_is_filled(p->hist, (uint32_t)bin);
}

/* Bins on each side of zero that are all empty, except perhaps the first one above zero. */
static uint32_t empty_about_zero(const struct picture *p)
{
	const int64_t zero = zero_of(p);
	uint32_t n = 0;

	while (n < axis_bins(&p->hist->axis) && !is_filled(p, zero - n - 1) &&
	       (n == 0 || !is_filled(p, zero + n)))
		n++;
	return n;
}

/* Make bars of p->per bins, and one bar of the `empty` bins on each side of zero. */
static uint32_t make_bars(struct picture *p, uint32_t most, uint32_t empty)
{
	const struct axis *const axis = &p->hist->axis;
	const int64_t per = p->per, bins = axis_bins(axis), middle = empty - empty % per,
		      zero = axis->kind == AXIS_RANKS ? zero_of(p) : 0;
	int64_t at = p->first - ((p->first - zero) % per + per) % per;

	p->bars = 0;
	for (int64_t next; at < p->end; at = next) {
		const bool mid = middle > 0 && at + per > zero - middle && at < zero + middle;
		const int64_t first = mid ? zero - middle : at;
		next = mid ? zero + middle : at + per;
		if (p->bars == most)
			return most + 1;
		struct bar *const bar = &p->bar[p->bars++];
		*bar = (struct bar){(uint32_t)(first > 0 ? first : 0),
				    (uint32_t)(next < bins ? next : bins), 1};
		if (!mid)
			bar->weight = (double)per / (bar->end - bar->first);
	}
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
	const uint32_t empty = axis->kind == AXIS_RANKS ? empty_about_zero(p) : 0;
	uint32_t best = 0;

	assert(2 <= most && most <= BARS_MOST);
	if (p->first == p->end)
		return;
	if (axis_kind_of(axis)->from_samples) {
		for (p->per = 1; make_bars(p, most, empty) > most;)
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
	make_bars(p, most, 0);
}

static bool has_samples(const struct picture *p, uint32_t k)
{
	for (uint32_t c = 0; c < p->hist->channels; c++)
		if (picture_sum(p, c, k) > 0)
			return true;
	return false;
}

/* Set the scale of the axis, and how bars turn into values with listed edges. */
static void set_axis(struct picture *p)
{
	const struct axis *const axis = &p->hist->axis;
	const enum axis_spacing spacing = axis_kind_of(axis)->spacing;
	struct scale *const x = &p->x;

	*x = (struct scale){.lo = edge(p, p->bar[0].first),
			    .hi = edge(p, p->bar[p->bars - 1].end),
			    .whole = axis->edges.integers};
	if (spacing == SPACING_RANKS && x->lo <= 0 && x->hi >= 0) {
		/* The edge of the bar next to zero. */
		const uint32_t zero = (uint32_t)zero_of(p);
		for (uint32_t k = 0; k < p->bars && x->turn <= 0; k++)
			x->turn = p->bar[k].end > zero    ? edge(p, p->bar[k].end)
				  : p->bar[k].end == zero ? -edge(p, p->bar[k].first)
							  : 0;
	} else if (spacing == SPACING_RATIO || spacing == SPACING_RANKS ||
		   (spacing == SPACING_FREE && x->lo > 0 && x->hi / x->lo >= 1000)) {
		x->turn = x->lo > 0 ? x->lo : -x->hi;
	}
	/* Numbers this close have nearly the same logarithm. */
	if (x->lo > 0 && x->hi / x->lo < 1 + 0x1p-20)
		x->turn = 0;
	if (spacing != SPACING_FREE)
		return;
	p->unit = x->turn > 0 ? 1 : DBL_MAX;
	for (uint32_t k = 0; k < p->bars; k++) {
		const double lo = edge(p, p->bar[k].first), hi = edge(p, p->bar[k].end);
		const double width = x->turn > 0 ? log10(hi) - log10(lo) : hi - lo;
		/* The width must be neither 0, for adjacent numbers, nor infinite. */
		p->bar[k].weight = width > 0 ? bounded(width) : DBL_EPSILON;
		if (x->turn <= 0 && width < p->unit && has_samples(p, k))
			p->unit = p->bar[k].weight;
	}
	p->unit = p->unit < DBL_MAX ? p->unit : 1; /* all bars are empty */
	for (uint32_t k = 0; k < p->bars; k++)
		p->bar[k].weight = p->unit / p->bar[k].weight;
}

/* Find the first nonempty bin and the end of the last one. */
static void find_filled(struct picture *p)
{
	uint32_t first = 0, end = p->end;

	while (first < end && !is_filled(p, first))
		first++;
	while (end > first && !is_filled(p, end - 1))
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
	}
}

double picture_value(const struct picture *p, uint32_t channel, uint32_t k)
{
	const uint64_t sum = picture_sum(p, channel, k);

	/* The product may be too small for a number. */
	return sum > 0 ? fmax((double)sum * p->bar[k].weight, 2 * DBL_MIN) : 0;
}

double picture_base(const struct picture *p)
{
	return scale_below(p->least);
}

double picture_place(const struct picture *p, uint32_t i)
{
	const enum axis_spacing spacing = axis_kind_of(&p->hist->axis)->spacing;
	const uint32_t first = p->bar[0].first, end = p->bar[p->bars - 1].end;

	return spacing == SPACING_FREE || spacing == SPACING_RANKS
		       ? scale_at(&p->x, edge(p, i))
		       : (double)(i - first) / (end - first);
}

bool picture_is_even(const struct picture *p)
{
	for (uint32_t k = 0; k < p->bars; k++)
		if (p->bar[k].end - p->bar[k].first != p->per)
			return false;
	return true;
}

/* ---- numbers as text ---- */

double picture_round(double x)
{
	return floor(x + 0.5 + 1e-9);
}

size_t picture_cut(const char *text, size_t characters)
{
	size_t used = 0;

	for (; text[used] && characters > 0; characters--) {
		const size_t length =
			utf8_length((const unsigned char *)text + used, strlen(text + used));
		used += length > 0 ? length : 1;
	}
	return used;
}

size_t picture_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
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

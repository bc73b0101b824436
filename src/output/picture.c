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
#include "hist/series.h"

#define OCTAVES 8     /* least number of rows for whole powers of two */
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

/* The k at which each bin is an octave: the number of binary digits of a mantissa. */
static int octave_k(const struct axis *axis)
{
	return axis->type.kind == SAMPLE_FLOAT ? (int)axis->type.mantissa : 52;
}

/* Make at most `most` bars, by the rule that made the bins (auto.h). */
static void join_by_rule(struct picture *p, uint32_t most)
{
	const struct edges *const e = &p->hist->axis.edges;
	const uint32_t least = auto_bins_least(&e->auto_bins);
	struct auto_bins limit = e->auto_bins;

	limit.most = most > least ? most : least;
	struct auto_span span = auto_span_both(&limit, &e->span, &e->span), octaves = span;
	while (limit.log && !p->all && octaves.k < octave_k(&p->hist->axis) &&
	       auto_span_bins(&octaves) > OCTAVES) {
		limit.most = (uint32_t)auto_span_bins(&octaves) - 1;
		octaves = auto_span_both(&limit, &octaves, &octaves);
	}
	if (auto_span_bins(&octaves) >= OCTAVES)
		span = octaves;
	const int joined = span.k - e->span.k;
	p->per = joined < 32 ? 1u << joined : 0;
	edges_place(&p->axis.edges, &span);
	p->bars = axis_bins(&p->axis);
	for (uint32_t i = 0, next = 0; i < p->end; i++) {
		const uint32_t k = auto_span_at(&limit, &e->span, i, &span);
		if (k >= next)
			p->bar[k] = (struct bar){i, i, k, k + 1, 1};
		p->bar[k].end = i + 1;
		next = k + 1;
	}
}

/*
 * The number of bins, `least` or more, of rows of whole octaves; 0: there are none, or too few. The
 * ends of --log=LO:HI are numbers of finitely many digits, so edges are successive powers of two
 * only if both ends are.
 */
static uint32_t join_octaves(const struct picture *p, uint32_t least, uint32_t most)
{
	const struct edges *const edges = &p->hist->axis.edges;
	const uint32_t bins = axis_bins(&p->hist->axis);
	uint32_t best = 0;
	int lo, hi;

	if (p->all || axis_kind_of(&p->hist->axis)->spacing != SPACING_RATIO ||
	    frexp(edges_value(edges, 0), &lo) > 0.5 || frexp(edges_value(edges, bins), &hi) > 0.5)
		return 0;
	for (uint32_t per = least; best == 0 || per / 2 <= best; per++) {
		const uint32_t rows = (p->end - 1) / per - p->first / per + 1;
		if (rows < OCTAVES)
			break;
		if (rows > most || (uint64_t)per * (uint32_t)(hi - lo) % bins != 0)
			continue;
		if (bins % per == 0)
			return per;
		best = best > 0 ? best : per;
	}
	return best;
}

/* Make bars of equally many bins; if no divisor fits, the last bar has fewer. */
static void join_equally(struct picture *p, uint32_t most)
{
	const uint32_t bins = axis_bins(&p->hist->axis);
	uint32_t least = (p->end - p->first - 1) / most + 1, best = 0;

	while ((p->end - 1) / least - p->first / least >= most)
		least++;
	for (uint32_t per = least; per / 2 <= least && per <= bins; per++) {
		if (bins % per != 0 || (p->end - 1) / per - p->first / per >= most)
			continue;
		best = best > 0 ? best : per;
		if (is_round(per)) {
			best = per;
			break;
		}
	}
	const uint32_t octaves = join_octaves(p, least, most);
	p->per = octaves > 0 ? octaves : best > 0 ? best : least;
	p->bars = 0;
	for (uint32_t at = p->first - p->first % p->per; at < p->end; at += p->per) {
		const uint32_t end = bins - at > p->per ? at + p->per : bins;
		p->bar[p->bars++] = (struct bar){at, end, at, end, 1};
		if (end == bins)
			break;
	}
}

void picture_join(struct picture *p, uint32_t most)
{
	assert(2 <= most && most <= BARS_MOST);
	if (p->first < p->end)
		(axis_kind_of(&p->axis)->from_samples ? join_by_rule : join_equally)(p, most);
}

/* Set the axis, the unit and the weights of the bars. */
static void set_axis(struct picture *p)
{
	struct ruler *const r = &p->ruler;

	ruler_zero(r, &p->axis);
	ruler_make(r, p->bar[0].from, p->bar[p->bars - 1].to, 0);
	p->unit = r->counted && !axis_kind_of(&p->axis)->from_samples ? p->per : 1;
	for (uint32_t k = 0; k < p->bars; k++)
		p->bar[k].weight = p->unit / ruler_width(r, p->bar[k].from, p->bar[k].to);
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
	*p = (struct picture){
		.hist = hist, .axis = hist->axis, .all = all, .end = axis_bins(&hist->axis)};
	p->bar = malloc(most * sizeof(*p->bar));
	p->sum = malloc(hist->channels * (size_t)most * sizeof(*p->sum));
	if (!p->bar || !p->sum) {
		picture_free(p);
		return -1;
	}
	if (!all && !axis_kind_of(&hist->axis)->from_samples)
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
		const double values[] = {picture_value(p, i / p->bars, i % p->bars),
					 picture_reference(p, i / p->bars, i % p->bars)};
		for (int side = 0; side < 2; side++) {
			p->least = values[side] > 0 ? fmin(p->least, values[side]) : p->least;
			p->most = fmax(p->most, values[side]);
		}
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

bool picture_is_short(const struct picture *p, uint32_t k)
{
	return p->ruler.counted && !axis_kind_of(&p->axis)->from_samples &&
	       p->bar[k].to - p->bar[k].from < p->per;
}

void picture_say_short(char text[SHORT_TEXT], const struct picture *p)
{
	const struct bar *const last = &p->bar[p->bars > 0 ? p->bars - 1 : 0];

	text[0] = '\0';
	if (p->bars == 0 || !picture_is_short(p, p->bars - 1))
		return;
	snprintf(text, SHORT_TEXT, "*: a bar of %u bin%s; it is as long as if it had %u",
		 last->to - last->from, last->to - last->from == 1 ? "" : "s", p->per);
}

uint32_t picture_gaps(const struct picture *p)
{
	const struct auto_span *const span = &p->hist->axis.edges.span;

	return !p->hist->axis.edges.auto_bins.log || !span->zero
		       ? 0
		       : (span->below.first <= span->below.last) +
				 (uint32_t)(span->above.first <= span->above.last);
}

void picture_unit(char text[UNIT_TEXT], const struct picture *p)
{
	if (p->ruler.counted && p->per > 1 && !p->hist->axis.edges.auto_bins.log)
		snprintf(text, UNIT_TEXT, "%u bins", p->per);
	else
		strcpy(text, p->ruler.x.log ? "doubling" : p->ruler.counted ? "bin" : "unit");
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

void picture_shorten(char *text, size_t size, const char *name, size_t columns, const char *dots)
{
	const size_t all = strlen(name), width = picture_width(name), gap = picture_width(dots);
	size_t head = all, tail = all;

	while ((width > columns || all >= size) && columns > gap) {
		head = picture_cut(name, (columns - gap + 1) / 2);
		tail = picture_cut(name, width - (columns - gap) / 2);
		if (head + strlen(dots) + all - tail < size)
			break;
		columns--;
	}
	snprintf(text, size, "%.*s%s%s", (int)head, name, head < all ? dots : "", name + tail);
}

void picture_series(struct output *out, const struct hist *hist, uint32_t channel, unsigned columns,
		    bool last)
{
	const size_t head = strlen(series_head(hist)) + 1;
	char label[SERIES_LABEL], text[SERIES_LABEL];
	bool fits = head + 3 < columns;

	for (uint32_t c = 0; c < hist->channels; c++)
		fits &= picture_width(series_label(label, hist, c)) < columns - 1;
	series_label(label, hist, channel);
	utf8_make_plain(label);
	picture_shorten(text, sizeof(text), label + (fits ? 0 : head), columns - 1, "...");
	output_print(out, "%s%*s", text, last ? 0 : (int)(columns - picture_width(text)), "");
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

/* SPDX-License-Identifier: MIT */
/* picture: bins joined, edges as text. */
#include "output/picture.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define SHORT_EDGE 12 /* characters that can be read at a glance */
#define WHOLE_EDGE 21 /* characters of any 64-bit integer, and of the edge after the last */

static uint32_t stripes_of(uint32_t first, uint32_t end, uint32_t per)
{
	return (end - 1) / per - first / per + 1;
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
 * How many bins a stripe has. With --auto it is a power of two, as bins are that wide. Otherwise a
 * round divisor of the number of bins is best, then any divisor; at most twice the least that will
 * do is tried.
 */
static uint32_t bins_a_stripe(const struct axis *axis, uint32_t first, uint32_t end, uint32_t most)
{
	const uint32_t bins = axis_bins(axis), least = (end - first - 1) / most + 1;
	uint32_t best = 0;

	for (uint32_t per = 1; axis_kind_of(axis)->from_samples; per *= 2)
		if (stripes_of(first, end, per) <= most)
			return per;
	for (uint32_t per = least; per <= 2 * least; per++) {
		if (stripes_of(first, end, per) > most)
			continue;
		if (bins % per == 0 && is_round(per))
			return per;
		if (best == 0 || (bins % per == 0 && bins % best != 0))
			best = per;
	}
	return best;
}

void stripes_join(struct stripes *stripes, const struct axis *axis, uint32_t first, uint32_t end,
		  uint32_t most)
{
	const uint32_t bins = axis_bins(axis), per = bins_a_stripe(axis, first, end, most);
	struct stripe *const stripe = stripes->stripe;

	assert(4 <= most && most <= STRIPES_MOST && first < end && end <= bins);
	stripes->count = 0;
	for (uint32_t at = first - first % per; at < end; at += per)
		stripe[stripes->count++] =
			(struct stripe){at, at + per < bins ? at + per : bins, false, 1};
	stripes->per = stripe[0].end - stripe[0].first;
}

static bool all_empty(const struct stripe *stripe, const struct hist *hist)
{
	for (uint32_t c = 0; c < hist->channels; c++)
		if (stripe_sum(stripe, hist, c) > 0)
			return false;
	return true;
}

/* Joins bins to stripes of s->per. False: there would be more than `most` stripes. */
static bool join_ranks(struct stripes *s, const struct hist *hist, uint32_t first, uint32_t end,
		       uint32_t most)
{
	const int64_t per = s->per, below = (int64_t)(edges_first(&hist->axis.edges) % per);
	const uint32_t gap = most / 16 + 2; /* that many empty stripes are joined */
	uint32_t empty = 0;                 /* empty stripes at the end so far */

	s->count = 0;
	for (int64_t at = first - (first + below + per) % per; at < end; at += per) {
		const struct stripe next = {at > 0 ? (uint32_t)at : 0,
					    (uint32_t)(at + per < axis_bins(&hist->axis)
							       ? at + per
							       : axis_bins(&hist->axis)),
					    false, 1};
		empty = all_empty(&next, hist) ? empty + 1 : 0;
		if (empty >= gap) {
			s->count -= empty == gap ? gap - 2 : 0;
			s->stripe[s->count - 1].end = next.end;
			s->stripe[s->count - 1].gap = true;
			continue;
		}
		if (s->count == most + gap - 1)
			return false;
		s->stripe[s->count++] = next;
	}
	return s->count <= most;
}

void stripes_join_ranks(struct stripes *stripes, const struct hist *hist, uint32_t first,
			uint32_t end, uint32_t most)
{
	assert(4 <= most && most <= STRIPES_MOST / 2 && first < end);
	for (stripes->per = 1; !join_ranks(stripes, hist, first, end, most);)
		stripes->per *= 2;
}

uint64_t stripe_sum(const struct stripe *stripe, const struct hist *hist, uint32_t channel)
{
	const uint64_t *const count = hist->count + channel * hist->stride;
	uint64_t sum = 0;

	for (uint32_t i = stripe->first; i < stripe->end; i++)
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
		f->samples += count;
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
	const bool value = edges->auto_bins.log
				   ? edges_value(edges, bin + 1) - edges_value(edges, bin) <= 1
				   : edges->exact && edges->width == bins;
	if (axis->type.kind != SAMPLE_FLOAT && value && !closed && !(axis->clamp && end))
		snprintf(text, BIN_TEXT, "%s", lower);
	else
		snprintf(text, BIN_TEXT, "[%s, %s%c", lower, upper, closed ? ']' : ')');
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

double picture_round(double x)
{
	return floor(x + 0.5 + 1e-9);
}

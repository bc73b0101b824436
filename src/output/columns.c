/* SPDX-License-Identifier: MIT */
/* columns: which bins a column joins. */
#include "output/columns.h"

#include <float.h>
#include <math.h>

/*
 * How many bins a column joins: a divisor of their number, if there is one up to twice as many as
 * are needed.
 */
static uint32_t bins_to_join(uint32_t bins)
{
	const uint32_t least = (bins + COLUMNS_MOST - 1) / COLUMNS_MOST;

	for (uint32_t k = least; k <= 2 * least; k++)
		if (bins % k == 0)
			return k;
	return least;
}

static void join_equal(struct columns *c, uint32_t bins)
{
	c->joined = c->most = bins_to_join(bins);
	for (uint32_t first = 0; first < bins; first += c->joined) {
		const uint32_t end = bins - first < c->joined ? bins : first + c->joined;
		c->column[c->count++] = (struct column){
			.first = first,
			.end = end,
			.from = (double)first / bins,
			.to = (double)end / bins,
			.scale = (double)c->joined / (end - first), /* 1, but for the last one */
		};
	}
}

/* A width to divide by, where edges may be neighbours near zero or both ends of binary64. */
static double width_of(const struct span *span, const struct edges *edges, const struct column *c)
{
	const double lo = edges_value(edges, c->first), hi = edges_value(edges, c->end);
	const double width = span->log ? (ticks_log2(hi) - ticks_log2(lo)) / LOG2_OF_10 : hi - lo;

	return width > DBL_MAX ? DBL_MAX : width > 0 ? width : DBL_EPSILON;
}

/*
 * A column is wide enough to be seen, or it is between two bins that are. At most half of the
 * columns are too narrow.
 */
static void join_explicit(struct columns *c, const struct edges *edges)
{
	const uint32_t bins = edges->binning.bins;
	const double wide = 1.0 / COLUMNS_EXPLICIT;
	struct column *column = NULL;
	double at = 0;
	bool open = false;

	for (uint32_t i = 0; i < bins; i++) {
		const double next = span_at(&c->span, edges_value(edges, i + 1));
		const bool seen = next - at >= wide;
		if (!open || seen) {
			column = &c->column[c->count++];
			*column = (struct column){.first = i, .from = at};
		}
		column->end = i + 1;
		column->to = next;
		open = column->to - column->from < wide;
		at = next;
	}
	c->width = DBL_MAX;
	for (uint32_t k = 0; k < c->count; k++) {
		const double width = width_of(&c->span, edges, &c->column[k]);
		const uint32_t joined = c->column[k].end - c->column[k].first;
		c->column[k].scale = width;
		c->width = width < c->width ? width : c->width;
		c->most = joined > c->most ? joined : c->most;
	}
	bool equal = c->most == 1 && !c->span.log;
	c->width = c->span.log ? 1 : c->width;
	for (uint32_t k = 0; k < c->count; k++) {
		c->column[k].scale = c->width / c->column[k].scale;
		equal = equal && c->column[k].scale == 1;
	}
	c->joined = equal;
}

void columns_init(struct columns *c, const struct axis *axis)
{
	const uint32_t bins = axis_bins(axis);

	c->count = c->joined = c->most = 0;
	c->width = 0;
	if (bins == 0)
		return;
	c->span = (struct span){.hi = bins, .log = axis->kind == AXIS_LOG};
	if (axis->kind != AXIS_MOD) {
		c->span.lo = edges_value(&axis->edges, 0);
		c->span.hi = edges_value(&axis->edges, bins);
	}
	if (axis->kind != AXIS_EDGES) {
		join_equal(c, bins);
		return;
	}
	c->span.log = c->span.lo > 0 && c->span.hi / c->span.lo >= 1000;
	join_explicit(c, &axis->edges);
}

uint64_t columns_sum(const struct column *column, const struct hist *hist, uint32_t channel)
{
	const uint64_t *const count = hist->count + channel * hist->stride;
	uint64_t sum = 0;

	for (uint32_t i = column->first; i < column->end; i++)
		sum += count[i];
	return sum;
}

/* SPDX-License-Identifier: MIT */
/* ruler: positions and widths of bins; strips. scale.c has numbers and ticks. */
#include "output/ruler.h"

#include <float.h>
#include <math.h>

#define BAND 0.03     /* length of the band */
#define GAP 0.015     /* length of its gap on each side */
#define CLOSE 0x1p-20 /* numbers this close have nearly the same logarithm */

static double bounded(double x)
{
	return x > DBL_MAX ? DBL_MAX : x < -DBL_MAX ? -DBL_MAX : x;
}

static double edge(const struct ruler *r, uint32_t i)
{
	const double x = edges_value(&r->axis->edges, i);

	/* Next to 0, the bin of -1 is a doubling wide, like the bin of 1. */
	return x == 0 && i == r->zero && i > 0
		       ? -fmax(ldexp(0.5, auto_k_least(&r->axis->type)), DBL_TRUE_MIN)
		       : bounded(x);
}

/* The first edge that is above 0, or with `touching` not below 0; one past the last: none. */
static uint32_t first_edge(const struct edges *edges, uint32_t bins, bool touching)
{
	uint32_t low = 0, high = bins + 1;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const double x = edges_value(edges, middle);
		if (x > 0 || (touching && x >= 0))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void ruler_zero(struct ruler *r, const struct axis *axis)
{
	const uint32_t bins = axis_bins(axis);

	*r = (struct ruler){.axis = axis};
	if (!axis_kind_of(axis)->ordered || bins == 0)
		return;
	const uint32_t zero = first_edge(&axis->edges, bins, true),
		       positive = first_edge(&axis->edges, bins, false);
	/* With --log=auto, 0 has its own bin, so the bin before it ends with the number before 0. */
	const bool apart = axis_kind_of(axis)->spacing == SPACING_RANKS && zero > 0 &&
			   zero <= bins && edges_value(&axis->edges, zero) == 0;
	r->zero = apart ? zero : zero > 0 ? zero - 1 : 0;
	r->positive = positive < bins ? positive : bins;
	if (zero > bins) /* all edges are negative */
		r->zero = bins;
}

/* Do the ratios of listed edges vary less than their differences? */
static bool varies_in_ratio(const struct axis *axis)
{
	const struct edges *const edges = &axis->edges;
	double least = DBL_MAX, most = 0, nearest = DBL_MAX, farthest = 0;

	if (edges_value(edges, 0) <= 0)
		return false;
	for (uint32_t i = 0; i < axis_bins(axis); i++) {
		const double lo = edges_value(edges, i), hi = edges_value(edges, i + 1);
		const double ratio = scale_doublings(lo, hi);
		least = fmin(least, hi - lo);
		most = fmax(most, hi - lo);
		nearest = fmin(nearest, ratio);
		farthest = fmax(farthest, ratio);
	}
	/* The quotients may overflow; widths that rounding alone makes unequal are equal. */
	return log(farthest) - log(nearest) + 1e-9 < log(most) - log(least);
}

static bool is_logarithmic(const struct ruler *r)
{
	const enum axis_spacing spacing = axis_kind_of(r->axis)->spacing;
	const double lo = edge(r, r->first), hi = edge(r, r->end);

	/* Nothing but the band, or numbers that are close. */
	if (spacing == SPACING_EVEN || (r->zero <= r->first && r->end <= r->positive) ||
	    (lo > 0 && (hi - lo) / lo < CLOSE) || (hi < 0 && (hi - lo) / -hi < CLOSE))
		return false;
	return spacing != SPACING_FREE || varies_in_ratio(r->axis);
}

/* A length in whole cells, at least one, if there are cells. */
static double in_cells(double length, uint32_t cells)
{
	return cells > 0 ? fmax(1, floor(length * cells + 0.5)) / cells : length;
}

/* Lay out the band, and the numbers on both sides of it. */
static void place_band(struct scale *x, uint32_t cells)
{
	const double left = x->below > 0 ? scale_doublings(x->below, -x->lo) : 0,
		     right = x->above > 0 ? scale_doublings(x->above, x->hi) : 0;

	x->gap = in_cells(GAP, cells);
	const double band = in_cells(BAND, cells),
		     rest = 1 - band - x->gap * ((left > 0) + (right > 0));
	double from = left > 0 ? left / (left + right) * rest : 0;
	if (cells > 0) { /* a cell at least for each side */
		from = left > 0 ? fmax(1, floor(from * cells + 0.5)) / cells : 0;
		from = right > 0 ? fmin(from, rest - 1.0 / cells) : from;
	}
	x->band[0] = left > 0 ? from + x->gap : 0;
	x->band[1] = right > 0 ? x->band[0] + band : 1;
}

void ruler_make(struct ruler *r, uint32_t first, uint32_t end, uint32_t cells)
{
	const enum axis_spacing spacing = axis_kind_of(r->axis)->spacing;
	struct scale *const x = &r->x;

	r->first = first;
	r->end = end;
	*x = (struct scale){
		.lo = edge(r, first), .hi = edge(r, end), .whole = r->axis->edges.integers};
	x->log = is_logarithmic(r);
	r->even = spacing == SPACING_EVEN || spacing == SPACING_RATIO;
	/* Nothing but the band: a bin. */
	r->counted = spacing == SPACING_EVEN || (spacing == SPACING_RATIO && !x->log) ||
		     (spacing == SPACING_RANKS && r->zero <= first && end <= r->positive);
	if (!x->log || x->lo > 0 || x->hi < 0)
		return;
	x->below = r->zero > first ? -edge(r, r->zero) : 0;
	x->above = r->positive < end ? edge(r, r->positive) : 0;
	place_band(x, cells);
}

static bool in_band(const struct ruler *r, uint32_t first, uint32_t end)
{
	return r->x.log && r->zero <= first && end <= r->positive;
}

void ruler_span(const struct ruler *r, uint32_t first, uint32_t end, double at[2])
{
	const struct scale *const x = &r->x;

	if (r->even) {
		at[0] = (double)(first - r->first) / (r->end - r->first);
		at[1] = (double)(end - r->first) / (r->end - r->first);
	} else if (in_band(r, first, end)) {
		at[0] = x->band[0];
		at[1] = x->band[1];
	} else {
		at[0] = scale_at(x, edge(r, first));
		at[1] = scale_at(x, edge(r, end));
	}
}

double ruler_width(const struct ruler *r, uint32_t first, uint32_t end)
{
	const uint32_t all = axis_bins(r->axis);
	const struct edges *const edges = &r->axis->edges;

	if (in_band(r, first, end))
		return 1;
	if (r->counted)
		return end - first;
	if (r->even) /* equal widths to the last bit */
		return scale_doublings(edges_value(edges, 0), edges_value(edges, all)) / all *
		       (end - first);
	const double lo = edge(r, first), hi = edge(r, end);
	const double width = !r->x.log ? hi - lo
			     : lo > 0  ? scale_doublings(lo, hi)
				       : scale_doublings(-hi, -lo);
	/* The width of adjacent numbers may round to 0, and that of distant ones overflow. */
	return width > 0 ? bounded(width) : DBL_EPSILON;
}

/* ---- cells ---- */

/* The bin at a position, and how much of it lies before that. */
static double bin_at(const struct ruler *r, double x)
{
	uint32_t low = r->first, high = r->end;
	double at[2];

	if (r->even)
		return r->first + x * (r->end - r->first);
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		ruler_span(r, middle, middle + 1, at);
		if (at[1] > x)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == r->end)
		return low;
	ruler_span(r, low, low + 1, at);
	return low + fmin(fmax((x - at[0]) / (at[1] - at[0]), 0), 1);
}

/* The weight of a cell of the axis: 1 / its width. */
static double weight_of(const struct strip *s, const struct strip_cell *cell)
{
	const struct ruler *const r = &s->ruler;
	const struct scale *const x = &r->x;

	if (r->counted)
		return 1 / (cell->end - cell->begin);
	if (!x->log) /* halves do not overflow */
		return fmin(fmax(s->cells / 2.0 / (x->hi / 2 - x->lo / 2), 1e-250), 1e250);
	if (r->even)
		return s->cells / scale_doublings(x->lo, x->hi);
	if (cell->begin >= r->positive)
		return x->above > 0 ? (1 - x->band[1] - x->gap) * s->cells /
					      scale_doublings(x->above, x->hi)
				    : s->cells / scale_doublings(x->lo, x->hi);
	if (cell->begin < r->zero)
		return x->below > 0 ? (x->band[0] - x->gap) * s->cells /
					      scale_doublings(x->below, -x->lo)
				    : s->cells / scale_doublings(-x->hi, -x->lo);
	return 1 / (cell->end - cell->begin);
}

void strip_make(struct strip *s, const struct axis *axis, uint32_t most)
{
	const uint32_t bins = axis_bins(axis);

	ruler_zero(&s->ruler, axis);
	ruler_make(&s->ruler, 0, bins, most);
	s->cells = s->ruler.even && bins < most ? bins : most;
	for (uint32_t i = 0; i < s->cells; i++) {
		struct strip_cell *const cell = &s->cell[i];
		cell->begin = i > 0 ? cell[-1].end : bin_at(&s->ruler, 0);
		cell->end = i + 1 < s->cells ? bin_at(&s->ruler, (i + 1.0) / s->cells) : bins;
		cell->weight = cell->end > cell->begin ? weight_of(s, cell) : 0;
	}
}

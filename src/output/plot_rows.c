/* SPDX-License-Identifier: MIT */
/* plot_rows: bins joined into rows, and figures. */
#include "output/plot_rows.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/summary.h"

static void find_places(struct plot_figures *f, const struct hist *hist, uint32_t channel)
{
	const struct hist_flow *const flow = &hist->flow[channel];
	struct summary summary;

	summary_init(&summary, hist, channel);
	f->mode = summary.mode;
	f->most = summary.mode_count;
	if (hist->axis.kind == AXIS_MOD || f->samples == flow->nan)
		return;
	for (unsigned q = 0; q < HIST_QUANTILES; q++) {
		const unsigned percent = hist_quantile_percent[q];
		if (percent == 5 || percent == 50 || percent == 95)
			f->at[percent == 5    ? PLOT_Q5
			      : percent == 50 ? PLOT_MEDIAN
					      : PLOT_Q95] = summary.quantile[q];
	}
	const struct hist_quantile under = {.kind = QUANTILE_UNDER}, over = {.kind = QUANTILE_OVER};
	const struct hist_quantile first = {.kind = QUANTILE_BIN, .bin = f->first};
	const struct hist_quantile last = {.kind = QUANTILE_BIN, .bin = f->last};
	f->at[PLOT_LEAST] = flow->under > 0 ? under : f->filled > 0 ? first : over;
	f->at[PLOT_GREATEST] = flow->over > 0 ? over : f->filled > 0 ? last : under;
}

void plot_figures(struct plot_figures *f, const struct hist *hist, uint32_t channel)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const struct hist_flow *const flow = &hist->flow[channel];

	*f = (struct plot_figures){.samples = (uint128_t)flow->under + flow->over + flow->nan};
	f->flows = (uint32_t)((flow->under > 0) + (flow->over > 0) + (flow->nan > 0));
	for (uint32_t bin = 0; bin < bins; bin++) {
		const uint64_t count = hist_count(hist, channel, bin);
		if (count == 0)
			continue;
		if (f->filled++ == 0)
			f->first = bin;
		f->last = bin;
		f->samples += count;
	}
	find_places(f, hist, channel);
}

/*
 * How many bins the group of bin 0 lacks before it: not 0 for AUTO, whose edge 0 is a multiple of a
 * bin's width.
 */
static uint32_t lead_of(const struct axis *axis, uint32_t per)
{
	const struct edges *const e = &axis->edges;

	if (axis->kind != AXIS_AUTO)
		return 0;
	const int128_t first = e->exact ? e->lo / (e->width / e->binning.bins) : e->first;
	return (uint32_t)((first % per + per) % per);
}

static uint32_t rows_of(const struct axis *axis, uint32_t first, uint32_t last, uint32_t per)
{
	const uint32_t lead = lead_of(axis, per);

	return (last + lead) / per - (first + lead) / per + 1;
}

/*
 * How many digits a row's step takes: 1 for 0.5 and 20, 2 for 0.12; if edges are not equally far
 * apart, those of its number of bins.
 */
static unsigned digits_of(const struct axis *axis, uint32_t per)
{
	const struct edges *const e = &axis->edges;
	const uint32_t bins = e->binning.bins;
	const double width = e->list ? 1 : edges_value(e, bins) / bins - edges_value(e, 0) / bins;
	const double step = width * per;
	char text[40];

	/* Among powers of two, powers of two are round. */
	if (e->exact && (per & (per - 1)) == 0 &&
	    (axis->kind == AXIS_AUTO || (bins & (bins - 1)) == 0))
		return 1;
	if (!isfinite(step))
		return 4;
	snprintf(text, sizeof(text), "%.8e", step);
	unsigned digits = (unsigned)strcspn(text, "e") - 1;
	while (digits > 1 && text[digits] == '0')
		digits--;
	/* 0.125 is rounder than 0.13 if bins are 2^k wide. */
	const unsigned most = axis->kind == AXIS_AUTO && (per & (per - 1)) == 0 ? 2 : 4;
	return digits < most ? digits : most;
}

/*
 * The next number from `per` on that has two decimal digits, or five binary ones, before nothing
 * but zeros.
 */
static uint32_t round_up(uint32_t per)
{
	uint64_t decimal = 1, binary = 1;

	while (decimal * 100 <= per)
		decimal *= 10;
	while (binary * 32 <= per)
		binary *= 2;
	decimal = (per + decimal - 1) / decimal * decimal;
	binary = (per + binary - 1) / binary * binary;
	return (uint32_t)(decimal < binary ? decimal : binary);
}

/*
 * The cost of a number of bins for each row, compared with the smallest one, which gives the most
 * rows: a digit of the step costs a third of the rows; a last row of fewer bins, which looks
 * emptier than it is, a sixth.
 */
static uint64_t cost_of(const struct axis *axis, uint32_t last, uint32_t least, uint32_t per)
{
	const bool partial = axis->kind != AXIS_AUTO && last / per == axis_bins(axis) / per;

	return 1000u * digits_of(axis, per) + 3000u * (uint64_t)(per - least) / least +
	       (partial ? 500 : 0);
}

void plot_rows_join(struct plot_rows *rows, const struct axis *axis, uint32_t first, uint32_t last,
		    uint32_t most)
{
	const uint32_t span = last - first + 1, least = (span - 1) / most + 1;
	uint64_t best = UINT64_MAX;

	assert(PLOT_ROWS_LEAST <= most && most <= PLOT_ROWS_MOST && first <= last &&
	       last < axis_bins(axis));
	/*
	 * Starts at `least`, where there may be one row too many because the first one begins
	 * before `first`. With twice as many bins there are at most most / 2 + 2 rows, which is few
	 * enough: so the loop ends.
	 */
	*rows = (struct plot_rows){.per = 1};
	for (uint32_t per = least; span > most && (per <= 2 * least || best == UINT64_MAX);
	     per = round_up(per + 1)) {
		const uint64_t cost = cost_of(axis, last, least, per);
		if (rows_of(axis, first, last, per) > most || cost >= best)
			continue;
		best = cost;
		rows->per = per;
	}
	rows->lead = lead_of(axis, rows->per);
	rows->skip = (first + rows->lead) / rows->per;
	rows->rows = rows_of(axis, first, last, rows->per);
}

uint32_t plot_rows_begin(const struct plot_rows *rows, const struct axis *axis, uint32_t r)
{
	const uint64_t begin = (uint64_t)(rows->skip + r) * rows->per;
	const uint32_t bins = axis_bins(axis);

	return begin < rows->lead          ? 0
	       : begin - rows->lead < bins ? (uint32_t)begin - rows->lead
					   : bins;
}

struct edges plot_rows_edges(const struct plot_rows *rows, const struct axis *axis)
{
	struct edges e = axis->edges;
	const uint32_t bins = e.binning.bins,
		       whole = (bins + rows->lead + rows->per - 1) / rows->per * rows->per;

	if (axis->kind != AXIS_AUTO)
		return e;
	if (e.exact) {
		const int128_t width = e.width / bins;
		e.lo -= rows->lead * width;
		e.width = whole * width;
	} else {
		e.first -= rows->lead;
	}
	e.binning.bins = whole;
	return e;
}

void plot_rows_sum(uint128_t sums[PLOT_ROWS_MOST], const struct plot_rows *rows,
		   const struct hist *hist, uint32_t channel)
{
	for (uint32_t r = 0; r < rows->rows; r++) {
		const uint32_t end = plot_rows_begin(rows, &hist->axis, r + 1);
		sums[r] = 0;
		for (uint32_t bin = plot_rows_begin(rows, &hist->axis, r); bin < end; bin++)
			sums[r] += hist_count(hist, channel, bin);
	}
}

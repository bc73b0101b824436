/* SPDX-License-Identifier: MIT */
/* figures: the values of a channel, and text for them. */
#include "hist/figures.h"

#include <stdio.h>

#define ROW(id, csv, json, report, columns, rule) {FIGURE_##id, {csv, json, report, columns}, rule},
static const struct figure_row ROWS[] = {FIGURES(ROW, ROW)};

static struct figure_value count_of(uint64_t count, bool known)
{
	return (struct figure_value){.kind = known ? VALUE_COUNT : VALUE_NONE, .count = count};
}

static struct figure_value rounded(double real, bool known)
{
	return (struct figure_value){.kind = known ? VALUE_ROUNDED : VALUE_NONE, .real = real};
}

static struct figure_value fixed(double real)
{
	return (struct figure_value){.kind = real >= 0 ? VALUE_FIXED : VALUE_NONE, .real = real};
}

/* A value of the type. */
static struct figure_value sample(const struct hist *hist, int128_t whole, double real, bool known)
{
	struct figure_value v = {.kind = VALUE_NONE};

	if (known && hist->axis.type.kind == SAMPLE_FLOAT)
		v = (struct figure_value){.kind = VALUE_REAL, .real = real};
	else if (known && whole < 0)
		v = (struct figure_value){.kind = VALUE_WHOLE, .whole = (int64_t)whole};
	else if (known)
		v = (struct figure_value){.kind = VALUE_COUNT, .count = (uint64_t)whole};
	return v;
}

void figure_values(struct figure_value value[FIGURE_IDS], const struct hist *hist, uint32_t channel)
{
	const struct hist_stats *const s = &hist->stats[channel];
	const struct stats_result *const of = &s->of;
	const struct hist_flow *const flow = &hist->flow[channel];
	const uint64_t outside = flow->under + flow->over, infinite = of->below + of->above;
	const bool of_reals = hist->axis.type.kind == SAMPLE_FLOAT;
	const bool exact = of->number > 0 && !hist->from_bins;

	value[FIGURE_SAMPLES] = count_of(hist_samples(hist, channel), true);
	value[FIGURE_UNDER] = count_of(flow->under, true);
	value[FIGURE_OVER] = count_of(flow->over, true);
	value[FIGURE_NAN] = count_of(flow->nan, true);
	value[FIGURE_COUNT] = count_of(of->number, true);
	value[FIGURE_OUTSIDE] = count_of(outside > infinite ? outside - infinite : 0, true);
	value[FIGURE_ZEROS] = count_of(of->zeros, !hist->from_bins);
	value[FIGURE_BELOW] = count_of(of->below, true);
	value[FIGURE_ABOVE] = count_of(of->above, true);
	value[FIGURE_LEAST] = sample(hist, of->least, of->least_real, exact);
	value[FIGURE_GREATEST] = sample(hist, of->greatest, of->greatest_real, exact);
	value[FIGURE_AT_LEAST] = count_of(of->at_least, of->at_least > 0);
	value[FIGURE_AT_GREATEST] = count_of(of->at_greatest, of->at_greatest > 0);
	value[FIGURE_NEVER_HIT] = count_of(s->never_hit, s->all_values);
	value[FIGURE_MEAN] = rounded(of->mean, exact);
	value[FIGURE_DEVIATION] = rounded(of->deviation, exact);
	value[FIGURE_ENTROPY] = fixed(s->entropy);
	value[FIGURE_INF] = count_of(of->below + of->above, true);
	/* The digests of keys have one zero and one NaN. */
	value[FIGURE_CHI2] =
		rounded(s->chi2, s->chi2 >= 0 && !(hist->what == SERIES_KEYS && of_reals));
	value[FIGURE_QUANTILE] = (struct figure_value){.kind = VALUE_NONE};
}

struct figure_value figure_quantile(const struct hist *hist, uint32_t channel, unsigned i)
{
	const struct hist_quantile *const q = hist_quantile_of(hist, channel, i);

	return sample(hist, q->whole, q->real, q->known);
}

size_t figures_list(struct figure f[FIGURES_MOST], enum figure_place place,
		    const struct quantiles *asked, const struct hist *hist, uint32_t channel)
{
	struct figure_value value[FIGURE_IDS];
	size_t n = 0;

	if (hist)
		figure_values(value, hist, channel);
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
		const struct figure_row *const row = &ROWS[i];
		if (row->name[place][0] == '\0')
			continue;
		if (row->id != FIGURE_QUANTILE) {
			f[n].row = row;
			if (hist)
				f[n].value = value[row->id];
			n++;
			continue;
		}
		for (unsigned q = 0; q < asked->n; q++, n++) {
			f[n] = (struct figure){.row = row, .quantile = q};
			if (hist)
				f[n].value = figure_quantile(hist, channel, q);
		}
	}
	return n;
}

void figures_gauges(void (*put)(void *to, const char *name, enum figure_id id), void *to)
{
	for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
		if (ROWS[i].rule & GAUGE)
			put(to, ROWS[i].name[IN_CSV], ROWS[i].id);
}

/* ---- text ---- */

const char *figure_name(char text[NUMBER_TEXT], const struct figure *f, enum figure_place place,
			const struct quantiles *asked)
{
	char percent[NUMBER_TEXT];

	if (f->row->id != FIGURE_QUANTILE)
		return f->row->name[place];
	quantile_name(percent, asked, f->quantile);
	snprintf(text, NUMBER_TEXT, f->row->name[place], percent);
	return text;
}

size_t figure_format(char text[NUMBER_TEXT], struct figure_value value)
{
	switch (value.kind) {
	case VALUE_COUNT:
		return number_format_count(text, value.count);
	case VALUE_WHOLE:
		return number_format_integer(text, value.whole);
	case VALUE_REAL:
	case VALUE_ROUNDED:
		return number_format(text, value.real);
	case VALUE_FIXED:
		return (size_t)snprintf(text, NUMBER_TEXT, "%.6f", value.real);
	case VALUE_NONE:
		break;
	}
	text[0] = '\0';
	return 0;
}

double figure_real(struct figure_value value)
{
	return value.kind == VALUE_NONE    ? 0
	       : value.kind == VALUE_COUNT ? (double)value.count
	       : value.kind == VALUE_WHOLE ? (double)value.whole
					   : value.real;
}

/* SPDX-License-Identifier: MIT */
/* figures: each figure as text; the columns of a table. */
#include "output/figures.h"

#include <stdio.h>
#include <string.h>

void figure_text(char text[NUMBER_TEXT], const struct hist *hist, uint32_t channel,
		 enum figure figure)
{
	const struct hist_stats *const s = &hist->stats[channel];
	const struct hist_flow *const flow = &hist->flow[channel];
	const bool exact = s->of.number > 0 && !hist->from_bins;
	const uint64_t counts[] = {
		[FIGURE_SAMPLES] = hist_samples(hist, channel),
		[FIGURE_COUNT] = s->of.number,
		[FIGURE_UNDER] = flow->under,
		[FIGURE_OVER] = flow->over,
		[FIGURE_BELOW] = s->of.below,
		[FIGURE_ABOVE] = s->of.above,
		[FIGURE_NAN] = flow->nan,
		[FIGURE_ZEROS] = s->of.zeros,
		[FIGURE_AT_LEAST] = s->at_least,
		[FIGURE_AT_GREATEST] = s->at_greatest,
		[FIGURE_NEVER_HIT] = s->never_hit,
	};

	text[0] = '\0';
	if (figure < FIGURE_ZEROS || (figure == FIGURE_ZEROS && !hist->from_bins) ||
	    (figure <= FIGURE_NEVER_HIT && s->at_least > 0 &&
	     !(figure == FIGURE_NEVER_HIT && layout_is_many(hist->channels))))
		number_format_count(text, counts[figure]);
	else if ((figure == FIGURE_LEAST || figure == FIGURE_GREATEST) && exact)
		hist_stats_format_extreme(text, hist, channel, figure == FIGURE_GREATEST);
	else if ((figure == FIGURE_MEAN || figure == FIGURE_DEVIATION) && exact)
		number_format(text, figure == FIGURE_MEAN ? s->of.mean : s->of.deviation);
	else if (figure == FIGURE_ENTROPY && s->entropy >= 0)
		snprintf(text, NUMBER_TEXT, "%.6f", s->entropy);
}

/* Columns of the table, before the quantiles. */
static const struct column {
	const char *name;
	enum figure figure;
} COLUMNS[] = {
	{"samples", FIGURE_SAMPLES}, {"under", FIGURE_UNDER},   {"over", FIGURE_OVER},
	{"nan", FIGURE_NAN},         {"zeros", FIGURE_ZEROS},   {"min", FIGURE_LEAST},
	{"at_min", FIGURE_AT_LEAST}, {"max", FIGURE_GREATEST},  {"at_max", FIGURE_AT_GREATEST},
	{"mean", FIGURE_MEAN},       {"std", FIGURE_DEVIATION}, {"entropy", FIGURE_ENTROPY},
};

void figures_list(void (*put)(void *line, const char *text), void *line,
		  const struct quantiles *asked, const struct hist *hist, uint32_t channel)
{
	char text[NUMBER_TEXT + 1];

	for (size_t i = 0; i < sizeof(COLUMNS) / sizeof(COLUMNS[0]); i++) {
		if (hist)
			figure_text(text, hist, channel, COLUMNS[i].figure);
		put(line, hist ? text : COLUMNS[i].name);
	}
	for (unsigned i = 0; i < asked->n; i++) {
		if (hist)
			hist_stats_format_quantile(text, hist, channel, i);
		else
			strcat((quantile_name(text, asked, i), text), "%");
		put(line, text);
	}
}

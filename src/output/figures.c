/* SPDX-License-Identifier: MIT */
/* figures: column names and values, in the same order. */
#include "output/figures.h"

#include <stdio.h>
#include <string.h>

enum figure {
	SAMPLES,
	UNDER,
	OVER,
	NANS,
	ZEROS,
	LEAST,
	AT_LEAST,
	GREATEST,
	AT_GREATEST,
	MEAN,
	DEVIATION,
	ENTROPY,
	QUANTILES
};
static const char *const NAMES[QUANTILES] = {
	"samples", "under", "over",   "nan",  "zeros", "min",
	"at_min",  "max",   "at_max", "mean", "std",   "entropy",
};

static void figure_text(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel,
			enum figure figure)
{
	const struct hist_stats *const s = &h->stats[channel];
	const struct hist_flow *const flow = &h->flow[channel];
	const bool any = s->of.number > 0, ends = s->at_least > 0;

	text[0] = '\0';
	switch (figure) {
	case SAMPLES:
		number_format_count(text, h->samples / h->channels);
		break;
	case UNDER:
		number_format_count(text, flow->under);
		break;
	case OVER:
		number_format_count(text, flow->over);
		break;
	case NANS:
		number_format_count(text, flow->nan);
		break;
	case ZEROS:
		number_format_count(text, s->of.zeros);
		break;
	case AT_LEAST:
	case AT_GREATEST:
		if (ends)
			number_format_count(text,
					    figure == AT_LEAST ? s->at_least : s->at_greatest);
		break;
	case LEAST:
	case GREATEST:
		if (any)
			hist_stats_format_extreme(text, h, channel, figure == GREATEST);
		break;
	case MEAN:
	case DEVIATION:
		if (any)
			number_format(text, figure == MEAN ? s->of.mean : s->of.deviation);
		break;
	default:
		if (s->entropy >= 0)
			snprintf(text, NUMBER_TEXT, "%.6f", s->entropy);
	}
}

void figures_list(void (*put)(void *line, const char *text), void *line,
		  const struct quantiles *asked, bool intervals, const struct hist *hist,
		  uint32_t channel)
{
	char lower[NUMBER_TEXT + 8], upper[NUMBER_TEXT + 8], text[NUMBER_TEXT + 8];

	for (enum figure f = SAMPLES; f < QUANTILES; f++) {
		if (hist)
			figure_text(text, hist, channel, f);
		put(line, hist ? text : NAMES[f]);
	}
	for (unsigned i = 0; i < asked->n; i++) {
		text[0] = lower[0] = upper[0] = '\0';
		if (!hist) {
			quantile_name(text, asked, i);
			snprintf(lower, sizeof(lower), "%s%%_lower", text);
			snprintf(upper, sizeof(upper), "%s%%_upper", text);
			strcat(text, "%");
		} else if (hist->stats[channel].quantile[i].kind != QUANTILE_NONE) {
			hist_stats_format_number(text, hist, channel, i);
			hist_stats_format_quantile(lower, upper, hist, channel, i);
		}
		put(line, text);
		if (intervals) {
			put(line, lower);
			put(line, upper);
		}
	}
}

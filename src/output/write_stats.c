/* SPDX-License-Identifier: MIT */
/*
 * write_stats: --stats as members of JSON metadata. Each is a number or a string: the schema allows
 * no objects there, and no null. So a figure that does not exist is not written.
 */
#include "output/write.h"

#include <stdio.h>

#define MEMBER_TEXT (QUANTILE_TEXT + 64)

static void number(struct output *out, const char *name, const char *text)
{
	char line[MEMBER_TEXT];

	snprintf(line, sizeof(line), "\"stats_%s\": %s, ", name, text);
	output_text(out, line);
}

static void count(struct output *out, const char *name, uint64_t n)
{
	char text[NUMBER_TEXT];

	number_format_count(text, n);
	number(out, name, text);
}

static void real(struct output *out, const char *name, double x)
{
	char text[NUMBER_TEXT];

	number_format(text, x);
	number(out, name, text);
}

/* A value is written as a number; a bin, or the lack of one, as a string. */
static void quantile(struct output *out, const struct hist *hist, uint32_t channel, unsigned i)
{
	char name[32], text[QUANTILE_TEXT], quoted[QUANTILE_TEXT + 2];

	snprintf(name, sizeof(name), "quantile_%u", hist_quantile_percent[i]);
	hist_stats_format_quantile(text, hist, channel, i);
	snprintf(quoted, sizeof(quoted), "\"%s\"", text);
	number(out, name, hist->stats[channel].quantile[i].kind == QUANTILE_VALUE ? text : quoted);
}

void write_stats_members(struct output *out, const struct hist *hist, uint32_t channel)
{
	char text[NUMBER_TEXT];

	if (!hist->stats)
		return;
	const struct stats_result *const of = &hist->stats[channel].of;
	count(out, "number", of->number);
	if (of->number > 0) {
		hist_stats_format_least(text, hist, channel);
		number(out, "minimum", text);
		hist_stats_format_greatest(text, hist, channel);
		number(out, "maximum", text);
		real(out, "mean", of->mean);
		real(out, "deviation", of->deviation);
		for (unsigned i = 0; i < HIST_QUANTILES; i++)
			quantile(out, hist, channel, i);
	}
	if (hist->axis.type.kind == SAMPLE_FLOAT) {
		count(out, "minus_inf", of->below);
		count(out, "plus_inf", of->above);
	}
}

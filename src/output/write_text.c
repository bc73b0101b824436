/* SPDX-License-Identifier: MIT */
/*
 * write_text: one line for each bin, "bin,lower,upper,count" with a count for each channel, or the
 * same with tabs.
 */
#include "output/write.h"

#include <stdio.h>
#include <string.h>

/* What the count columns of a row hold. */
enum row_kind { ROW_BIN, ROW_UNDER, ROW_OVER, ROW_NAN };

static uint64_t count_of(const struct hist *hist, uint32_t channel, enum row_kind kind,
			 uint32_t bin)
{
	const struct hist_flow *const flow = &hist->flow[channel];

	return kind == ROW_BIN     ? hist_count(hist, channel, bin)
	       : kind == ROW_UNDER ? flow->under
	       : kind == ROW_OVER  ? flow->over
				   : flow->nan;
}

/* Writes a row: three fields, each shorter than NUMBER_TEXT, and a count for each channel. */
static void row(struct output *out, const struct hist *hist, const struct style *style, char comma,
		const char *const fields[3], enum row_kind kind, uint32_t bin)
{
	char line[(3 + LAYOUT_CHANNELS_MAX) * (NUMBER_TEXT + 1)];
	size_t used = 0;

	for (int i = 0; i < 3; i++) {
		const size_t length = strlen(fields[i]);
		memcpy(line + used, fields[i], length);
		used += length;
		line[used++] = comma;
	}
	for (uint32_t c = 0; c < hist->channels; c++) {
		used += number_format_count(
			line + used, counter_clip(style->counter, count_of(hist, c, kind, bin)));
		line[used++] = comma;
	}
	line[used - 1] = '\n';
	output_write(out, line, used);
}

static void header(struct output *out, const struct hist *hist, char comma)
{
	char name[NUMBER_TEXT];

	output_text(out, comma == ',' ? "bin,lower,upper" : "bin\tlower\tupper");
	for (uint32_t c = 0; c < hist->channels; c++) {
		snprintf(name, sizeof(name), hist->channels > 1 ? "%ccount%lu" : "%ccount", comma,
			 (unsigned long)c);
		output_text(out, name);
	}
	output_text(out, "\n");
}

/* Does any channel have samples in this bin? */
static bool holds(const struct hist *hist, uint32_t bin)
{
	for (uint32_t c = 0; c < hist->channels; c++)
		if (hist_count(hist, c, bin) > 0)
			return true;
	return false;
}

static void write_rows(struct output *out, const struct hist *hist, const struct style *style,
		       char comma)
{
	const struct edges *edges = &hist->axis.edges;
	const uint32_t bins = axis_bins(&hist->axis);
	/* these have no edges, and no samples outside */
	const bool residues = hist->axis.kind == AXIS_MOD;
	char bin[NUMBER_TEXT], lower[NUMBER_TEXT], upper[NUMBER_TEXT];
	uint32_t edge = UINT32_MAX; /* the edge whose text is in upper */

	if (style->header)
		header(out, hist, comma);
	if (style->flow && !residues) {
		edges_format(edges, 0, upper);
		row(out, hist, style, comma, (const char *[]){"under", "-inf", upper}, ROW_UNDER,
		    0);
	}
	for (uint32_t i = 0; i < bins && !output_failed(out); i++) {
		if (style->nonzero && !holds(hist, i))
			continue;
		if (edge == i && !residues)
			memcpy(lower, upper, sizeof(lower));
		else
			edges_format(edges, i, lower);
		edge = i + 1;
		edges_format(edges, residues ? i : edge, upper);
		number_format_count(bin, i);
		row(out, hist, style, comma, (const char *[]){bin, lower, upper}, ROW_BIN, i);
	}
	if (style->flow && !residues) {
		edges_format(edges, bins, lower);
		row(out, hist, style, comma, (const char *[]){"over", lower, "inf"}, ROW_OVER, 0);
		row(out, hist, style, comma, (const char *[]){"nan", "nan", "nan"}, ROW_NAN, 0);
	}
}

void write_csv(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	(void)from;
	write_rows(out, hist, style, ',');
}

void write_tsv(struct output *out, const struct hist *hist, const struct style *style,
	       const struct provenance *from)
{
	(void)from;
	write_rows(out, hist, style, '\t');
}

/* SPDX-License-Identifier: MIT */
/* svg_text: the text in a picture. */
#include "output/svg_text.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "output/summary.h"
#include "output/xml.h"

#define DOT " \xc2\xb7 "        /* a dot in the middle */
#define ELLIPSIS "\xe2\x80\xa6" /* ... */
#define HEADING 66              /* characters of a heading */
/* characters of a line of figures: what does not fit is in the description only */
#define FIGURES 100
#define DIGITS 12 /* digits of an edge that can be read at a glance */
#define MIDDLE (2 * SUMMARY_TEXT + 8)

typedef unsigned long ulong;
typedef unsigned long long ull;

static const char *options_of(const struct provenance *from)
{
	return from->options ? from->options : "";
}

/* The options, up to so many characters; three dots replace the rest. */
void svg_heading(struct output *out, const struct provenance *from)
{
	const char *const text = options_of(from);
	const size_t length = strlen(text);
	size_t used = 0;

	for (size_t left = HEADING; used < length && left > 0; left--) {
		const size_t some = utf8_length((const unsigned char *)text + used, length - used);
		used += some > 0 ? some : 1;
	}
	output_text(out, "gpuhist ");
	xml_text(out, text, used);
	output_text(out, used < length ? ELLIPSIS : "");
}

/* Writes digits in groups of three. */
static void group(char text[NUMBER_TEXT], uint64_t n)
{
	char digits[NUMBER_TEXT];
	const size_t length = number_format_count(digits, n);
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void put_flow(struct output *out, const struct hist_flow *flow)
{
	static const char *const NAMES[] = {"under", "over", "NaN"};
	const uint64_t counts[] = {flow->under, flow->over, flow->nan};
	char n[NUMBER_TEXT];

	for (int i = 0; i < 3; i++) {
		group(n, counts[i]);
		if (counts[i] > 0)
			xml_print(out, DOT "%s %s", n, NAMES[i]);
	}
}

void svg_subheading(struct output *out, const struct hist *hist, const struct provenance *from)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const struct hist_flow flow = hist_flow_sum(hist);
	char samples[NUMBER_TEXT], some[NUMBER_TEXT];

	group(samples, hist->samples);
	group(some, bins);
	if (from->partial)
		output_text(out, "partial, counting goes on" DOT);
	xml_print(out, "%s %s sample%s", samples, hist->axis.type.name, plural(hist->samples));
	if (hist->channels > 1)
		xml_print(out, " of %lu channels", (ulong)hist->channels);
	xml_print(out, DOT "%s bin%s", some, plural(bins));
	if (hist->axis.clamp)
		output_text(out, DOT "the first and the last take what is out of range");
	put_flow(out, &flow);
	if (from->parts > 1)
		xml_print(out, DOT "part %lu of %lu", (ulong)from->part, (ulong)from->parts);
}

/* Writes the range of the middle samples: bins that are known, or "under" or "over". */
static void middle_text(char text[MIDDLE], const struct axis *axis, const struct summary *s)
{
	char from[SUMMARY_TEXT], to[SUMMARY_TEXT];

	summary_quantile(from, axis, &s->quantile[1], DIGITS);
	summary_quantile(to, axis, &s->quantile[5], DIGITS);
	const char *const comma = from[0] == '[' && to[0] == '[' ? strchr(from, ',') : NULL;
	if (comma)
		snprintf(text, MIDDLE, "%.*s%s", (int)(comma - from), from, strchr(to, ','));
	else
		snprintf(text, MIDDLE, "%s to %s", from, to);
}

void svg_figures(struct output *out, const struct hist *hist, uint32_t channel)
{
	char mode[SUMMARY_TEXT], median[SUMMARY_TEXT], middle[MIDDLE], n[NUMBER_TEXT];
	struct summary s;

	summary_init(&s, hist, channel);
	if (hist->channels > 1)
		xml_print(out, "channel %lu" DOT, (ulong)channel);
	if (s.mode_count > 0) {
		summary_bin(mode, &hist->axis, s.mode, DIGITS);
		group(n, s.mode_count);
		xml_print(out, "fullest bin %s: %s", mode, n);
	} else if (hist->channels > 1) {
		output_text(out, "no samples in bins");
	}
	if (s.mode_count > 0 && hist->axis.kind != AXIS_MOD) {
		summary_quantile(median, &hist->axis, &s.quantile[3], DIGITS);
		xml_print(out, DOT "median %s", median);
		middle_text(middle, &hist->axis, &s);
		if (strlen(mode) + strlen(n) + strlen(median) + strlen(middle) + 40 <= FIGURES)
			xml_print(out, DOT "5 to 95 %%: %s", middle);
	}
	if (hist->channels > 1)
		put_flow(out, &hist->flow[channel]);
}

void svg_unit(char text[SVG_UNIT], const struct columns *columns)
{
	if (columns->joined == 1 || columns->count == 0)
		snprintf(text, SVG_UNIT, "samples per bin");
	else if (columns->joined > 1)
		snprintf(text, SVG_UNIT, "samples per %lu bins", (ulong)columns->joined);
	else if (columns->span.log)
		snprintf(text, SVG_UNIT, "samples per decade");
	else if (columns->width == 1)
		snprintf(text, SVG_UNIT, "samples per unit");
	else
		snprintf(text, SVG_UNIT, "samples per %.6g", columns->width);
}

static void describe_channel(struct output *out, const struct hist *hist, uint32_t channel)
{
	const struct hist_flow *const flow = &hist->flow[channel];
	char text[SUMMARY_TEXT];
	struct summary s;

	summary_init(&s, hist, channel);
	if (hist->channels > 1)
		xml_print(out, "Channel %lu: ", (ulong)channel);
	xml_print(out, "%llu in bins, %llu under, %llu over, %llu NaN.", (ull)s.inside,
		  (ull)flow->under, (ull)flow->over, (ull)flow->nan);
	if (s.mode_count > 0) {
		summary_bin(text, &hist->axis, s.mode, NUMBER_TEXT);
		xml_print(out, " Fullest bin: %lu, %s, %llu sample%s.", (ulong)s.mode, text,
			  (ull)s.mode_count, plural(s.mode_count));
	}
	for (unsigned q = 0; q < HIST_QUANTILES; q++) {
		if (s.quantile[q].kind == QUANTILE_NONE)
			continue;
		summary_quantile(text, &hist->axis, &s.quantile[q], NUMBER_TEXT);
		if (hist_quantile_percent[q] == 50)
			xml_print(out, " Median: %s.", text);
		else
			xml_print(out, " %u %%: %s.", hist_quantile_percent[q], text);
	}
	output_text(out, "\n");
}

void svg_describe(struct output *out, const struct hist *hist, const struct columns *columns,
		  const struct style *style, const struct provenance *from)
{
	const struct axis *const axis = &hist->axis;
	const uint32_t bins = axis_bins(axis);
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT], unit[SVG_UNIT];

	output_text(out, "<title>gpuhist ");
	xml_text(out, options_of(from), strlen(options_of(from)));
	output_text(out, "</title>\n<desc>");
	if (from->partial)
		output_text(out, "Partial: these are the counts so far.\n");
	xml_print(out, "Histogram of %llu %s sample%s", (ull)hist->samples, axis->type.name,
		  plural(hist->samples));
	if (hist->channels > 1)
		xml_print(out, " of %lu channels", (ulong)hist->channels);
	xml_print(out, ", %lu bin%s", (ulong)bins, plural(bins));
	if (bins > 0 && axis->kind == AXIS_MOD) {
		xml_print(out, ", one for each value modulo %lu", (ulong)bins);
	} else if (bins > 0) {
		edges_format(&axis->edges, 0, lower);
		edges_format(&axis->edges, bins, upper);
		xml_print(out, " from %s to %s%s", lower, upper,
			  axis->edges.closed ? ", both included" : "");
	}
	output_text(out, ".\n");
	if (axis->clamp)
		output_text(out, "The first and the last bin hold what is out of range too.\n");
	if (from->parts > 1)
		xml_print(out, "Part %lu of %lu.\n", (ulong)from->part, (ulong)from->parts);
	for (uint32_t c = 0; c < hist->channels; c++)
		describe_channel(out, hist, c);
	svg_unit(unit, columns);
	if (bins > 0)
		xml_print(out,
			  "The picture has %lu column%s of up to %lu bin%s; heights are %s%s.\n",
			  (ulong)columns->count, plural(columns->count), (ulong)columns->most,
			  plural(columns->most), unit,
			  style->picture.log ? ", on a logarithmic axis" : "");
	output_text(out, "</desc>\n");
}

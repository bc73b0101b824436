/* SPDX-License-Identifier: MIT */
/*
 * write_prom: Prometheus' text format: a histogram whose buckets are cumulative or, if one bin holds
 * all samples and there are figures (-b 0), a summary of quantiles.
 *
 * A bucket includes its limit "le", but a bin does not include its upper edge. For integers, le is
 * the largest whole number of the bin. For floats it is the edge, so a sample that equals it is
 * counted in the next bucket. Samples under the range are in every bucket, those over it only in
 * +Inf, and NaN in none.
 */
#include "output/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "hist/figures.h"
#include "hist/series.h"

#define WHOLE_MOST 0x1p64 /* no integer sample is larger */

/* For integers: the largest value below an edge. */
static int128_t limit_of(const struct axis *axis, uint32_t i)
{
	const struct edges *const e = &axis->edges;
	const uint32_t bins = axis_bins(axis);
	const bool closed = e->closed && i == bins;
	const double edge = edges_value(e, i);

	if (e->form != EDGES_RATIONAL)
		return (int128_t)(closed ? floor(edge) + 1 : ceil(edge)) - 1;
	const int128_t moved = (int128_t)i * e->rational.width;
	return e->rational.lo + moved / bins + (moved % bins != 0 || closed) - 1;
}

/* Is an edge too far from all integers for limit_of? */
static bool is_far(const struct axis *axis, uint32_t i)
{
	return fabs(edges_value(&axis->edges, i)) > WHOLE_MOST;
}

/* Format the largest value below an edge; for floats, the edge. */
static void format_limit(char text[NUMBER_TEXT], const struct axis *axis, uint32_t i)
{
	if (!axis->edges.integers || is_far(axis, i))
		edges_format(&axis->edges, i, text);
	else
		number_format_integer(text, limit_of(axis, i));
}

/* Can samples lie below the lowest edge, and are then in no bin? */
static bool has_lowest(const struct axis *axis)
{
	if (axis->clamp || axis_bins(axis) == 0)
		return false;
	if (!axis->edges.integers)
		return isfinite(edges_value(&axis->edges, 0));
	return !is_far(axis, 0) && limit_of(axis, 0) >= sample_min(&axis->type);
}

#define LOST "\ufffd" /* instead of a byte that is not UTF-8 */

/* Escape characters that the value of a label cannot contain. */
static const char *prom_escape(const unsigned char *p, size_t length, char text[OUTPUT_ESCAPE])
{
	(void)text;
	return length == 0  ? LOST
	       : *p == '"'  ? "\\\""
	       : *p == '\\' ? "\\\\"
	       : *p == '\n' ? "\\n"
			    : NULL;
}

/* Compare two texts as labels have them; a byte that is not UTF-8 becomes U+FFFD. */
static int compare_labels(const char *a, const char *b)
{
	const char *at[2] = {a, b};

	while (*at[0] && *at[1]) {
		const char *part[2];
		size_t n[2];
		for (int i = 0; i < 2; i++) {
			n[i] = utf8_length((const unsigned char *)at[i], strnlen(at[i], 4));
			part[i] = n[i] > 0 ? at[i] : LOST;
			at[i] += n[i] > 0 ? n[i] : 1;
			n[i] = n[i] > 0 ? n[i] : strlen(LOST);
		}
		const int order = memcmp(part[0], part[1], n[0] < n[1] ? n[0] : n[1]);
		if (order != 0)
			return order;
	}
	return (*at[0] != '\0') - (*at[1] != '\0');
}

static int by_label(const void *a, const void *b)
{
	return compare_labels(*(char *const *)a, *(char *const *)b);
}

int prom_check(const struct hist *hist, struct fail *fail)
{
	const uint32_t n = hist->name ? hist->channels : 0;
	char **const name = calloc((size_t)n + 1, sizeof(*name));
	int rc = name ? 0 : fail_errno(fail, "prom");

	if (n > 0 && name) {
		memcpy(name, hist->name, n * sizeof(*name));
		qsort(name, n, sizeof(*name), by_label);
	}
	for (uint32_t c = 1; c < n && rc == 0; c++)
		if (compare_labels(name[c - 1], name[c]) == 0)
			rc = fail_set(fail, STATUS_DATA,
				      "prom has only UTF-8, in which two %ss become the same "
				      "label, %.60s; convert the text (iconv -t utf-8), or use csv "
				      "or json",
				      series_head(hist), name[c]);
	free(name);
	return rc;
}

/*
 * Write the name of the label: for keys of text the name of their column, with '_' for characters
 * that labels cannot have. A column given by its number has no name, and binary keys have no column.
 */
static void put_label_name(struct output *out, const struct hist *hist)
{
	const char *const by = hist->by;

	if (!by || hist->whole_keys || by[strspn(by, "0123456789")] == '\0') {
		output_text(out, by ? "key" : "channel");
		return;
	}
	for (const char *p = by; *p; p++) {
		const char c = *p;
		const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		output_print(out, "%c", letter || (p > by && c >= '0' && c <= '9') ? c : '_');
	}
	/* These have a meaning of their own. */
	if (strcmp(by, "le") == 0 || strcmp(by, "quantile") == 0)
		output_text(out, "_");
}

/*
 * Write the start of a line: the name and the labels, among them "le" or "quantile" with its value;
 * NULL: neither.
 */
static void put_series(struct output *out, const struct hist *hist, const char *name,
		       const char *suffix, uint32_t channel, const char *value)
{
	const char *const label = *suffix == '\0' ? "quantile" : "le";
	const bool named = series_many(hist);
	char number[NUMBER_TEXT];

	output_text(out, name);
	output_text(out, suffix);
	if (named) {
		const char *const of = series_name(hist, channel, number);
		output_text(out, "{");
		put_label_name(out, hist);
		output_text(out, "=\"");
		output_escaped(out, of, strlen(of), prom_escape);
		output_text(out, "\"");
	}
	if (value)
		output_print(out, "%s%s=\"%s\"", named ? "," : "{", label, value);
	output_text(out, named || value ? "} " : " ");
}

static void put_count(struct output *out, uint64_t count)
{
	char text[NUMBER_TEXT + 1];
	const size_t length = number_format_count(text, count);

	text[length] = '\n';
	output_write(out, text, length + 1);
}

/* Write a bucket for each edge; return the number of samples in the last bucket. */
static uint64_t put_buckets(struct output *out, const struct hist *hist, const char *name,
			    uint32_t channel)
{
	const uint32_t bins = axis_bins(&hist->axis), first = !has_lowest(&hist->axis);
	/* With --clamp, the last bin has samples over its edge, like +Inf. */
	const uint32_t end = bins - (hist->axis.clamp && bins > 0);
	char limits[2][NUMBER_TEXT] = {"inf", "inf"};
	uint64_t count = hist->flow[channel].under;

	if (first <= end)
		format_limit(limits[first % 2], &hist->axis, first);
	for (uint32_t i = first; i <= end && !output_failed(out); i++) {
		char *const limit = limits[i % 2], *const next = limits[(i + 1) % 2];
		count += i > 0 ? hist_count(hist, channel, i - 1) : 0;
		strcpy(next, "inf");
		if (i < end)
			format_limit(next, &hist->axis, i + 1);
		/* Readers parse limits as binary64, and refuse two that are equal. */
		if (strtod(limit, NULL) == strtod(next, NULL))
			continue;
		put_series(out, hist, name, "_bucket", channel, limit);
		put_count(out, count);
	}
	for (uint32_t i = end; i < bins; i++)
		count += hist_count(hist, channel, i);
	count += hist->flow[channel].over;
	put_series(out, hist, name, "_bucket", channel, "+Inf");
	put_count(out, count);
	return count;
}

/* Write the quantiles; return the number of samples that are not NaN. */
static uint64_t put_quantiles(struct output *out, const struct hist *hist, const char *name,
			      uint32_t channel)
{
	char share[NUMBER_TEXT], text[NUMBER_TEXT];

	for (unsigned i = 0; i < hist->asked.n && !output_failed(out); i++) {
		if (figure_format(text, figure_quantile(hist, channel, i)) == 0)
			continue;
		number_format(share, (double)hist->asked.at[i] / QUANTILE_ALL);
		put_series(out, hist, name, "", channel, share);
		output_text(out, text);
		output_text(out, "\n");
	}
	return hist_samples(hist, channel) - hist->flow[channel].nan;
}

bool prom_has_sum(const struct hist *hist)
{
	return hist->stats && (!hist->from_bins || hist->samples == 0);
}

/* Write the sum of the samples that are not NaN. */
static void put_sum(struct output *out, const struct hist *hist, const char *name, uint32_t channel)
{
	const struct stats_result *const of = &hist->stats[channel].of;
	double sum = of->total;
	char text[NUMBER_TEXT];

	/* A document of wide integers may give only the mean, and the product is rounded. */
	if (hist->axis.type.kind != SAMPLE_FLOAT)
		sum = rint(sum) + 0.0;
	number_format(text, sum);
	put_series(out, hist, name, "_sum", channel, NULL);
	output_text(out, of->below > 0 && of->above > 0 ? "NaN"
			 : of->below > 0                ? "-Inf"
			 : of->above > 0                ? "+Inf"
							: text);
	output_text(out, "\n");
}

/* Gauges of figures, each a family of its own. */
struct gauges {
	struct output *out;
	const struct hist *hist;
	const char *metric;
};

static void put_gauge(void *to, const char *name, enum figure_id id)
{
	const struct gauges *const g = to;
	struct figure_value value[FIGURE_IDS];
	char text[NUMBER_TEXT], suffix[NUMBER_TEXT];
	bool any = false;

	snprintf(suffix, sizeof(suffix), "_%s", name);
	for (uint32_t c = 0; c < g->hist->channels && !output_failed(g->out); c++) {
		figure_values(value, g->hist, c);
		if (figure_format(text, value[id]) == 0)
			continue;
		if (!any)
			output_print(g->out, "# TYPE %s%s gauge\n", g->metric, suffix);
		any = true;
		put_series(g->out, g->hist, g->metric, suffix, c, NULL);
		output_text(g->out, text);
		output_text(g->out, "\n");
	}
}

void write_prom(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
{
	const char *const name = style->metric;
	const bool summary = hist->stats && axis_is_blind(&hist->axis);

	output_text(out, "# HELP ");
	output_text(out, name);
	output_text(out, " Samples counted by gpuhist.\n# TYPE ");
	output_text(out, name);
	output_text(out, summary ? " summary\n" : " histogram\n");
	if (from->partial)
		output_text(out, "# partial: still counting\n");
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		const uint64_t count = (summary ? put_quantiles : put_buckets)(out, hist, name, c);
		if (prom_has_sum(hist))
			put_sum(out, hist, name, c);
		put_series(out, hist, name, "_count", c, NULL);
		put_count(out, count);
	}
	if (hist->stats)
		figures_gauges(put_gauge, &(struct gauges){out, hist, name});
}

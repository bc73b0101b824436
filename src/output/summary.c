/* SPDX-License-Identifier: MIT */
/* summary: sums over the bins of a channel. */
#include "output/summary.h"

#include <stdio.h>

static void add_quantiles(struct summary *s, const struct hist *hist, uint32_t channel,
			  const uint64_t *count)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const uint64_t n = hist->flow[channel].under + s->inside + hist->flow[channel].over;
	uint64_t passed = hist->flow[channel].under;
	uint32_t bin = 0;

	for (unsigned q = 0; q < HIST_QUANTILES && n > 0; q++) {
		const unsigned percent = hist_quantile_percent[q];
		/* n percent / 100, rounded up; no step exceeds 2^64. */
		const uint64_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
		struct hist_quantile *const quantile = &s->quantile[q];
		if (rank <= hist->flow[channel].under) {
			quantile->kind = QUANTILE_UNDER;
			continue;
		}
		while (bin < bins && passed < rank)
			passed += count[bin++];
		quantile->kind = passed < rank ? QUANTILE_OVER : QUANTILE_BIN;
		quantile->bin = passed < rank ? 0 : bin - 1;
	}
}

void summary_init(struct summary *s, const struct hist *hist, uint32_t channel)
{
	const uint32_t bins = axis_bins(&hist->axis);
	const uint64_t *const count = hist->count + channel * hist->stride;
	uint64_t sum = 0, most = 0;

	for (uint32_t i = 0; i < bins; i++) {
		sum += count[i];
		most = count[i] > most ? count[i] : most;
	}
	*s = (struct summary){.inside = sum, .mode_count = most};
	while (bins > 0 && count[s->mode] != most)
		s->mode++;
	if (hist->axis.kind != AXIS_MOD)
		add_quantiles(s, hist, channel, count);
}

static void edge_text(char text[NUMBER_TEXT], const struct edges *edges, uint32_t i, size_t digits)
{
	if (edges_format(edges, i, text) > digits)
		snprintf(text, NUMBER_TEXT, "%.6g", edges_value(edges, i));
}

void summary_bin(char text[SUMMARY_TEXT], const struct axis *axis, uint32_t bin, size_t digits)
{
	const struct edges *const edges = &axis->edges;
	const uint32_t bins = axis_bins(axis);
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];

	if (axis->kind == AXIS_MOD) {
		snprintf(text, SUMMARY_TEXT, "%lu", (unsigned long)bin);
		return;
	}
	const bool closed = edges->closed && bin + 1 == bins;
	const bool more = closed || (axis->clamp && (bin == 0 || bin + 1 == bins));
	/* Where each whole number has a bin, all digits are needed to tell neighbours apart. */
	const bool value = axis->type.kind != SAMPLE_FLOAT && edges->exact &&
			   edges->width == (int128_t)bins && !more;
	edge_text(lower, edges, bin, value ? NUMBER_TEXT : digits);
	edge_text(upper, edges, bin + 1, digits);
	if (value)
		snprintf(text, SUMMARY_TEXT, "%s", lower);
	else
		snprintf(text, SUMMARY_TEXT, "[%s, %s%c", lower, upper, closed ? ']' : ')');
}

void summary_quantile(char text[SUMMARY_TEXT], const struct axis *axis,
		      const struct hist_quantile *q, size_t digits)
{
	if (q->kind == QUANTILE_BIN)
		summary_bin(text, axis, q->bin, digits);
	else
		snprintf(text, SUMMARY_TEXT, "%s",
			 q->kind == QUANTILE_UNDER  ? "under"
			 : q->kind == QUANTILE_OVER ? "over"
						    : "none");
}

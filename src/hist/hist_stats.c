/* SPDX-License-Identifier: MIT */
/* hist_stats: quantiles, and the figures as text. */
#include "hist/hist_stats.h"

#include <math.h>
#include <stdio.h>

#include "hist/hist.h"

const unsigned hist_quantile_percent[HIST_QUANTILES] = {1, 5, 25, 50, 75, 95, 99};

/*
 * Of n samples in order, counted from 1, the number of the first that is not below `percent` of
 * them.
 */
static uint64_t rank_of(unsigned percent, uint64_t n)
{
	return (uint64_t)(((uint128_t)n * percent + 99) / 100);
}

/* The nth code in the order of values; NaNs come first and last. */
static uint32_t nth_code(const struct sample_type *type, uint32_t nth)
{
	const uint32_t sign = 1u << (8 * type->bytes - 1);

	if (type->kind == SAMPLE_FLOAT)
		return nth < sign ? 2 * sign - 1 - nth : nth - sign;
	return type->kind == SAMPLE_SIGNED ? nth ^ sign : nth;
}

void hist_stats_of_codes(struct hist_stats *out, struct stats *sums, const struct sample_type *type,
			 const uint64_t *count)
{
	const uint32_t codes = 1u << (8 * type->bytes);
	uint64_t passed = 0;
	unsigned q = 0;

	for (uint32_t code = 0; code < codes; code++)
		stats_add_code(sums, type->big ? (code & 255) << 8 | code >> 8 : code, count[code]);
	*out = (struct hist_stats){.of.number = 0};
	stats_result(sums, &out->of);
	for (uint32_t nth = 0; nth < codes && out->of.number > 0; nth++) {
		const uint32_t code = nth_code(type, nth);
		const double value = sample_code(type, code);
		if (isfinite(value))
			passed += count[type->big ? (code & 255) << 8 | code >> 8 : code];
		for (; q < HIST_QUANTILES &&
		       passed >= rank_of(hist_quantile_percent[q], out->of.number);
		     q++)
			out->quantile[q] = (struct hist_quantile){.kind = QUANTILE_VALUE,
								  .value = value + 0.0};
	}
}

void hist_stats_of_bins(struct hist_stats *out, const struct stats *sums, const struct hist *h,
			uint32_t channel)
{
	const uint32_t bins = axis_bins(&h->axis);
	/* Infinities are the first and the last samples of what is under, in a bin, or over. */
	uint64_t passed = h->flow[channel].under;
	uint32_t bin = 0;

	*out = (struct hist_stats){.of.number = 0};
	stats_result(sums, &out->of);
	/* Residues have no order. */
	if (h->axis.kind == AXIS_MOD)
		return;
	for (unsigned q = 0; q < HIST_QUANTILES && out->of.number > 0; q++) {
		const uint64_t rank =
			out->of.below + rank_of(hist_quantile_percent[q], out->of.number);
		struct hist_quantile *const quantile = &out->quantile[q];
		if (rank <= h->flow[channel].under) {
			quantile->kind = QUANTILE_UNDER;
			continue;
		}
		while (bin < bins && passed < rank)
			passed += hist_count(h, channel, bin++);
		quantile->kind = passed < rank ? QUANTILE_OVER : QUANTILE_BIN;
		quantile->bin = passed < rank ? 0 : bin - 1;
	}
}

static void format_extreme(char text[NUMBER_TEXT], const struct hist *h, int128_t whole,
			   double real)
{
	if (h->axis.type.kind == SAMPLE_FLOAT)
		number_format(text, real);
	else
		number_format_integer(text, whole);
}

void hist_stats_format_least(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel)
{
	const struct stats_result *const r = &h->stats[channel].of;

	format_extreme(text, h, r->least, r->least_real);
}

void hist_stats_format_greatest(char text[NUMBER_TEXT], const struct hist *h, uint32_t channel)
{
	const struct stats_result *const r = &h->stats[channel].of;

	format_extreme(text, h, r->greatest, r->greatest_real);
}

void hist_stats_format_quantile(char text[QUANTILE_TEXT], const struct hist *h, uint32_t channel,
				unsigned i)
{
	const struct hist_quantile *const q = &h->stats[channel].quantile[i];
	const struct edges *const edges = &h->axis.edges;
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];

	switch (q->kind) {
	case QUANTILE_VALUE:
		number_format(text, q->value);
		return;
	case QUANTILE_BIN:
		edges_format(edges, q->bin, lower);
		edges_format(edges, q->bin + 1, upper);
		snprintf(text, QUANTILE_TEXT, "[%s, %s%c", lower, upper,
			 edges->closed && q->bin + 1 == axis_bins(&h->axis) ? ']' : ')');
		return;
	default:
		snprintf(text, QUANTILE_TEXT, "%s",
			 q->kind == QUANTILE_UNDER  ? "under"
			 : q->kind == QUANTILE_OVER ? "over"
						    : "none");
		return;
	}
}

/* SPDX-License-Identifier: MIT */
/* hist: from cells to bins, and the sum that must come out. */
#include "hist/hist.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

void hist_extend(struct hist *h, double value)
{
	if (!isfinite(value))
		return;
	h->least = h->extent && h->least < value ? h->least : value;
	h->greatest = h->extent && h->greatest > value ? h->greatest : value;
	h->extent = true;
}

/*
 * A channel's counts of codes to bins: h->count has room for bins + CELL_EXTRA cells of each
 * channel.
 */
static void bin_codes(struct hist *h, uint32_t channel, const uint64_t *count, size_t codes)
{
	const struct sample_type *type = &h->axis.type;

	for (uint32_t code = 0; code < codes; code++) {
		if (count[code] == 0)
			continue;
		/* Codes are counted as they are in memory, read as little endian. */
		const uint32_t value = type->big ? (code & 255) << 8 | code >> 8 : code;
		h->count[channel * h->stride + edges_cell_of_code(&h->axis.edges, type, value)] +=
			count[code];
		hist_extend(h, sample_code(type, value));
	}
}

/* The extent of all codes that were seen, in any channel. */
static struct extent extent_of_codes(const struct hist *h, const uint64_t *count, size_t codes)
{
	const struct sample_type *type = &h->axis.type;
	struct extent extent = EXTENT_NONE;

	for (size_t i = 0; i < h->channels * codes; i++) {
		const uint32_t code = (uint32_t)(i % codes),
			       value = type->big ? (code & 255) << 8 | code >> 8 : code;
		const struct extent own = auto_extent_of_code(type, value);
		if (count[i] > 0)
			extent_add(&extent, &own);
	}
	return extent;
}

int hist_reserve(struct hist *h, const struct axis *axis, uint32_t channels, struct fail *fail)
{
	*h = (struct hist){.axis = *axis,
			   .channels = channels,
			   .stride = (size_t)axis_bins(axis) + CELL_EXTRA};
	if (edges_copy(&h->axis.edges, &axis->edges) != 0)
		return fail_errno(fail, "edges of %lu bins", (unsigned long)axis_bins(axis));
	if (axis->type.bytes > 2) /* the table of the totals will be used itself */
		return 0;
	h->count = calloc(channels * h->stride, sizeof(*h->count));
	if (!h->count)
		return fail_errno(fail, "counts of %lu bins", (unsigned long)axis_bins(axis));
	return 0;
}

int hist_keep_stats(struct hist *h, struct fail *fail)
{
	h->stats = calloc(h->channels, sizeof(*h->stats));
	return h->stats
		       ? 0
		       : fail_errno(fail, "statistics of %lu channels", (unsigned long)h->channels);
}

/* The cells after a channel's bins go to the bins, or to what is in no bin. */
static void fold(struct hist *h, uint32_t channel)
{
	const struct edges *const edges = &h->axis.edges;
	const uint32_t bins = axis_bins(&h->axis);
	uint64_t *const count = h->count + channel * h->stride;
	struct hist_flow *const flow = &h->flow[channel];

	flow->under = count[cell_under(&edges->binning)];
	flow->over = count[cell_over(&edges->binning)];
	flow->nan = count[cell_nan(&edges->binning)];
	*(edges->edge_cell == EDGE_IS_LAST    ? &count[bins - 1]
	  : edges->edge_cell == EDGE_IS_UNDER ? &flow->under
					      : &flow->over) += count[bins];
}

void hist_clamp(struct hist *h, uint32_t channel)
{
	uint64_t *const count = h->count + channel * h->stride;
	struct hist_flow *const flow = &h->flow[channel];

	if (h->axis.kind == AXIS_AUTO) {
		h->clamped[channel].under += flow->under;
		h->clamped[channel].over += flow->over;
	}
	count[0] += flow->under;
	count[axis_bins(&h->axis) - 1] += flow->over;
	flow->under = flow->over = 0;
}

/*
 * AUTO: the samples are known, so their bins become those of the histogram, and the slots are put
 * in the order of the bins.
 */
static void settle(struct hist *h, const struct extent *extent)
{
	const uint32_t slots = axis_bins(&h->axis);
	uint32_t first;

	edges_settle(&h->axis.edges, &h->axis.type, extent, &first);
	for (uint32_t c = 0; c < h->channels; c++)
		auto_turn64(h->count + c * h->stride, slots, first);
}

void hist_fill(struct hist *h, struct counts *counts)
{
	struct edges *const edges = &h->axis.edges;
	const size_t codes = counts->cells / h->channels;
	struct extent extent = counts->extent;
	const int k = counts->k;
	uint64_t *const cell = counts_take(counts, &h->samples);

	if (h->axis.kind == AXIS_AUTO && h->axis.type.bytes <= 2) {
		extent = extent_of_codes(h, cell, codes);
		auto_rule(&edges->binning, &h->axis.type, axis_bins(&h->axis),
			  auto_k(&extent, edges->most, &h->axis.type));
	}
	if (h->axis.type.bytes <= 2) {
		for (uint32_t c = 0; c < h->channels; c++) {
			bin_codes(h, c, cell + c * codes, codes);
			if (h->stats)
				hist_stats_of_codes(&h->stats[c], &counts->stats[c], &h->axis.type,
						    cell + c * codes);
		}
		free(cell);
	} else {
		h->count = cell;
	}
	for (uint32_t c = 0; c < h->channels; c++)
		fold(h, c);
	if (h->axis.kind == AXIS_AUTO) {
		settle(h, &extent);
		assert(h->axis.type.bytes <= 2 || k == edges->k);
	}
	for (uint32_t c = 0; c < h->channels; c++) {
		if (h->axis.clamp && axis_bins(&h->axis) > 0)
			hist_clamp(h, c);
		if (h->stats && h->axis.type.bytes > 2)
			hist_stats_of_bins(&h->stats[c], &counts->stats[c], h, c);
	}
}

struct hist_flow hist_flow_sum(const struct hist *h)
{
	struct hist_flow sum = {0};

	for (uint32_t c = 0; c < h->channels; c++) {
		sum.under += h->flow[c].under;
		sum.over += h->flow[c].over;
		sum.nan += h->flow[c].nan;
	}
	return sum;
}

void hist_free(struct hist *h)
{
	free(h->count);
	free(h->stats);
	h->count = NULL;
	edges_free(&h->axis.edges);
	h->stats = NULL;
}

int hist_audit(const struct hist *h, struct fail *fail)
{
	const struct hist_flow flow = hist_flow_sum(h);
	uint64_t sum = flow.under + flow.over + flow.nan;

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			sum += hist_count(h, c, i);
	if (sum == h->samples)
		return 0;
	return fail_set(
		fail, STATUS_INTERNAL,
		"internal error: %llu samples were read, %llu were counted: please report this",
		(unsigned long long)h->samples, (unsigned long long)sum);
}

uint64_t hist_exceeding(const struct hist *h, uint64_t most)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			n += hist_count(h, c, i) > most;
	return n;
}

uint64_t hist_rows_exceeding(const struct hist *h, uint64_t most)
{
	uint64_t n = 0;

	for (uint32_t c = 0; c < h->channels; c++)
		n += (uint64_t)(h->flow[c].under > most) + (h->flow[c].over > most) +
		     (h->flow[c].nan > most);
	return n;
}

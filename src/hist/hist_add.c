/* SPDX-License-Identifier: MIT */
/* hist_add: adds histograms, and joins the bins of one. */
#include "hist/hist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hist/hist_stats.h"
#include "hist/series.h"

/* ---- adding histograms ----
 *
 * With AUTO and RANKS, the bins of each histogram depend on its samples: they have their own span.
 * The k of the sum is the smallest one, not below the k of either histogram, at which their bins
 * together do not exceed the limit. That is the auto_k of all samples: the auto_k of a subset is
 * never larger (auto.h), and a sample's bin at one k determines its bin at every larger k.
 */

static void add_flow(struct hist *h, const struct hist *other)
{
	uint32_t at;

	for (uint32_t c = 0; c < other->channels; c++) {
		(void)series_find(h, other, c, &at);
		h->flow[at].under += other->flow[c].under;
		h->flow[at].over += other->flow[c].over;
		h->flow[at].nan += other->flow[c].nan;
		if (h->own)
			h->own[at] += other->own[c];
	}
	h->samples += other->samples;
}

/* ---- --auto ---- */

/* Add the bins of h to the bins of `all` in count, which has `stride` entries for each channel. */
static void add_bins(uint64_t *count, size_t stride, const struct auto_span *all,
		     const struct hist *h)
{
	const struct edges *const edges = &h->axis.edges;

	for (uint32_t i = 0; i < axis_bins(&h->axis); i++) {
		const uint32_t at = auto_span_at(&edges->auto_bins, &edges->span, i, all);
		for (uint32_t c = 0; c < h->channels; c++)
			count[c * stride + at] += hist_count(h, c, i);
	}
}

static int add_auto(struct hist *h, const struct hist *other, struct fail *fail)
{
	const struct auto_span all = auto_span_both(&h->axis.edges.auto_bins, &h->axis.edges.span,
						    &other->axis.edges.span);
	const uint32_t bins = (uint32_t)auto_span_bins(&all);
	/* One more entry, so that the size is never 0. */
	uint64_t *const count = calloc(h->channels * ((size_t)bins + 1), sizeof(*count));

	if (!count)
		return fail_errno(fail, "counts of %lu bins", (unsigned long)bins);
	add_bins(count, bins, &all, h);
	add_bins(count, bins, &all, other);
	free(h->count);
	h->count = count;
	h->stride = bins;
	edges_place(&h->axis.edges, &all);
	add_flow(h, other);
	return 0;
}

int hist_joined(struct hist *copy, const struct hist *h, int k, struct fail *fail)
{
	const struct auto_bins *const bins = &h->axis.edges.auto_bins;
	const struct auto_span at_k = {RUN_NONE, false, RUN_NONE, k};
	const struct auto_span span = auto_span_both(bins, &h->axis.edges.span, &at_k);

	*copy = (struct hist){.axis = h->axis,
			      .stride = (size_t)auto_span_bins(&span) + 1,
			      .samples = h->samples};
	if (edges_copy(&copy->axis.edges, &h->axis.edges) != 0 ||
	    hist_open(copy, h->channels) != 0 ||
	    !(copy->count = calloc(h->channels * copy->stride, sizeof(*copy->count)))) {
		hist_free(copy);
		*copy = (struct hist){.channels = 0};
		return fail_errno(fail, "a copy of %lu bins", (unsigned long)axis_bins(&h->axis));
	}
	memcpy(copy->flow, h->flow, h->channels * sizeof(*h->flow));
	edges_place(&copy->axis.edges, &span);
	add_bins(copy->count, copy->stride, &span, h);
	return 0;
}

/* Add counts other than 0, so that untouched pages of zeros stay untouched. */
static void add_counts(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (from[i] > 0)
			to[i] += from[i];
}

int hist_add(struct hist *h, const struct hist *other, struct fail *fail)
{
	uint32_t at;

	assert(h->what == SERIES_KEYS || h->channels == other->channels);
	/* No count is above the number of samples. */
	if (other->samples > UINT64_MAX - h->samples)
		return fail_set(fail, STATUS_LIMIT, "the sum of the counts exceeds 2^64 - 1");
	if (other->channels == 0) /* no keys, so it says nothing about figures */
		return 0;
	h->whole &= other->whole;
	if (!h->name && series_set_like(h, other, fail) != 0)
		return -1;
	if (h->what == SERIES_KEYS && hist_take_keys(h, other, fail) != 0)
		return -1;
	if (hist_stats_add(h, other, fail) != 0)
		return -1;
	if (axis_kind_of(&h->axis)->from_samples)
		return add_auto(h, other, fail);
	for (uint32_t c = 0; c < other->channels; c++) {
		(void)series_find(h, other, c, &at);
		add_counts(h->count + at * h->stride, other->count + c * other->stride,
			   axis_bins(&h->axis));
	}
	add_flow(h, other);
	return 0;
}

int hist_rebin(struct hist *h, uint32_t bins, struct fail *fail)
{
	const uint32_t had = axis_bins(&h->axis), most = h->axis.edges.auto_bins.most;
	const bool ordered = axis_kind_of(&h->axis)->ordered;

	if (axis_kind_of(&h->axis)->from_samples) {
		struct hist none = {
			.axis.edges.span = {RUN_NONE, false, RUN_NONE, h->axis.edges.span.k}};
		const uint32_t least = auto_bins_least(&h->axis.edges.auto_bins);
		if (bins < least || bins > most)
			return fail_set(fail, STATUS_USAGE,
					"--bins %lu is invalid; it must be from %lu to %lu, the "
					"maximum that --%s had",
					(unsigned long)bins, (unsigned long)least,
					(unsigned long)most, axis_kind_of(&h->axis)->name);
		if (hist_open(&none, h->channels) != 0)
			return fail_errno(fail, "counts of %lu bins", (unsigned long)bins);
		h->axis.edges.auto_bins.most = bins;
		const int rc = add_auto(h, &none, fail);
		if (rc != 0)
			h->axis.edges.auto_bins.most = most;
		hist_free(&none);
		return rc;
	}
	if (had % bins != 0)
		return fail_set(
			fail, STATUS_USAGE,
			"--bins %lu does not divide %lu, the number of bins of the histograms",
			(unsigned long)bins, (unsigned long)had);
	if (axis_join(&h->axis, bins) != 0)
		return fail_errno(fail, "edges of %lu bins", (unsigned long)bins);
	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < had; i++) {
			uint64_t *const bin = h->count + c * h->stride, n = bin[i];
			if (n == 0) /* leave untouched pages so */
				continue;
			bin[i] = 0;
			bin[ordered ? i / (had / bins) : i % bins] += n;
		}
	return 0;
}

int hist_unbin(struct hist *h, struct fail *fail)
{
	const struct axis_spec all = {.kind = AXIS_RANGE, .full = true, .bins = 1};
	const char *why = NULL;
	struct axis axis;
	uint64_t *const count = calloc((size_t)h->channels + 1, sizeof(*count));

	if (!count || axis_init(&axis, &all, &h->axis.type, &why) != 0) {
		free(count);
		return fail_errno(fail, "statistics");
	}
	for (uint32_t c = 0; c < h->channels; c++) {
		const struct stats_result *const of = &h->stats[c].of;
		count[c] = of->number;
		h->flow[c].under = of->below;
		h->flow[c].over = of->above;
	}
	axis.missing = h->axis.missing;
	edges_free(&h->axis.edges);
	h->axis = axis;
	free(h->count);
	h->count = count;
	h->stride = 1;
	return 0;
}

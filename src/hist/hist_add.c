/* SPDX-License-Identifier: MIT */
/*
 * hist_add: one histogram to another.
 *
 * With --auto each histogram has the bins of its own samples: 2^k wide for its own k, beginning at
 * its own first bin. The k of both together is the smallest that is not below either's and for
 * which their bins, made that wide, span no more than were asked for. It is the auto_k of all
 * samples: that is not below the auto_k of any part of them (auto.h), and a sample's bin at one k
 * determines its bin at every larger k.
 */
#include <stdlib.h>

#include "hist/hist.h"

static bool fits(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b;
}

/* Everything but the bins. */
static bool flow_fits(const struct hist *h, const struct hist *more)
{
	bool all = fits(h->samples, more->samples);

	for (uint32_t c = 0; c < h->channels; c++) {
		const struct hist_flow *const a = &h->flow[c], *const b = &more->flow[c];
		all = all && fits(a->under, b->under) && fits(a->over, b->over) &&
		      fits(a->nan, b->nan);
	}
	return all;
}

static bool bins_fit(const struct hist *h, const struct hist *more)
{
	bool all = true;

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			all &= fits(hist_count(h, c, i), hist_count(more, c, i));
	return all;
}

static int past(struct fail *fail)
{
	return fail_set(fail, STATUS_LIMIT, "the sum of the counts is past 2^64 - 1");
}

static void add_flow(struct hist *h, const struct hist *more)
{
	for (uint32_t c = 0; c < h->channels; c++) {
		h->flow[c].under += more->flow[c].under;
		h->flow[c].over += more->flow[c].over;
		h->flow[c].nan += more->flow[c].nan;
	}
	h->samples += more->samples;
	/* Rounded figures of two parts do not give those of the whole. */
	free(h->stats);
	h->stats = NULL;
	if (more->extent) {
		hist_extend(h, more->least);
		hist_extend(h, more->greatest);
	}
}

/* ---- --auto ---- */

/* Bins of 2^k, by their numbers (auto_bin); none where last < first. */
struct span {
	int128_t first, last;
	int k;
};

static struct span span_of(const struct hist *h)
{
	const uint32_t bins = axis_bins(&h->axis);
	const int128_t first = bins > 0 ? edges_first(&h->axis.edges, &h->axis.type) : 0;

	return (struct span){first, first + bins - 1, h->axis.edges.k};
}

static bool is_none(const struct span *s)
{
	return s->last < s->first;
}

/*
 * The number of a bin of 2^from among bins of 2^to, which are not narrower; rounds down below 0
 * too. Numbers are within 2^65.
 */
static int128_t coarser(int128_t bin, int from, int to)
{
	return bin >> (to - from < 100 ? to - from : 100);
}

static struct span span_together(const struct span *a, const struct span *b, uint32_t most)
{
	if (is_none(a) || is_none(b))
		return is_none(a) ? *b : *a;
	for (int k = a->k > b->k ? a->k : b->k;; k++) {
		const int128_t a_first = coarser(a->first, a->k, k),
			       b_first = coarser(b->first, b->k, k);
		const int128_t a_last = coarser(a->last, a->k, k),
			       b_last = coarser(b->last, b->k, k);
		const struct span s = {a_first < b_first ? a_first : b_first,
				       a_last > b_last ? a_last : b_last, k};
		/*
		 * This ends: when k is as large as the numbers are long there are at most 2 bins,
		 * or 1 for types without a sign.
		 */
		if (s.last - s.first < (int128_t)most)
			return s;
	}
}

/* The count of a bin, without the samples that were clamped into it. */
static uint64_t own_count(const struct hist *h, uint32_t channel, uint32_t bin)
{
	const struct hist_flow *const clamped = &h->clamped[channel];

	return hist_count(h, channel, bin) - (bin == 0 ? clamped->under : 0) -
	       (bin + 1 == axis_bins(&h->axis) ? clamped->over : 0);
}

/*
 * Adds the bins of a histogram to those of `all`, in count, which has `stride` entries for each
 * channel.
 */
static bool add_bins(uint64_t *count, size_t stride, const struct span *all, const struct hist *h)
{
	const struct span own = span_of(h);
	bool fit = true;

	for (uint32_t c = 0; c < h->channels; c++)
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++) {
			uint64_t *const to =
				&count[c * stride + (size_t)(coarser(own.first + i, own.k, all->k) -
							     all->first)];
			const uint64_t n = own_count(h, c, i);
			fit = fit && fits(*to, n);
			*to += n;
		}
	return fit;
}

static int add_auto(struct hist *h, const struct hist *more, struct fail *fail)
{
	const struct span a = span_of(h), b = span_of(more),
			  all = span_together(&a, &b, h->axis.edges.most);
	const uint32_t bins = (uint32_t)(all.last - all.first + 1);
	/* One entry more, so that the size is never 0. */
	uint64_t *const count = calloc(h->channels * ((size_t)bins + 1), sizeof(*count));

	if (!count)
		return fail_errno(fail, "counts of %lu bins", (unsigned long)bins);
	if (!add_bins(count, bins, &all, h) || !add_bins(count, bins, &all, more)) {
		free(count);
		return past(fail);
	}
	free(h->count);
	h->count = count;
	h->stride = bins;
	edges_place(&h->axis.edges, &h->axis.type, all.first, bins, all.k);
	add_flow(h, more);
	/* What was clamped goes to the ends of the joint bins, wherever it was before. */
	for (uint32_t c = 0; c < h->channels && h->axis.clamp && bins > 0; c++) {
		h->flow[c].under += h->clamped[c].under + more->clamped[c].under;
		h->flow[c].over += h->clamped[c].over + more->clamped[c].over;
		h->clamped[c] = (struct hist_flow){0};
		hist_clamp(h, c);
	}
	return 0;
}

/*
 * Most of very many bins may be 0, in memory that was never written: such pages are left untouched.
 */
static void add_counts(uint64_t *to, const uint64_t *from, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t any = 0;
		for (size_t k = 0; k < 8; k++)
			any |= from[i + k];
		for (size_t k = 0; k < 8 && any != 0; k++)
			to[i + k] += from[i + k];
	}
	for (; i < n; i++)
		to[i] += from[i];
}

int hist_add(struct hist *h, const struct hist *more, struct fail *fail)
{
	const char *const what = h->channels != more->channels
					 ? "number of channels"
					 : axis_difference(&h->axis, &more->axis);

	if (what)
		return fail_set(fail, STATUS_DATA, "histograms that differ in %s cannot be added",
				what);
	if (!flow_fits(h, more))
		return past(fail);
	if (h->axis.kind == AXIS_AUTO)
		return add_auto(h, more, fail);
	if (!bins_fit(h, more))
		return past(fail);
	for (uint32_t c = 0; c < h->channels; c++)
		add_counts(h->count + c * h->stride, more->count + c * more->stride,
			   axis_bins(&h->axis));
	add_flow(h, more);
	return 0;
}

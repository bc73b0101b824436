/* SPDX-License-Identifier: MIT */
/*
 * compare: Kolmogorov and Smirnov's distance, Wasserstein's, and Jensen and Shannon's divergence.
 */
#include "hist/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hist/series.h"

/* ---- sums ---- */

/* A sum of many terms whose rounding errors do not add up (Neumaier). */
struct total {
	double sum, lost;
};

static void total_add(struct total *t, double x)
{
	const double sum = t->sum + x;

	t->lost += fabs(t->sum) >= fabs(x) ? t->sum - sum + x : x - sum + t->sum;
	t->sum = sum;
}

static double total_value(const struct total *t)
{
	return t->sum + t->lost;
}

/* The quotient of n <= d, d > 0, as the nearest binary64. */
static double compare_quotient(uint128_t n, uint128_t d)
{
	uint64_t bits = 0;
	int exponent = 0;

	if (n == 0 || n == d)
		return n == d;
	for (; bits < (uint64_t)1 << 54; exponent--) {
		const bool carry = n >> 127;
		n <<= 1;
		bits <<= 1;
		if (carry || n >= d) {
			n -= d;
			bits |= 1;
		}
	}
	/* 55 digits, and a last one that is set if more follow: only this conversion rounds. */
	return ldexp((double)(bits << 1 | (n > 0)), exponent - 1);
}

/* ---- the bins of both sides, in the order of values ---- */

/* AUTO, RANKS: where a bin lies among all bins of its k: below, at or above 0, and its number. */
struct place {
	int side;
	int128_t number;
};

struct walk {
	const struct hist *of[2];
	uint32_t channel[2]; /* of each side */
	uint32_t next[2];
	bool placed; /* AUTO, RANKS: the sides have different bins of the same k */
};

/* Bins that hold the same values; a side that lacks the bin has no such samples. */
struct step {
	bool has[2];
	uint32_t bin[2];
};

static struct place place_of(const struct hist *h, uint32_t bin)
{
	const struct auto_span *const span = &h->axis.edges.span;
	const int128_t below = span->below.last - span->below.first + 1;

	if (bin < below)
		return (struct place){-1, span->below.first + bin};
	if (span->zero && bin == below)
		return (struct place){0, 0};
	return (struct place){1, span->above.first + (bin - below - span->zero)};
}

static bool is_zero(const struct hist *h, uint32_t bin)
{
	return h->axis.edges.span.zero && place_of(h, bin).side == 0;
}

static bool walk_next(struct walk *w, struct step *step)
{
	struct place at[2] = {{0, 0}};

	for (int i = 0; i < 2; i++) {
		step->bin[i] = w->next[i];
		step->has[i] = w->next[i] < axis_bins(&w->of[i]->axis);
		if (step->has[i] && w->placed)
			at[i] = place_of(w->of[i], w->next[i]);
	}
	if (step->has[0] && step->has[1] && w->placed) {
		const int first = at[0].side != at[1].side ? at[0].side > at[1].side
							   : at[0].number > at[1].number;
		if (at[0].side != at[1].side || at[0].number != at[1].number)
			step->has[!first] = false;
	}
	for (int i = 0; i < 2; i++)
		w->next[i] += step->has[i];
	return step->has[0] || step->has[1];
}

/* The end of a step's values. Zero ends at the first bin of either side above it. */
static double step_end(const struct walk *w, const struct step *step)
{
	const int some = !step->has[0];
	const bool zero = is_zero(w->of[some], step->bin[some]);
	double end = INFINITY;

	for (int i = 0; i < 2; i++)
		if (step->has[i] || (zero && w->next[i] < axis_bins(&w->of[i]->axis)))
			end = fmin(end, edges_value(&w->of[i]->axis.edges, w->next[i]));
	return end;
}

/* Half of an edge, which may be 2^1024. */
static double compare_half(double x)
{
	return isinf(x) ? copysign(0x1p1023, x) : x / 2;
}

/* The middle of a step's values; for integers, of the whole numbers in it. */
static double step_middle(const struct walk *w, const struct step *step)
{
	const int i = !step->has[0];
	const struct edges *const e = &w->of[i]->axis.edges;
	const uint32_t bin = step->bin[i];
	const double lower = edges_value(e, bin), upper = edges_value(e, bin + 1);

	if (is_zero(w->of[i], bin))
		return 0;
	if (!e->integers)
		return compare_half(lower) + compare_half(upper);
	const bool closed = e->closed && bin + 1 == axis_bins(&w->of[i]->axis);
	return ceil(lower) / 2 + (closed ? floor(upper) : ceil(upper) - 1) / 2;
}

static uint64_t count_of(const struct walk *w, const struct step *step, int side)
{
	return step->has[side] ? hist_count(w->of[side], w->channel[side], step->bin[side]) : 0;
}

/* ---- one channel ---- */

/* A term of the divergence: a category that has a of n samples here, and b of m there. */
static void add_divergence(struct total *t, uint64_t a, double n, uint64_t b, double m)
{
	const double p = (double)a / n, q = (double)b / m, half = (p + q) / 2;

	if (p > 0)
		total_add(t, p / 2 * log2(p / half));
	if (q > 0)
		total_add(t, q / 2 * log2(q / half));
}

/* The sums while a channel's bins are walked through. */
struct differences {
	uint64_t n[2];     /* samples of each side but NaN */
	uint64_t below[2]; /* samples of each side below the current edge */
	uint128_t worst;   /* the largest difference of below[0] n[1] and below[1] n[0] */
	struct total moved, divergence;
	double before; /* the middle of the step before; NaN at the first step */
};

static uint128_t difference(const struct differences *s)
{
	const uint128_t a = (uint128_t)s->below[0] * s->n[1], b = (uint128_t)s->below[1] * s->n[0];

	return a > b ? a - b : b - a;
}

static void compare_look(struct differences *s, struct comparison *c, double at)
{
	const uint128_t d = difference(s);

	if (d <= s->worst)
		return;
	s->worst = d;
	c->at = at;
}

static struct comparison compare_channel(struct walk w)
{
	const struct hist_flow *const flow[2] = {&w.of[0]->flow[w.channel[0]],
						 &w.of[1]->flow[w.channel[1]]};
	const double all[2] = {(double)hist_samples(w.of[0], w.channel[0]),
			       (double)hist_samples(w.of[1], w.channel[1])};
	struct comparison c = {.at = NAN};
	struct differences s = {.before = NAN};
	struct step step;

	for (int i = 0; i < 2; i++) {
		s.n[i] = hist_samples(w.of[i], w.channel[i]) - flow[i]->nan;
		s.below[i] = flow[i]->under;
	}
	const bool first = axis_bins(&w.of[0]->axis) > 0;
	if (first || axis_bins(&w.of[1]->axis) > 0)
		compare_look(&s, &c, edges_value(&w.of[!first]->axis.edges, 0));
	add_divergence(&s.divergence, flow[0]->under, all[0], flow[1]->under, all[1]);
	while (walk_next(&w, &step)) {
		const uint64_t a = count_of(&w, &step, 0), b = count_of(&w, &step, 1);
		if (a == 0 && b == 0)
			continue;
		const double middle = step_middle(&w, &step);
		const double apart = middle - s.before, /* may be beyond the largest number */
			far = isinf(apart) ? 2 : 1;
		if (!isnan(s.before))
			total_add(&s.moved,
				  compare_quotient(difference(&s), (uint128_t)s.n[0] * s.n[1]) *
					  (middle / far - s.before / far) * far);
		s.before = middle;
		s.below[0] += a;
		s.below[1] += b;
		compare_look(&s, &c, step_end(&w, &step));
		add_divergence(&s.divergence, a, all[0], b, all[1]);
	}
	add_divergence(&s.divergence, flow[0]->over, all[0], flow[1]->over, all[1]);
	add_divergence(&s.divergence, flow[0]->nan, all[0], flow[1]->nan, all[1]);
	c.ks = compare_quotient(s.worst, (uint128_t)s.n[0] * s.n[1]);
	c.divergence = total_value(&s.divergence);
	const bool inside = flow[0]->under + flow[0]->over + flow[1]->under + flow[1]->over == 0;
	c.wasserstein = inside ? total_value(&s.moved) : NAN;
	return c;
}

/* ---- all channels ---- */

/* Does a channel hold nothing but NaN? */
static bool is_empty(const struct hist *h, uint32_t channel)
{
	return hist_samples(h, channel) == h->flow[channel].nan;
}

static int refuse_empty(const struct hist *h, const char *name, struct fail *fail)
{
	char label[SERIES_LABEL] = "";
	uint32_t empty = 0, c = 0;

	for (uint32_t i = h->channels; i-- > 0;)
		if (is_empty(h, i)) {
			c = i;
			empty++;
		}
	/* Some keys may be empty. */
	const bool keys = h->what == SERIES_KEYS;
	if (keys ? empty < h->channels : empty == 0)
		return 0;
	if (!keys)
		series_label(label, h, c);
	return fail_set(fail, STATUS_DATA,
			"%s has no samples%s%s%s, so --compare cannot tell how far it is", name,
			h->samples > 0 && h->flow[c].nan > 0 ? " but NaN" : "",
			*label ? " in " : "", label);
}

int compare_refuses(const struct hist *reference, const char *name, struct fail *fail)
{
	if (axis_is_blind(&reference->axis))
		return fail_set(fail, STATUS_DATA,
				"%s has one bin for all samples, so --compare cannot tell how far "
				"it is; count both with bins, such as -r LO:HI",
				name);
	return refuse_empty(reference, name, fail);
}

uint64_t compare_bytes(const struct hist *h)
{
	const bool placed = axis_kind_of(&h->axis)->from_samples;
	const uint64_t bins = placed ? h->axis.edges.auto_bins.most : axis_bins(&h->axis);

	return hist_is_list(h) ? 0 : h->channels * bins * sizeof(double);
}

/* For pictures: set the reference's counts in the bins of h, which are also the bins of of[0]. */
static int set_reference(struct hist *h, struct walk w, struct fail *fail)
{
	const uint32_t bins = axis_bins(&h->axis);
	struct step step;

	h->reference = calloc((size_t)h->channels * bins + 1, sizeof(*h->reference));
	if (!h->reference)
		return fail_errno(fail, "a reference of %lu bins", (unsigned long)bins);
	const double factor = (double)h->samples / (double)w.of[1]->samples;
	while (walk_next(&w, &step))
		for (w.channel[1] = 0; w.channel[1] < h->channels && step.has[0]; w.channel[1]++)
			h->reference[(size_t)w.channel[1] * bins + step.bin[0]] =
				(double)count_of(&w, &step, 1) * factor;
	return 0;
}

/*
 * Compare each channel with the reference's. A key that only one side has, or whose samples are all
 * NaN on one side, differs as much as can be; if no key can be compared, *fail says so.
 */
static int compare_channels(struct hist *h, struct walk w, struct fail *fail)
{
	bool any = false;

	for (uint32_t c = 0; c < h->channels; c++) {
		const bool both = series_find(w.of[1], h, c, &w.channel[1]) &&
				  !is_empty(w.of[1], w.channel[1]) && !is_empty(h, c);
		w.channel[0] = c;
		h->compared[c] = both ? compare_channel(w) : (struct comparison){1, NAN, NAN, NAN};
		any |= both;
	}
	return any ? 0
		   : fail_set(fail, STATUS_DATA,
			      "no key has samples both here and in the reference, so --compare "
			      "cannot tell how far they are");
}

uint32_t hist_keys_lacking(const struct hist *h, const struct hist *from, uint32_t *first)
{
	uint32_t n = 0, at;

	for (uint32_t c = from->channels; c-- > 0;)
		if (!series_find(h, from, c, &at)) {
			*first = c;
			n++;
		}
	return n;
}

int hist_compare(struct hist *h, const struct hist *reference, bool drawn, struct fail *fail)
{
	const bool placed = axis_kind_of(&h->axis)->from_samples;
	const int k = h->axis.edges.span.k > reference->axis.edges.span.k
			      ? h->axis.edges.span.k
			      : reference->axis.edges.span.k;
	struct hist joined[2] = {{.channels = 0}};
	struct walk w = {.of = {h, reference}, .placed = placed};

	if (refuse_empty(h, "this histogram", fail) != 0)
		return -1;
	for (int i = 0; i < 2 && placed; i++) {
		if (w.of[i]->axis.edges.span.k == k)
			continue;
		if (hist_joined(&joined[i], w.of[i], k, fail) != 0)
			goto end;
		w.of[i] = &joined[i];
	}
	h->compared = calloc((size_t)h->channels + 1, sizeof(*h->compared));
	if (!h->compared)
		fail_errno(fail, "a comparison of %lu channels", (unsigned long)h->channels);
	const bool fits = drawn && w.of[0] == h && !hist_is_list(h);
	if (h->compared &&
	    (compare_channels(h, w, fail) != 0 || (fits && set_reference(h, w, fail) != 0))) {
		free(h->compared);
		h->compared = NULL;
	}
end:
	hist_free(&joined[0]);
	hist_free(&joined[1]);
	return h->compared ? 0 : -1;
}

double comparison_worst(const struct hist *h, uint32_t *channel)
{
	*channel = 0;
	for (uint32_t c = 1; c < h->channels; c++)
		if (h->compared[c].ks > h->compared[*channel].ks)
			*channel = c;
	return h->compared[*channel].ks;
}

/* SPDX-License-Identifier: MIT */
/*
 * hist_stats: the figures of --stats, from one of three sources: the codes that were counted; a
 * digest, of wide samples or of the codes in a document; or bins alone, which determine only some
 * figures (from_bins).
 */
#include "hist/hist_stats.h"

#include <math.h>
#include <stdlib.h>

#include "hist/profile.h"
#include "hist/quantile.h"
#include "hist/series.h"

static double entropy_of_bins(const struct hist *h, uint32_t channel, struct entropy_terms *terms)
{
	const struct profile bins = profile_of_bins(h, channel);
	uint64_t n = 0;

	if (!axis_divides(&h->axis))
		return -1;
	/* A run does not know the samples of a key yet. */
	for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
		n += hist_count(h, channel, i);
	return profile_entropy(&bins, n, terms, NULL);
}

int hist_ask(struct hist *h, const struct quantiles *asked)
{
	static const struct quantiles none = {.n = 0};

	asked = layout_is_many(h->channels) && h->what != SERIES_KEYS && !asked->named ? &none
										       : asked;
	/* One more, so that the size is never 0. */
	struct hist_quantile *const made =
		calloc((size_t)h->channels * asked->n + 1, sizeof(*made));

	if (!made)
		return -1;
	free(h->quantile);
	h->quantile = made;
	h->asked = *asked;
	return 0;
}

/* Forget the figures of a channel, but not its digest. */
static struct hist_stats *stats_begin(struct hist *h, uint32_t channel)
{
	struct hist_stats *const s = &h->stats[channel];

	free(s->sums);
	*s = (struct hist_stats){.digest = s->digest};
	return s;
}

/* Set the figures that follow from sums. */
static void set_sums(struct hist *h, struct hist_stats *s, const struct stats *sums)
{
	stats_result(sums, &s->of);
	s->sums = h->keeps_sums && s->of.number > 0 ? sums_of(sums) : NULL;
	h->lost |= h->keeps_sums && s->of.number > 0 && !s->sums;
}

/* The samples that codes and cells hold: not missing integers. */
static uint64_t stats_held(const struct hist *h, const struct stats_result *of)
{
	return h->axis.type.kind == SAMPLE_FLOAT ? stats_samples(of) : of->number;
}

/* Set the figures of codes, except those that need sums. */
static void figures_of_codes(struct hist *h, uint32_t channel, struct profile *codes,
			     struct entropy_terms *terms)
{
	struct hist_stats *const s = &h->stats[channel];

	s->entropy = profile_entropy(codes, stats_held(h, &s->of), terms, &s->chi2);
	profile_keep_finite(codes);
	profile_ends(codes, s);
	profile_quantiles(codes, h, channel);
}

/* Do the cells of a digest hold one value each? */
static bool cells_are_values(const struct sample_type *type, const struct digest *digest)
{
	const uint32_t digits = type->kind == SAMPLE_FLOAT ? type->mantissa : type->bits - 1;

	return type->code_bytes <= 2 && digest->touched && digits <= digest->rule.digits;
}

/* Set the quantiles of the digest, if there is one, and the entropy of its values or of the bins. */
static void figures_of_digest(struct hist *h, uint32_t channel, struct entropy_terms *terms)
{
	const struct sample_type counted = sample_type_counted(&h->axis.type);
	struct hist_stats *const s = &h->stats[channel];
	struct profile cells = profile_of_digest(&counted, &s->digest);

	cells.whole = hist_is_whole(h, channel);
	cells.others = counted.kind == SAMPLE_FLOAT ? &s->of : NULL;
	s->chi2 = -1;
	s->all_values = false;
	s->entropy = cells_are_values(&h->axis.type, &s->digest)
			     ? profile_entropy(&cells, stats_held(h, &s->of), terms, &s->chi2)
			     : entropy_of_bins(h, channel, terms);
	if (counted.kind != SAMPLE_FLOAT && cells_are_values(&h->axis.type, &s->digest))
		profile_ends_of_cells(&cells, s);
	/* Infinities and NaNs are no cells. */
	s->chi2 = counted.kind == SAMPLE_FLOAT ? -1 : s->chi2;
	if (s->digest.touched)
		profile_quantiles(&cells, h, channel);
}

void hist_stats_of_codes(struct hist *h, uint32_t channel, struct stats *sums,
			 const uint64_t *count, uint32_t n, struct hist_scratch *scratch)
{
	const struct sample_type *const type = &h->axis.type;
	struct profile codes = profile_of_codes(type, count, scratch->seen, n);
	struct hist_stats *const s = stats_begin(h, channel);

	stats_add_codes(sums, scratch->seen, n, count);
	set_sums(h, s, sums);
	if (type->kind != SAMPLE_FLOAT) /* missing */
		s->of.nan = h->flow[channel].nan;
	digest_clear(&s->digest);
	for (uint32_t i = 0; i < n && s->digest.touched; i++) {
		const uint32_t place = codebook_place(type, scratch->seen[i]);
		digest_add(&s->digest, digest_cell(&s->digest.rule, place),
			   count[scratch->seen[i]]);
	}
	figures_of_codes(h, channel, &codes, &scratch->terms);
}

void hist_stats_of_bins(struct hist *h, uint32_t channel, struct stats *sums,
			struct entropy_terms *terms)
{
	const struct sample_type counted = sample_type_counted(&h->axis.type);
	struct hist_stats *const s = stats_begin(h, channel);
	struct digest before = s->digest;

	/* Swap the digests, so that the next row begins with an empty one. */
	digest_clear(&before);
	s->digest = sums->digest;
	sums->digest = before;
	digest_uncharge(&s->digest);
	set_sums(h, s, sums);
	digest_keep_finite(&s->digest, &counted, &s->of);
	figures_of_digest(h, channel, terms);
	if (counted.kind != SAMPLE_FLOAT) /* missing */
		s->of.nan = h->flow[channel].nan;
}

/* ---- the figures of documents ---- */

/* Is every sample out of range infinite or NaN, and counted as such? */
static bool holds_finite(const struct axis *axis)
{
	const struct edges *const edges = &axis->edges;

	if (axis->type.kind != SAMPLE_FLOAT || axis_kind_of(axis)->from_samples || axis->clamp)
		return axis_kind_of(axis)->from_samples;
	const double most = sample_max_finite(&axis->type);
	const double hi = edges_value(edges, axis_bins(axis));
	return edges_value(edges, 0) <= -most && (edges->closed ? hi >= most : hi > most);
}

/* Do all bins hold one value each? Then bin i holds rational.lo + i. */
static bool bins_are_values(const struct axis *axis)
{
	return axis->type.kind != SAMPLE_FLOAT && edges_are_values(&axis->edges) &&
	       axis_kind_of(axis)->ordered && !axis->edges.closed && !axis->clamp;
}

bool hist_has_values(const struct hist *h, uint32_t channel)
{
	return sample_is_code(&h->axis.type) && bins_are_values(&h->axis) &&
	       h->flow[channel].under == 0 && h->flow[channel].over == 0;
}

int hist_values_digest(struct hist *h, uint32_t channel, struct fail *fail)
{
	const struct sample_type *const type = &h->axis.type;
	const struct digest_rule rule = digest_rule(type, DIGEST_FINE);
	struct digest *const digest = &h->stats[channel].digest;

	if (digest_open(digest, &rule, true) != 0)
		return fail_errno(fail, "statistics of %lu channels", (unsigned long)h->channels);
	for (uint32_t i = 0; i < axis_bins(&h->axis); i++) {
		const uint64_t count = hist_count(h, channel, i);
		if (count > 0) /* only then is the bin's value one of the type */
			digest_add(digest, (int64_t)h->axis.edges.rational.lo + i, count);
	}
	return 0;
}

/*
 * Set the figures that bins alone determine, in addition to the entropy: the number of samples and,
 * if bins hold one value each, the quantiles.
 */
static void stats_of_bins_alone(struct hist *h, uint32_t channel)
{
	const struct hist_flow *const flow = &h->flow[channel];
	struct stats_result *const of = &h->stats[channel].of;

	if (holds_finite(&h->axis)) {
		of->below = flow->under;
		of->above = flow->over;
	}
	of->nan = flow->nan;
	of->number = hist_samples(h, channel) - of->below - of->above - of->nan;
	const struct profile bins = profile_of_bins(h, channel);
	if (bins_are_values(&h->axis))
		profile_quantiles(&bins, h, channel);
}

/* Set all figures of a channel from its digest of codes. */
static int stats_of_values(struct hist *h, uint32_t channel, struct entropy_terms *terms,
			   struct fail *fail)
{
	const struct sample_type *const type = &h->axis.type;
	struct hist_stats *const s = stats_begin(h, channel);
	struct profile codes = profile_of_digest(type, &s->digest);
	struct stats *const sums = stats_open(type, 1);
	uint64_t n;

	if (!sums)
		return fail_errno(fail, "statistics");
	for (uint32_t at = 0; profile_next(&codes, &at, &n); at++)
		stats_add_bits(sums, sample_swapped(type, profile_code(&codes, at)), n);
	h->keeps_sums = true;
	set_sums(h, s, sums);
	stats_close(sums, 1);
	if (h->lost)
		return fail_errno(fail, "statistics");
	figures_of_codes(h, channel, &codes, terms);
	return 0;
}

static int stats_of_document(struct hist *h, uint32_t channel, struct entropy_terms *terms,
			     struct fail *fail)
{
	if (!h->from_bins && sample_is_code(&h->axis.type) && h->stats[channel].digest.touched)
		return stats_of_values(h, channel, terms, fail);
	figures_of_digest(h, channel, terms);
	if (!h->from_bins && sample_is_code(&h->axis.type)) /* no digest of codes */
		h->stats[channel].entropy = -1;
	if (h->from_bins)
		stats_of_bins_alone(h, channel);
	return 0;
}

int hist_set_stats(struct hist *h, const struct quantiles *asked, struct fail *fail)
{
	struct entropy_terms terms = {.n = 0};
	bool values = true;

	if (!h->stats) {
		if (hist_keep_stats(h, asked, 0, fail) != 0)
			return -1;
		for (uint32_t c = 0; c < h->channels; c++)
			values &= hist_has_values(h, c);
		h->from_bins = !values;
		for (uint32_t c = 0; c < h->channels && values; c++)
			if (hist_values_digest(h, c, fail) != 0)
				return -1;
	}
	if (hist_ask(h, asked) != 0)
		return fail_errno(fail, "statistics");
	for (uint32_t c = 0; c < h->channels; c++)
		if (stats_of_document(h, c, &terms, fail) != 0)
			return -1;
	return 0;
}

/* ---- adding ---- */

/*
 * Add the numbers of samples at the extremes. Each type has one pair of extremes, for integers or
 * for floats; the other pair is 0.
 */
static void add_ends(struct stats_result *to, const struct stats_result *other)
{
	const bool less = other->least < to->least ||
			  other->least_real<to->least_real, more = other->least> to->least ||
			  other->least_real > to->least_real,
		   lower = other->greatest < to->greatest ||
			   other->greatest_real<to->greatest_real, higher = other->greatest> to
				   ->greatest ||
			   other->greatest_real > to->greatest_real;

	if (to->at_least == 0 || other->at_least == 0) { /* one side does not know them */
		to->at_least = to->at_greatest = 0;
		return;
	}
	to->at_least = (less ? 0 : to->at_least) + (more ? 0 : other->at_least);
	to->at_greatest = (higher ? 0 : to->at_greatest) + (lower ? 0 : other->at_greatest);
}

/* Add the figures of more samples; both sides have the mean of at least one sample. */
static void add_moments(struct stats_result *to, const struct stats_result *other)
{
	const long double a = to->number, b = other->number, n = a + b;
	const long double apart = (long double)other->mean - to->mean, own = to->deviation,
			  others = other->deviation;

	to->deviation = (double)sqrtl(a / n * own * own + b / n * others * others +
				      a / n * (b / n) * apart * apart);
	to->mean = (double)(to->mean + apart * (b / n));
	add_ends(to, other);
	to->least = other->least < to->least ? other->least : to->least;
	to->greatest = other->greatest > to->greatest ? other->greatest : to->greatest;
	to->least_real = fmin(to->least_real, other->least_real);
	to->greatest_real = fmax(to->greatest_real, other->greatest_real);
}

static void add_result(struct stats_result *to, const struct stats_result *other)
{
	const struct stats_result before = *to;

	if (to->number == 0)
		*to = *other;
	else if (other->number > 0)
		add_moments(to, other);
	to->number = before.number + other->number;
	to->total = before.total + other->total;
	to->below = before.below + other->below;
	to->above = before.above + other->above;
	to->nan = before.nan + other->nan;
	to->zeros = before.zeros + other->zeros;
}

/*
 * Add exact sums, and set mean and deviation from them; if one side with samples has none, the sum
 * has none. `before` is its number of samples until now.
 */
static int add_sums(struct hist_stats *s, uint64_t before, const struct hist_stats *other,
		    const struct sample_type *counted)
{
	const bool known = (before == 0 || s->sums) && (other->of.number == 0 || other->sums);
	struct sums *sum = NULL;

	if (other->of.number == 0)
		return 0;
	if (known && !(sum = sums_add(other->sums, s->sums)))
		return -1;
	free(s->sums);
	s->sums = sum;
	if (sum && before > 0)
		(void)sums_result(sum, counted, s->of.number, &s->of);
	return 0;
}

/* Add a digest; the sum is as coarse as the coarser one. If either is missing, the sum has none. */
static int add_digest(struct digest *to, const struct digest *other)
{
	struct digest sum;

	if (!to->touched || !other->touched) {
		digest_close(to);
		return 0;
	}
	if (other->rule.digits < to->rule.digits) {
		if (digest_open(&sum, &other->rule, true) != 0)
			return -1;
		digest_merge(&sum, to);
		digest_close(to);
		*to = sum;
	}
	digest_merge(to, other);
	return 0;
}

void hist_drop_stats(struct hist *h)
{
	for (uint32_t c = 0; c < h->channels && h->stats; c++) {
		digest_close(&h->stats[c].digest);
		free(h->stats[c].sums);
	}
	free(h->stats);
	free(h->quantile);
	h->stats = NULL;
	h->quantile = NULL;
}

int hist_stats_add(struct hist *h, const struct hist *other, struct fail *fail)
{
	const struct sample_type counted = sample_type_counted(&h->axis.type);

	if (!h->stats || !other->stats) {
		hist_drop_stats(h);
		return 0;
	}
	h->rounded |= other->rounded;
	for (uint32_t c = 0, at; c < other->channels; c++) {
		(void)series_find(h, other, c, &at);
		struct hist_stats *const to = &h->stats[at];
		const uint64_t before = to->of.number;
		add_result(&to->of, &other->stats[c].of);
		if (add_sums(to, before, &other->stats[c], &counted) != 0)
			return fail_errno(fail, "statistics");
		h->rounded |= to->of.number > before && before > 0 && !to->sums;
		if (add_digest(&to->digest, &other->stats[c].digest) != 0)
			return fail_errno(fail, "statistics");
	}
	return 0;
}

void quantile_name(char text[NUMBER_TEXT], const struct quantiles *asked, unsigned i)
{
	number_format(text, asked->at[i] * 100.0 / QUANTILE_ALL);
}

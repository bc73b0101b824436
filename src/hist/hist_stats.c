/* SPDX-License-Identifier: MIT */
/* hist_stats: the figures of --stats, from codes, bins and documents. */
#include "hist/hist_stats.h"

#include <math.h>
#include <stdlib.h>

#include "hist/quantile.h"

/* The counts of bins, or of codes that were seen, in the order of values. */
struct profile {
	const uint64_t *count;
	const uint16_t *seen; /* the codes; NULL: bins */
	uint32_t n;           /* number of bins or of codes seen */
};

static inline uint64_t profile_count(const struct profile *c, uint32_t i)
{
	return c->count[c->seen ? c->seen[i] : i];
}

/* The value of code i of those seen; never -0. */
static double profile_value(const struct profile *c, const struct sample_type *type, uint32_t i)
{
	return sample_value(type, sample_swapped(type, c->seen[i])) + 0.0;
}

/*
 * The entropy is the sum of p log2(1/p). No term is negative, so nothing cancels. Terms are off by a
 * few units in the last place, whatever libm's log2, and the sum is compensated, so the error for
 * 2^28 bins is below 10^-13; six digits are shown. If all p are powers of two, the sum is exact, and
 * can be halfway between two such texts.
 */
struct entropy {
	struct entropy_terms *terms;
	double sum, lost;
};

/* Begin the entropy of n samples. */
static struct entropy entropy_begin(struct entropy_terms *terms, uint64_t n)
{
	if (n != terms->n)
		*terms = (struct entropy_terms){.n = n};
	return (struct entropy){terms, 0, 0};
}

static inline void entropy_add(struct entropy *e, uint64_t count)
{
	if (count == 0)
		return;
	double value = count < ENTROPY_TERMS ? e->terms->of[count] : 0;
	if (value == 0) {
		const double all = (double)e->terms->n, some = (double)count;
		value = some / all * log2(all / some);
	}
	if (count < ENTROPY_TERMS)
		e->terms->of[count] = value;
	const double term = value - e->lost, next = e->sum + term;
	e->lost = next - e->sum - term;
	e->sum = next;
}

/* The entropy, or a negative number if there was no sample. */
static double entropy_end(const struct entropy *e)
{
	return e->terms->n > 0 ? e->sum : -1;
}

static double entropy_of(struct entropy_terms *terms, const struct profile *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += profile_count(c, i);
	struct entropy e = entropy_begin(terms, n);
	for (uint32_t i = 0; i < c->n; i++)
		entropy_add(&e, profile_count(c, i));
	return entropy_end(&e);
}

static double entropy_of_bins(const struct hist *h, uint32_t channel, struct entropy_terms *terms)
{
	const struct profile bins = {h->count + channel * h->stride, NULL, axis_bins(&h->axis)};

	return axis_divides(&h->axis) ? entropy_of(terms, &bins) : -1;
}

/* Do the cells of a digest hold one value each? */
static bool cells_are_values(const struct sample_type *type, const struct digest *digest)
{
	const uint32_t digits = type->kind == SAMPLE_FLOAT ? type->mantissa : type->bits - 1;

	return type->code_bytes <= 2 && digest->touched && digits <= digest->rule.digits;
}

/* The entropy of a digest's cells, of infinities and of NaN if cells are values, else of the bins. */
static double entropy_of_cells(const struct hist *h, uint32_t channel, struct entropy_terms *terms)
{
	const struct hist_stats *const s = &h->stats[channel];
	const struct stats_result *const of = &s->of;
	uint64_t count;

	if (!cells_are_values(&h->axis.type, &s->digest))
		return entropy_of_bins(h, channel, terms);
	struct entropy e = entropy_begin(terms, of->number + of->below + of->above + of->nan);
	for (uint32_t i = 0; digest_next(&s->digest, &i, &count); i++)
		entropy_add(&e, count);
	entropy_add(&e, of->below);
	entropy_add(&e, of->above);
	entropy_add(&e, of->nan);
	return entropy_end(&e);
}

/*
 * Count the values between the least and the greatest that have no sample. -0 and 0 are two
 * neighbouring codes, but one value.
 */
static void set_never_hit(struct hist_stats *s, const struct profile *c,
			  const struct sample_type *type)
{
	const uint32_t zero = type->kind == SAMPLE_FLOAT ? codebook_place(type, 0) : 0;

	if (c->n == 0)
		return;
	const uint64_t first = codebook_place(type, c->seen[0]),
		       last = codebook_place(type, c->seen[c->n - 1]);
	s->never_hit = last - first + 1 - (zero > 0 && first < zero && last >= zero) - c->n;
	for (uint32_t i = 1; i < c->n && zero > 0; i++)
		s->never_hit += c->seen[i] == 0 && codebook_place(type, c->seen[i - 1]) + 1 == zero;
}

/* Count the samples that equal the least and the greatest value; -0 equals 0. */
static void set_ends(struct hist_stats *s, const struct profile *c, const struct sample_type *type)
{
	for (uint32_t i = 0; i < c->n && profile_value(c, type, i) == profile_value(c, type, 0);
	     i++)
		s->at_least += profile_count(c, i);
	for (uint32_t i = c->n;
	     i-- > 0 && profile_value(c, type, i) == profile_value(c, type, c->n - 1);)
		s->at_greatest += profile_count(c, i);
}

/* Find the quantiles of codes. */
static void set_quantiles(struct hist *h, uint32_t channel, const struct profile *codes)
{
	const struct quantiles *const asked = &h->asked;
	const uint64_t finite = h->stats[channel].of.number;
	uint64_t passed = 0;
	uint32_t cell = 0;

	for (unsigned i = 0; i < asked->n && codes->n > 0; i++) {
		const uint64_t rank = quantile_rank(finite, asked->at[i]);
		while (passed < rank)
			passed += profile_count(codes, cell++);
		const double value = profile_value(codes, &h->axis.type, cell - 1);
		const bool real = h->axis.type.kind == SAMPLE_FLOAT;
		*hist_quantile_of(h, channel, i) = (struct hist_quantile){
			.known = true, .whole = real ? 0 : (int128_t)value, .real = value};
	}
}

/* Fill the digest, if one is kept, with the counts of codes. */
static void keep_codes(struct hist_stats *s, const struct profile *codes,
		       const struct sample_type *type)
{
	digest_clear(&s->digest);
	for (uint32_t i = 0; i < codes->n && s->digest.touched; i++) {
		const uint32_t place = codebook_place(type, codes->seen[i]);
		digest_add(&s->digest, digest_cell(&s->digest.rule, place),
			   profile_count(codes, i));
	}
}

int hist_ask(struct hist *h, const struct quantiles *asked)
{
	static const struct quantiles none = {.n = 0};

	asked = layout_is_many(h->channels) && !h->by ? &none : asked;
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

	*s = (struct hist_stats){.digest = s->digest};
	for (unsigned i = 0; i < h->asked.n; i++)
		hist_quantile_of(h, channel, i)->known = false;
	return s;
}

void hist_stats_of_codes(struct hist *h, uint32_t channel, struct stats *sums,
			 const uint64_t *count, uint32_t n, struct hist_scratch *scratch)
{
	const struct sample_type *const type = &h->axis.type;
	struct profile codes = {count, scratch->seen, n};
	struct hist_stats *const s = stats_begin(h, channel);

	stats_add_codes(sums, scratch->seen, n, count);
	stats_result(sums, &s->of);
	s->entropy = entropy_of(&scratch->terms, &codes);
	keep_codes(s, &codes, type);
	/* Infinities and NaNs come before and after the finite codes. */
	for (; codes.n > 0 && !isfinite(profile_value(&codes, type, 0)); codes.n--)
		codes.seen++;
	while (codes.n > 0 && !isfinite(profile_value(&codes, type, codes.n - 1)))
		codes.n--;
	set_ends(s, &codes, type);
	set_never_hit(s, &codes, type);
	set_quantiles(h, channel, &codes);
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
	digest_unlimited(&s->digest);
	stats_result(sums, &s->of);
	digest_keep_finite(&s->digest, &counted, &s->of);
	s->entropy = entropy_of_cells(h, channel, terms);
	if (s->digest.touched)
		quantiles_find(hist_quantile_of(h, channel, 0), &h->asked, &counted, &s->digest,
			       &s->of);
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

/* Set the quantiles of bins that hold one value each, except those that are out of range. */
static void quantiles_of_values(struct hist *h, uint32_t channel)
{
	struct hist_stats *const s = &h->stats[channel];
	uint64_t passed = h->flow[channel].under;
	uint32_t bin = 0;

	for (unsigned i = 0; i < h->asked.n && s->of.number > 0; i++) {
		const uint64_t rank = quantile_rank(s->of.number, h->asked.at[i]);
		while (bin < axis_bins(&h->axis) && passed < rank)
			passed += hist_count(h, channel, bin++);
		struct hist_quantile *const q = hist_quantile_of(h, channel, i);
		q->known = rank > h->flow[channel].under && passed >= rank;
		q->whole = h->axis.edges.rational.lo + bin - 1;
	}
}

/* Set what bins without figures tell: the number of samples and the entropy. */
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
	if (bins_are_values(&h->axis))
		quantiles_of_values(h, channel);
}

/* Set all figures of a channel from its digest of codes. */
static int stats_of_values(struct hist *h, uint32_t channel, struct fail *fail)
{
	const struct sample_type *const type = &h->axis.type;
	const struct digest *const digest = &h->stats[channel].digest;
	struct hist_scratch *const scratch = hist_scratch_new(type, 1);
	uint64_t *const count = calloc((size_t)1 << type->bits, sizeof(*count)), n;
	struct stats *const sums = stats_open(type, 1);
	uint32_t seen = 0;

	for (uint32_t i = 0; scratch && count && sums && digest_next(digest, &i, &n); i++) {
		scratch->seen[seen] = (uint16_t)codebook_code(type, i);
		count[scratch->seen[seen++]] = n;
	}
	if (scratch && count && sums)
		hist_stats_of_codes(h, channel, sums, count, seen, scratch);
	free(scratch);
	free(count);
	stats_close(sums, 1);
	return scratch && count && sums ? 0 : fail_errno(fail, "statistics");
}

static int stats_of_document(struct hist *h, uint32_t channel, struct entropy_terms *terms,
			     struct fail *fail)
{
	const struct sample_type counted = sample_type_counted(&h->axis.type);
	struct hist_stats *const s = &h->stats[channel];

	if (!h->from_bins && sample_is_code(&h->axis.type) && s->digest.touched)
		return stats_of_values(h, channel, fail);
	/* Without a digest, nothing tells the values of codes. */
	s->entropy = !h->from_bins && sample_is_code(&h->axis.type)
			     ? -1
			     : entropy_of_cells(h, channel, terms);
	if (h->from_bins)
		stats_of_bins_alone(h, channel);
	else if (s->digest.touched)
		quantiles_find(hist_quantile_of(h, channel, 0), &h->asked, &counted, &s->digest,
			       &s->of);
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

/* Add the figures of more samples; both sides have the mean of at least one sample. */
static void add_moments(struct stats_result *to, const struct stats_result *other)
{
	const long double a = to->number, b = other->number, n = a + b;
	const long double apart = (long double)other->mean - to->mean, own = to->deviation,
			  others = other->deviation;

	to->deviation = (double)sqrtl(a / n * own * own + b / n * others * others +
				      a / n * (b / n) * apart * apart);
	to->mean = (double)(to->mean + apart * (b / n));
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
	to->below = before.below + other->below;
	to->above = before.above + other->above;
	to->nan = before.nan + other->nan;
	to->zeros = before.zeros + other->zeros;
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
	for (uint32_t c = 0; c < h->channels && h->stats; c++)
		digest_close(&h->stats[c].digest);
	free(h->stats);
	free(h->quantile);
	h->stats = NULL;
	h->quantile = NULL;
}

int hist_stats_add(struct hist *h, const struct hist *other, struct fail *fail)
{
	if (!h->stats || !other->stats) {
		hist_drop_stats(h);
		return 0;
	}
	for (uint32_t c = 0; c < h->channels; c++) {
		add_result(&h->stats[c].of, &other->stats[c].of);
		if (add_digest(&h->stats[c].digest, &other->stats[c].digest) != 0)
			return fail_errno(fail, "statistics");
	}
	return 0;
}

void quantile_name(char text[NUMBER_TEXT], const struct quantiles *asked, unsigned i)
{
	number_format(text, asked->at[i] * 100.0 / QUANTILE_ALL);
}

/* SPDX-License-Identifier: MIT */
/*
 * write_hgrm: the table of percentiles of HdrHistogram, from the digest.
 *
 * A digest of a run has the buckets of an HdrHistogram of 3 significant digits, so whole numbers
 * of more than 16 bits give the table that HdrHistogram's outputPercentileDistribution() writes
 * with 5 ticks for each half of the distance to 100%. Mean, deviation and maximum are exact.
 */
#include "output/format.h"

#include <math.h>

#include "hist/quantile.h"

#define TICKS 5.0        /* steps from a level to the one that halves the distance to 100% */
#define SUB_BUCKETS 2048 /* of an HdrHistogram of 3 digits; each next doubling has half as many */

/* The number of an HdrHistogram's buckets that hold values up to `most`. */
static unsigned buckets_of(double most)
{
	int exponent;

	(void)frexp(fmax(most, 0), &exponent);
	return exponent > 11 ? (unsigned)exponent - 10 : 1;
}

/* Write a value 12 characters wide: 3 decimals, or for floats 6 significant digits. */
static void put_value(struct output *out, const struct hist *hist, double value)
{
	output_print(out, hist->axis.type.kind == SAMPLE_FLOAT ? "%12.6g" : "%12.3f", value + 0.0);
}

/* The level after this one, below 100; 100 if binary64 has none between. */
static double next_level(double level)
{
	const double halves = exp2(floor(log(100 / (100 - level)) / log(2)) + 1);
	const double next = level + 100 / (TICKS * halves);

	return next > level ? next : 100;
}

static void put_level(struct output *out, const struct hist *hist, double value, double level,
		      uint64_t count)
{
	put_value(out, hist, value);
	output_print(out, " %2.12f %10llu", level / 100, (unsigned long long)count);
	if (level < 100)
		output_print(out, " %14.2f", 1 / (1 - level / 100));
	output_text(out, "\n");
}

static void put_levels(struct output *out, const struct hist *hist, uint32_t channel)
{
	const struct hist_stats *const s = &hist->stats[channel];
	const uint64_t all = s->of.number;
	uint64_t count, sum = 0;
	double level = 0;

	for (uint32_t i = 0; sum < all && digest_next(&s->digest, &i, &count); i++) {
		const bool zeros = i == s->digest.rule.zero && count == s->of.zeros;
		const double value = zeros ? 0 : digest_last(&s->digest, &hist->axis.type, i);
		if (!isfinite(value))
			continue;
		sum += count;
		/* In 16 bits, -0 has a cell of its own, before the cell of 0. */
		uint32_t next = i + 1;
		if (signbit(value) && digest_next(&s->digest, &next, &count) &&
		    next == s->digest.rule.zero)
			continue;
		/* The last cell has one level, and then 100%. */
		for (bool more = true;
		     more && level < 100 && 100.0 * (double)sum / (double)all >= level;
		     more = sum < all) {
			put_level(out, hist, value, level, sum);
			level = next_level(level);
		}
		if (sum >= all)
			put_level(out, hist, value, 100, all);
	}
}

static void put_footer(struct output *out, const struct hist *hist, uint32_t channel)
{
	const struct stats_result *const of = &hist->stats[channel].of;
	const bool real = hist->axis.type.kind == SAMPLE_FLOAT, any = of->number > 0;
	const double most = !any ? 0 : real ? of->greatest_real : (double)of->greatest;

	output_text(out, "#[Mean    = ");
	put_value(out, hist, any ? of->mean : 0);
	output_text(out, ", StdDeviation   = ");
	put_value(out, hist, any ? of->deviation : 0);
	output_text(out, "]\n#[Max     = ");
	put_value(out, hist, most);
	output_print(out, ", Total count    = %12llu]\n", (unsigned long long)of->number);
	output_print(out, "#[Buckets = %12u, SubBuckets     = %12u]\n", buckets_of(most),
		     SUB_BUCKETS);
}

void write_hgrm(struct output *out, const struct hist *hist, const struct style *style,
		const struct provenance *from)
{
	(void)style;
	(void)from;
	for (uint32_t c = 0; c < hist->channels && !output_failed(out); c++) {
		if (hist->channels > 1)
			output_print(out, "%s#[Channel = %12u]\n", c > 0 ? "\n" : "", c);
		output_print(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
			     "1/(1-Percentile)");
		put_levels(out, hist, c);
		put_footer(out, hist, c);
	}
}

int check_hgrm(const struct hist *hist, struct fail *fail)
{
	const bool real = hist->axis.type.kind == SAMPLE_FLOAT;

	for (uint32_t c = 0; c < hist->channels; c++) {
		const struct hist_stats *const s = hist->stats ? &hist->stats[c] : NULL;
		if (!s || (hist->from_bins && s->of.number > 0) ||
		    (!s->digest.touched && s->of.number > 0))
			return fail_set(fail, STATUS_DATA,
					"hgrm needs the quantiles of histograms that were written "
					"with --stats");
		if (s->of.below > 0 ||
		    (s->of.number > 0 && (real ? s->of.least_real < 0 : s->of.least < 0)))
			return fail_set(fail, STATUS_DATA,
					"hgrm holds no negative samples; use --stats with another "
					"format");
	}
	return 0;
}

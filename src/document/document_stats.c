/* SPDX-License-Identifier: MIT */
/* document_stats: the figures of a channel, and its digest. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "document/members.h"
#include "hist/quantile.h"

/* A figure that is a number, and for integer types a value of the type. */
static void take_figure(const struct documents *d, enum document_member m,
			const struct sample_type *type, double *real, int128_t *whole,
			struct fail *fail)
{
	const char *const text = members_text(d, m);
	struct number n;

	if (number_parse(&n, text, strlen(text)) != 0 ||
	    (whole && type->kind != SAMPLE_FLOAT &&
	     (!n.exact || n.integer < sample_min(type) || n.integer > sample_max(type)))) {
		members_refuse(d, fail, "\"%s\" must be a number, not \"%.60s\"", MEMBERS[m].name,
			       text);
		return;
	}
	*real = n.value;
	if (m == OF_DEVIATION && !(n.value >= 0))
		members_refuse(d, fail, "\"%s\" must not be negative", MEMBERS[m].name);
	if (whole && type->kind != SAMPLE_FLOAT)
		*whole = n.integer;
}

/* Fill the digest of channel c from the list, whose cells must increase. */
static int take_digest(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	const struct json_pair *const pair = d->list[DIGEST].at;
	struct digest *const digest = &h->stats[c].digest;
	int64_t next = -(int64_t)digest->rule.zero;

	for (size_t i = 0; i < d->list[DIGEST].n; i++) {
		if (pair[i].key < next ||
		    pair[i].key >= (int64_t)digest->rule.indices - digest->rule.zero)
			return members_refuse(d, fail,
					      "the cells of its digest must increase, up to %ld",
					      (long)(digest->rule.indices - digest->rule.zero) - 1);
		next = pair[i].key + 1;
		digest_add(digest, pair[i].key, pair[i].count);
	}
	return 0;
}

/* Fill the digest of channel c from values and counts, such as "1.5 2,9 1", which must rise. */
static int take_values(struct documents *d, struct digest *digest, const struct sample_type *type,
		       struct fail *fail)
{
	const char *p = members_text(d, LISTED);
	const bool real = type->kind == SAMPLE_FLOAT;
	struct number x;

	for (char *end; *p != '\0'; p = end + (*end == ',' && end[1] != '\0')) {
		const size_t length = strcspn(p, " ");
		if (number_parse(&x, p, length) != 0 || p[length] == '\0' || p[length + 1] < '0' ||
		    p[length + 1] > '9')
			break;
		uint64_t count = strtoull(p + length + 1, &end, 10);
		if (real ? type->bits == 32 && (float)x.value != x.value
			 : !x.exact || x.integer < sample_min(type) || x.integer > sample_max(type))
			break;
		const uint64_t key = real ? sample_key(type, x.value + 0.0)
					  : (uint64_t)(x.integer - sample_min(type));
		if ((*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0') ||
		    count == 0 || count > digest->rule.few - digest->listed ||
		    (digest->listed > 0 && key <= digest->value[digest->listed - 1]))
			break;
		while (count-- > 0)
			(void)digest_list(digest, &key, 1);
	}
	return *p == '\0'
		       ? 0
		       : members_refuse(d, fail,
					"\"stats_values\" must have rising values of the type with "
					"their counts, %u samples at most",
					digest->rule.few);
}

#define NO_DIGITS UINT32_MAX /* a single bit has 0 */

/* Find the digits of a digest from its number of cells per doubling; NO_DIGITS: none has these. */
static uint32_t digits_of(const struct documents *d, const struct hist *h)
{
	const unsigned long cells = strtoul(members_text(d, CELLS), NULL, 10);
	const struct sample_type *const type = &h->axis.type, counted = sample_type_counted(type);
	const bool codes = h->what == SERIES_KEYS || type->code_bytes <= 2;
	const uint32_t values = h->what == SERIES_KEYS || type->binned ? keys_digits(&counted) : 16;

	return codes                        ? cells == 1ul << values ? values : NO_DIGITS
	       : cells == 1 << DIGEST_FINE  ? DIGEST_FINE
	       : cells == 1 << DIGEST_ROUGH ? DIGEST_ROUGH
					    : NO_DIGITS;
}

/* Are they equal, apart from an error of one unit in the last place in each? */
static bool stats_near(double a, double b)
{
	return nextafter(nextafter(a, b), b) == b;
}

/* Take the exact sums of the samples in *of, whose mean and deviation must follow from them. */
static int take_sums(struct documents *d, struct sums **sums, const struct sample_type *counted,
		     struct stats_result *of, struct fail *fail)
{
	struct stats_result exact;

	if (d->value[SUM] == 0 && d->value[SQUARE] == 0)
		return 0;
	const int rc = sums_parse(sums, counted, of->number, members_text(d, SUM),
				  members_text(d, SQUARE));
	if (rc < 0)
		return fail_errno(fail, "statistics");
	if (rc == 0 || of->number == 0 || !sums_result(*sums, counted, of->number, &exact) ||
	    !stats_near(exact.mean, of->mean) || !stats_near(exact.deviation, of->deviation))
		return members_refuse(d, fail,
				      "its mean and std do not follow from \"stats_sum\" and "
				      "\"stats_square\" (did "
				      "another program change it?)");
	of->total = exact.total;
	of->mean = exact.mean;
	of->deviation = exact.deviation;
	return 0;
}

/*
 * Set figures and sums from the samples that are listed. False: the figures in the text differ, or
 * there is no memory (*fail).
 */
static bool take_listed(struct hist_stats *s, const struct sample_type *counted, struct fail *fail)
{
	struct stats *const stats = stats_open(counted, 1);
	const struct stats_result said = s->of;
	struct stats_result *const of = &s->of;

	free(s->sums);
	s->sums = NULL;
	for (uint32_t i = 0; stats && i < s->digest.listed; i++)
		stats_add_key(stats, s->digest.value[i], 1);
	if (stats)
		stats_result(stats, of);
	s->sums = stats && of->number > 0 ? sums_of(stats) : NULL;
	const bool lost = !stats || (of->number > 0 && !s->sums);
	stats_close(stats, 1);
	if (lost)
		fail_errno(fail, "statistics");
	of->below = said.below;
	of->above = said.above;
	of->nan = said.nan;
	const bool ends = counted->kind == SAMPLE_FLOAT
				  ? of->least_real == said.least_real &&
					    of->greatest_real == said.greatest_real
				  : of->least == said.least && of->greatest == said.greatest;
	return !lost && of->number == said.number && of->zeros == said.zeros &&
	       (of->number == 0 || ends) && stats_near(of->mean, said.mean) &&
	       stats_near(of->deviation, said.deviation);
}

/* Take the figures of channel c from the members. */
static int take_figures(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	const struct sample_type *const type = &h->axis.type, counted = sample_type_counted(type);
	const uint64_t samples = hist_samples(h, c);
	const bool real = type->kind == SAMPLE_FLOAT;
	struct stats_result *const of = &h->stats[c].of;

	*of = (struct stats_result){
		.number = members_count(d, OF_COUNT, samples, fail),
		.below = real ? members_count(d, OF_BELOW, samples, fail) : 0,
		.above = real ? members_count(d, OF_ABOVE, samples, fail) : 0,
		.nan = h->flow[c].nan,
		.zeros = members_count(d, OF_ZEROS, samples, fail),
	};
	if (fail->status != STATUS_OK)
		return -1;
	if (of->number > 0) {
		take_figure(d, OF_LEAST, type, &of->least_real, &of->least, fail);
		take_figure(d, OF_GREATEST, type, &of->greatest_real, &of->greatest, fail);
		take_figure(d, OF_MEAN, type, &of->mean, NULL, fail);
		take_figure(d, OF_DEVIATION, type, &of->deviation, NULL, fail);
		of->total = of->mean * (double)of->number;
		if (type->binned && d->value[OF_AT_LEAST] > 0) {
			of->at_least = members_count(d, OF_AT_LEAST, of->number, fail);
			of->at_greatest = members_count(d, OF_AT_GREATEST, of->number, fail);
		}
	}
	struct digest *const digest = &h->stats[c].digest;
	if (fail->status != STATUS_OK || take_sums(d, &h->stats[c].sums, &counted, of, fail) != 0 ||
	    (digest->lists ? take_values(d, digest, &counted, fail) : take_digest(d, h, c, fail)) !=
		    0)
		return -1;
	const bool agrees = digest->lists     ? take_listed(&h->stats[c], &counted, fail)
			    : digest->touched ? digest_agrees(digest, &counted, of)
					      : true;
	if (fail->status != STATUS_OK)
		return -1;
	if ((uint128_t)of->number + of->below + of->above + of->nan != samples || !agrees)
		return members_refuse(d, fail,
				      "its statistics do not agree with its counts (did another "
				      "program add or scale it?)");
	return 0;
}

int document_stats(struct documents *d, struct hist *h, uint32_t c, struct fail *fail)
{
	const struct quantiles none = {.n = 0};
	const bool many = layout_is_many(h->channels), listed = d->list[DIGEST].at,
		   few = !listed && d->value[LISTED] > 0 && !many && h->what != SERIES_KEYS &&
			 h->axis.type.code_bytes > 2,
		   values = !listed && hist_has_values(h, c);
	const uint32_t digits = listed ? digits_of(d, h) : few ? DIGEST_FINE : 0;
	/* Many channels may have figures without a digest; figures of bins alone have no zeros. */
	const bool any = d->value[OF_COUNT] > 0 && (listed || few ? digits != NO_DIGITS
						    : many        ? d->value[OF_ZEROS] > 0
								  : values);
	const struct sample_type counted = sample_type_counted(&h->axis.type);
	const struct digest_rule rule = digest_rule(&counted, any ? digits : 0);

	if (d->seen == 1 && any && hist_keep_stats(h, &none, 0, fail) != 0)
		return -1;
	if (!any || !h->stats) {
		hist_drop_stats(h);
		return 0;
	}
	if ((listed || few) && digest_open(&h->stats[c].digest, &rule, true) != 0)
		return fail_errno(fail, "statistics of %lu channels", (unsigned long)h->channels);
	if (listed)
		digest_spill(&h->stats[c].digest);
	if (values && hist_values_digest(h, c, fail) != 0)
		return -1;
	/* Bins of one value each give all figures, unless there are many channels or exact sums. */
	return values && !many && d->value[SUM] == 0 ? 0 : take_figures(d, h, c, fail);
}

/* SPDX-License-Identifier: MIT */
/*
 * described_check: what a document must say; and its counts, which may be sparse, made those of all
 * bins.
 *
 * A histogram of another program has none of the metadata about the samples that we counted. Its
 * counts are taken as they are: there is nothing to compare them with.
 */
#include <stdlib.h>
#include <string.h>

#include "bins/layout.h"
#include "document/described.h"
#include "document/held.h"
#include "output/format.h"

/* for a storage of doubles: larger ones cannot hold every count */
#define DOUBLE_MOST ((uint64_t)1 << 53)

static int check_metadata(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	if (d->other_at > 0)
		return json_bad(r, d->other_at, fail, "\"%s\" is of another kind",
				described_meta_names[d->other]);
	for (int i = 0; i < META_NEEDED; i++)
		if (!d->given[i])
			return json_bad(r, d->metadata_at, fail, "the metadata has no \"%s\"",
					described_meta_names[i]);
	if (strcmp(d->counter, counter_name(COUNTER_U64)) != 0)
		return json_bad(r, d->metadata_at, fail, "the counter is not u64");
	if (d->channels < 1 || d->channels > LAYOUT_CHANNELS_MAX || d->channel >= d->channels)
		return json_bad(r, d->metadata_at, fail, "channel %llu of %llu",
				(unsigned long long)d->channel, (unsigned long long)d->channels);
	if (d->part < 1 || d->part > d->parts || d->parts > UINT32_MAX)
		return json_bad(r, d->metadata_at, fail, "part %llu of %llu",
				(unsigned long long)d->part, (unsigned long long)d->parts);
	const bool ends = d->clamp && strcmp(d->binning, axis_kind_name(AXIS_AUTO)) == 0;
	if (ends != d->given[META_CLAMPED_UNDER] || ends != d->given[META_CLAMPED_OVER])
		return json_bad(r, d->metadata_at, fail,
				"\"clamped_under\" and \"clamped_over\" go with binning \"auto\" "
				"that clamps");
	uint32_t first;
	if (d->held && (!held_is_valid(d->held, (uint32_t)d->parts, &first) || first != d->part))
		return json_bad(
			r, d->metadata_at, fail,
			"\"held\" is no list of some of %llu parts, of which %llu is the first",
			(unsigned long long)d->parts, (unsigned long long)d->part);
	return 0;
}

static int check_axes(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	if (d->axes_at == 0 || d->axes != 1)
		return json_bad(r, d->axes_at > 0 ? d->axes_at : d->at, fail,
				"%llu axes, where there should be one",
				(unsigned long long)d->axes);
	if (!d->regular && !d->variable)
		return json_bad(r, d->axes_at, fail,
				"an axis that is neither regular nor variable, but \"%s\"",
				d->axis);
	if (d->path_at > 0)
		return json_bad(r, d->path_at, fail,
				"numbers in a file of their own, which is not read");
	if (d->regular && !(d->has_lower && d->has_upper && d->has_bins))
		return json_bad(r, d->axes_at, fail, "a regular axis without lower, upper or bins");
	if (d->variable && d->edge_count < 2)
		return json_bad(r, d->axes_at, fail, "a variable axis without edges");
	/* A counter is known by a number of 32 bits (count.c). */
	if (described_bins(d) > BINS_MAX ||
	    (described_bins(d) + CELL_EXTRA) * d->channels > UINT32_MAX)
		return json_bad(r, d->axes_at, fail, "an axis of %llu bins",
				(unsigned long long)described_bins(d));
	return 0;
}

static bool is_mod(const struct described *d)
{
	return strcmp(d->binning, axis_kind_name(AXIS_MOD)) == 0;
}

static uint64_t number_at(const struct json_counts *counts, uint64_t i)
{
	return i == 0 ? counts->first : counts->rest[i - 1];
}

/* The places of a sparse storage must rise, and be within the axis. */
static int check_index(const struct described *d, const struct json_reader *r, uint64_t places,
		       struct fail *fail)
{
	if (d->index_rows != 1)
		return json_bad(r, d->storage_at, fail, "an index of %llu axes",
				(unsigned long long)d->index_rows);
	if (d->index.odd)
		return json_bad(r, d->index.at, fail,
				"a place in the index must be a whole number");
	if (d->index.n != d->counts.n)
		return json_bad(r, d->storage_at, fail,
				"%llu values, where the index has %llu places",
				(unsigned long long)d->counts.n, (unsigned long long)d->index.n);
	for (uint64_t i = 0; i < d->index.n; i++)
		if (number_at(&d->index, i) >= places ||
		    (i > 0 && number_at(&d->index, i) <= number_at(&d->index, i - 1)))
			return json_bad(r, d->storage_at, fail,
					"the places in its index must rise, from 0 to %llu at most",
					(unsigned long long)places - 1);
	return 0;
}

/* Makes the counts those of under, the bins and over; with --mod there is no under. */
static int spread(struct described *d, const struct json_reader *r, struct fail *fail)
{
	const uint64_t all = described_bins(d) + (!d->foreign && is_mod(d) ? 1 : 2);
	const uint64_t listed = d->foreign ? described_bins(d) + d->underflow + d->overflow : all;
	const uint64_t shift = d->foreign && !d->underflow;
	struct json_counts full = {.n = all};

	if (d->has_index && check_index(d, r, listed, fail) != 0)
		return -1;
	if ((!d->has_index && d->counts.n != listed) || all < 2)
		return json_bad(r, d->storage_at, fail, "%llu values, where the axis has %llu",
				(unsigned long long)d->counts.n, (unsigned long long)listed);
	if (!d->has_index && listed == all)
		return 0;
	full.rest = calloc((size_t)all - 1, sizeof(*full.rest));
	if (!full.rest)
		return fail_errno(fail, "%s", r->name);
	for (uint64_t i = 0; i < d->counts.n; i++) {
		const uint64_t place = (d->has_index ? number_at(&d->index, i) : i) + shift;
		*(place == 0 ? &full.first : &full.rest[place - 1]) = number_at(&d->counts, i);
	}
	free(d->counts.rest);
	free(d->index.rest);
	d->index = (struct json_counts){.n = 0};
	d->counts = full;
	return 0;
}

/* *sum becomes that of all counts; false: it is above 2^64 - 1. */
static bool add_up(uint64_t *sum, const struct json_counts *counts, uint64_t nan)
{
	bool wrapped = counts->first > UINT64_MAX - nan;

	*sum = nan + counts->first;
	for (uint64_t i = 0; i + 1 < counts->n; i++) {
		*sum += counts->rest[i];
		wrapped |= *sum < counts->rest[i];
	}
	return !wrapped;
}

static int check_storage(struct described *d, const struct json_reader *r, struct fail *fail)
{
	const uint64_t at = d->storage_at > 0 ? d->storage_at : d->at;

	if (d->storage_at == 0)
		return json_bad(r, at, fail, "no storage");
	if (strcmp(d->storage, "int") != 0 && strcmp(d->storage, "double") != 0)
		return json_bad(r, at, fail,
				"a storage of type \"%s\", where only int and double are counts",
				d->storage);
	if (!d->has_counts)
		return json_bad(r, at, fail, "a storage without values");
	if (d->counts.odd)
		return json_bad(r, d->counts.at, fail,
				"a count must be a whole number from 0 to 2^64 - 1");
	return spread(d, r, fail);
}

static int check_flow(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	const bool mod = is_mod(d);

	if (d->underflow != mod && d->overflow && d->circular == mod)
		return 0;
	return json_bad(r, d->axes_at, fail,
			"underflow, overflow and circular are not those of binning \"%s\"",
			d->binning);
}

/* The counts of the storage and NaN must add up to the samples. */
static int check_sum(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	uint64_t sum;

	if ((is_mod(d) ? 0 : d->counts.first) != d->under ||
	    d->counts.rest[d->counts.n - 2] != d->over)
		return json_bad(r, d->storage_at, fail,
				"its under and over are not those of the metadata");
	if (!add_up(&sum, &d->counts, d->nan) || sum != d->samples)
		return json_bad(r, d->storage_at, fail,
				"bins, under, over and NaN are not the %llu samples together",
				(unsigned long long)d->samples);
	return 0;
}

/* Another program's: what is not in the document gets the values of plain counts. */
static int settle_foreign(struct described *d, const struct json_reader *r, struct fail *fail)
{
	if (d->circular)
		return json_bad(r, d->axes_at, fail, "a circular axis that gpuhist did not write");
	if (described_bins(d) == 0)
		return json_bad(r, d->axes_at, fail, "an axis without bins");
	for (uint64_t i = 0; i < d->counts.n && strcmp(d->storage, "double") == 0; i++)
		if (number_at(&d->counts, i) >= DOUBLE_MOST)
			return json_bad(r, d->storage_at, fail,
					"a count of 2^53 or more in a storage of doubles, which is "
					"not exact");
	d->under = d->counts.first;
	d->over = d->counts.rest[d->counts.n - 2];
	d->nan = d->bytes = d->skipped = d->tail = d->inputs = d->channel = 0;
	d->channels = d->part = d->parts = 1;
	d->closed = d->clamp = d->partial = false;
	d->clamped = (struct hist_flow){0};
	free(d->held);
	free(d->options);
	d->held = NULL;
	d->options = calloc(1, 1);
	if (!d->options)
		return fail_errno(fail, "%s", r->name);
	if (!add_up(&d->samples, &d->counts, 0))
		return json_bad(r, d->storage_at, fail, "more than 2^64 - 1 samples");
	return 0;
}

int described_check(struct described *d, const struct json_reader *r, struct fail *fail)
{
	if (d->schema_at == 0)
		return json_bad(r, d->at, fail, "not a UHI histogram: it has no uhi_schema");
	if (d->schema != 1)
		return json_bad(r, d->schema_at, fail, "uhi_schema %llu, where 1 is known",
				(unsigned long long)d->schema);
	d->foreign = !d->given[META_TYPE] && !d->given[META_BINNING] && !d->given[META_COUNTER];
	if (d->foreign && (d->ours || d->unknown_at > 0))
		return json_bad(r, d->ours ? d->at : d->unknown_at, fail,
				d->ours ? "a histogram of gpuhist without its metadata"
					: "a member that UHI's schema does not have");
	if (!d->foreign && check_metadata(d, r, fail) != 0)
		return -1;
	if (check_axes(d, r, fail) != 0 || (!d->foreign && check_flow(d, r, fail) != 0) ||
	    check_storage(d, r, fail) != 0)
		return -1;
	return d->foreign ? settle_foreign(d, r, fail) : check_sum(d, r, fail);
}

/* SPDX-License-Identifier: MIT */
/* described: the members of one histogram, in any order. */
#include "document/described.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bins/layout.h"
#include "document/held.h"
#include "output/counter.h"

const char *const described_meta_names[METAS] = {
	"type",          "binning",      "range", "counter",      "closed",  "clamp", "channel",
	"channels",      "samples",      "under", "over",         "nan",     "bytes", "skipped",
	"tail",          "inputs",       "part",  "parts",        "options", "most",  "partial",
	"clamped_under", "clamped_over", "held",  "inputs_state",
};

static int take_count(struct json_reader *r, const char *name, uint64_t *count, struct fail *fail)
{
	const char *text;
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	const uint64_t at = json_offset(r);
	if (json_number(r, &text, fail) != 0)
		return -1;
	if (json_count_of(count, text) == 0)
		return 0;
	return json_bad(r, at, fail, "\"%s\" must be a whole number from 0 to 2^64 - 1", name);
}

static int take_text(struct json_reader *r, char text[META_TEXT], struct fail *fail)
{
	const char *taken;
	size_t length;

	if (json_string(r, &taken, &length, fail) != 0)
		return -1;
	text[0] = '\0';
	if (length < META_TEXT && strlen(taken) == length)
		memcpy(text, taken, length + 1);
	return 0;
}

/* A text of any length, in memory of its own. */
static int take_owned(char **text, const char *name, struct json_reader *r, struct fail *fail)
{
	const uint64_t at = json_offset(r);
	const char *taken;
	size_t length;

	if (json_string(r, &taken, &length, fail) != 0)
		return -1;
	if (strlen(taken) != length)
		return json_bad(r, at, fail, "\"%s\" has a zero byte", name);
	*text = malloc(length + 1);
	if (!*text)
		return fail_errno(fail, "%s", r->name);
	memcpy(*text, taken, length + 1);
	return 0;
}

/* 16 digits, as they are written; no others are known. */
static int take_state(struct described *d, struct json_reader *r, struct fail *fail)
{
	static const char DIGITS[] = "0123456789abcdef";
	const uint64_t at = json_offset(r);
	char text[META_TEXT];

	if (take_text(r, text, fail) != 0)
		return -1;
	d->state = 0;
	if (strspn(text, DIGITS) == 16 && text[16] == '\0')
		d->state = strtoull(text, NULL, 16);
	if (d->state != 0)
		return 0;
	return json_bad(r, at, fail, "\"inputs_state\" must be 16 hexadecimal digits");
}

static int take_meta(struct described *d, struct json_reader *r, const char *name, struct fail *fail)
{
	char *const texts[] = {d->type, d->binning, d->range, d->counter};
	bool *const flags[] = {&d->closed, &d->clamp};
	uint64_t *const counts[] = {&d->channel, &d->channels, &d->samples, &d->under,  &d->over, &d->nan,
				    &d->bytes,   &d->skipped,  &d->tail,    &d->inputs, &d->part, &d->parts};
	int meta = 0;

	while (meta < METAS && strcmp(name, described_meta_names[meta]) != 0)
		meta++;
	if (meta == METAS)
		return json_skip(r, fail);
	d->given[meta] = true;
	if (meta == META_OPTIONS)
		return take_owned(&d->options, described_meta_names[meta], r, fail);
	if (meta == META_HELD)
		return take_owned(&d->held, described_meta_names[meta], r, fail);
	if (meta == META_STATE)
		return take_state(d, r, fail);
	if (meta == META_PARTIAL)
		return json_bool(r, &d->partial, fail);
	if (meta < META_CLOSED)
		return take_text(r, texts[meta], fail);
	if (meta < META_CHANNEL)
		return json_bool(r, flags[meta - META_CLOSED], fail);
	return take_count(r, described_meta_names[meta],
			  meta == META_MOST            ? &d->most
			  : meta == META_CLAMPED_UNDER ? &d->clamped.under
			  : meta == META_CLAMPED_OVER  ? &d->clamped.over
						       : counts[meta - META_CHANNEL],
			  fail);
}

static int take_metadata(struct described *d, struct json_reader *r, struct fail *fail)
{
	const char *name;
	int more;

	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0)
		if (take_meta(d, r, name, fail) != 0)
			return -1;
	return more;
}

static int take_real(struct json_reader *r, double *real, bool *has, struct fail *fail)
{
	*has = true;
	return json_real(r, real, fail);
}

static int take_axis_member(struct described *d, struct json_reader *r, const char *name, struct fail *fail)
{
	char type[META_TEXT];

	if (strcmp(name, "type") == 0) {
		if (take_text(r, type, fail) != 0)
			return -1;
		d->regular = strcmp(type, "regular") == 0;
		d->variable = strcmp(type, "variable") == 0;
		return 0;
	}
	if (strcmp(name, "lower") == 0)
		return take_real(r, &d->lower, &d->has_lower, fail);
	if (strcmp(name, "upper") == 0)
		return take_real(r, &d->upper, &d->has_upper, fail);
	if (strcmp(name, "bins") == 0) {
		d->has_bins = true;
		return take_count(r, name, &d->bins, fail);
	}
	if (strcmp(name, "edges") == 0)
		return json_reals(r, &d->edges, &d->edge_count, (uint64_t)BINS_MAX + 1, fail);
	if (strcmp(name, "underflow") == 0)
		return json_bool(r, &d->underflow, fail);
	if (strcmp(name, "overflow") == 0)
		return json_bool(r, &d->overflow, fail);
	if (strcmp(name, "circular") == 0)
		return json_bool(r, &d->circular, fail);
	return json_skip(r, fail);
}

static void forget_axis(struct described *d)
{
	free(d->edges);
	d->edges = NULL;
	d->edge_count = 0;
	d->regular = d->variable = d->underflow = d->overflow = d->circular = false;
	d->has_lower = d->has_upper = d->has_bins = false;
}

static int take_axes(struct described *d, struct json_reader *r, struct fail *fail)
{
	const char *name;
	int axis, more = 0;

	if (json_array(r, fail) != 0)
		return -1;
	while ((axis = json_element(r, fail)) > 0) {
		forget_axis(d);
		d->axes++;
		if (json_object(r, fail) != 0)
			return -1;
		while ((more = json_member(r, &name, fail)) > 0)
			if (take_axis_member(d, r, name, fail) != 0)
				return -1;
		if (more < 0)
			return -1;
	}
	return axis;
}

static int take_storage(struct described *d, struct json_reader *r, struct fail *fail)
{
	char type[META_TEXT];
	const char *name;
	int more;

	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0) {
		if (strcmp(name, "type") == 0) {
			if (take_text(r, type, fail) != 0)
				return -1;
			d->integers = strcmp(type, "int") == 0 || strcmp(type, "double") == 0;
		} else if (strcmp(name, "values") == 0) {
			/* Under and over stand there too. */
			if (json_counts(r, &d->counts, (uint64_t)BINS_MAX + 2, fail) != 0)
				return -1;
			d->has_counts = true;
		} else if (json_skip(r, fail) != 0) {
			return -1;
		}
	}
	return more;
}

int described_member(struct described *d, struct json_reader *r, const char *name, struct fail *fail)
{
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	const uint64_t at = json_offset(r);
	if (strcmp(name, "uhi_schema") == 0) {
		d->schema_at = at;
		return take_count(r, "uhi_schema", &d->schema, fail);
	}
	if (strcmp(name, "metadata") == 0) {
		d->metadata_at = at;
		return take_metadata(d, r, fail);
	}
	if (strcmp(name, "axes") == 0) {
		d->axes_at = at;
		return take_axes(d, r, fail);
	}
	if (strcmp(name, "storage") == 0) {
		d->storage_at = at;
		return take_storage(d, r, fail);
	}
	return json_skip(r, fail);
}

void described_free(struct described *d)
{
	free(d->options);
	free(d->edges);
	free(d->counts.rest);
	free(d->held);
	d->options = d->held = NULL;
	d->edges = NULL;
	d->counts.rest = NULL;
}

static int check_metadata(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	if (d->metadata_at == 0 || !d->given[META_TYPE] || !d->given[META_BINNING] || !d->given[META_RANGE])
		return json_bad(r, d->metadata_at > 0 ? d->metadata_at : d->at, fail,
				"a histogram that gpuhist did not write: its metadata does not say which samples are "
				"counted, and into which bins");
	for (int i = 0; i < META_NEEDED; i++)
		if (!d->given[i])
			return json_bad(r, d->metadata_at, fail, "the metadata has no \"%s\"", described_meta_names[i]);
	if (strcmp(d->counter, counter_name(COUNTER_U64)) != 0)
		return json_bad(r, d->metadata_at, fail, "the counter is not u64");
	if (d->channels < 1 || d->channels > LAYOUT_CHANNELS_MAX || d->channel >= d->channels)
		return json_bad(r, d->metadata_at, fail, "channel %llu of %llu", (unsigned long long)d->channel,
				(unsigned long long)d->channels);
	if (d->part < 1 || d->part > d->parts || d->parts > UINT32_MAX)
		return json_bad(r, d->metadata_at, fail, "part %llu of %llu", (unsigned long long)d->part,
				(unsigned long long)d->parts);
	const bool ends = d->clamp && strcmp(d->binning, axis_kind_name(AXIS_AUTO)) == 0;
	if (ends != d->given[META_CLAMPED_UNDER] || ends != d->given[META_CLAMPED_OVER])
		return json_bad(r, d->metadata_at, fail,
				"\"clamped_under\" and \"clamped_over\" go with binning \"auto\" that clamps");
	uint32_t first;
	if (d->held && (!held_is_valid(d->held, (uint32_t)d->parts, &first) || first != d->part))
		return json_bad(r, d->metadata_at, fail,
				"\"held\" is no list of some of %llu parts, of which %llu is the first",
				(unsigned long long)d->parts, (unsigned long long)d->part);
	return 0;
}

static int check_axes(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	if (d->axes_at == 0 || d->axes != 1)
		return json_bad(r, d->axes_at > 0 ? d->axes_at : d->at, fail, "%llu axes, where there should be one",
				(unsigned long long)d->axes);
	if (!d->regular && !d->variable)
		return json_bad(r, d->axes_at, fail, "an axis that is neither regular nor variable");
	if (d->regular && !(d->has_lower && d->has_upper && d->has_bins))
		return json_bad(r, d->axes_at, fail, "a regular axis without lower, upper or bins");
	if (d->variable && d->edge_count < 2)
		return json_bad(r, d->axes_at, fail, "a variable axis without edges");
	/* A counter is known by a number of 32 bits (count.c). */
	if (described_bins(d) > BINS_MAX || (described_bins(d) + CELL_EXTRA) * d->channels > UINT32_MAX)
		return json_bad(r, d->axes_at, fail, "an axis of %llu bins", (unsigned long long)described_bins(d));
	return 0;
}

/* Under, the bins, over; of --mod there is no under. Together with NaN they are the samples. */
static int check_storage(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	const bool mod = strcmp(d->binning, axis_kind_name(AXIS_MOD)) == 0;
	const uint64_t values = described_bins(d) + (mod ? 1 : 2);

	if (d->storage_at == 0 || !d->integers || !d->has_counts)
		return json_bad(r, d->storage_at > 0 ? d->storage_at : d->at, fail, "no storage of integers");
	if (d->counts.odd)
		return json_bad(r, d->counts.at, fail, "a count must be a whole number from 0 to 2^64 - 1");
	if (d->underflow == mod || !d->overflow || d->circular != mod)
		return json_bad(r, d->axes_at, fail, "underflow, overflow and circular are not those of binning \"%s\"",
				d->binning);
	if (d->counts.n != values || values < 2)
		return json_bad(r, d->storage_at, fail, "%llu values, where the axis has %llu",
				(unsigned long long)d->counts.n, (unsigned long long)values);
	if ((mod ? 0 : d->counts.first) != d->under || d->counts.rest[values - 2] != d->over)
		return json_bad(r, d->storage_at, fail, "its under and over are not those of the metadata");
	uint64_t sum = d->nan + d->counts.first;
	bool wrapped = sum < d->nan;
	for (uint64_t i = 0; i + 1 < values; i++) {
		sum += d->counts.rest[i];
		wrapped = wrapped || sum < d->counts.rest[i];
	}
	if (wrapped || sum != d->samples)
		return json_bad(r, d->storage_at, fail, "bins, under, over and NaN are not the %llu samples together",
				(unsigned long long)d->samples);
	return 0;
}

int described_check(const struct described *d, const struct json_reader *r, struct fail *fail)
{
	if (d->schema_at == 0)
		return json_bad(r, d->at, fail, "no UHI histogram: it has no uhi_schema");
	if (d->schema != 1)
		return json_bad(r, d->schema_at, fail, "uhi_schema %llu, where 1 is known",
				(unsigned long long)d->schema);
	if (check_metadata(d, r, fail) != 0 || check_axes(d, r, fail) != 0)
		return -1;
	return check_storage(d, r, fail);
}

/* SPDX-License-Identifier: MIT */
/* described: the members of one histogram, which may come in any order. */
#include "document/described.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bins/layout.h"

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

/* Takes a text of any length, into memory of its own. */
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

/* Takes 16 digits, as we write them; no other spelling is known. */
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

static bool is_text(int meta)
{
	return meta < META_CLOSED || meta == META_OPTIONS || meta == META_HELD ||
	       meta == META_STATE;
}

static bool is_flag(int meta)
{
	return meta == META_CLOSED || meta == META_CLAMP || meta == META_PARTIAL;
}

static int take_meta(struct described *d, struct json_reader *r, const char *name,
		     struct fail *fail)
{
	char *const texts[] = {d->type, d->binning, d->range, d->counter};
	bool *const flags[] = {&d->closed, &d->clamp};
	uint64_t *const counts[] = {&d->channel, &d->channels, &d->samples, &d->under,
				    &d->over,    &d->nan,      &d->bytes,   &d->skipped,
				    &d->tail,    &d->inputs,   &d->part,    &d->parts};
	int meta = 0, next;

	while (meta < METAS && strcmp(name, described_meta_names[meta]) != 0)
		meta++;
	if (meta == METAS)
		return json_skip(r, fail);
	if (json_peek(r, &next, fail) != 0)
		return -1;
	/* In another program's metadata the name may mean something else. */
	const char wanted = is_text(meta) ? '"' : is_flag(meta) ? 't' : '0';
	if (wanted != (next == 'f'                                   ? 't'
		       : next == '-' || (next >= '0' && next <= '9') ? '0'
								     : next)) {
		d->other_at = json_offset(r);
		d->other = (enum meta)meta;
		return json_skip(r, fail);
	}
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

/* Takes a text in place of numbers: the schema allows the path of another file. */
static int take_path(struct described *d, struct json_reader *r, struct fail *fail)
{
	d->path_at = json_offset(r);
	return json_skip(r, fail);
}

static int take_edges(struct described *d, struct json_reader *r, struct fail *fail)
{
	int next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	if (next == '"')
		return take_path(d, r, fail);
	return json_reals(r, &d->edges, &d->edge_count, (uint64_t)BINS_MAX + 1, fail);
}

/*
 * Takes what one writer says of an axis: boost-histogram has an axis of whole numbers, whose edges
 * no formula rounds.
 */
static int take_axis_writer(struct described *d, struct json_reader *r, struct fail *fail)
{
	char type[META_TEXT];
	const char *name;
	int more, next;

	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0) {
		const bool is_type = strcmp(name, "orig_type") == 0;
		if (json_peek(r, &next, fail) != 0)
			return -1;
		if (!is_type || next != '"') {
			if (json_skip(r, fail) != 0)
				return -1;
			continue;
		}
		if (take_text(r, type, fail) != 0)
			return -1;
		d->integer = strcmp(type, "Integer") == 0;
	}
	return more;
}

static int take_axis_info(struct described *d, struct json_reader *r, struct fail *fail)
{
	const char *name;
	int more, next;

	if (json_peek(r, &next, fail) != 0)
		return -1;
	if (next != '{')
		return json_skip(r, fail);
	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0) {
		const bool boost = strcmp(name, "boost-histogram") == 0;
		if (json_peek(r, &next, fail) != 0 ||
		    (boost && next == '{' ? take_axis_writer(d, r, fail) : json_skip(r, fail)) != 0)
			return -1;
	}
	return more;
}

static int take_axis_member(struct described *d, struct json_reader *r, const char *name,
			    struct fail *fail)
{
	if (strcmp(name, "type") == 0) {
		if (take_text(r, d->axis, fail) != 0)
			return -1;
		d->regular = strcmp(d->axis, "regular") == 0;
		d->variable = strcmp(d->axis, "variable") == 0;
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
		return take_edges(d, r, fail);
	if (strcmp(name, "underflow") == 0)
		return json_bool(r, &d->underflow, fail);
	if (strcmp(name, "overflow") == 0)
		return json_bool(r, &d->overflow, fail);
	if (strcmp(name, "circular") == 0)
		return json_bool(r, &d->circular, fail);
	if (strcmp(name, "writer_info") == 0)
		return take_axis_info(d, r, fail);
	return json_skip(r, fail);
}

static void forget_axis(struct described *d)
{
	free(d->edges);
	d->edges = NULL;
	d->edge_count = 0;
	d->regular = d->variable = d->underflow = d->overflow = d->circular = false;
	d->has_lower = d->has_upper = d->has_bins = false;
	d->integer = false;
	d->axis[0] = '\0';
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

/* Takes the places of values: an array of them for each axis. */
static int take_index(struct described *d, struct json_reader *r, struct fail *fail)
{
	int more;

	if (json_array(r, fail) != 0)
		return -1;
	while ((more = json_element(r, fail)) > 0) {
		free(d->index.rest);
		d->index.rest = NULL;
		if (json_counts(r, &d->index, 0, (uint64_t)BINS_MAX + 2, fail) != 0)
			return -1;
		d->index_rows++;
	}
	return more;
}

static int take_storage_member(struct described *d, struct json_reader *r, const char *name,
			       struct fail *fail)
{
	const bool values = strcmp(name, "values") == 0, index = strcmp(name, "index") == 0;
	int next;

	if (strcmp(name, "type") == 0)
		return take_text(r, d->storage, fail);
	if (!values && !index)
		return json_skip(r, fail);
	if (json_peek(r, &next, fail) != 0)
		return -1;
	if (next == '"')
		return take_path(d, r, fail);
	d->has_counts = d->has_counts || values;
	d->has_index = d->has_index || index;
	/* Under and over have entries there too. */
	if (index)
		return take_index(d, r, fail);
	/* The first number, under, is not in `rest`. */
	const uint64_t likely = d->has_index   ? d->index.n
				: d->axes == 1 ? described_bins(d) + 1
					       : 0;
	return json_counts(r, &d->counts, likely, (uint64_t)BINS_MAX + 2, fail);
}

static int take_storage(struct described *d, struct json_reader *r, struct fail *fail)
{
	const char *name;
	int more;

	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0)
		if (take_storage_member(d, r, name, fail) != 0)
			return -1;
	return more;
}

/* Takes the programs that have written the document. */
static int take_writer(struct described *d, struct json_reader *r, struct fail *fail)
{
	const char *name;
	int more;

	if (json_object(r, fail) != 0)
		return -1;
	while ((more = json_member(r, &name, fail)) > 0) {
		d->ours = d->ours || strcmp(name, "gpuhist") == 0;
		if (json_skip(r, fail) != 0)
			return -1;
	}
	return more;
}

int described_member(struct described *d, struct json_reader *r, const char *name,
		     struct fail *fail)
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
	if (strcmp(name, "writer_info") == 0 && next == '{')
		return take_writer(d, r, fail);
	d->unknown_at = at;
	return json_skip(r, fail);
}

void described_free(struct described *d)
{
	free(d->options);
	free(d->edges);
	free(d->counts.rest);
	free(d->index.rest);
	free(d->held);
	d->options = d->held = NULL;
	d->edges = NULL;
	d->counts.rest = NULL;
	d->index.rest = NULL;
}

/* SPDX-License-Identifier: MIT */
/* sum: what two documents must have in common, and which slices of a whole are there. */
#include "document/sum.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long ul;

void sum_name_text(char text[SUM_NAME], const struct sum_name *name)
{
	const char *const path = strcmp(name->path, "-") == 0 ? "standard input" : name->path;

	if (name->number > 1)
		snprintf(text, SUM_NAME, "%.*s, document %llu", PATH_MAX, path, (unsigned long long)name->number);
	else
		snprintf(text, SUM_NAME, "%.*s", PATH_MAX, path);
}

/* "FILE cannot be added to FILE: why" */
static int refuse(const struct sum *s, const struct sum_name *name, enum status status, const char *why,
		  struct fail *fail)
{
	char this[SUM_NAME], first[SUM_NAME];

	sum_name_text(this, name);
	sum_name_text(first, &s->first);
	return fail_set(fail, status, "%s cannot be added to %s: %s", this, first, why);
}

enum { ENDS = 2 * NUMBER_TEXT + 1 };

/* From the first edge to the last one. */
static void ends_text(char text[ENDS], const struct axis *axis)
{
	size_t used = edges_format(&axis->edges, 0, text);

	text[used++] = ':';
	edges_format(&axis->edges, axis_bins(axis), text + used);
}

bool sum_fits(char why[SUM_WHY], const struct hist *h, const struct hist *more)
{
	const char *const what =
		h->channels != more->channels ? "number of channels" : axis_difference(&h->axis, &more->axis);
	const struct axis *const a = &more->axis, *const b = &h->axis;
	char ends_a[ENDS], ends_b[ENDS];

	if (!what)
		return true;
	if (h->channels != more->channels) {
		snprintf(why, SUM_WHY, "it has %lu channel%s, not %lu", (ul)more->channels,
			 more->channels == 1 ? "" : "s", (ul)h->channels);
	} else if (strcmp(a->type.name, b->type.name) != 0) {
		snprintf(why, SUM_WHY, "its samples are %s, not %s", a->type.name, b->type.name);
	} else if ((a->kind == AXIS_AUTO) != (b->kind == AXIS_AUTO)) {
		snprintf(why, SUM_WHY, "its bins are %s",
			 a->kind == AXIS_AUTO ? "those of --auto" : "not those of --auto");
	} else if (a->kind == AXIS_AUTO && a->edges.most != b->edges.most) {
		snprintf(why, SUM_WHY, "it is --auto with at most %lu bin%s, not %lu", (ul)a->edges.most,
			 a->edges.most == 1 ? "" : "s", (ul)b->edges.most);
	} else if (a->kind != AXIS_AUTO && axis_bins(a) != axis_bins(b)) {
		snprintf(why, SUM_WHY, "it has %lu bin%s, not %lu", (ul)axis_bins(a), axis_bins(a) == 1 ? "" : "s",
			 (ul)axis_bins(b));
	} else if (strcmp(what, "range") == 0 && a->kind != AXIS_AUTO) {
		ends_text(ends_a, a);
		ends_text(ends_b, b);
		if (strcmp(ends_a, ends_b) != 0)
			snprintf(why, SUM_WHY, "its range is %s, not %s", ends_a, ends_b);
		else
			snprintf(why, SUM_WHY, "it has other edges between %s", ends_a);
	} else {
		snprintf(why, SUM_WHY, "they differ in %s", what);
	}
	return false;
}

static int add_hist(struct sum *s, const struct hist *more, const struct sum_name *name, struct fail *fail)
{
	struct hist *const h = &s->total.hist;
	struct fail own = {.status = STATUS_OK};
	char why[SUM_WHY];

	if (hist_add(h, more, &own) == 0)
		return 0;
	if (own.status == STATUS_DATA && !sum_fits(why, h, more))
		return refuse(s, name, STATUS_DATA, why, fail);
	return refuse(s, name, own.status, own.text, fail);
}

static bool add(uint64_t *sum, uint64_t more)
{
	const bool fits = more <= UINT64_MAX - *sum;

	*sum += fits ? more : 0;
	return fits;
}

static int add_provenance(struct sum *s, const struct provenance *more, const struct sum_name *name, struct fail *fail)
{
	struct provenance *const from = &s->total.from;

	if (!add(&from->inputs, more->inputs) || !add(&from->bytes, more->bytes) ||
	    !add(&from->skipped, more->skipped) || !add(&from->tail, more->tail))
		return refuse(s, name, STATUS_LIMIT, "the sum of the bytes or inputs is past 2^64 - 1", fail);
	/* What was counted in two ways was counted by no options in particular. */
	if (strcmp(from->options ? from->options : "", more->options ? more->options : "") != 0)
		from->options = NULL;
	return 0;
}

/* Slices are remembered, not marked: N may be four milliards. */
static int note_slice(struct sum *s, const struct provenance *from, const struct sum_name *name, struct fail *fail)
{
	if (from->parts == 1)
		return 0;
	if (s->documents == s->room) {
		const size_t room = s->room > 0 ? 2 * s->room : 16;
		struct sum_part *const more = realloc(s->slices, room * sizeof(*more));
		if (!more)
			return fail_errno(fail, "the names of %zu documents", room);
		s->slices = more;
		s->room = room;
	}
	s->slices[s->documents] = (struct sum_part){.name = *name, .order = s->documents, .part = from->part};
	return 0;
}

/* "part 1 of 8", or "no part of a whole" */
static const char *part_text(char text[64], const struct provenance *from)
{
	if (from->parts == 1)
		return "no part of a larger whole";
	snprintf(text, 64, "part %lu of %lu", (ul)from->part, (ul)from->parts);
	return text;
}

int sum_add(struct sum *s, struct document *document, const struct sum_name *name, struct fail *fail)
{
	char text[SUM_NAME], why[SUM_WHY], is[64], first_is[64];

	if (document->from.partial) {
		sum_name_text(text, name);
		return fail_set(fail, STATUS_DATA,
				"%s: holds the counts of a run that was still going on: not all of its samples", text);
	}
	if (s->documents > 0 && document->from.parts != s->total.from.parts) {
		snprintf(why, sizeof(why), "it is %s, and that is %s", part_text(is, &document->from),
			 part_text(first_is, &s->total.from));
		return refuse(s, name, STATUS_DATA, why, fail);
	}
	if (note_slice(s, &document->from, name, fail) != 0)
		return -1;
	if (s->documents++ == 0) {
		s->total = *document;
		s->first = *name;
		*document = (struct document){.options = NULL};
		/* Rounded figures of parts are not those of their whole. */
		free(s->total.hist.stats);
		s->total.hist.stats = NULL;
		return 0;
	}
	return add_hist(s, &document->hist, name, fail) != 0 ? -1 : add_provenance(s, &document->from, name, fail);
}

/* Equal ones as they were added, so that messages do not depend on the sort. */
static int by_part(const void *a, const void *b)
{
	const struct sum_part *const x = a, *const y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* How many numbers are missing below `next` after `last`; the first few go to the list. */
static uint64_t missing_between(char *list, size_t room, uint64_t listed, uint64_t last, uint64_t next)
{
	for (uint64_t k = last + 1; k < next && listed + (k - last) <= 8; k++) {
		const size_t used = strlen(list);
		snprintf(list + used, room - used, "%s%lu", used > 0 ? ", " : "", (ul)k);
	}
	return next - last - 1;
}

int sum_finish(struct sum *s, struct fail *fail)
{
	struct provenance *const from = &s->total.from;
	char one[SUM_NAME], two[SUM_NAME], list[256] = "", more[64] = "";
	uint64_t missing = 0, last = 0;

	assert(s->documents > 0);
	if (from->parts == 1)
		return 0;
	qsort(s->slices, s->documents, sizeof(*s->slices), by_part);
	for (uint64_t i = 0; i < s->documents; last = s->slices[i++].part) {
		const struct sum_part *const slice = &s->slices[i];
		if (slice->part != last) {
			missing += missing_between(list, sizeof(list), missing, last, slice->part);
			continue;
		}
		sum_name_text(one, &slice[-1].name);
		sum_name_text(two, &slice->name);
		return fail_set(fail, STATUS_DATA, "%s and %s: both are part %lu of %lu", one, two, (ul)slice->part,
				(ul)from->parts);
	}
	missing += missing_between(list, sizeof(list), missing, last, (uint64_t)from->parts + 1);
	if (missing == 0) {
		from->part = from->parts = 1;
		return 0;
	}
	if (missing > 8)
		snprintf(more, sizeof(more), " and %llu more", (unsigned long long)missing - 8);
	sum_name_text(one, &s->first);
	return fail_set(fail, STATUS_DATA, "%s is a part of %lu; part%s %s%s %s missing", one, (ul)from->parts,
			missing == 1 ? "" : "s", list, more, missing == 1 ? "is" : "are");
}

void sum_free(struct sum *s)
{
	document_free(&s->total);
	free(s->slices);
	*s = (struct sum){.documents = 0};
}

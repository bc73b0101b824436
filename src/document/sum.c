/* SPDX-License-Identifier: MIT */
/* sum: what two documents must have in common to be added. */
#include "document/sum.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long ul;

void sum_name_text(char text[SUM_NAME], const struct sum_name *name)
{
	const char *const path = strcmp(name->path, "-") == 0 ? "standard input" : name->path;

	if (name->number > 1)
		snprintf(text, SUM_NAME, "%.*s, document %llu", PATH_MAX, path,
			 (unsigned long long)name->number);
	else
		snprintf(text, SUM_NAME, "%.*s", PATH_MAX, path);
}

/* "FILE cannot be added to FILE: why" */
static int refuse(const struct sum *s, const struct sum_name *name, enum status status,
		  const char *why, struct fail *fail)
{
	char this[SUM_NAME], first[SUM_NAME];

	sum_name_text(this, name);
	sum_name_text(first, &s->first);
	return fail_set(fail, status, "%s cannot be added to %s: %s", this, first, why);
}

enum { ENDS = 2 * NUMBER_TEXT + 1 };

/* The range of the axis, from its first edge to its last. */
static void ends_text(char text[ENDS], const struct axis *axis)
{
	size_t used = edges_format(&axis->edges, 0, text);

	text[used++] = ':';
	edges_format(&axis->edges, axis_bins(axis), text + used);
}

bool sum_fits(char why[SUM_WHY], const struct hist *h, const struct hist *more)
{
	const char *const what = h->channels != more->channels
					 ? "number of channels"
					 : axis_difference(&h->axis, &more->axis);
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
		snprintf(why, SUM_WHY, "it is --auto with at most %lu bin%s, not %lu",
			 (ul)a->edges.most, a->edges.most == 1 ? "" : "s", (ul)b->edges.most);
	} else if (a->kind != AXIS_AUTO && axis_bins(a) != axis_bins(b)) {
		snprintf(why, SUM_WHY, "it has %lu bin%s, not %lu", (ul)axis_bins(a),
			 axis_bins(a) == 1 ? "" : "s", (ul)axis_bins(b));
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

static const char PLAIN[] = " (what gpuhist did not write counts as f64)";

static int add_hist(struct sum *s, const struct hist *more, const struct sum_name *name,
		    struct fail *fail)
{
	struct hist *const h = &s->total.hist;
	struct fail own = {.status = STATUS_OK};
	char why[SUM_WHY + sizeof(PLAIN)];

	if (hist_add(h, more, &own) == 0)
		return 0;
	if (own.status == STATUS_DATA && !sum_fits(why, h, more)) {
		if (s->foreign > 0 && strcmp(h->axis.type.name, more->axis.type.name) != 0)
			strcat(why, PLAIN);
		return refuse(s, name, STATUS_DATA, why, fail);
	}
	return refuse(s, name, own.status, own.text, fail);
}

static bool add(uint64_t *sum, uint64_t more)
{
	const bool fits = more <= UINT64_MAX - *sum;

	*sum += fits ? more : 0;
	return fits;
}

static int add_provenance(struct sum *s, const struct provenance *more, const struct sum_name *name,
			  struct fail *fail)
{
	struct provenance *const from = &s->total.from;

	if (!add(&from->inputs, more->inputs) || !add(&from->bytes, more->bytes) ||
	    !add(&from->skipped, more->skipped) || !add(&from->tail, more->tail))
		return refuse(s, name, STATUS_LIMIT,
			      "the sum of the bytes or inputs is past 2^64 - 1", fail);
	if (from->state == 0)
		from->state = more->state;
	/* If the options differ, the sum has none in particular. */
	if (strcmp(from->options ? from->options : "", more->options ? more->options : "") != 0)
		from->options = NULL;
	return 0;
}

int sum_add(struct sum *s, struct document *document, const struct sum_name *name,
	    struct fail *fail)
{
	char text[SUM_NAME], why[SUM_PARTS_WHY];

	if (document->from.partial) {
		sum_name_text(text, name);
		return fail_set(fail, STATUS_DATA,
				"%s: holds partial counts, of a run that was still going on", text);
	}
	if (s->documents > 0 && !sum_parts_fit(why, &s->total.from, &document->from))
		return refuse(s, name, STATUS_DATA, why, fail);
	if (sum_note_parts(s, &document->from, name, fail) != 0)
		return -1;
	if (document->foreign && s->foreign++ == 0)
		s->foreign_first = *name;
	if (s->documents++ == 0) {
		s->total = *document;
		s->first = *name;
		*document = (struct document){.options = NULL};
		/* The sum's own list is made at the end. */
		free(s->total.held);
		s->total.held = NULL;
		s->total.from.held = NULL;
		/* Rounded figures of parts do not give those of the whole. */
		free(s->total.hist.stats);
		s->total.hist.stats = NULL;
		return 0;
	}
	return add_hist(s, &document->hist, name, fail) != 0
		       ? -1
		       : add_provenance(s, &document->from, name, fail);
}

void sum_free(struct sum *s)
{
	document_free(&s->total);
	free(s->parts);
	*s = (struct sum){.documents = 0};
}

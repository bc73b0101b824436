/* SPDX-License-Identifier: MIT */
/*
 * sum: what two documents must have in common to be added, and which parts of a whole are there.
 *
 * Parts are remembered as a list, not as a bit for each: a document may say that there are
 * 2^32 - 1 of them.
 */
#include "document/sum.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

typedef unsigned long ul;

struct sum_part {
	uint32_t part;
	uint64_t order; /* how many parts were added before it */
	struct sum_name name;
};

void sum_name_text(char text[SUM_NAME], const struct sum_name *name)
{
	const char *const path = path_shown(name->path);

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

bool sum_fits(char why[AXIS_WHY], const struct hist *h, const struct hist *more)
{
	if (h->channels == more->channels)
		return axis_fits(why, &h->axis, &more->axis);
	snprintf(why, AXIS_WHY, "it has %lu channel%s, not %lu", (ul)more->channels,
		 more->channels == 1 ? "" : "s", (ul)h->channels);
	return false;
}

static int add_hist(struct sum *s, const struct hist *more, const struct sum_name *name,
		    struct fail *fail)
{
	struct hist *const h = &s->total.hist;
	struct fail own = {.status = STATUS_OK};
	char why[AXIS_WHY];

	if (!sum_fits(why, h, more))
		return refuse(s, name, STATUS_DATA, why, fail);
	return hist_add(h, more, &own) == 0 ? 0 : refuse(s, name, own.status, own.text, fail);
}

static int add_provenance(struct sum *s, const struct provenance *more, const struct sum_name *name,
			  struct fail *fail)
{
	struct provenance *const from = &s->total.from;

	if (__builtin_add_overflow(from->inputs, more->inputs, &from->inputs) ||
	    __builtin_add_overflow(from->bytes, more->bytes, &from->bytes) ||
	    __builtin_add_overflow(from->skipped, more->skipped, &from->skipped) ||
	    __builtin_add_overflow(from->tail, more->tail, &from->tail))
		return refuse(s, name, STATUS_LIMIT,
			      "the sum of the bytes or inputs is past 2^64 - 1", fail);
	/* If the options differ, the sum has none in particular. */
	if (strcmp(from->options ? from->options : "", more->options ? more->options : "") != 0)
		from->options = NULL;
	return 0;
}

/* ---- parts ---- */

enum { PART = 64, OPTIONS = 1000, WHY = 2 * OPTIONS + 128, LISTED = 8 };

/* "part 1 of 8", or "no part of a larger whole". */
static const char *part_text(char text[PART], const struct provenance *from)
{
	if (from->parts == 1)
		return "no part of a larger whole";
	snprintf(text, PART, "part %lu of %lu", (ul)from->part, (ul)from->parts);
	return text;
}

/* Are both parts of one whole, counted alike from inputs that did not change? False: why not. */
static bool parts_fit(char why[WHY], const struct provenance *sum, const struct provenance *more)
{
	const char *const a = more->options ? more->options : "", *const b = sum->options
										     ? sum->options
										     : "";
	char this[PART], first[PART];

	if (more->parts != sum->parts)
		snprintf(why, WHY, "it is %s, and that is %s", part_text(this, more),
			 part_text(first, sum));
	else if (sum->parts > 1 && strcmp(a, b) != 0)
		snprintf(why, WHY,
			 "parts of one whole have the same options, and it has '%.*s', not '%.*s'",
			 OPTIONS, a, OPTIONS, b);
	else if (sum->parts > 1 && sum->state != more->state)
		snprintf(
			why, WHY,
			"an input changed between part %lu and part %lu, or is a copy with another "
			"time of modification (cp -p and rsync -t keep it)",
			(ul)sum->part, (ul)more->part);
	else
		return true;
	return false;
}

/* Remembers a part of a whole. */
static int note_part(struct sum *s, uint32_t part, const struct sum_name *name, struct fail *fail)
{
	if (s->documents == s->room) {
		const size_t room = s->room > 0 ? 2 * s->room : 16;
		struct sum_part *const more = realloc(s->parts, room * sizeof(*more));
		if (!more)
			return fail_errno(fail, "the names of %zu parts", room);
		s->parts = more;
		s->room = room;
	}
	s->parts[s->documents] = (struct sum_part){part, s->documents, *name};
	return 0;
}

/* Equal parts sort in the order in which they were added: so messages do not depend on qsort. */
static int by_part(const void *a, const void *b)
{
	const struct sum_part *const x = a, *const y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* "FILE and FILE: both are part 2 of 3" */
static int refuse_twice(const struct sum *s, const struct sum_part *two, struct fail *fail)
{
	char name[SUM_NAME], other[SUM_NAME];

	sum_name_text(name, &two[0].name);
	sum_name_text(other, &two[1].name);
	return fail_set(fail, STATUS_DATA, "%s and %s: both are part %lu of %lu", name, other,
			(ul)two->part, (ul)s->total.from.parts);
}

int sum_finish(struct sum *s, struct fail *fail)
{
	struct provenance *const from = &s->total.from;
	const uint64_t missing = from->parts - s->documents;
	char one[SUM_NAME], list[LISTED * 12] = "", more[48] = "";
	uint64_t part = 1, listed = 0;
	size_t used = 0;

	assert(s->documents > 0);
	/* Rows of --each, none of which begins an input, are of one input all the same. */
	if (from->parts == 1 && from->inputs == 0 && from->bytes > 0)
		from->inputs = 1;
	if (from->parts == 1)
		return 0;
	qsort(s->parts, s->documents, sizeof(*s->parts), by_part);
	for (uint64_t i = 1; i < s->documents; i++)
		if (s->parts[i].part == s->parts[i - 1].part)
			return refuse_twice(s, &s->parts[i - 1], fail);
	/* No part is there twice, so `missing` is how many parts are missing. */
	if (missing == 0) {
		from->part = from->parts = 1;
		from->state = 0;
		return 0;
	}
	for (uint64_t i = 0; listed < missing && listed < LISTED; part++) {
		if (i < s->documents && s->parts[i].part == part) {
			i++;
			continue;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%llu",
					 listed++ > 0 ? ", " : "", (unsigned long long)part);
	}
	if (missing > LISTED)
		snprintf(more, sizeof(more), " and %llu more",
			 (unsigned long long)missing - LISTED);
	sum_name_text(one, &s->first);
	return fail_set(fail, STATUS_DATA, "%s is a part of %lu; part%s %s%s %s missing", one,
			(ul)from->parts, missing == 1 ? "" : "s", list, more,
			missing == 1 ? "is" : "are");
}

/* ---- documents ---- */

int sum_add(struct sum *s, struct document *document, const struct sum_name *name,
	    struct fail *fail)
{
	struct provenance *const from = &document->from;
	char text[SUM_NAME], why[WHY];

	if (from->partial) {
		sum_name_text(text, name);
		return fail_set(fail, STATUS_DATA,
				"%s: holds partial counts, of a run that was still going on", text);
	}
	if (s->documents > 0 && !parts_fit(why, &s->total.from, from))
		return refuse(s, name, STATUS_DATA, why, fail);
	if (from->parts > 1 && note_part(s, from->part, name, fail) != 0)
		return -1;
	if (s->documents++ == 0) {
		s->total = *document;
		s->total.from.row_of = NULL;
		s->first = *name;
		*document = (struct document){.options = NULL};
		return 0;
	}
	if (add_hist(s, &document->hist, name, fail) != 0)
		return -1;
	return add_provenance(s, from, name, fail);
}

void sum_free(struct sum *s)
{
	document_free(&s->total);
	free(s->parts);
	*s = (struct sum){.documents = 0};
}

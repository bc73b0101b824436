/* SPDX-License-Identifier: MIT */
/*
 * sum: checks that documents match, and keeps track of the parts of a whole.
 *
 * Parts are kept as a list, not a bitmap, because a document may claim to be one of 2^32 - 1.
 */
#include "document/sum.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "hist/series.h"

typedef unsigned long ul;

struct sum_part {
	uint32_t part;
	uint64_t order; /* number of parts added before it */
	char *name;     /* its document's name; owned */
};

/* "FILE cannot be added to FILE: why" */
static int sum_refuse(const struct sum *s, const struct document *other, enum status status,
		      const char *why, struct fail *fail)
{
	return fail_set(fail, status, "%s cannot be added to %s: %s", other->name, s->total.name,
			why);
}

bool sum_fits(char why[AXIS_WHY], const struct hist *h, const struct hist *other)
{
	return series_fit(why, h, other) && axis_fits(why, &h->axis, &other->axis);
}

static int add_hist(struct sum *s, const struct document *other, struct fail *fail)
{
	struct hist *const h = &s->total.hist;
	struct fail own = {.status = STATUS_OK};
	char why[AXIS_WHY];

	if (!sum_fits(why, h, &other->hist))
		return sum_refuse(s, other, STATUS_DATA, why, fail);
	return hist_add(h, &other->hist, &own) == 0
		       ? 0
		       : sum_refuse(s, other, own.status, own.text, fail);
}

static int add_provenance(struct sum *s, const struct document *document, struct fail *fail)
{
	struct provenance *const from = &s->total.from;
	const struct provenance *const other = &document->from;

	if (__builtin_add_overflow(from->inputs, other->inputs, &from->inputs) ||
	    __builtin_add_overflow(from->bytes, other->bytes, &from->bytes) ||
	    __builtin_add_overflow(from->skipped, other->skipped, &from->skipped) ||
	    __builtin_add_overflow(from->tail, other->tail, &from->tail) ||
	    __builtin_add_overflow(from->bad, other->bad, &from->bad))
		return sum_refuse(s, document, STATUS_LIMIT,
				  "the sum of the bytes or inputs exceeds 2^64 - 1", fail);
	/* If the options differ, the sum records none. */
	if (from->options && (!other->options || strcmp(from->options, other->options) != 0))
		from->options = NULL;
	return 0;
}

/* ---- parts ---- */

enum { OPTIONS = 1000, WHY = 2 * OPTIONS + 128, LISTED = 8 };

/* Are both parts of one whole, with the same options and unchanged inputs? False: why not. */
static bool parts_fit(char why[WHY], const struct provenance *sum, const struct provenance *other)
{
	const char *const a = other->options ? other->options : "", *const b =
									    sum->options
										    ? sum->options
										    : "";

	if (other->parts != sum->parts)
		snprintf(why, WHY, "it is part %lu of %lu, not of %lu", (ul)other->part,
			 (ul)other->parts, (ul)sum->parts);
	else if (sum->parts > 1 && strcmp(a, b) != 0)
		snprintf(why, WHY,
			 "parts must have the same options, but it has '%.*s', not '%.*s'", OPTIONS,
			 a, OPTIONS, b);
	else if (sum->parts > 1 && sum->state != other->state)
		snprintf(why, WHY,
			 "an input changed between part %lu and part %lu, it is a copy with "
			 "another modification time (cp -p and rsync -t keep it), or only one of "
			 "the parts was written by a version before 0.5",
			 (ul)sum->part, (ul)other->part);
	else
		return true;
	return false;
}

/* Record a part of a whole. */
static int note_part(struct sum *s, const struct document *document, struct fail *fail)
{
	struct sum_part *const grown = realloc(s->parts, (s->documents + 1) * sizeof(*grown));

	if (!grown)
		return fail_errno(fail, "%s", document->name);
	s->parts = grown;
	grown[s->documents] =
		(struct sum_part){document->from.part, s->documents, strdup(document->name)};
	return grown[s->documents].name ? 0 : fail_errno(fail, "%s", document->name);
}

/* Sort equal parts in the order they were added, so that messages do not depend on qsort. */
static int by_part(const void *a, const void *b)
{
	const struct sum_part *const x = a, *const y = b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

int sum_finish(struct sum *s, struct fail *fail)
{
	struct provenance *const from = &s->total.from;
	const struct sum_part *const parts = s->parts;
	const uint64_t missing = from->parts - s->documents;
	char list[LISTED * 12] = "", more[48] = "";
	size_t used = 0;

	assert(s->documents > 0);
	/* Rows of --each that all start in the middle of an input still come from one. */
	if (from->parts == 1 && from->inputs == 0 && from->bytes > 0)
		from->inputs = 1;
	if (from->parts == 1)
		return 0;
	qsort(s->parts, s->documents, sizeof(*s->parts), by_part);
	for (uint64_t i = 1; i < s->documents; i++)
		if (parts[i].part == parts[i - 1].part)
			return fail_set(fail, STATUS_DATA, "%s and %s are both part %lu of %lu",
					parts[i - 1].name, parts[i].name, (ul)parts[i].part,
					(ul)from->parts);
	/* There are no duplicates, so `missing` is exact. */
	if (missing == 0) {
		from->part = from->parts = 1;
		from->state = 0;
		return 0;
	}
	uint64_t part = 1, listed = 0;
	for (uint64_t i = 0; listed < missing && listed < LISTED; part++) {
		if (i < s->documents && parts[i].part == part)
			i++;
		else
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%llu",
						 listed++ > 0 ? ", " : "",
						 (unsigned long long)part);
	}
	if (missing > LISTED)
		snprintf(more, sizeof(more), " and %llu more",
			 (unsigned long long)missing - LISTED);
	return fail_set(fail, STATUS_DATA, "%s is one of %lu parts; part%s %s%s %s missing",
			s->total.name, (ul)from->parts, missing == 1 ? "" : "s", list, more,
			missing == 1 ? "is" : "are");
}

/* ---- documents ---- */

int sum_add(struct sum *s, struct document *document, struct fail *fail)
{
	struct provenance *const from = &document->from;
	char why[WHY];

	if (from->partial)
		return fail_set(fail, STATUS_DATA,
				"%s holds the partial counts of an unfinished run", document->name);
	if (s->documents > 0 && !parts_fit(why, &s->total.from, from))
		return sum_refuse(s, document, STATUS_DATA, why, fail);
	if (from->parts > 1 && note_part(s, document, fail) != 0)
		return -1;
	if (s->documents++ > 0)
		return add_hist(s, document, fail) != 0 ? -1 : add_provenance(s, document, fail);
	s->total = *document;
	*document = (struct document){.options = NULL};
	return 0;
}

/* Add all documents in a file, in order. */
static int add_documents(struct sum *sum, const char *path, struct fail *fail)
{
	const uint64_t before = sum->documents;
	struct documents *documents;
	struct document document;
	int rc;

	if (documents_open(&documents, path, fail) != 0)
		return -1;
	while ((rc = documents_next(documents, &document, fail)) > 0) {
		rc = sum_add(sum, &document, fail);
		document_free(&document);
		if (rc != 0)
			break;
	}
	documents_close(documents);
	if (rc == 0 && sum->documents == before)
		rc = fail_set(fail, STATUS_DATA, "%s holds no histogram", path_shown(path));
	return rc;
}

int merge_files(struct sum *sum, char *const *paths, size_t count, struct fail *fail)
{
	*sum = (struct sum){.documents = 0};
	for (size_t i = 0; i < count; i++)
		if (add_documents(sum, paths[i], fail) != 0)
			return -1;
	return sum_finish(sum, fail);
}

void sum_free(struct sum *s)
{
	for (uint64_t i = 0; s->parts && i < s->documents; i++)
		free(s->parts[i].name);
	document_free(&s->total);
	free(s->parts);
	*s = (struct sum){.documents = 0};
}

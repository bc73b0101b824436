/* SPDX-License-Identifier: MIT */
/* sum_parts: which parts of a whole are there. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document/held.h"
#include "document/sum.h"

typedef unsigned long ul;

enum { PART = 96, LISTED = 40, OPTIONS = 1000 };

/* "part 3", "parts 1-4,7"; a long list is cut. */
static const char *part_text(char text[PART], const struct provenance *from)
{
	if (!from->held)
		snprintf(text, PART, "part %lu", (ul)from->part);
	else
		snprintf(text, PART, "parts %.*s%s", LISTED, from->held,
			 strlen(from->held) > LISTED ? "..." : "");
	return text;
}

/* "part 1 of 8", or "no part of a whole". */
static const char *part_of_text(char text[PART], const struct provenance *from)
{
	if (from->parts == 1)
		return "no part of a larger whole";
	const size_t used = strlen(part_text(text, from));
	snprintf(text + used, PART - used, " of %lu", (ul)from->parts);
	return text;
}

bool sum_parts_fit(char why[SUM_PARTS_WHY], const struct provenance *sum,
		   const struct provenance *more)
{
	const char *const a = more->options ? more->options : "", *const b = sum->options
										     ? sum->options
										     : "";
	char this[PART], first[PART];

	if (more->parts != sum->parts) {
		snprintf(why, SUM_PARTS_WHY, "it is %s, and that is %s", part_of_text(this, more),
			 part_of_text(first, sum));
		return false;
	}
	if (sum->parts == 1)
		return true;
	if (strcmp(a, b) != 0) {
		snprintf(why, SUM_PARTS_WHY,
			 "parts of one whole have the same options, and it has '%.*s', not '%.*s'",
			 OPTIONS, a, OPTIONS, b);
		return false;
	}
	/* A state of 0 is that of a writer which did not know it. */
	if (sum->state == more->state || sum->state == 0 || more->state == 0)
		return true;
	snprintf(why, SUM_PARTS_WHY,
		 "an input changed between %s and %s, or is a copy with another time of "
		 "modification (cp -p and rsync "
		 "-t keep it)",
		 part_text(first, sum), part_text(this, more));
	return false;
}

static int note(struct sum *s, const struct held_range *range, const struct sum_name *name,
		struct fail *fail)
{
	if (s->ranges == s->room) {
		const size_t room = s->room > 0 ? 2 * s->room : 16;
		struct sum_part *const more = realloc(s->parts, room * sizeof(*more));
		if (!more)
			return fail_errno(fail, "the names of %zu parts", room);
		s->parts = more;
		s->room = room;
	}
	s->parts[s->ranges] = (struct sum_part){.name = *name, .order = s->ranges, .range = *range};
	s->ranges++;
	return 0;
}

/* Kept as a list, not as a bit for each part: there may be 2^32 - 1 parts. */
int sum_note_parts(struct sum *s, const struct provenance *from, const struct sum_name *name,
		   struct fail *fail)
{
	struct held_range range = {from->part, from->part};
	const char *held = from->held;

	if (from->parts == 1)
		return 0;
	if (!held)
		return note(s, &range, name, fail);
	while (held_next(&held, &range) > 0)
		if (note(s, &range, name, fail) != 0)
			return -1;
	return 0;
}

/* Equal ones in the order in which they were added, so that messages do not depend on the sort. */
static int by_part(const void *a, const void *b)
{
	const struct sum_part *const x = a, *const y = b;

	if (x->range.first != y->range.first)
		return x->range.first < y->range.first ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* "FILE and FILE: both are part 2 of 3" */
static int refuse_twice(const struct sum *s, const struct sum_part *one, const struct sum_part *two,
			struct fail *fail)
{
	char name[SUM_NAME], other[SUM_NAME];

	sum_name_text(name, &one->name);
	sum_name_text(other, &two->name);
	const bool sums =
		one->range.first != one->range.last || two->range.first != two->range.last;
	return fail_set(fail, STATUS_DATA, "%s and %s: both %s part %lu of %lu", name, other,
			sums ? "hold" : "are", (ul)two->range.first, (ul)s->total.from.parts);
}

/* Sorts them. -1: a part is there twice. */
static int sort(struct sum *s, struct fail *fail)
{
	qsort(s->parts, s->ranges, sizeof(*s->parts), by_part);
	/* No part up to here is there twice, so the range before this one reaches furthest. */
	for (size_t i = 1; i < s->ranges; i++)
		if (s->parts[i].range.first <= s->parts[i - 1].range.last)
			return refuse_twice(s, &s->parts[i - 1], &s->parts[i], fail);
	return 0;
}

/* How many numbers between `last` and `next` are missing; the first few are added to the list. */
static uint64_t missing_between(char *list, size_t room, uint64_t listed, uint64_t last,
				uint64_t next)
{
	for (uint64_t k = last + 1; k < next && listed + (k - last) <= 8; k++) {
		const size_t used = strlen(list);
		snprintf(list + used, room - used, "%s%lu", used > 0 ? ", " : "", (ul)k);
	}
	return next - last - 1;
}

/* Writes the list of the parts that are there for the document of the sum. */
static int list_held(struct sum *s, struct fail *fail)
{
	struct held_writer w = {.text = NULL};
	int rc = 0;

	for (size_t i = 0; i < s->ranges && rc == 0; i++)
		rc = held_add(&w, &s->parts[i].range);
	if (rc == 0)
		rc = held_end(&w);
	s->total.held = w.text;
	s->total.from.held = w.text;
	s->total.from.part = s->parts[0].range.first;
	/* A single part needs no list. */
	if (s->ranges == 1 && s->parts[0].range.first == s->parts[0].range.last)
		s->total.from.held = NULL;
	if (rc == 0)
		return 0;
	if (errno != EOVERFLOW)
		return fail_errno(fail, "the list of the parts that are there");
	return fail_set(fail, STATUS_LIMIT,
			"the list of the parts that are there would be too long: add parts that "
			"follow one another");
}

int sum_finish(struct sum *s, bool some, struct fail *fail)
{
	struct provenance *const from = &s->total.from;
	char one[SUM_NAME], list[256] = "", more[64] = "";
	uint64_t missing = 0, last = 0;

	assert(s->documents > 0);
	if (from->parts == 1)
		return 0;
	if (sort(s, fail) != 0)
		return -1;
	for (size_t i = 0; i < s->ranges; last = s->parts[i++].range.last)
		missing +=
			missing_between(list, sizeof(list), missing, last, s->parts[i].range.first);
	missing += missing_between(list, sizeof(list), missing, last, (uint64_t)from->parts + 1);
	if (missing == 0) {
		from->part = from->parts = 1;
		from->state = 0;
		return 0;
	}
	if (some)
		return list_held(s, fail);
	if (missing > 8)
		snprintf(more, sizeof(more), " and %llu more", (unsigned long long)missing - 8);
	sum_name_text(one, &s->first);
	return fail_set(fail, STATUS_DATA,
			"%s is a part of %lu; part%s %s%s %s missing (--merge=some adds those that "
			"are there)",
			one, (ul)from->parts, missing == 1 ? "" : "s", list, more,
			missing == 1 ? "is" : "are");
}

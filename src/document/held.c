/* SPDX-License-Identifier: MIT */
/* held: a list of ranges, read and written. */
#include "document/held.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_TEXT 24 /* ",4294967295-4294967295" */

/* A number from 1 to 2^32 - 1 without leading zeros; NULL: it is not one. */
static const char *number(const char *p, uint32_t *n)
{
	uint64_t value = 0;

	if (*p < '1' || *p > '9')
		return NULL;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint64_t)(*p - '0');
		if (value > UINT32_MAX)
			return NULL;
	}
	*n = (uint32_t)value;
	return p;
}

int held_next(const char **text, struct held_range *range)
{
	const char *p = *text;

	if (*p == '\0')
		return 0;
	p = number(p, &range->first);
	if (!p)
		return -1;
	range->last = range->first;
	if (*p == '-' && (!(p = number(p + 1, &range->last)) || range->last <= range->first))
		return -1;
	if (*p != '\0' && (*p != ',' || p[1] == '\0'))
		return -1;
	*text = p + (*p == ',');
	return 1;
}

bool held_is_valid(const char *text, uint32_t parts, uint32_t *first)
{
	struct held_range range;
	uint64_t before = 0, n = 0, held = 0;
	int rc;

	if (strlen(text) >= HELD_TEXT)
		return false;
	while ((rc = held_next(&text, &range)) > 0) {
		/* Between two ranges at least one part is missing. */
		if ((n > 0 && range.first <= before + 1) || range.last > parts)
			return false;
		if (n++ == 0)
			*first = range.first;
		before = range.last;
		held += (uint64_t)range.last - range.first + 1;
	}
	return rc == 0 && n > 0 && held < parts;
}

static int write_open(struct held_writer *w)
{
	char range[RANGE_TEXT];
	const char *const comma = w->used > 0 ? "," : "";
	const unsigned long first = w->open.first, last = w->open.last;

	if (first == 0)
		return 0;
	const int n = first == last
			      ? snprintf(range, sizeof(range), "%s%lu", comma, first)
			      : snprintf(range, sizeof(range), "%s%lu-%lu", comma, first, last);
	if (w->used + (size_t)n >= HELD_TEXT) {
		errno = EOVERFLOW;
		return -1;
	}
	if (w->used + (size_t)n >= w->room) {
		const size_t room = w->room > 0 ? 2 * w->room : 64;
		char *const text = realloc(w->text, room);
		if (!text)
			return -1;
		w->text = text;
		w->room = room;
	}
	memcpy(w->text + w->used, range, (size_t)n + 1);
	w->used += (size_t)n;
	return 0;
}

int held_add(struct held_writer *w, const struct held_range *range)
{
	if (w->open.first > 0 && (uint64_t)w->open.last + 1 == range->first) {
		w->open.last = range->last;
		return 0;
	}
	if (write_open(w) != 0)
		return -1;
	w->open = *range;
	return 0;
}

int held_end(struct held_writer *w)
{
	const int rc = write_open(w);

	w->open = (struct held_range){0, 0};
	return rc;
}

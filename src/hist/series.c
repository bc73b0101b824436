/* SPDX-License-Identifier: MIT */
/* series: the names of channels, and channels by name. */
#include "hist/series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *series_head(const struct hist *h)
{
	static const char *const HEADS[] = {"channel", "column", "key"};

	return HEADS[h->what];
}

const char *series_name(const struct hist *h, uint32_t channel, char number[NUMBER_TEXT])
{
	if (h->name && h->name[channel])
		return h->name[channel];
	number_format_count(number, h->first + channel);
	return number;
}

const char *series_label(char text[SERIES_LABEL], const struct hist *h, uint32_t channel)
{
	char number[NUMBER_TEXT];

	text[0] = '\0';
	if (series_many(h) && h->channels > 0)
		snprintf(text, SERIES_LABEL, "%s %.60s", series_head(h),
			 series_name(h, channel, number));
	return text;
}

/* ---- names ---- */

int series_set(struct hist *h, enum series what, const char *const *name, struct fail *fail)
{
	h->what = what;
	h->name = calloc((size_t)h->channels + 1, sizeof(*h->name));
	for (uint32_t c = 0; c < h->channels; c++)
		if (!h->name || !(h->name[c] = strdup(name[c])))
			return fail_errno(fail, "the names of channels");
	return 0;
}

int series_set_pairs(struct hist *h, struct fail *fail)
{
	char text[NUMBER_TEXT];

	h->name = calloc((size_t)h->channels + 1, sizeof(*h->name));
	for (uint32_t c = 0; c < h->channels; c++) {
		snprintf(text, sizeof(text), h->channels > 2 ? "%c%lu" : "%c", "IQ"[c % 2],
			 (unsigned long)c / 2);
		if (!h->name || !(h->name[c] = strdup(text)))
			return fail_errno(fail, "the names of channels");
	}
	return 0;
}

int series_set_like(struct hist *h, const struct hist *like, struct fail *fail)
{
	return like->name ? series_set(h, like->what, (const char *const *)like->name, fail) : 0;
}

/* ---- channels by name ---- */

/* Numbers have no zeros before them, so the longer one is larger. */
int series_compare(bool whole, const char *a, const char *b)
{
	const size_t m = whole ? strlen(a) : 0, n = whole ? strlen(b) : 0;

	return m != n ? (m < n ? -1 : 1) : strcmp(a, b);
}

bool series_find(const struct hist *h, const struct hist *other, uint32_t channel, uint32_t *found)
{
	uint32_t first = 0, end = h->what == SERIES_KEYS ? h->channels : 0;

	*found = channel;
	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;
		const int order =
			series_compare(h->whole_keys, other->name[channel], h->name[middle]);
		*found = middle;
		if (order == 0)
			return true;
		first = order > 0 ? middle + 1 : first;
		end = order < 0 ? middle : end;
	}
	return h->what != SERIES_KEYS;
}

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

/* The beginning of the character of UTF-8 at this byte. */
static size_t series_cut(const char *name, size_t at)
{
	while (at > 0 && ((unsigned char)name[at] & 0xc0) == 0x80)
		at--;
	return at;
}

const char *series_label(char text[SERIES_LABEL], const struct hist *h, uint32_t channel)
{
	char number[NUMBER_TEXT];

	text[0] = '\0';
	if (!series_many(h) || h->channels == 0)
		return text;
	const char *const name = series_name(h, channel, number);
	const size_t n = strlen(name);
	if (n <= 60)
		snprintf(text, SERIES_LABEL, "%s %s", series_head(h), name);
	else
		snprintf(text, SERIES_LABEL, "%s %.*s...%s", series_head(h),
			 (int)series_cut(name, 40), name, name + series_cut(name, n - 17));
	return text;
}

/* ---- names ---- */

static int series_put(struct hist *h, uint32_t channel, const char *name, struct fail *fail)
{
	if (!h->name)
		h->name = calloc(h->channels, sizeof(*h->name));
	if (!h->name || !(h->name[channel] = strdup(name)))
		return fail_errno(fail, "the names of channels");
	return 0;
}

int series_set(struct hist *h, enum series what, const char *const *name, struct fail *fail)
{
	int rc = 0;

	h->what = what;
	for (uint32_t c = 0; c < h->channels && rc == 0; c++)
		rc = series_put(h, c, name[c], fail);
	return rc;
}

int series_set_pairs(struct hist *h, struct fail *fail)
{
	char text[NUMBER_TEXT];
	int rc = 0;

	for (uint32_t c = 0; c < h->channels && rc == 0; c++) {
		snprintf(text, sizeof(text), h->channels > 2 ? "%c%lu" : "%c", "IQ"[c % 2],
			 (unsigned long)c / 2);
		rc = series_put(h, c, text, fail);
	}
	return rc;
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

bool series_fit(char why[AXIS_WHY], const struct hist *h, const struct hist *other)
{
	static const char *const KINDS[] = {"channels", "columns of text", "keys (--by)"};
	const bool keyed = h->what == SERIES_KEYS;
	const bool named = !keyed && h->name && other->name;
	uint32_t c = 0;

	/* Documents of older versions have no names of channels. */
	while (named && c < h->channels && c < other->channels &&
	       strcmp(h->name[c], other->name[c]) == 0)
		c++;
	if (h->what != other->what)
		snprintf(why, AXIS_WHY, "it has %s, not %s", KINDS[other->what], KINDS[h->what]);
	else if (keyed && strcmp(h->by, other->by) != 0)
		snprintf(why, AXIS_WHY, "its keys are %.80s, not %.80s", other->by, h->by);
	else if (keyed && h->whole_keys != other->whole_keys)
		snprintf(why, AXIS_WHY, "only one of them has keys that are text");
	else if (!keyed && h->channels != other->channels)
		snprintf(why, AXIS_WHY, "it has %lu channel%s, not %lu",
			 (unsigned long)other->channels, other->channels == 1 ? "" : "s",
			 (unsigned long)h->channels);
	else if (named && c < h->channels)
		snprintf(why, AXIS_WHY, "its %s %lu is %.60s, not %.60s", series_head(h),
			 (unsigned long)c, other->name[c], h->name[c]);
	else
		return true;
	return false;
}

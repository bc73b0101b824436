/* SPDX-License-Identifier: MIT */
/* hist_keys: the names of keys, their order, and sums by name. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hist/hist.h"
#include "hist/hist_stats.h"

/* ---- order ---- */

/* Numbers have no zeros before them, so the longer one is larger. */
static int compare(bool whole, const char *a, const char *b)
{
	const size_t m = whole ? strlen(a) : 0, n = whole ? strlen(b) : 0;

	return m != n ? (m < n ? -1 : 1) : strcmp(a, b);
}

struct hist_entry {
	uint32_t index;
	bool whole;
	const char *name;
};

static int by_key(const void *a, const void *b)
{
	const struct hist_entry *const x = a, *const y = b;

	return compare(x->whole, x->name, y->name);
}

/* Move element order[i].index of an array to place i, for all i. */
static void move(void *base, size_t size, const struct hist_entry *order, uint32_t n,
		 unsigned char *moved, unsigned char *temp)
{
	unsigned char *const at = base;

	memset(moved, 0, n);
	for (uint32_t first = 0; first < n && size > 0; first++) {
		uint32_t to = first;
		if (moved[first])
			continue;
		memcpy(temp, at + first * size, size);
		for (uint32_t from; (from = order[to].index) != first; to = from) {
			memcpy(at + to * size, at + from * size, size);
			moved[to] = 1;
		}
		memcpy(at + to * size, temp, size);
		moved[to] = 1;
	}
}

int hist_sort_keys(struct hist *h, struct fail *fail)
{
	const uint32_t n = h->channels;
	const size_t bins = h->stride * sizeof(*h->count), figures = sizeof(*h->stats),
		     quantiles = h->asked.n * sizeof(*h->quantile),
		     most = bins > quantiles ? bins : quantiles;
	bool sorted = true;

	for (uint32_t c = 1; c < n && sorted; c++)
		sorted = compare(h->whole_keys, h->key[c - 1].name, h->key[c].name) < 0;
	if (sorted)
		return 0;
	struct hist_entry *const order = calloc(n, sizeof(*order));
	unsigned char *const moved = malloc(n), *const temp = malloc(most + figures);
	const bool good = order && moved && temp;
	for (uint32_t i = 0; i < n && good; i++)
		order[i] = (struct hist_entry){i, h->whole_keys, h->key[i].name};
	if (good) {
		qsort(order, n, sizeof(*order), by_key);
		move(h->key, sizeof(*h->key), order, n, moved, temp);
		move(h->count, bins, order, n, moved, temp);
		move(h->flow, sizeof(*h->flow), order, n, moved, temp);
		if (h->stats) {
			move(h->stats, figures, order, n, moved, temp);
			move(h->quantile, quantiles, order, n, moved, temp);
		}
	}
	free(order);
	free(moved);
	free(temp);
	return good ? 0 : fail_errno(fail, "--by");
}

bool hist_find_key(const struct hist *h, const char *name, uint32_t *channel)
{
	uint32_t first = 0, end = h->channels;

	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;
		const int order = compare(h->whole_keys, name, h->key[middle].name);
		*channel = middle;
		if (order == 0)
			return true;
		first = order > 0 ? middle + 1 : first;
		end = order < 0 ? middle : end;
	}
	return false;
}

/* ---- the keys of a run ---- */

int hist_set_keys(struct hist *h, const struct keys *keys, char *const *names, struct fail *fail)
{
	char text[NUMBER_TEXT];

	h->key = calloc((size_t)h->channels + 1, sizeof(*h->key));
	h->whole_keys = !names;
	for (uint32_t c = 0; c < h->channels && h->key; c++) {
		struct hist_key *const key = &h->key[c];
		const struct hist_flow *const flow = &h->flow[c];
		number_format_count(text, keys->key[c]);
		key->name = strdup(names ? names[keys->key[c]] : text);
		if (!key->name)
			return fail_errno(fail, "--by");
		key->samples = flow->under + flow->over + flow->nan;
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			key->samples += hist_count(h, c, i);
	}
	return h->key ? hist_sort_keys(h, fail) : fail_errno(fail, "--by");
}

/* ---- the keys of documents ---- */

/* Copy an array into a larger one, whose other elements are 0, and free it. NULL: no memory. */
static void *grown(void *array, size_t size, uint32_t n, uint32_t room)
{
	void *const made = calloc(room, size);

	if (made && n > 0)
		memcpy(made, array, n * size);
	if (made)
		free(array);
	return made;
}

/* The same for counts; pages of zeros stay untouched. */
static uint64_t *grown_counts(uint64_t *count, size_t n, size_t room)
{
	uint64_t *const made = calloc(room, sizeof(*made));

	for (size_t i = 0; i < n && made; i++)
		if (count[i] > 0)
			made[i] = count[i];
	if (made)
		free(count);
	return made;
}

/* Make the arrays as long as `room` channels need. */
static int make_room(struct hist *h, uint32_t room, struct fail *fail)
{
	const uint32_t n = h->channels;
	struct hist_flow *const flow = grown(h->flow, sizeof(*flow), n, room);
	h->flow = flow ? flow : h->flow;
	struct hist_key *const key = grown(h->key, sizeof(*key), n, room);
	h->key = key ? key : h->key;
	uint64_t *const count = grown_counts(h->count, n * h->stride, room * h->stride);
	h->count = count ? count : h->count;
	struct hist_stats *const stats = h->stats ? grown(h->stats, sizeof(*stats), n, room) : NULL;
	h->stats = stats ? stats : h->stats;
	return flow && key && count && (stats || !h->stats)
		       ? 0
		       : fail_errno(fail, "counts of %lu keys", (unsigned long)room);
}

int hist_open_keys(struct hist *h, const char *by, bool whole, struct fail *fail)
{
	h->by = strdup(by);
	h->whole_keys = whole;
	return h->by ? make_room(h, 1, fail) : fail_errno(fail, "--by");
}

int hist_add_key(struct hist *h, const char *name, const struct digest *like, struct fail *fail)
{
	const uint32_t n = h->channels, most = keys_most(axis_bins(&h->axis));
	/* A copy, because it may be one of the digests that move. */
	const struct digest same = like && h->stats ? *like : (struct digest){.touched = NULL};

	if (n == most)
		return keys_refuse(most, fail);
	/* Arrays have room for the next power of two. */
	if (n > 0 && (n & (n - 1)) == 0 && make_room(h, 2 * n, fail) != 0)
		return -1;
	h->key[n].name = strdup(name);
	if (!h->key[n].name)
		return fail_errno(fail, "--by");
	h->channels++;
	if (same.touched && digest_open(&h->stats[n].digest, &same.rule, true) != 0)
		return fail_errno(fail, "statistics of %lu keys", (unsigned long)h->channels);
	return 0;
}

/* Keep statistics only if both have them; a histogram without keys follows the other. */
static int match_stats(struct hist *h, const struct hist *other, struct fail *fail)
{
	static const struct quantiles none = {.n = 0};

	if (!other->stats || (!h->stats && h->channels > 0))
		hist_drop_stats(h);
	else if (!h->stats)
		h->stats = calloc(1, sizeof(*h->stats));
	else
		return 0;
	return !other->stats || h->channels > 0 || (h->stats && hist_ask(h, &none) == 0)
		       ? 0
		       : fail_errno(fail, "statistics");
}

int hist_add_keys(struct hist *h, const struct hist *other, struct fail *fail)
{
	struct hist known = *h; /* its keys are in order */

	if (other->channels == 0)
		return 0;
	if (match_stats(h, other, fail) != 0)
		return -1;
	for (uint32_t c = 0; c < other->channels; c++) {
		uint32_t at = h->channels;
		known.key = h->key;
		if (!hist_find_key(&known, other->key[c].name, &at)) {
			at = h->channels;
			if (hist_add_key(h, other->key[c].name,
					 other->stats ? &other->stats[c].digest : NULL, fail) != 0)
				return -1;
		}
		struct hist to = hist_view(h, at), one = hist_view(other, c);
		to.by = NULL;
		one.stats = h->stats ? one.stats : NULL;
		if (hist_add(&to, &one, fail) != 0)
			return -1;
		h->rounded |= to.rounded;
		h->key[at].samples += one.samples;
	}
	h->samples += other->samples;
	return hist_sort_keys(h, fail);
}

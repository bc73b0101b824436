/* SPDX-License-Identifier: MIT */
/* hist_keys: keys, their order, and sums by key. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "hist/hist.h"
#include "hist/hist_stats.h"
#include "hist/series.h"

/* ---- order ---- */

struct hist_entry {
	uint32_t index;
	bool whole;
	const char *name;
};

static int by_key(const void *a, const void *b)
{
	const struct hist_entry *const x = a, *const y = b;

	return series_compare(x->whole, x->name, y->name);
}

/* Move element order[i].index of an array to place i, for all i. */
static void keys_move(void *base, size_t size, const struct hist_entry *order, uint32_t n,
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
		sorted = series_compare(h->whole_keys, h->name[c - 1], h->name[c]) < 0;
	if (sorted)
		return 0;
	struct hist_entry *const order = calloc(n, sizeof(*order));
	unsigned char *const moved = malloc(n), *const temp = malloc(most + figures);
	const bool good = order && moved && temp;
	for (uint32_t i = 0; i < n && good; i++)
		order[i] = (struct hist_entry){i, h->whole_keys, h->name[i]};
	if (good) {
		qsort(order, n, sizeof(*order), by_key);
		keys_move(h->name, sizeof(*h->name), order, n, moved, temp);
		keys_move(h->own, sizeof(*h->own), order, n, moved, temp);
		keys_move(h->count, bins, order, n, moved, temp);
		keys_move(h->flow, sizeof(*h->flow), order, n, moved, temp);
		if (h->stats) {
			keys_move(h->stats, figures, order, n, moved, temp);
			keys_move(h->quantile, quantiles, order, n, moved, temp);
		}
	}
	free(order);
	free(moved);
	free(temp);
	return good ? 0 : fail_errno(fail, "--by");
}

/* ---- the keys of a run ---- */

int hist_set_keys(struct hist *h, const struct keys *keys, char *const *names, struct fail *fail)
{
	char text[NUMBER_TEXT];

	h->name = calloc((size_t)h->channels + 1, sizeof(*h->name));
	h->own = calloc((size_t)h->channels + 1, sizeof(*h->own));
	if (!h->name || !h->own)
		return fail_errno(fail, "--by");
	h->whole_keys = !names;
	for (uint32_t c = 0; c < h->channels; c++) {
		const struct hist_flow *const flow = &h->flow[c];
		number_format_count(text, keys->key[c]);
		h->name[c] = strdup(names ? names[keys->key[c]] : text);
		if (!h->name[c])
			return fail_errno(fail, "--by");
		h->own[c] = flow->under + flow->over + flow->nan;
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			h->own[c] += hist_count(h, c, i);
	}
	return hist_sort_keys(h, fail);
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
	char **const name = grown(h->name, sizeof(*name), n, room);
	h->name = name ? name : h->name;
	uint64_t *const own = grown(h->own, sizeof(*own), n, room);
	h->own = own ? own : h->own;
	uint64_t *const count = grown_counts(h->count, n * h->stride, room * h->stride);
	h->count = count ? count : h->count;
	struct hist_stats *const stats = h->stats ? grown(h->stats, sizeof(*stats), n, room) : NULL;
	h->stats = stats ? stats : h->stats;
	return flow && name && own && count && (stats || !h->stats)
		       ? 0
		       : fail_errno(fail, "counts of %lu keys", (unsigned long)room);
}

int hist_open_keys(struct hist *h, const char *by, bool whole, struct fail *fail)
{
	h->what = SERIES_KEYS;
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
	h->name[n] = strdup(name);
	if (!h->name[n])
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

int hist_take_keys(struct hist *h, const struct hist *other, struct fail *fail)
{
	struct hist known = *h; /* its keys are in order */
	uint32_t at;

	if (match_stats(h, other, fail) != 0)
		return -1;
	for (uint32_t c = 0; c < other->channels; c++) {
		known.name = h->name;
		if (!series_find(&known, other, c, &at) &&
		    hist_add_key(h, other->name[c], other->stats ? &other->stats[c].digest : NULL,
				 fail) != 0)
			return -1;
	}
	return hist_sort_keys(h, fail);
}

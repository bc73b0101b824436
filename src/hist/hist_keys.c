/* SPDX-License-Identifier: MIT */
/* hist_keys: the names of keys, and their order. */
#include <stdlib.h>
#include <string.h>

#include "hist/hist.h"

struct hist_entry {
	uint32_t index, number;
	const char *name; /* NULL: the keys are numbers */
};

static int by_key(const void *a, const void *b)
{
	const struct hist_entry *const x = a, *const y = b;

	if (x->name)
		return strcmp(x->name, y->name);
	return x->number < y->number ? -1 : x->number > y->number;
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

static int name_keys(struct hist *h, const struct hist_entry *order)
{
	char text[NUMBER_TEXT];

	for (uint32_t c = 0; c < h->channels; c++) {
		const struct hist_flow *const flow = &h->flow[c];
		number_format_count(text, order[c].number);
		h->key[c].name = strdup(order[c].name ? order[c].name : text);
		if (!h->key[c].name)
			return -1;
		h->key[c].samples = flow->under + flow->over + flow->nan;
		for (uint32_t i = 0; i < axis_bins(&h->axis); i++)
			h->key[c].samples += hist_count(h, c, i);
	}
	return 0;
}

int hist_set_keys(struct hist *h, const struct keys *keys, char *const *names, struct fail *fail)
{
	const uint32_t n = h->channels;
	const size_t bins = h->stride * sizeof(*h->count), figures = sizeof(*h->stats),
		     quantiles = h->asked.n * sizeof(*h->quantile),
		     most = bins > quantiles ? bins : quantiles;
	struct hist_entry *const order = calloc(n + 1, sizeof(*order));
	unsigned char *const moved = malloc(n + 1), *const temp = malloc(most + figures);

	h->key = calloc(n + 1, sizeof(*h->key)); /* one more, so that the size is never 0 */
	h->whole_keys = !names;
	const bool good = order && moved && temp && h->key;
	for (uint32_t i = 0; i < n && good; i++)
		order[i] = (struct hist_entry){i, keys->key[i], names ? names[keys->key[i]] : NULL};
	if (good) {
		qsort(order, n, sizeof(*order), by_key);
		move(h->count, bins, order, n, moved, temp);
		move(h->flow, sizeof(*h->flow), order, n, moved, temp);
		if (h->stats) {
			move(h->stats, figures, order, n, moved, temp);
			move(h->quantile, quantiles, order, n, moved, temp);
		}
	}
	const int rc = good && name_keys(h, order) == 0 ? 0 : fail_errno(fail, "--by");
	free(order);
	free(moved);
	free(temp);
	return rc;
}

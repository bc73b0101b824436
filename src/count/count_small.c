/* SPDX-License-Identifier: MIT */
/*
 * count_small: with statistics, units of integers that are all small are counted as codes, which
 * replaces bins, digest and sums: these take most of the time. When the small integers settle, bins
 * and statistics are computed from their counts.
 */
#include "count/counter.h"

#include <stdlib.h>

#include "base/minmax.h"

#define SMALL ((size_t)1 << 16) /* number of small integers */
#define TABLES 2u
#define WAIT 31u /* units between two looks for small ones, at most */

void small_choose(struct counting *c)
{
	if (c->channels > 1 || c->type.code_bytes <= 2 || c->type.kind == SAMPLE_FLOAT)
		return;
	const enum cells_load load = cells_load(&c->counted),
			      word = c->counted.code_bytes == 8 ? LOAD_KEY64 : LOAD_KEY32;
	const uint64_t bias = (uint64_t)-sample_min(&c->type);

	c->memory += TABLES * SMALL * sizeof(uint32_t);
	c->small = (struct counting_small){
		.rule = {.kind = BIN_SHIFT,
			 .bins = SMALL,
			 .bias = bias,
			 .first = bias - (bias > 0 ? SMALL / 2 : 0),
			 .span = SMALL - 1},
		.cells = cells_best()->cells[load][BIN_SHIFT],
		.extent = cells_best()->extent[load][0],
		.word_cells = cells_best()->cells[word][c->binning.kind],
		.word_extent = cells_best()->extent[word][c->auto_bins.log],
	};
}

int small_open(struct counter *counter)
{
	counter->small.within = EXTENT_NONE;
	if (counter->c->small.cells)
		counter->small.table = calloc(TABLES * SMALL, sizeof(uint32_t));
	return counter->c->small.cells && !counter->small.table ? -1 : 0;
}

bool small_looks(struct counter *counter)
{
	if (counter->small.pass == 0)
		return true;
	counter->small.pass--;
	return false;
}

bool small_add(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *const c = counter->c;
	const struct extent extent = c->small.extent(samples, n, c->small.rule.bias);
	uint32_t cells[STATS_BLOCK];

	if (extent.least < c->small.rule.first || extent.greatest - c->small.rule.first >= SMALL) {
		counter->small.pass = counter->small.wait;
		counter->small.wait =
			counter->small.wait < WAIT ? 2 * counter->small.wait + 1 : WAIT;
		return false;
	}
	if (counter->pending + counter->small.samples + n > UINT32_MAX)
		counter_flush(counter);
	(void)c->small.cells(&c->small.rule, samples, n, cells);
	add_cells(counter->small.table, SMALL, TABLES, cells, n);
	extent_add(&counter->small.within, &extent);
	counter->small.samples += n;
	counter->stats->digest.pending += n;
	counter->small.wait = 0;
	return true;
}

/* Add the small integers with n keys from `first` up to the bins and the statistics. */
static void settle_word_counts(struct counter *counter, uint64_t first, uint32_t *count, size_t n)
{
	const struct counting *const c = counter->c;
	const size_t size = c->counted.code_bytes == 8 ? 8 : 4;
	unsigned char words[8 * STATS_BLOCK];
	uint32_t cells[STATS_BLOCK], times[STATS_BLOCK];
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t word = (first + i) ^ c->small.rule.bias;
		const uint32_t all = count[i] + count[i + SMALL];
		memcpy(words + used * size, &word, size);
		times[used] = all;
		used += all > 0;
	}
	memset(count, 0, n * sizeof(*count));
	memset(count + SMALL, 0, n * sizeof(*count));
	if (used == 0)
		return;
	stats_add_words(counter->stats, words, times, used);
	if (c->extent) {
		const struct extent more = c->small.word_extent(words, used, c->small.rule.bias);
		bins_cover(counter, &more);
	}
	(void)c->small.word_cells(&counter->bins.binning, words, used, cells);
	for (size_t i = 0; i < used; i++) {
		counter->pending += times[i];
		if (c->method == COUNT_PRIVATE)
			counter->table[cells[i]] += times[i];
		else
			counts_add_cell(counter->counts, cells[i], times[i]);
	}
}

void small_settle(struct counter *counter)
{
	const uint64_t base = counter->c->small.rule.first;
	const size_t end = (size_t)(counter->small.within.greatest - base) + 1;
	size_t at = (size_t)(counter->small.within.least - base);

	counter->small.samples = 0;
	counter->small.within = EXTENT_NONE;
	for (size_t some; at < end; at += some) {
		some = lesser(end - at, STATS_BLOCK);
		settle_word_counts(counter, base + at, counter->small.table + at, some);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * count_small: with statistics, blocks of integers that are all small are counted as codes, which
 * replaces bins, digest and sums: these take most of the time. When the small integers settle, bins
 * and statistics are computed from their counts.
 */
#include "count/counter.h"

#include <stdlib.h>

#include "base/minmax.h"

#define SMALL ((size_t)1 << 16) /* number of small integers of all channels together */
#define WAIT 64u                /* blocks between two looks for small ones, at most */

/* Two tables for one channel, because neighbouring samples are often equal. */
static unsigned tables_of(const struct counting *c)
{
	return c->channels > 1 ? 1 : 2;
}

/* Bytes that a counter needs for them. */
static size_t small_bytes(const struct counting *c)
{
	return (tables_of(c) * SMALL + COUNT_BLOCK) * sizeof(uint32_t);
}

void small_choose(struct counting *c)
{
	size_t each = SMALL; /* small integers of a channel */

	if (layout_is_many(c->channels) || c->type.code_bytes <= 2 || c->type.kind == SAMPLE_FLOAT)
		return;
	while (each * c->channels > SMALL)
		each /= 2;
	const enum cells_load load = cells_load(&c->counted);
	const uint64_t bias = (uint64_t)-sample_min(&c->type);

	c->memory += small_bytes(c);
	c->small = (struct counting_small){
		.rule = {.kind = BIN_SHIFT,
			 .bins = (uint32_t)each,
			 .bias = bias,
			 .first = bias - (bias > 0 ? each / 2 : 0),
			 .span = each - 1},
		.cells = cells_best()->cells[load][BIN_SHIFT],
		.extent = cells_best()->extent[load][0],
	};
}

size_t counting_leave_small(struct counting *c)
{
	const size_t bytes = c->small.cells ? small_bytes(c) : 0;

	c->small.cells = NULL;
	c->memory -= bytes;
	return bytes;
}

int small_open(struct counter *counter)
{
	const struct counting *const c = counter->c;
	if (!c->small.cells)
		return 0;
	counter->small.within = EXTENT_NONE;
	counter->small.table = calloc(1, small_bytes(c));
	if (!counter->small.table)
		return -1;
	counter->small.base = counter->small.table + tables_of(c) * SMALL;
	for (uint32_t i = 0; i < COUNT_BLOCK; i++)
		counter->small.base[i] = i % c->channels * c->small.rule.bins;
	return 0;
}

size_t small_add(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *const c = counter->c;
	const struct binning *const rule = &c->small.rule;
	const size_t block = COUNT_BLOCK / c->channels * c->channels;
	struct counter_small *const small = &counter->small;
	uint32_t cells[COUNT_BLOCK];
	size_t done = 0;

	for (size_t some; done < n && small->pass == 0; done += some) {
		some = lesser(n - done, block);
		const struct extent extent = c->small.extent(samples, some, rule->bias);
		if (extent.least < rule->first || extent.greatest - rule->first >= rule->bins) {
			small->wait = lesser(2 * small->wait + 1, WAIT);
			small->pass = small->wait * block;
			break;
		}
		(void)c->small.cells(rule, samples, some, cells);
		if (c->channels > 1)
			add_base(cells, small->base, some);
		add_cells(small->table, SMALL, tables_of(c), cells, some);
		extent_add(&small->within, &extent);
		small->samples += some;
		small->wait = 0;
		samples += some * c->type.code_bytes;
	}
	return done;
}

/* Add the small integers of a channel with n keys from `first` up to its bins and statistics. */
static void settle_keys(struct counter *counter, uint32_t channel, uint64_t first, uint32_t *count,
			size_t n)
{
	const struct counting *const c = counter->c;
	const size_t size = c->counted.code_bytes == 8 ? 8 : 4;
	unsigned char words[8 * STATS_BLOCK];
	uint32_t times[STATS_BLOCK];
	size_t used = 0;

	for (unsigned t = 1; t < tables_of(c); t++) {
		for (size_t i = 0; i < n; i++)
			count[i] += count[i + t * SMALL];
		memset(count + t * SMALL, 0, n * sizeof(*count));
	}
	for (size_t i = 0; i < n; i++) {
		const uint64_t word = (first + i) ^ c->small.rule.bias;
		memcpy(words + used * size, &word, size);
		times[used] = count[i];
		used += count[i] > 0;
	}
	memset(count, 0, n * sizeof(*count));
	if (used == 0)
		return;
	stats_add_words(&counter->stats[channel], words, times, used);
	if (!counter->derives)
		bins_add_words(counter, channel, words, times, used);
	for (size_t i = 0; i < used && counter->derives; i++)
		counter->derived += times[i];
}

void small_settle(struct counter *counter)
{
	const struct binning *const rule = &counter->c->small.rule;
	const struct extent extent = counter->small.within;
	const size_t end = (size_t)(extent.greatest - rule->first) + 1;

	counter->small.samples = 0;
	counter->small.within = EXTENT_NONE;
	for (uint32_t c = 0; c < counter->c->channels; c++) {
		uint32_t *const table = counter->small.table + (size_t)c * rule->bins;
		for (size_t at = (size_t)(extent.least - rule->first), n; at < end; at += n) {
			n = lesser(end - at, STATS_BLOCK);
			settle_keys(counter, c, rule->first + at, table + at, n);
		}
	}
}

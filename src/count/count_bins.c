/* SPDX-License-Identifier: MIT */
/*
 * count_bins: the cells of samples, and the tables that count them.
 *
 * Two increments of the same address depend on each other through memory and take about five cycles
 * each, compared with less than two for different addresses. Neighbouring samples are often equal,
 * so they go to different tables. The entries have 32 bits, because 64 bits would take twice the
 * cache. They are flushed to the totals before an entry can reach 2^32.
 *
 * If the range comes from the samples, the counter finds the least and the greatest of up to 16 KiB
 * of samples, makes its rule as coarse as these require, and then counts them. With --log=auto, the
 * loops report a block with samples beyond the known bins, and only such blocks are searched.
 *
 * Bins of --log=auto that are as wide as the cells of a digest, or wider, hold whole cells. Then
 * samples are added to the statistics only, and the bins follow from these when the counter is
 * flushed (bins_derive).
 */
#include "count/counter.h"

#include <assert.h>

#define PREFETCH 128u /* lines of the totals prefetched together: 8 KiB of L1 */

/* ---- one table for all workers: the totals ----
 *
 * A cell with many samples would be slow, because its cache line would bounce between the cores. So
 * each worker has a small direct-mapped cache of counts. A count goes to the totals when another
 * cell takes its slot. Additions are delayed until the lines of a whole block were prefetched.
 */

/* Add one to each of n cells. */
static void hot_add(struct counter *counter, const uint32_t *cells, size_t n)
{
	uint64_t out[PREFETCH]; /* entries that leave the cache */
	uint64_t *const hot = counter->hot, *const total = counter->counts->cell;

	while (n > 0) {
		const size_t some = n < PREFETCH ? n : PREFETCH;
		size_t used = 0;
		for (size_t i = 0; i < some; i++) {
			uint64_t *const slot = &hot[cells[i] % HOT_ENTRIES];
			const uint64_t old = *slot;
			const bool same = old >> 32 == cells[i];
			out[used] = old;
			used += !same;
			*slot = (same ? old : (uint64_t)cells[i] << 32) + 1;
		}
		for (size_t i = 0; i < used; i++)
			/* cppcheck-suppress uninitvar */
			__builtin_prefetch(&total[out[i] >> 32], 1);
		if (counter->c->alone) {
			for (size_t i = 0; i < used; i++)
				total[out[i] >> 32] += (uint32_t)out[i];
		} else {
			for (size_t i = 0; i < used; i++)
				counts_add_cell(counter->counts, out[i] >> 32, (uint32_t)out[i]);
		}
		cells += some;
		n -= some;
	}
}

static void flush_shared(struct counter *counter)
{
	uint64_t *const hot = counter->hot;

	for (size_t i = 0; i < HOT_ENTRIES; i++) {
		counts_add_cell(counter->counts, hot[i] >> 32, (uint32_t)hot[i]);
		hot[i] = 0;
	}
	counts_add_samples(counter->counts, counter->pending);
	counter->pending = 0;
}

/* ---- samples to cells, and tables to totals ---- */

/* The bias for finding extents (cells_extent_fn). */
static uint64_t extent_bias(const struct counting *c)
{
	return c->type.kind != SAMPLE_FLOAT ? c->binning.bias
	       : c->counted.code_bytes == 8 ? 0x7ff0000000000000
					    : 0x7f800000;
}

static void flush_tables(struct counter *counter)
{
	const struct counting *c = counter->c;

	counts_add(counter->counts,
		   &(struct tables){.samples = counter->pending,
				    .narrow = counter->table,
				    .tables = c->tables,
				    .stride = c->stride,
				    .channels = sample_is_code(&c->type) ? c->channels : 1,
				    .k = counter->bins.k,
				    .extent = counter->bins.extent});
	memset(counter->table, 0, c->tables * c->stride * sizeof(uint32_t));
	counter->pending = 0;
}

void bins_flush(struct counter *counter)
{
	counter->c->method == COUNT_SHARED ? flush_shared(counter) : flush_tables(counter);
}

void bins_cover(struct counter *counter, const struct extent *more)
{
	const struct counting *c = counter->c;
	struct extent all = counter->bins.extent;

	extent_add(&all, more);
	assert(c->method != COUNT_SHARED || c->alone); /* plan.c: no table of totals for two */
	if (extent_equal(&all, &counter->bins.extent))
		return;
	const int k = auto_k_grown(&c->auto_bins, &all, counter->bins.k);
	if (k > counter->bins.k) {
		if (counter->pending > 0)
			bins_flush(counter);
		auto_rule(&counter->bins.binning, &c->auto_bins, k);
		counter->bins.k = k;
	}
	if (c->method == COUNT_SHARED)
		counts_add(counter->counts, &(struct tables){.k = k, .extent = all});
	counter->bins.extent = all;
	counter->bins.knows = auto_know(&counter->bins.binning, &c->auto_bins, &all, k);
}

void bins_add(struct counter *counter, const unsigned char *samples, const unsigned char *ranks,
	      size_t n)
{
	const struct counting *c = counter->c;
	uint32_t cells[COUNT_BLOCK];
	const size_t size = c->counted.code_bytes;

	if (c->extent && !counter->bins.knows) {
		const struct extent more = c->extent(samples, n, extent_bias(c));
		bins_cover(counter, &more);
	}
	for (size_t some; n > 0; n -= some, samples += some * size, ranks += some * size) {
		some = n < COUNT_BLOCK ? n : COUNT_BLOCK;
		if (!c->cells_of(&counter->bins.binning, ranks, some, cells) &&
		    counter->bins.knows) {
			const struct extent more = c->extent(samples, some, extent_bias(c));
			bins_cover(counter, &more);
			(void)c->cells_of(&counter->bins.binning, ranks, some, cells);
		}
		counter->pending += some;
		if (c->channels > 1) {
			add_base(cells, counter->base + counter->channel, some);
			counter->channel = (uint32_t)((counter->channel + some) % c->channels);
		}
		if (c->method == COUNT_PRIVATE)
			add_cells(counter->table, c->stride, c->tables, cells, some);
		else
			hot_add(counter, cells, some);
	}
}

static void add_times(struct counter *counter, size_t cell, uint64_t times)
{
	counter->pending += times;
	if (counter->c->method == COUNT_PRIVATE)
		counter->table[cell] += (uint32_t)times;
	else
		counts_add_cell(counter->counts, cell, times);
}

void bins_add_words(struct counter *counter, uint32_t channel, const unsigned char *words,
		    const uint32_t *times, size_t n)
{
	const struct counting *const c = counter->c;
	uint32_t cells[STATS_BLOCK];

	if (c->extent) {
		const struct extent more = c->word_extent(words, n, extent_bias(c));
		bins_cover(counter, &more);
	}
	(void)c->word_cells(&counter->bins.binning, words, n, cells);
	for (size_t i = 0; i < n; i++)
		add_times(counter, channel * c->channel_cells + cells[i], times[i]);
}

void bins_derive(struct counter *counter)
{
	const struct counting *const c = counter->c;
	unsigned char words[8 * STATS_BLOCK];
	uint32_t times[STATS_BLOCK];

	for (uint32_t channel = 0; channel < c->channels; channel++) {
		const struct stats *const s = &counter->stats[channel];
		const size_t base = channel * c->channel_cells;
		uint32_t index = 0;
		for (size_t n; (n = stats_words(s, &index, words, times)) > 0;)
			bins_add_words(counter, channel, words, times, n);
		add_times(counter, base + cell_under(&counter->bins.binning), s->below);
		add_times(counter, base + cell_over(&counter->bins.binning), s->above);
		add_times(counter, base + cell_nan(&counter->bins.binning), s->nan);
	}
	counter->derived = 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * count: how to count, and counters of samples. counter.h names the files that share them.
 */
#include "count/count.h"

#include <assert.h>
#include <stdlib.h>

#include "base/huge.h"
#include "base/minmax.h"
#include "count/codes.h"
#include "count/counter.h"

#define UNIT_BYTES ((size_t)16 << 10)   /* samples read twice, for extent and counts, from L1 */
#define PER_LINE 16u                    /* entries of a cache line */
#define TABLES_MAX ((size_t)512 << 10)  /* bytes of replicated tables: half of a usual L2 */
#define UNCHECKED ((size_t)1 << 17)     /* samples between two checks of the digests' memory, */
#define UNCHECKED_MOST (16 * UNCHECKED) /* or up to this many while it does not grow */
#define DERIVED_AFTER (2 * DIGEST_FEW)  /* samples in the tables before counter->derives */
#define SMALL_LEAST 8192u /* samples between two flushes for which small_settle pays */

size_t counting_cells(const struct sample_type *type, const struct edges *edges)
{
	return sample_is_code(type) ? (size_t)1 << (8 * type->code_bytes)
				    : (size_t)edges->binning.bins + CELL_EXTRA;
}

/* A block may begin with any channel. */
static size_t base_entries(const struct counting *c)
{
	return sample_is_code(&c->type) ? 0 : (size_t)COUNT_BLOCK + c->channels;
}

/* Choose to count codes: each table has the codes of one channel. */
static void choose_codes(struct counting *c)
{
	const bool bytes = c->type.code_bytes == 1;

	c->method = bytes ? COUNT_BYTES : COUNT_CODES;
	c->tables = bytes ? bytes_tables(c->channels) : c->channels == 1 ? 2 : c->channels;
}

/* Choose to count bins: each table has the bins of all channels. */
static void choose_bins(struct counting *c, const struct edges *edges, bool shared)
{
	const enum cells_load load = cells_load(&c->counted);
	const size_t table = c->cells * sizeof(uint32_t);

	c->auto_bins = edges->auto_bins;
	c->cells_of = cells_best()->cells[load][edges->binning.kind];
	c->extent = c->auto_bins.most > 0 ? cells_best()->extent[load][c->auto_bins.log] : NULL;
	c->method = shared ? COUNT_SHARED : COUNT_PRIVATE;
	c->tables = 1;
	while (!shared && c->tables < 4 && 2 * c->tables * table <= TABLES_MAX)
		c->tables *= 2;
}

/* The bytes of the tables of a counter without keys. */
static size_t table_bytes(const struct counting *c)
{
	const size_t entries = c->method == COUNT_SHARED ? 2 * HOT_ENTRIES : c->tables * c->stride;

	return entries * sizeof(uint32_t);
}

void counting_init(struct counting *c, const struct sample_type *type, const struct edges *edges,
		   const struct layout *layout, bool shared)
{
	const uint32_t bytes = (uint32_t)sample_bytes(type, sample_group(type));
	const struct layout plain = {.record = bytes, .samples = 1, .channels = 1};
	const size_t each = counting_cells(type, edges);

	layout = layout ? layout : &plain;
	*c = (struct counting){
		.type = *type,
		.counted = sample_type_counted(type),
		.binning = edges->binning,
		.layout = *layout,
		.bytes = bytes,
		.load = load_of(type, &(struct missing){.n = 0}),
		.channels = layout->channels,
		.channel_cells = each,
		.cells = each * layout->channels,
	};
	if (sample_is_code(type))
		choose_codes(c);
	else
		choose_bins(c, edges, shared);
	/* An odd number of lines, so that equal cells do not share a cache set. */
	const size_t lines = (sample_is_code(type) ? each : c->cells) / PER_LINE + 1;
	c->stride = (lines | 1) * PER_LINE;
	assert(c->method != COUNT_BYTES || c->stride == BYTES_STRIDE);
	assert(c->method != COUNT_CODES || c->stride == CODES_STRIDE);
	c->memory = table_bytes(c);
	if (layout_is_many(c->channels))
		c->memory += base_entries(c) * sizeof(uint32_t);
}

void counting_set_missing(struct counting *c, const struct missing *missing)
{
	c->load = load_of(&c->type, missing);
}

void counting_keep_stats(struct counting *c, uint32_t digits)
{
	c->stats = true;
	c->digits = digits;
	if (!counting_adds_stats(c))
		return;
	c->memory += c->channels * stats_bytes(&c->counted);
	const enum cells_load word = cells_load_of_words(&c->counted);
	c->word_cells = cells_best()->cells[word][c->binning.kind];
	c->word_extent = cells_best()->extent[word][c->auto_bins.log];
	if (c->binning.kind == BIN_RANK && digits == DIGEST_FINE && c->type.code_bytes > 2)
		c->derived_k = auto_k_of_digits(&c->counted, digits);
	small_choose(c);
}

static struct stats *open_stats(const struct counting *c)
{
	struct stats *const stats = stats_open(&c->counted, c->channels);

	if (stats && (c->digits == 0 ||
		      stats_keep_digest(stats, c->channels, c->digits, false, c->pages) == 0))
		return stats;
	stats_close(stats, c->channels);
	return NULL;
}

/* Allocate the tables of a counter without keys, and its statistics. -1: no memory. */
static int open_tables(struct counter *counter)
{
	const struct counting *const c = counter->c;

	counter->table = huge_zeroed(table_bytes(c));
	counter->hot = (uint64_t *)(void *)counter->table;
	if (counting_adds_stats(c) && !(counter->stats = open_stats(c)))
		return -1;
	return counter->table ? small_open(counter) : -1;
}

static void free_counter(struct counter *counter)
{
	stats_close(counter->stats, counter->c->channels);
	free(counter->table);
	free(counter->small.table);
	free(counter->kept.samples);
	free(counter->kept.n);
	free(counter);
}

struct counter *counter_open(const struct counting *c, struct counts *counts)
{
	struct counter *counter =
		calloc(1, sizeof(*counter) + base_entries(c) * sizeof(*counter->base));
	if (!counter)
		return NULL;
	counter->c = c;
	counter->counts = counts;
	counter->interval = UNCHECKED;
	counter->bins = (struct counter_bins){.binning = c->binning,
					      .k = auto_k(&c->auto_bins, &EXTENT_NONE),
					      .extent = EXTENT_NONE};
	for (size_t i = 0; i < base_entries(c); i++)
		counter->base[i] = (uint32_t)(i % c->channels * c->channel_cells);
	if ((c->keys ? keyed_open : open_tables)(counter) == 0)
		return counter;
	free_counter(counter);
	return NULL;
}

/* ---- statistics of channels ---- */

static void flush_stats(struct counter *counter)
{
	if (counter->small.samples > 0)
		small_settle(counter);
	if (counter->derived > 0)
		bins_derive(counter);
	counts_add_stats(counter->counts, counter->stats);
	for (uint32_t c = 0; c < counter->c->channels; c++)
		stats_clear(&counter->stats[c]);
	counter->digested = 0;
}

void counter_flush(struct counter *counter)
{
	if (counter->small.samples > 0)
		small_settle(counter);
	if (counter->derived > 0)
		flush_stats(counter);
	if (counter->pending == 0)
		return;
	counter->c->keys ? keyed_flush(counter) : bins_flush(counter);
}

void counter_flush_all(struct counter *counter)
{
	counter_flush(counter);
	if (counter->stats)
		flush_stats(counter);
	if (counter->kept.samples)
		keyed_flush_stats(counter);
}

/*
 * Move the statistics to the totals if a count may come near 2^32, or if the digests of all workers
 * take too much memory; then count in the digests of the totals.
 */
static void check_digests(struct counter *counter)
{
	struct stats *const stats = counter->stats;
	uint64_t charged = 0, before = 0;
	bool fits = true;

	for (uint32_t c = 0; c < counter->c->channels; c++) {
		before += stats[c].digest.charged;
		fits &= digest_charge(&stats[c].digest);
		charged += stats[c].digest.charged;
	}
	counter->unchecked = 0;
	const bool grows = charged > before || stats[0].total;
	counter->interval = grows ? UNCHECKED : lesser(2 * counter->interval, UNCHECKED_MOST);
	fits |= charged == 0;
	if (!fits || counter->digested >= UINT32_MAX / 2)
		flush_stats(counter);
	counter->derives &= fits;
	if (!fits)
		counts_share_digests(counter->counts, stats);
	else if (stats[0].total)
		counts_add_stats(counter->counts, NULL);
}

static void count_unchecked(struct counter *counter, size_t n)
{
	counter->digested += n;
	counter->unchecked += n;
	if (counter->c->digits > 0 && counter->unchecked >= counter->interval)
		check_digests(counter);
}

/* The number of samples since the last flush. */
static uint64_t waiting_samples(const struct counter *counter)
{
	return counter->pending + counter->small.samples + counter->derived;
}

/* ---- samples ---- */

/* Count samples whose cells are bins; samples of binned types have been widened. */
static void add_samples(struct counter *counter, const unsigned char *samples,
			const unsigned char *ranks, size_t n)
{
	const struct counting *c = counter->c;

	if (counter->derives)
		counter->derived += n;
	else
		bins_add(counter, samples, ranks, n);
	if (c->finds_whole)
		fractions_find(counter, samples, n);
	if (!counter->stats || c->channels > STATS_FEW)
		return;
	stats_add_channels(counter->stats, c->channels, samples, n);
	count_unchecked(counter, n);
}

/*
 * Count n samples that are not small integers, or not known to be. Samples that only statistics
 * count must be in counter->derived before statistics may be flushed.
 */
static void add_not_small(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *c = counter->c;
	const uint32_t bytes = c->type.code_bytes;
	const size_t most = UNIT_BYTES / c->counted.code_bytes,
		     unit = layout_is_many(c->channels) ? most : most / c->channels * c->channels;
	uint32_t words[UNIT_BYTES / 4], ranks[UNIT_BYTES / 4];
	const uint32_t channel = counter->channel;
	const unsigned char *p = samples;

	if (sample_is_code(&c->type)) {
		counter->pending += n;
		(c->method == COUNT_BYTES ? bytes_add : codes_add)(counter->table, samples, n,
								   c->channels);
		return;
	}
	for (size_t some, left = n; left > 0; left -= some, p += some * bytes) {
		const unsigned char *counted = p, *ranked = p;
		some = lesser(left, unit);
		if (c->words) {
			codes_widen(words, c->words, p, some, bytes);
			counted = ranked = (const unsigned char *)words;
		}
		if (c->ranks) {
			codes_widen(ranks, c->ranks, p, some, bytes);
			ranked = (const unsigned char *)ranks;
		}
		add_samples(counter, counted, ranked, some);
	}
	if (counter->stats && c->channels > STATS_FEW) { /* all samples at once */
		stats_add_across(counter->stats, c->channels, channel, samples, n, c->words);
		count_unchecked(counter, n);
	}
}

/*
 * With --log=auto, bins as wide as the cells of a digest follow from its counts (bins_derive). May
 * the counter stop counting them? Its digests will begin empty, so it does not stop at once.
 */
static bool may_derive(const struct counter *counter)
{
	const struct counting *const c = counter->c;

	return c->derived_k > 0 && counter->bins.k >= c->derived_k &&
	       counter->pending >= DERIVED_AFTER && !counter->stats->total;
}

void counter_add(struct counter *counter, const unsigned char *samples, size_t n)
{
	const size_t bytes = counter->c->type.code_bytes;
	struct counter_small *const small = &counter->small;

	if (waiting_samples(counter) + n > UINT32_MAX) /* no count may reach 2^32 */
		counter_flush(counter);
	if (!counter->derives && may_derive(counter)) {
		counter_flush_all(counter);
		counter->derives = true;
	}
	if (!small->table || waiting_samples(counter) + n < SMALL_LEAST) {
		add_not_small(counter, samples, n);
		return;
	}
	for (size_t some; n > 0; n -= some, samples += some * bytes) {
		some = small_add(counter, samples, n);
		count_unchecked(counter, some);
		if (some > 0)
			continue;
		some = lesser(n, small->pass);
		small->pass -= some;
		add_not_small(counter, samples, some);
	}
}

void counter_close(struct counter *counter)
{
	if (!counter)
		return;
	counter_flush_all(counter);
	free_counter(counter);
}

/* SPDX-License-Identifier: MIT */
/*
 * count: the tables and the loops that fill them.
 *
 * Two increments of the same address depend on each other through memory and take about five cycles
 * each, compared with less than two for different addresses. Neighbouring samples are often equal,
 * so they go to different tables. The entries have 32 bits, because 64 bits would take twice the
 * cache. They are flushed to the totals before an entry can reach 2^32.
 *
 * If the range comes from the samples, the counter finds the least and the greatest of the next
 * 16 KiB of samples, makes its rule as coarse as these require, and then counts them. With
 * --log=auto, the loops report a block with samples beyond the known bins, and the counter finds
 * only the extent of such blocks.
 *
 * With statistics, small integers are counted as codes (add_small): that replaces bins, digest and
 * sums, which take most of the time.
 */
#include "count/count.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "base/little.h"
#include "base/minmax.h"
#include "count/codes.h"

#define BLOCK 512u                    /* samples binned, then counted, while cells[] is in L1 */
#define UNIT_BYTES ((size_t)16 << 10) /* samples read twice, for extent and counts, from L1 */
#define BYTES_UNIT \
	((size_t)1 << 20) /* bytes counted by one call, which ends with a flush of its own */
#define LINE 64u
#define PER_LINE (LINE / sizeof(uint32_t))
#define TABLES_MAX ((size_t)512 << 10) /* bytes of replicated tables: half of a usual L2 */
#define HOT_ENTRIES 1024u              /* 8 KiB of L1 */
#define UNCHECKED ((size_t)1 << 17)    /* samples between two checks of the digests' memory */
#define KEPT ((uint32_t)1 << 17)       /* samples of keys that a counter keeps, at most */
#define INLINE static inline __attribute__((always_inline))
#define SMALL ((size_t)1 << 16) /* number of small integers */
#define SMALL_TABLES 2u
#define SMALL_LEAST 8192u /* samples between two flushes for which settling pays */
#define SMALL_WAIT 31u    /* units between two looks for small ones, at most */
#define PREFETCH 128u     /* lines of the totals prefetched together: 8 KiB of L1 */

struct counter {
	const struct counting *c;
	struct counts *counts;
	uint64_t pending;       /* samples counted since the last flush, at most 2^32 - 1 */
	size_t stride;          /* entries from one table to the next */
	uint32_t *table;        /* c->tables tables */
	struct stats *stats;    /* counting_adds_stats: statistics of each channel; else NULL */
	uint64_t unchecked;     /* samples in stats since check_digests */
	uint32_t *small;        /* c->small_of: counts of small integers in two tables; else NULL */
	uint64_t smalls;        /* samples in small */
	struct extent within;   /* of the samples in small */
	unsigned pass, wait;    /* units not to look at, now and after the next that is not small */
	uint64_t *hot;          /* SHARED: entries of cell << 32 | count, in table's memory */
	struct binning binning; /* the job's rule, or one for the samples seen so far */
	int k;                  /* k of that rule */
	struct extent extent;   /* auto_bins.most > 0: of the samples counted, up to known bins */
	bool knows;             /* the loops can tell whether bins are known (auto_know) */
	/* --by with statistics: samples that are kept until a block of their key is full */
	unsigned char *kept; /* the samples of key i begin at sample i * room */
	uint32_t *kept_of;   /* their number for each key, less than room */
	uint32_t room;
	uint32_t channel; /* PRIVATE, SHARED: channel of the next sample; 0 after whole records */
	uint32_t base[];  /* PRIVATE, SHARED: first cell of channel i % channels */
};

size_t counting_cells(const struct sample_type *type, const struct edges *edges)
{
	return sample_is_code(type) ? (size_t)1 << (8 * type->code_bytes)
				    : (size_t)edges->binning.bins + CELL_EXTRA;
}

static bool holds_codes(const struct counting *c)
{
	return c->method == COUNT_BYTES || c->method == COUNT_CODES;
}

/* A block may begin with any channel. */
static size_t base_entries(const struct counting *c)
{
	return holds_codes(c) ? 0 : (size_t)BLOCK + c->channels;
}

/* Choose to count codes: each table has the codes of one channel. */
static void count_codes(struct counting *c)
{
	const bool bytes = c->type.code_bytes == 1;

	c->method = bytes ? COUNT_BYTES : COUNT_CODES;
	c->tables = bytes ? bytes_tables(c->channels) : c->channels == 1 ? 2 : c->channels;
	c->memory = c->tables * round_up(c->channel_cells * sizeof(uint32_t), LINE) + LINE;
}

/* Choose to count bins: each table has the bins of all channels. */
static void count_bins(struct counting *c, const struct edges *edges, bool shared)
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
	c->memory = shared ? HOT_ENTRIES * 2 * sizeof(uint32_t)
			   : c->tables * round_up(table, LINE) + LINE;
	if (layout_is_many(c->channels))
		c->memory += base_entries(c) * sizeof(uint32_t);
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
		count_codes(c);
	else
		count_bins(c, edges, shared);
}

void counting_set_missing(struct counting *c, const struct missing *missing)
{
	c->load = load_of(&c->type, missing);
}

void counting_keep_stats(struct counting *c, uint32_t channels, uint32_t digits)
{
	c->stats = true;
	c->digits = digits;
	if (!counting_adds_stats(c))
		return;
	c->memory += channels * stats_bytes(&c->counted);
	if (channels > 1 || c->type.code_bytes <= 2 || c->type.kind == SAMPLE_FLOAT)
		return;
	const uint64_t bias = (uint64_t)-sample_min(&c->type);
	c->memory += SMALL_TABLES * SMALL * sizeof(uint32_t);
	c->small = (struct binning){.kind = BIN_SHIFT,
				    .bins = SMALL,
				    .bias = bias,
				    .first = bias - (bias > 0 ? SMALL / 2 : 0),
				    .span = SMALL - 1};
	c->small_of = cells_best()->cells[cells_load(&c->counted)][BIN_SHIFT];
	c->small_extent = cells_best()->extent[cells_load(&c->counted)][0];
	const enum cells_load word = c->counted.code_bytes == 8 ? LOAD_KEY64 : LOAD_KEY32;
	c->cells_of_words = cells_best()->cells[word][c->binning.kind];
	c->extent_of_words = cells_best()->extent[word][c->auto_bins.log];
}

void counting_keep_keys(struct counting *c, uint64_t bytes)
{
	const uint32_t most = keys_most((uint32_t)c->channel_cells - CELL_EXTRA);
	const uint64_t fit = bytes / (c->channel_cells * sizeof(uint32_t));

	c->private = fit < most ? (uint32_t)fit : most;
	c->tables = 1;
	c->cells = most * c->channel_cells;
	c->memory = c->private * c->channel_cells * sizeof(uint32_t) +
		    (c->stats ? KEYS_MOST * sizeof(uint32_t) + KEPT * c->counted.code_bytes : 0);
}

static struct stats *open_stats(const struct counting *c)
{
	struct stats *const stats = stats_open(&c->counted, c->layout.channels);

	if (stats && (c->digits == 0 || stats_keep_digest(stats, c->layout.channels, c->digits,
							  false, c->pages) == 0))
		return stats;
	stats_close(stats, c->layout.channels);
	return NULL;
}

struct counter *counter_open(const struct counting *c, struct counts *counts)
{
	struct counter *counter =
		calloc(1, sizeof(*counter) + base_entries(c) * sizeof(*counter->base));
	if (!counter)
		return NULL;
	counter->c = c;
	counter->counts = counts;
	counter->binning = c->binning;
	counter->k = auto_k(&c->auto_bins, &EXTENT_NONE);
	counter->extent = counter->within = EXTENT_NONE;
	for (size_t i = 0; i < base_entries(c); i++)
		counter->base[i] = (uint32_t)(i % c->channels * c->channel_cells);
	/* An odd number of lines, so that equal cells do not share a cache set. */
	counter->stride =
		round_up(holds_codes(c) ? c->channel_cells : c->cells, PER_LINE) + PER_LINE;
	assert(c->method != COUNT_BYTES || counter->stride == BYTES_STRIDE);
	assert(c->method != COUNT_CODES || counter->stride == CODES_STRIDE);
	const size_t entries =
		c->method == COUNT_SHARED ? HOT_ENTRIES * 2 : c->tables * counter->stride;
	if (c->keys) { /* most of it is never touched */
		counter->table = calloc(c->private * c->channel_cells + 1, sizeof(uint32_t));
		counter->room = STATS_BLOCK;
		counter->kept_of = c->stats ? calloc(KEYS_MOST, sizeof(*counter->kept_of)) : NULL;
		counter->kept = c->stats ? malloc(KEPT * c->counted.code_bytes) : NULL;
	} else {
		counter->table = huge_zeroed(entries * sizeof(uint32_t));
		if (counting_adds_stats(c))
			counter->stats = open_stats(c);
		if (c->small_of)
			counter->small = calloc(SMALL_TABLES * SMALL, sizeof(uint32_t));
	}
	if (!counter->table || (c->small_of && !c->keys && !counter->small) ||
	    (c->keys ? c->stats && (!counter->kept_of || !counter->kept)
		     : counting_adds_stats(c) && !counter->stats)) {
		free(counter->table);
		free(counter->kept_of);
		free(counter->kept);
		free(counter->small);
		stats_close(counter->stats, c->layout.channels);
		free(counter);
		return NULL;
	}
	counter->hot = (uint64_t *)(void *)counter->table;
	return counter;
}

/* Add one to each of n cells in 1, 2 or 4 tables, which are s entries apart. */
INLINE void add_cells(uint32_t *t, size_t s, unsigned tables, const uint32_t *cells, size_t n)
{
	uint64_t two, more; /* pairs of cells, in any order */
	size_t i = 0;

	if (tables == 4) {
		for (; i + 4 <= n; i += 4) {
			memcpy(&two, cells + i, sizeof(two));
			memcpy(&more, cells + i + 2, sizeof(more));
			t[(uint32_t)two]++;
			t[s + (two >> 32)]++;
			t[2 * s + (uint32_t)more]++;
			t[3 * s + (more >> 32)]++;
		}
	} else if (tables == 2) {
		for (; i + 2 <= n; i += 2) {
			t[cells[i]]++;
			t[s + cells[i + 1]]++;
		}
	}
	for (; i < n; i++)
		t[cells[i]]++;
}

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

/*
 * Add base[i] to cells[i]. Groups of a constant size become vectors at any level of optimisation.
 */
static void add_base(uint32_t *restrict cells, const uint32_t *restrict base, size_t n)
{
	enum { GROUP = 16 };
	size_t i = 0;

	for (; i + GROUP <= n; i += GROUP)
		for (size_t k = i; k < i + GROUP; k++)
			cells[k] += base[k];
	for (; i < n; i++)
		cells[i] += base[i];
}

/* The extent of the next n samples. */
static struct extent extent_ahead(const struct counting *c, const unsigned char *p, size_t n)
{
	/* For floats, the bits of infinity (cells_extent_fn). */
	const uint64_t bias = c->type.kind != SAMPLE_FLOAT ? c->binning.bias
			      : c->counted.code_bytes == 8 ? 0x7ff0000000000000
							   : 0x7f800000;

	return c->extent(p, n, bias);
}

/* Add the private cells of the keys so far: no worker uses counts_add_cell for these. */
static void flush_keyed(struct counter *counter)
{
	const struct counting *c = counter->c;
	const uint32_t n = __atomic_load_n(&c->keys->n, __ATOMIC_RELAXED);
	const size_t cells = (n < c->private ? n : c->private) * c->channel_cells;

	counts_add(counter->counts, &(struct tables){.samples = counter->pending,
						     .narrow = cells > 0 ? counter->table : NULL,
						     .tables = 1,
						     .cells = cells,
						     .channels = 1});
	memset(counter->table, 0, cells * sizeof(uint32_t));
	counter->pending = 0;
}

static void flush_tables(struct counter *counter)
{
	const struct counting *c = counter->c;

	counts_add(counter->counts, &(struct tables){.samples = counter->pending,
						     .narrow = counter->table,
						     .tables = c->tables,
						     .stride = counter->stride,
						     .channels = holds_codes(c) ? c->channels : 1,
						     .k = counter->k,
						     .extent = counter->extent});
	memset(counter->table, 0, c->tables * counter->stride * sizeof(uint32_t));
	counter->pending = 0;
}

static void settle(struct counter *counter); /* small integers */

void counter_flush(struct counter *counter)
{
	if (counter->smalls > 0)
		settle(counter);
	if (counter->pending == 0)
		return;
	if (counter->c->keys)
		flush_keyed(counter);
	else if (counter->c->method == COUNT_SHARED)
		flush_shared(counter);
	else
		flush_tables(counter);
}

/*
 * Make the rule fit more samples, of this extent; counts of a finer rule are first flushed to the
 * totals. With COUNT_SHARED, the totals become coarser at once, as no other counter adds to them
 * then.
 */
static void cover(struct counter *counter, const struct extent *more)
{
	const struct counting *c = counter->c;
	struct extent all = counter->extent;

	extent_add(&all, more);
	assert(c->method != COUNT_SHARED || c->alone); /* plan.c: no table of totals for two */
	if (extent_equal(&all, &counter->extent))
		return;
	if (counter->smalls > 0) { /* they may extend it, too */
		settle(counter);
		cover(counter, more);
		return;
	}
	const int k = auto_k_grown(&c->auto_bins, &all, counter->k);
	if (k > counter->k) {
		counter_flush(counter);
		auto_rule(&counter->binning, &c->auto_bins, k);
		counter->k = k;
	}
	if (c->method == COUNT_SHARED)
		counts_add(counter->counts, &(struct tables){.k = k, .extent = all});
	counter->extent = all;
	counter->knows = auto_know(&counter->binning, &c->auto_bins, &all, k);
}

/* ---- small integers ----
 *
 * With statistics, units of integers that are all small are counted as codes. When they settle, the
 * bins and the statistics are computed from their counts.
 */

/* Add the small integers with n keys from `first` up to the bins and the statistics. */
static void settle_some(struct counter *counter, uint64_t first, uint32_t *count, size_t n)
{
	const struct counting *const c = counter->c;
	const size_t size = c->counted.code_bytes == 8 ? 8 : 4;
	unsigned char words[8 * STATS_BLOCK];
	uint32_t cells[STATS_BLOCK], times[STATS_BLOCK];
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t word = (first + i) ^ c->small.bias;
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
		const struct extent more = c->extent_of_words(words, used, c->small.bias);
		cover(counter, &more);
	}
	(void)c->cells_of_words(&counter->binning, words, used, cells);
	for (size_t i = 0; i < used; i++) {
		counter->pending += times[i];
		if (c->method == COUNT_PRIVATE)
			counter->table[cells[i]] += times[i];
		else
			counts_add_cell(counter->counts, cells[i], times[i]);
	}
}

static void settle(struct counter *counter)
{
	const uint64_t base = counter->c->small.first;
	const size_t end = (size_t)(counter->within.greatest - base) + 1;
	size_t at = (size_t)(counter->within.least - base);

	counter->smalls = 0;
	counter->within = EXTENT_NONE;
	for (size_t some; at < end; at += some) {
		some = lesser(end - at, STATS_BLOCK);
		settle_some(counter, base + at, counter->small + at, some);
	}
}

/* Count samples. The words in `ranks`, mostly the samples themselves, give their cells. */
static void add_bins(struct counter *counter, const unsigned char *samples,
		     const unsigned char *ranks, size_t n)
{
	const struct counting *c = counter->c;
	uint32_t cells[BLOCK];
	const size_t size = c->counted.code_bytes;

	for (size_t some; n > 0; n -= some, samples += some * size, ranks += some * size) {
		some = n < BLOCK ? n : BLOCK;
		if (!c->cells_of(&counter->binning, ranks, some, cells) && counter->knows) {
			const struct extent more = extent_ahead(c, samples, some);
			cover(counter, &more);
			(void)c->cells_of(&counter->binning, ranks, some, cells);
		}
		counter->pending += some;
		if (c->channels > 1) {
			add_base(cells, counter->base + counter->channel, some);
			counter->channel = (uint32_t)((counter->channel + some) % c->channels);
		}
		if (c->method == COUNT_PRIVATE)
			add_cells(counter->table, counter->stride, c->tables, cells, some);
		else
			hot_add(counter, cells, some);
	}
}

/* ---- keys (--by) ---- */

/* Count cells of the keys' tables: private ones, or those in the totals. */
static void add_keyed(struct counter *counter, const uint32_t *cells, const uint32_t *index,
		      size_t n)
{
	const size_t each = counter->c->channel_cells;
	const uint32_t private = counter->c->private;
	uint32_t *const table = counter->table;

	/* If all keys are private, do not check each one: 1.3 to 1.5 times as fast. */
	if (__atomic_load_n(&counter->c->keys->n, __ATOMIC_RELAXED) <= private) {
		for (size_t i = 0; i < n; i++)
			table[index[i] * each + cells[i]]++;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const size_t cell = index[i] * each + cells[i];
		if (index[i] < private)
			table[cell]++;
		else
			counts_add_cell(counter->counts, cell, 1);
	}
}

/*
 * ---- statistics of keys ----
 *
 * All workers share the statistics of a key. A worker keeps samples and adds a block of one key at
 * a time, because a few samples take almost as long as a block, and the memory of the statistics
 * then moves from core to core.
 */

/* Add all samples kept. */
static void flush_kept(struct counter *counter)
{
	struct keys *const keys = counter->c->keys;
	const size_t bytes = (size_t)counter->room * counter->c->counted.code_bytes;
	const uint32_t n = __atomic_load_n(&keys->n, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n; i++) {
		if (counter->kept_of[i] > 0)
			keys_add_stats(keys, i, counter->kept + i * bytes, counter->kept_of[i]);
		counter->kept_of[i] = 0;
	}
}

/* Make room for the samples of all keys so far. */
static void divide_kept(struct counter *counter)
{
	const uint32_t n = __atomic_load_n(&counter->c->keys->n, __ATOMIC_RELAXED);

	if (n * counter->room <= KEPT)
		return;
	flush_kept(counter);
	while (n * counter->room > KEPT)
		counter->room /= 2;
}

INLINE void keep_samples(struct counter *counter, const unsigned char *samples,
			 const uint32_t *index, size_t n, uint32_t size)
{
	const uint32_t room = counter->room;

	for (size_t i = 0; i < n; i++, samples += size) {
		const uint32_t key = index[i], before = counter->kept_of[key];
		unsigned char *const own = counter->kept + (size_t)key * room * size;
		memcpy(own + before * size, samples, size);
		counter->kept_of[key] = before + 1;
		if (before + 1 < room)
			continue;
		counter->kept_of[key] = 0;
		keys_add_stats(counter->c->keys, key, own, room);
	}
}

static void add_keyed_stats(struct counter *counter, const unsigned char *samples,
			    const uint32_t *index, size_t n)
{
	const uint32_t size = counter->c->counted.code_bytes;

	divide_kept(counter);
	if (size == 3)
		keep_samples(counter, samples, index, n, 3);
	else if (size == 4)
		keep_samples(counter, samples, index, n, 4);
	else
		keep_samples(counter, samples, index, n, 8);
}

/* ---- statistics of channels ---- */

static void flush_stats(struct counter *counter)
{
	if (counter->smalls > 0)
		settle(counter);
	counts_add_stats(counter->counts, counter->stats);
	for (uint32_t c = 0; c < counter->c->channels; c++)
		stats_clear(&counter->stats[c]);
}

/*
 * Now and then, move the statistics to the totals if a count may come near 2^32, or if the digests
 * of all workers take too much memory; then count in the digests of the totals.
 */
static void check_digests(struct counter *counter)
{
	struct stats *const stats = counter->stats;
	uint64_t charged = 0;
	bool fits = true;

	for (uint32_t c = 0; c < counter->c->channels; c++) {
		fits &= digest_charge(&stats[c].digest);
		charged += stats[c].digest.charged;
	}
	counter->unchecked = 0;
	fits |= charged == 0;
	if (!fits || stats[0].digest.pending >= UINT32_MAX / 2)
		flush_stats(counter);
	if (!fits)
		counts_share_digests(counter->counts, stats);
	else if (stats[0].total)
		counts_add_stats(counter->counts, NULL);
}

static void count_unchecked(struct counter *counter, size_t n)
{
	counter->unchecked += n;
	if (counter->c->digits > 0 && counter->unchecked >= UNCHECKED)
		check_digests(counter);
}

/* ---- whole numbers ---- */

/* Return 0 if adjacent binary64 are surely whole numbers; not for NaN, -0, or 2^51 and more. */
INLINE uint64_t unlike_whole(const unsigned char *p, size_t n)
{
	const double top = 0x1.8p52; /* adding it rounds to a whole number with the same exponent */
	const uint64_t exponent = (uint64_t)0xfff << 52;
	uint64_t differ = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t bits = little64(p + 8 * i);
		const double sum = double_of_bits(bits) + top;
		differ |= (bits_of_double(sum - top) ^ bits) |
			  ((bits_of_double(sum) ^ bits_of_double(top)) & exponent);
	}
	return differ;
}

/* Groups of a constant size become vectors at any level of optimisation. */
static bool surely_whole(const unsigned char *p, size_t n)
{
	enum { GROUP = 16 };
	uint64_t differ = unlike_whole(p + n / GROUP * GROUP * 8, n % GROUP);

	for (size_t i = 0; i < n / GROUP; i++)
		differ |= unlike_whole(p + i * GROUP * 8, GROUP);
	return differ == 0;
}

/* Is any number of a channel, whose samples are `stride` bytes apart, not whole or too big? */
INLINE bool has_fraction(const unsigned char *p, size_t n, size_t stride, uint32_t bytes, bool big)
{
	bool found = false;

	for (size_t i = 0; i < n; i++, p += stride) {
		const uint64_t bits = word_at(p, bytes, big);
		const double x =
			bytes == 8 ? double_of_bits(bits) : (double)float_of_bits((uint32_t)bits);
		const double size = fabs(x), low = size < 0x1p52 ? size : 0; /* of NaN, too */
		found |= low + 0x1p52 - 0x1p52 != low || size > 0x1p53;
	}
	return found;
}

/* Note which channels have such numbers. The samples are whole records, except of many channels. */
static void find_fractions(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *const c = counter->c;
	const uint32_t channels = layout_is_many(c->channels) ? 1 : c->channels,
		       bytes = c->counted.code_bytes;
	const uint64_t known = __atomic_load_n(&counter->counts->fractions, __ATOMIC_RELAXED);
	const size_t stride = (size_t)channels * bytes;
	uint64_t found = 0;

	if (known == 0 && bytes == 8 && !c->counted.big && surely_whole(samples, n))
		return;
	for (uint32_t i = 0; i < channels; i++, samples += bytes) {
		if (known >> i & 1)
			continue;
		const bool any =
			bytes == 8 ? has_fraction(samples, n / channels, stride, 8, c->counted.big)
				   : has_fraction(samples, n / channels, stride, 4, c->counted.big);
		found |= (uint64_t)any << i;
	}
	if (found > 0)
		__atomic_fetch_or(&counter->counts->fractions, found, __ATOMIC_RELAXED);
}

/* Look up the words to count for n codes of 8 or 16 bits. */
static void widen(uint32_t *restrict words, const uint32_t *restrict table, const unsigned char *p,
		  size_t n, uint32_t bytes)
{
	for (size_t i = 0; i < n && bytes == 1; i++)
		words[i] = table[p[i]];
	for (size_t i = 0; i < n && bytes == 2; i++)
		words[i] = table[p[2 * i] | p[2 * i + 1] << 8];
}

/* Count samples whose cells are bins; samples of binned types have been widened. */
static void add_samples(struct counter *counter, const unsigned char *samples,
			const unsigned char *ranks, size_t n)
{
	const struct counting *c = counter->c;

	if (counter->pending + counter->smalls + n > UINT32_MAX) /* no count may reach 2^32 */
		counter_flush(counter);
	if (c->extent && !counter->knows) {
		const struct extent more = extent_ahead(c, samples, n);
		cover(counter, &more);
	}
	add_bins(counter, samples, ranks, n);
	if (c->finds_whole)
		find_fractions(counter, samples, n);
	if (!counter->stats || c->channels > STATS_FEW)
		return;
	stats_add_channels(counter->stats, c->channels, samples, n);
	count_unchecked(counter, n);
}

static void add_codes(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *c = counter->c;

	if (counter->pending + n > UINT32_MAX)
		counter_flush(counter);
	counter->pending += n;
	(c->method == COUNT_BYTES ? bytes_add : codes_add)(counter->table, samples, n, c->channels);
}

/* Should the counter look whether the next unit is small? It looks less often in vain. */
static bool looks(struct counter *counter)
{
	if (counter->pass == 0)
		return true;
	counter->pass--;
	return false;
}

/* Count up to STATS_BLOCK samples, if they are small. */
static bool add_small(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *const c = counter->c;
	const struct extent extent = c->small_extent(samples, n, c->small.bias);
	uint32_t cells[STATS_BLOCK];

	if (extent.least < c->small.first || extent.greatest - c->small.first >= SMALL) {
		counter->pass = counter->wait;
		counter->wait = counter->wait < SMALL_WAIT ? 2 * counter->wait + 1 : SMALL_WAIT;
		return false;
	}
	if (counter->pending + counter->smalls + n > UINT32_MAX)
		counter_flush(counter);
	(void)c->small_of(&c->small, samples, n, cells);
	add_cells(counter->small, SMALL, SMALL_TABLES, cells, n);
	extent_add(&counter->within, &extent);
	counter->smalls += n;
	counter->stats->digest.pending += n;
	counter->wait = 0;
	count_unchecked(counter, n);
	return true;
}

void counter_add(struct counter *counter, const unsigned char *samples, size_t n)
{
	const struct counting *c = counter->c;
	const uint32_t bytes = c->type.code_bytes;
	const size_t most =
		c->method == COUNT_BYTES ? BYTES_UNIT : UNIT_BYTES / c->counted.code_bytes;
	const size_t unit = layout_is_many(c->channels) && !holds_codes(c)
				    ? most
				    : most / c->channels * c->channels;
	uint32_t words[UNIT_BYTES / 4], ranks[UNIT_BYTES / 4];
	const bool settles =
		counter->small && counter->pending + counter->smalls + n >= SMALL_LEAST;

	if (counter->stats && c->channels > STATS_FEW) { /* all samples at once */
		stats_add_across(counter->stats, c->channels, counter->channel, samples, n,
				 c->words);
		count_unchecked(counter, n);
	}
	for (size_t some; n > 0; n -= some, samples += some * bytes) {
		const unsigned char *counted = samples, *ranked = samples;
		const bool look = settles && looks(counter);
		some = lesser(n, look ? STATS_BLOCK : unit);
		if (look && add_small(counter, samples, some))
			continue;
		if (holds_codes(c)) {
			add_codes(counter, samples, some);
			continue;
		}
		if (c->words) {
			widen(words, c->words, samples, some, bytes);
			counted = ranked = (const unsigned char *)words;
		}
		if (c->ranks) {
			widen(ranks, c->ranks, samples, some, bytes);
			ranked = (const unsigned char *)ranks;
		}
		add_samples(counter, counted, ranked, some);
	}
}

/* Words of missing integers are above 16 bits. */
static bool is_missing_word(const struct counting *c, uint32_t word)
{
	return c->load.missing.n > 0 && c->counted.kind != SAMPLE_FLOAT && word > UINT16_MAX;
}

uint32_t *counting_code_cells(const struct counting *c)
{
	enum { CODES = 65536 };
	const uint32_t *const ranks = c->ranks ? c->ranks : c->words, nan = cell_nan(&c->binning);
	uint32_t *const cells = malloc(CODES * sizeof(*cells));

	for (uint32_t code = 0; cells && code < CODES; code += BLOCK)
		(void)c->cells_of(&c->binning, (const unsigned char *)(ranks + code), BLOCK,
				  cells + code);
	for (uint32_t code = 0; cells && code < CODES; code++)
		cells[code] = is_missing_word(c, c->words[code]) ? nan : cells[code];
	return cells;
}

/* Remove missing integers. Return the number of samples left. */
static size_t drop_missing(const struct counting *c, uint32_t *words, uint32_t *index, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_missing_word(c, words[i]))
			continue;
		words[kept] = words[i];
		index[kept++] = index[i];
	}
	return kept;
}

void counter_add_keyed(struct counter *counter, const unsigned char *samples, uint32_t *index,
		       size_t n)
{
	const struct counting *const c = counter->c;
	const unsigned char *counted = samples;
	uint32_t words[KEYED], cells[KEYED];

	if (counter->pending + n > UINT32_MAX)
		counter_flush(counter);
	counter->pending += n;
	if (c->code_cells)
		widen(cells, c->code_cells, samples, n, c->type.code_bytes);
	else
		(void)c->cells_of(&counter->binning, samples, n, cells);
	add_keyed(counter, cells, index, n);
	if (c->words && (c->finds_whole || counter->kept)) {
		widen(words, c->words, samples, n, c->type.code_bytes);
		counted = (const unsigned char *)words;
	}
	if (c->finds_whole)
		find_fractions(counter, counted, n);
	if (c->words && counter->kept)
		n = drop_missing(c, words, index, n);
	if (counter->kept)
		add_keyed_stats(counter, counted, index, n);
}

/* Count codes by keys that have slots of their own. */
INLINE void add_records(struct counter *counter, const unsigned char *records, size_t n,
			uint32_t bytes, uint32_t key_bytes)
{
	const struct counting *const c = counter->c;
	const struct key_place *const place = &c->keys->place;
	const uint64_t *const slots = c->keys->slot;
	const size_t record = c->layout.record, each = c->channel_cells;
	const unsigned char *sample = records + c->layout.offset, *key = records + place->offset;
	uint32_t *const table = counter->table;

	for (size_t i = 0; i < n; i++, sample += record, key += record) {
		const uint32_t code = sample[0] | (bytes == 1 ? 0 : (uint32_t)sample[1] << 8);
		uint32_t index = keys_known(
			slots, key_bytes == 1 ? *key : (uint32_t)word_at(key, 2, place->big));
		if (__builtin_expect(index == KEYS_UNKNOWN, 0))
			keys_find(c->keys, &index, records + i * record, 1, record);
		const size_t cell = index * each + c->code_cells[code];
		if (__builtin_expect(index < c->private, 1))
			table[cell]++;
		else
			counts_add_cell(counter->counts, cell, 1);
	}
}

bool counter_add_records(struct counter *counter, const unsigned char *records, size_t n)
{
	const struct counting *const c = counter->c;
	const uint32_t bytes = c->type.code_bytes, key_bytes = c->keys->place.bytes;

	if (!c->code_cells || counter->kept || key_bytes > 2)
		return false;
	if (counter->pending + n > UINT32_MAX)
		counter_flush(counter);
	counter->pending += n;
	if (bytes == 1)
		key_bytes == 1 ? add_records(counter, records, n, 1, 1)
			       : add_records(counter, records, n, 1, 2);
	else
		key_bytes == 1 ? add_records(counter, records, n, 2, 1)
			       : add_records(counter, records, n, 2, 2);
	return true;
}

void counter_flush_all(struct counter *counter)
{
	counter_flush(counter);
	if (counter->stats)
		flush_stats(counter);
	if (counter->kept)
		flush_kept(counter);
}

void counter_close(struct counter *counter)
{
	if (!counter)
		return;
	counter_flush_all(counter);
	stats_close(counter->stats, counter->c->layout.channels);
	free(counter->table);
	free(counter->kept_of);
	free(counter->kept);
	free(counter->small);
	free(counter);
}

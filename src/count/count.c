/* SPDX-License-Identifier: MIT */
/*
 * count: the tables and the loops that fill them.
 *
 * Two increments of one address depend on each other through memory: about five cycles each,
 * against less than two for different addresses. Neighbouring samples are often equal, so
 * they go to different tables, two to eight of them. The tables hold 32 bits, half the cache of
 * 64; they are flushed into the totals before any of them can have seen 2^32 samples.
 *
 * Samples that are all equal (zeros, silence, padding) are counted by one addition for as many as
 * there are: every 16 KiB the counter looks whether such a run begins, and compares them at the
 * speed of the cache.
 *
 * Counting waits for the tables, a checksum for its multiplications: in one loop they cost less than
 * one after the other. That is done for samples of 32 bits in few bins; with 8- and 16-bit codes it
 * gained nothing, there a block is added to the checksum and then counted from L1.
 */
#include "count/count.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "count/bytes.h"
#include "base/huge.h"
#include "base/little.h"

#define BLOCK 512u        /* samples between the two loops: cells[] stays in L1 */
#define CODES_BLOCK 2048u /* codes between checksum and loop */
/* Entries from one table of 16-bit codes to the next: constant, so that all tables need one register. */
#define CODES_STRIDE (65536u + 16u)
/* How often the counter looks for equal samples: 5 to 10 ns each time, of 1200 to 5000. */
#define UNIT_BYTES ((size_t)16 << 10)
#define LINE 64u
#define TABLES_MAX ((size_t)512 << 10) /* bytes of replicated tables: half of a usual L2 */
#define HOT_SLOTS 1024u                /* a direct-mapped cache of cells: 8 KiB, a part of L1 */
#define SHARED_BLOCK 128u              /* lines asked for together: 8 KiB of L1 more */

struct counter {
	const struct counting *c;
	struct counts *counts;
	uint64_t held;       /* samples in table[] since the last flush, at most 2^32 - 1 */
	size_t stride;       /* entries between two tables */
	uint32_t *table;     /* c->tables of them */
	struct stats *stats; /* NULL, or of the samples that it counts, each channel's: counting_adds_stats; owned */
	uint64_t *hot;       /* SHARED: HOT_SLOTS of cell << 32 | count, in table's memory */
	/* The rule: that of the job, or, where the range comes from the samples, of those seen so far. */
	struct binning binning;
	int k;                /* of the rule, then ... */
	struct extent extent; /* ... and of the samples that were counted by it */
	/* PRIVATE, SHARED: what is added to the cells of a block, each sample's channel * cells_each. */
	uint32_t base[BLOCK];
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

size_t counting_cells(const struct sample_type *type, const struct edges *edges)
{
	return type->bytes <= 2 ? (size_t)1 << (8 * type->bytes) : (size_t)edges->binning.bins + CELL_EXTRA;
}

static bool holds_codes(const struct counting *c)
{
	return c->method == COUNT_BYTES || c->method == COUNT_CODES;
}

void counting_init(struct counting *c, const struct sample_type *type, const struct edges *edges, bool shared)
{
	const struct layout plain = {.record = type->bytes, .samples = 1, .channels = 1};

	counting_init_layout(c, type, edges, &plain, shared);
}

void counting_init_layout(struct counting *c, const struct sample_type *type, const struct edges *edges,
			  const struct layout *layout, bool shared)
{
	const size_t each = counting_cells(type, edges);

	*c = (struct counting){
		.type = *type,
		.binning = edges->binning,
		.layout = *layout,
		.bytes = type->bytes,
		.channels = layout->channels,
		.cells_each = each,
		.cells = each * layout->channels,
		.tables = 1,
	};
	/* A table of codes is one channel's, any other one has the cells of all. */
	size_t table = each * sizeof(uint32_t);

	if (type->bytes == 1) {
		c->method = COUNT_BYTES;
		c->tables = bytes_tables(c->channels);
	} else if (type->bytes == 2) {
		c->method = COUNT_CODES;
		c->tables = c->channels == 1 ? 2 : c->channels;
	} else {
		table = c->cells * sizeof(uint32_t);
		c->cells_of = cells_choose(type, &edges->binning);
		c->most = edges->most;
		c->extent = c->most ? cells_extent_choose(type) : NULL;
		c->method = shared ? COUNT_SHARED : COUNT_PRIVATE;
		while (c->method == COUNT_PRIVATE && c->tables < 4 && 2 * c->tables * table <= TABLES_MAX)
			c->tables *= 2;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (c->method == COUNT_PRIVATE && c->channels == 1 && type->bytes == 4 && type->kind == SAMPLE_UNSIGNED &&
	    !type->big && c->binning.kind == BIN_SHIFT && c->binning.shift.by == 0 && c->binning.first == 0 &&
	    c->binning.shift.base == 0)
		c->max = cells_max_choose();
#endif
	c->repeat = cells_repeat_choose();
	c->memory =
		c->method == COUNT_SHARED ? HOT_SLOTS * 2 * sizeof(uint32_t) : c->tables * round_up(table, LINE) + LINE;
}

void counting_keep_stats(struct counting *c, uint32_t channels)
{
	c->stats = true;
	if (counting_adds_stats(c))
		c->memory += stats_bytes(&c->type, channels);
}

struct counter *counter_open(const struct counting *c, struct counts *counts)
{
	struct counter *counter = calloc(1, sizeof(*counter));
	if (!counter)
		return NULL;
	counter->c = c;
	counter->counts = counts;
	counter->binning = c->binning;
	counter->k = auto_k_least(&c->type);
	counter->extent = EXTENT_NONE;
	for (size_t i = 0; i < BLOCK; i++)
		counter->base[i] = (uint32_t)(i % c->channels * c->cells_each);
	/* An odd number of lines apart, so that equal cells do not share a cache set. */
	counter->stride =
		round_up(holds_codes(c) ? c->cells_each : c->cells, LINE / sizeof(uint32_t)) + LINE / sizeof(uint32_t);
	assert(c->method != COUNT_BYTES || counter->stride == BYTES_STRIDE);
	assert(c->method != COUNT_CODES || counter->stride == CODES_STRIDE);
	const size_t entries = c->method == COUNT_SHARED ? HOT_SLOTS * 2 : c->tables * counter->stride;
	counter->table = huge_zeroed(entries * sizeof(uint32_t));
	if (counting_adds_stats(c))
		counter->stats = stats_open(&c->type, counts->stats_channels);
	if (!counter->table || (counting_adds_stats(c) && !counter->stats)) {
		free(counter->table);
		free(counter->stats);
		free(counter);
		return NULL;
	}
	counter->hot = (uint64_t *)(void *)counter->table;
	return counter;
}

static void flush_tables(struct counter *counter)
{
	const struct counting *c = counter->c;

	if (c->most)
		counts_add_auto32(counter->counts, counter->table, c->tables, counter->stride, counter->held,
				  counter->k, &counter->extent);
	else
		counts_add_channels(counter->counts, counter->table, c->tables, counter->stride,
				    holds_codes(c) ? c->channels : 1, counter->held);
	memset(counter->table, 0, c->tables * counter->stride * sizeof(uint32_t));
	counter->held = 0;
}

/* One channel in two tables, or two in one each: where a sample is decides it in both cases. */
static void add_codes(struct counter *counter, const unsigned char *p, size_t n)
{
	uint32_t *const t = counter->table, *const u = t + counter->stride;
	size_t i = 0;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; i + 4 <= n; i += 4) {
		uint64_t w;
		memcpy(&w, p + 2 * i, sizeof(w));
		t[w & 65535]++;
		u[w >> 16 & 65535]++;
		t[w >> 32 & 65535]++;
		u[w >> 48]++;
	}
#endif
	for (; i < n; i++)
		(i % 2 ? u : t)[p[2 * i] | p[2 * i + 1] << 8]++;
}

/* Groups of `words` words, each of whole records; returns how many samples that were. */
__attribute__((always_inline)) static inline size_t add_code_groups(uint32_t *table, const unsigned char *p, size_t n,
								    unsigned words, unsigned channels)
{
	uint32_t(*const t)[CODES_STRIDE] = (uint32_t(*)[CODES_STRIDE])(void *)table;
	const size_t group = 4 * words;
	size_t i = 0;

	for (; i + group <= n; i += group) {
#pragma GCC unroll 3
		for (unsigned k = 0; k < words; k++) {
			const uint64_t w = little64(p + 2 * i + 8 * k);
			t[4 * k % channels][w & 65535]++;
			t[(4 * k + 1) % channels][w >> 16 & 65535]++;
			t[(4 * k + 2) % channels][w >> 32 & 65535]++;
			t[(4 * k + 3) % channels][w >> 48]++;
		}
	}
	return i;
}

/* A table for each channel; the common numbers of them by words. */
static void add_codes_channels(struct counter *counter, const unsigned char *p, size_t n)
{
	const uint32_t channels = counter->c->channels;
	uint32_t *const table = counter->table;
	size_t i = channels == 3   ? add_code_groups(table, p, n, 3, 3)
		   : channels == 4 ? add_code_groups(table, p, n, 1, 4)
		   : channels == 6 ? add_code_groups(table, p, n, 3, 6)
		   : channels == 8 ? add_code_groups(table, p, n, 2, 8)
				   : 0;

	while (i < n) {
		uint32_t *t = table;
		for (uint32_t c = 0; c < channels; c++, t += CODES_STRIDE, i++)
			t[p[2 * i] | p[2 * i + 1] << 8]++;
	}
}

static inline void add_4_cells(uint32_t *t, size_t s, const unsigned char *p)
{
	uint64_t two, more; /* cells, read in pairs; which half is which does not matter */

	memcpy(&two, p, sizeof(two));
	memcpy(&more, p + 8, sizeof(more));
	t[(uint32_t)two]++;
	t[s + (two >> 32)]++;
	t[2 * s + (uint32_t)more]++;
	t[3 * s + (more >> 32)]++;
}

/*
 * cells: n of uint32_t, in the order of this machine, not necessarily aligned. A hash takes the samples
 * along, as many bytes, where it can (takes_along).
 */
static void add_cells(struct counter *counter, const void *cells, size_t n, const unsigned char *samples,
		      struct xxh64 *hash)
{
	const unsigned char *const p = cells;
	uint32_t *const t = counter->table;
	const size_t s = counter->stride;
	size_t i = 0;
	uint64_t two;
	uint32_t cell;

	if (hash) {
		struct xxh64_lanes lanes = hash->lanes;
		for (; i + 8 <= n; i += 8) {
			xxh64_stripe(&lanes, samples + 4 * i);
			add_4_cells(t, s, p + 4 * i);
			add_4_cells(t, s, p + 4 * i + 16);
		}
		hash->lanes = lanes;
		hash->bytes += 4 * i;
		xxh64_add(hash, samples + 4 * i, 4 * (n - i));
	}
	if (counter->c->tables == 4) {
		for (; i + 4 <= n; i += 4)
			add_4_cells(t, s, p + 4 * i);
	} else if (counter->c->tables == 2) {
		for (; i + 2 <= n; i += 2) {
			memcpy(&two, p + 4 * i, sizeof(two));
			t[(uint32_t)two]++;
			t[s + (two >> 32)]++;
		}
	}
	for (; i < n; i++) {
		memcpy(&cell, p + 4 * i, sizeof(cell));
		t[cell]++;
	}
}

/*
 * Many cells: every worker adds to the one table, atomically. What would make that slow is a
 * hot cell, its line bouncing between the cores; so each worker keeps a small cache of cells
 * with counts, and an addition leaves it only when another cell takes its slot. The additions
 * of a block wait until all of their lines were asked for.
 */
static void add_shared(struct counter *counter, const uint32_t *cells, size_t n)
{
	uint64_t out[SHARED_BLOCK]; /* cell << 32 | count, like the slots */
	uint64_t *const total = counter->counts->cell;
	uint64_t *const hot = counter->hot;

	for (; n > 0;) {
		const size_t some = n < SHARED_BLOCK ? n : SHARED_BLOCK;
		size_t used = 0;
		for (size_t i = 0; i < some; i++) {
			uint64_t *const slot = &hot[cells[i] % HOT_SLOTS];
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

/* n samples of one cell, through the same small cache. */
static void add_shared_same(struct counter *counter, uint32_t cell, size_t n)
{
	uint64_t *const slot = &counter->hot[cell % HOT_SLOTS];

	if (*slot >> 32 != cell) {
		counts_add_cell(counter->counts, *slot >> 32, (uint32_t)*slot);
		*slot = (uint64_t)cell << 32;
	}
	*slot += n;
}

static void flush_shared(struct counter *counter)
{
	for (size_t i = 0; i < HOT_SLOTS; i++) {
		counts_add_cell(counter->counts, counter->hot[i] >> 32, (uint32_t)counter->hot[i]);
		counter->hot[i] = 0;
	}
	counts_add_samples(counter->counts, counter->held);
	counter->held = 0;
}

void counter_flush(struct counter *counter)
{
	if (counter->c->method == COUNT_SHARED)
		flush_shared(counter);
	else
		flush_tables(counter);
}

/*
 * How many samples, of the n from p on, are all equal; 0 where they are few. 24 bytes are whole samples
 * of any size, so equal samples repeat after them: comparing two words rules out nearly all noise. Of several
 * channels whole records of one byte are looked for: samples of different channels are seldom equal otherwise.
 */
static inline size_t repeats(const struct counting *c, const unsigned char *p, size_t n)
{
	if (n * c->bytes < CELLS_STRIDE || little64(p) != little64(p + 24))
		return 0;
	if (c->channels > 1)
		return c->repeat(p, n * c->bytes, 1) / (c->channels * c->bytes) * c->channels;
	return c->repeat(p, n * c->bytes, c->bytes) / c->bytes;
}

/* Makes room for n more samples, at most 2^31: no 32-bit count may reach 2^32. */
static void hold(struct counter *counter, size_t n)
{
	if (counter->held + n > UINT32_MAX)
		counter_flush(counter);
	counter->held += n;
}

/*
 * The range comes from the samples: makes tables and rule as coarse as they must be for the n from p on. A shared
 * table is the totals, to which no other counter adds then.
 */
static void see(struct counter *counter, const unsigned char *p, size_t n)
{
	const struct counting *c = counter->c;
	const struct extent more = c->extent(p, n, c->binning.bias), before = counter->extent;
	const uint32_t slots = c->binning.bins;

	extent_add(&counter->extent, &more);
	if (counter->extent.least == before.least && counter->extent.greatest == before.greatest)
		return;
	const int k = auto_k_grown(counter->k, &counter->extent, c->most, &c->type);
	if (c->method == COUNT_SHARED && k > counter->k)
		flush_shared(counter);
	if (c->method == COUNT_SHARED)
		counts_add_auto32(counter->counts, NULL, 0, 0, 0, k, &counter->extent);
	for (unsigned t = 0; k > counter->k && c->method == COUNT_PRIVATE && t < c->tables; t++)
		for (size_t at = 0; at < c->cells; at += (size_t)slots + CELL_EXTRA)
			auto_coarsen32(counter->table + t * counter->stride + at, slots, &c->type, &before, counter->k,
				       k);
	if (k > counter->k)
		auto_rule(&counter->binning, &c->type, slots, k);
	counter->k = k;
}

/* n samples that equal the one at p, as many of each channel. */
static void add_same(struct counter *counter, const unsigned char *p, size_t n)
{
	const struct counting *c = counter->c;
	const size_t apart = holds_codes(c) ? counter->stride : c->cells_each, each = n / c->channels;
	uint32_t cell;

	hold(counter, n);
	if (c->method == COUNT_BYTES)
		cell = p[0];
	else if (c->method == COUNT_CODES)
		cell = (uint32_t)(p[0] | p[1] << 8);
	else
		c->cells_of(&counter->binning, p, 1, &cell);
	for (uint32_t i = 0; i < c->channels; i++) {
		if (c->method == COUNT_SHARED)
			add_shared_same(counter, (uint32_t)(i * apart + cell), each);
		else
			counter->table[i * apart + cell] += (uint32_t)each;
	}
}

/* With nothing left over from before, whole stripes can be. */
static bool takes_along(const struct counting *c, const struct xxh64 *hash)
{
	return c->tables == 4 && c->bytes == XXH64_STRIPE / 8 && hash->bytes % XXH64_STRIPE == 0;
}

/* Groups of a constant size become vectors at any level of optimisation. */
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

static void add_some(struct counter *counter, const unsigned char *p, size_t n, struct xxh64 *hash)
{
	const struct counting *c = counter->c;
	const size_t block = c->bytes > 2 ? BLOCK / c->channels * c->channels
			     : hash       ? CODES_BLOCK / c->channels * c->channels
					  : n;
	uint32_t cells[BLOCK];

	hold(counter, n);
	while (n > 0) {
		const size_t some = n < block ? n : block;
		struct xxh64 *const along = hash && takes_along(c, hash) ? hash : NULL;
		if (hash && !along)
			xxh64_add(hash, p, some * c->bytes);
		if (c->method == COUNT_BYTES && c->channels == 1) {
			bytes_add(counter->table, p, some);
		} else if (c->method == COUNT_BYTES) {
			bytes_add_channels(counter->table, p, some, c->channels);
		} else if (c->method == COUNT_CODES && c->channels <= 2) {
			add_codes(counter, p, some);
		} else if (c->method == COUNT_CODES) {
			add_codes_channels(counter, p, some);
		} else if (c->max && c->max(p, some) <= counter->binning.span) {
			add_cells(counter, p, some, p, along);
		} else {
			c->cells_of(&counter->binning, p, some, cells);
			if (c->channels > 1)
				add_base(cells, counter->base, some);
			if (c->method == COUNT_PRIVATE)
				add_cells(counter, cells, some, p, along);
			else
				add_shared(counter, cells, some);
		}
		p += some * c->bytes;
		n -= some;
	}
}

void counter_add(struct counter *counter, const unsigned char *samples, size_t n, struct xxh64 *hash)
{
	const struct counting *c = counter->c;
	const size_t block = BLOCK / c->channels * c->channels;
	const size_t unit = UNIT_BYTES / c->bytes / block * block, most = (size_t)1 << 31;

	while (n > 0) {
		const size_t same = repeats(c, samples, n < most ? n : most);
		const size_t some = same > 0 ? same : n < unit ? n : unit;
		if (c->most)
			see(counter, samples, same > 0 ? 1 : some);
		if (same == 0) {
			add_some(counter, samples, some, hash);
			if (counter->stats)
				stats_add_channels(counter->stats, c->channels, samples, some);
		} else {
			add_same(counter, samples, same);
			for (uint32_t i = 0; counter->stats && i < c->channels; i++)
				stats_add_same(&counter->stats[i], samples, same / c->channels);
			if (hash)
				xxh64_add(hash, samples, same * c->bytes);
		}
		samples += some * c->bytes;
		n -= some;
	}
}

void counter_close(struct counter *counter)
{
	if (!counter)
		return;
	counter_flush(counter);
	if (counter->stats)
		counts_add_stats(counter->counts, counter->stats);
	free(counter->stats);
	free(counter->table);
	free(counter);
}

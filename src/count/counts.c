/* SPDX-License-Identifier: MIT */
/* counts: cells, the number of samples, and the lock for both. */
#include "count/counts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge.h"
#include "bins/binning.h"

#define GROUP 16u /* cells whose counts in several tables are added in registers */

int counts_init(struct counts *counts, size_t cells, struct keys *keys, struct fail *fail)
{
	*counts = (struct counts){.cells = cells, .keys = keys, .extent = EXTENT_NONE};
	counts->cell = keys ? calloc(cells, sizeof(*counts->cell))
			    : huge_zeroed(cells * sizeof(*counts->cell));
	if (!counts->cell)
		return fail_errno(fail, "counts of %zu cells", cells);
	lock_init(&counts->lock, LOCK_LAST);
	return 0;
}

static struct lock *stats_lock(struct counts *counts, uint32_t channel)
{
	return &counts->stats_lock[channel % COUNTS_LOCKS];
}

int counts_keep_stats(struct counts *counts, const struct sample_type *type, uint32_t channels,
		      uint32_t digits, struct digest_memory *memory, struct fail *fail)
{
	counts->stats = stats_open(type, channels);
	counts->stats_channels = channels;
	for (uint32_t i = 0; i < COUNTS_LOCKS; i++)
		lock_init(&counts->stats_lock[i], LOCK_LAST);
	if (!counts->stats ||
	    (type->code_bytes > 2 && digits > 0 &&
	     stats_keep_digest(counts->stats, channels, digits, true, memory) != 0))
		return fail_errno(fail, "statistics of %lu channels", (unsigned long)channels);
	return 0;
}

void counts_add_stats(struct counts *counts, const struct stats *stats)
{
	uint64_t charged = 0;

	for (uint32_t c = 0; c < counts->stats_channels; c++) {
		struct digest *const digest = &counts->stats[c].digest;
		lock_take(stats_lock(counts, c));
		if (stats)
			stats_merge(&counts->stats[c], &stats[c]);
		(void)digest_charge(digest);
		charged += digest->charged;
		lock_drop(stats_lock(counts, c));
		if (digest->memory && charged > digest->memory->most)
			__atomic_store_n(&counts->lost, true, __ATOMIC_RELAXED);
	}
}

void counts_share_digests(struct counts *counts, struct stats *stats)
{
	for (uint32_t c = 0; c < counts->stats_channels; c++)
		stats_share_digest(&stats[c], &counts->stats[c], stats_lock(counts, c));
}

int counts_check(const struct counts *counts, struct fail *fail)
{
	if (counts->keys && keys_check(counts->keys, fail) != 0)
		return -1;
	if (!__atomic_load_n(&counts->lost, __ATOMIC_RELAXED))
		return 0;
	const uint64_t need =
		counts->stats_channels * digest_bytes(&counts->stats->digest.rule, true);
	return fail_set(fail, STATUS_LIMIT,
			"the quantiles of --stats need up to %llu bytes, more than -M leaves for "
			"them; -M %lluK is enough",
			(unsigned long long)need, (unsigned long long)(DIGEST_SHARE * need / 1024));
}

void counts_free(struct counts *counts)
{
	uint64_t samples;

	free(counts_take(counts, &samples));
	stats_close(counts->stats, counts->stats_channels);
	counts->stats = NULL;
}

/* Add a group of cells of one table and `more` other tables; the sums are below 2^32. */
static inline void add_group(uint64_t *cell, const uint32_t *table, unsigned more, size_t apart)
{
	uint32_t sum[GROUP];

	memcpy(sum, table, sizeof(sum));
	for (; more > 0; more--) {
		table += apart;
		for (size_t i = 0; i < GROUP; i++)
			sum[i] += table[i];
	}
	for (size_t i = 0; i < GROUP; i++)
		cell[i] += sum[i];
}

static void add_narrow(struct counts *counts, const struct tables *t)
{
	const size_t cells = t->cells > 0 ? t->cells : counts->cells / t->channels;

	for (uint32_t c = 0; c < t->channels; c++) {
		uint64_t *const cell = counts->cell + c * cells;
		size_t at = 0;
		for (; at + GROUP <= cells; at += GROUP)
			add_group(cell + at, t->narrow + c * t->stride + at,
				  (t->tables - 1 - c) / t->channels, t->channels * t->stride);
		for (; at < cells; at++)
			for (unsigned i = c; i < t->tables; i += t->channels)
				cell[at] += t->narrow[i * t->stride + at];
	}
}

static void add_atomically(struct counts *counts, const uint32_t *table)
{
	for (size_t i = 0; i < counts->cells; i++)
		if (table[i] > 0)
			counts_add_cell(counts, i, table[i]);
}

static void add_wide_table(struct counts *counts, const struct tables *t)
{
	for (size_t i = 0; i < counts->cells; i++)
		counts->cell[i] += t->wide[i];
}

void counts_set_auto(struct counts *counts, const struct auto_bins *bins)
{
	counts->auto_bins = *bins;
	counts->k = auto_k(bins, &EXTENT_NONE);
}

/* The cells of each table in counts->cell: slots and the cells after them. */
static size_t auto_cells(const struct counts *counts)
{
	return (size_t)auto_slots(&counts->auto_bins) + CELL_EXTRA;
}

/* Make the totals coarse enough for the tables, and the tables as coarse as the totals. */
static void make_coarse(struct counts *counts, const struct tables *t)
{
	const struct auto_bins *const bins = &counts->auto_bins;
	const struct extent before = counts->extent;

	extent_add(&counts->extent, &t->extent);
	const int k = auto_k_grown(bins, &counts->extent, t->k > counts->k ? t->k : counts->k);
	for (size_t at = 0; at < counts->cells; at += auto_cells(counts)) {
		auto_coarsen64(counts->cell + at, bins, &before, counts->k, k);
		for (unsigned i = 0; i < t->tables; i++)
			auto_coarsen32(t->narrow + i * t->stride + at, bins, &t->extent, t->k, k);
		if (t->wide)
			auto_coarsen64(t->wide + at, bins, &t->extent, t->k, k);
	}
	counts->k = k;
}

void counts_add(struct counts *counts, const struct tables *tables)
{
	lock_take(&counts->lock);
	if (counts->auto_bins.most > 0)
		make_coarse(counts, tables);
	if (tables->narrow && tables->shared)
		add_atomically(counts, tables->narrow);
	else if (tables->narrow)
		add_narrow(counts, tables);
	if (tables->wide)
		add_wide_table(counts, tables);
	counts->samples += tables->samples;
	lock_drop(&counts->lock);
}

void counts_auto(struct counts *counts, int *k, struct extent *extent)
{
	lock_take(&counts->lock);
	*k = counts->k;
	*extent = counts->extent;
	lock_drop(&counts->lock);
}

/* Zero cells, samples and statistics. */
static void counts_clear(struct counts *counts)
{
	memset(counts->cell, 0, counts->cells * sizeof(*counts->cell));
	counts->samples = counts->fractions = 0;
	for (uint32_t c = 0; c < counts->stats_channels; c++)
		stats_clear(&counts->stats[c]);
}

void counts_move(struct counts *to, struct counts *from)
{
	if (to->samples == 0) {
		counts_swap(to, from);
		return;
	}
	counts_add_counts(to, from);
	to->fractions |= from->fractions;
	if (from->stats)
		counts_add_stats(to, from->stats);
	counts_clear(from);
}

void counts_swap(struct counts *a, struct counts *b)
{
	uint64_t *const cell = a->cell, samples = a->samples, fractions = a->fractions;
	struct stats *const stats = a->stats;

	a->cell = b->cell;
	a->samples = b->samples;
	a->fractions = b->fractions;
	a->stats = b->stats;
	b->cell = cell;
	b->samples = samples;
	b->fractions = fractions;
	b->stats = stats;
}

void counts_add_samples(struct counts *counts, uint64_t samples)
{
	lock_take(&counts->lock);
	counts->samples += samples;
	lock_drop(&counts->lock);
}

void counts_copy(struct counts *copy, struct counts *counts)
{
	assert(copy->cells == counts->cells);
	lock_take(&counts->lock);
	memcpy(copy->cell, counts->cell, counts->cells * sizeof(*counts->cell));
	copy->samples = counts->samples;
	copy->fractions = __atomic_load_n(&counts->fractions, __ATOMIC_RELAXED);
	copy->auto_bins = counts->auto_bins;
	copy->k = counts->k;
	copy->extent = counts->extent;
	lock_drop(&counts->lock);
}

uint64_t *counts_take(struct counts *counts, uint64_t *samples)
{
	uint64_t *const cell = counts->cell;

	*samples = counts->samples;
	if (cell)
		lock_destroy(&counts->lock);
	counts->cell = NULL;
	counts->cells = 0;
	counts->samples = 0;
	return cell;
}

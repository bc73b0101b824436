/* SPDX-License-Identifier: MIT */
/*
 * count_keys: the cells and the statistics of keys (--by).
 *
 * All workers share the statistics of a key. A worker keeps samples and adds a block of one key at
 * a time, because a few samples take almost as long as a block, and the memory of the statistics
 * then moves from core to core.
 */
#include "count/counter.h"

#include <stdlib.h>

#include "base/little.h"

#define KEPT ((uint32_t)1 << 17) /* samples that a counter keeps, at most */

void counting_keep_keys(struct counting *c, uint64_t bytes)
{
	const uint32_t most = keys_most((uint32_t)c->channel_cells - CELL_EXTRA);
	const uint64_t fit = bytes / (c->channel_cells * sizeof(uint32_t));

	c->private = fit < most ? (uint32_t)fit : most;
	c->small.cells = NULL; /* keys have blocks of a key instead */
	c->tables = 1;
	c->cells = most * c->channel_cells;
	c->memory = c->private * c->channel_cells * sizeof(uint32_t) +
		    (c->stats ? KEYS_MOST * sizeof(uint32_t) + KEPT * c->counted.code_bytes : 0);
}

int keyed_open(struct counter *counter)
{
	const struct counting *const c = counter->c;

	/* Most of it is never touched. */
	counter->table = calloc(c->private * c->channel_cells + 1, sizeof(uint32_t));
	if (!c->stats)
		return counter->table ? 0 : -1;
	counter->kept = (struct counter_kept){.samples = malloc(KEPT * c->counted.code_bytes),
					      .n = calloc(KEYS_MOST, sizeof(uint32_t)),
					      .room = STATS_BLOCK};
	return counter->table && counter->kept.samples && counter->kept.n ? 0 : -1;
}

/* ---- cells ---- */

void keyed_flush(struct counter *counter)
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

/* ---- statistics ---- */

void keyed_flush_stats(struct counter *counter)
{
	struct keys *const keys = counter->c->keys;
	const size_t bytes = (size_t)counter->kept.room * counter->c->counted.code_bytes;
	const uint32_t n = __atomic_load_n(&keys->n, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n; i++) {
		if (counter->kept.n[i] > 0)
			keys_add_stats(keys, i, counter->kept.samples + i * bytes,
				       counter->kept.n[i]);
		counter->kept.n[i] = 0;
	}
}

/* Make room for the samples of all keys so far. */
static void divide_kept(struct counter *counter)
{
	const uint32_t n = __atomic_load_n(&counter->c->keys->n, __ATOMIC_RELAXED);

	if (n * counter->kept.room <= KEPT)
		return;
	keyed_flush_stats(counter);
	while (n * counter->kept.room > KEPT)
		counter->kept.room /= 2;
}

INLINE void keep_samples(struct counter *counter, const unsigned char *samples,
			 const uint32_t *index, size_t n, uint32_t size)
{
	const uint32_t room = counter->kept.room;

	for (size_t i = 0; i < n; i++, samples += size) {
		const uint32_t key = index[i], before = counter->kept.n[key];
		unsigned char *const own = counter->kept.samples + (size_t)key * room * size;
		memcpy(own + before * size, samples, size);
		counter->kept.n[key] = before + 1;
		if (before + 1 < room)
			continue;
		counter->kept.n[key] = 0;
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

/* ---- codes ---- */

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

	for (uint32_t code = 0; cells && code < CODES; code += COUNT_BLOCK)
		(void)c->cells_of(&c->binning, (const unsigned char *)(ranks + code), COUNT_BLOCK,
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

/* ---- records ---- */

void counter_add_keyed(struct counter *counter, const unsigned char *samples, uint32_t *index,
		       size_t n)
{
	const struct counting *const c = counter->c;
	const unsigned char *counted = samples;
	uint32_t words[KEYED], cells[KEYED];

	if (counter->pending + n > UINT32_MAX)
		keyed_flush(counter);
	counter->pending += n;
	if (c->code_cells)
		codes_widen(cells, c->code_cells, samples, n, c->type.code_bytes);
	else
		(void)c->cells_of(&counter->bins.binning, samples, n, cells);
	add_keyed(counter, cells, index, n);
	if (c->words && (c->finds_whole || counter->kept.samples)) {
		codes_widen(words, c->words, samples, n, c->type.code_bytes);
		counted = (const unsigned char *)words;
	}
	if (c->finds_whole)
		fractions_find(counter, counted, n);
	if (c->words && counter->kept.samples)
		n = drop_missing(c, words, index, n);
	if (counter->kept.samples)
		add_keyed_stats(counter, counted, index, n);
}

/* Count codes by keys that have slots of their own. */
INLINE void add_codes_by_key(struct counter *counter, const unsigned char *records, size_t n,
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

	if (!c->code_cells || counter->kept.samples || key_bytes > 2)
		return false;
	if (counter->pending + n > UINT32_MAX)
		keyed_flush(counter);
	counter->pending += n;
	if (bytes == 1)
		key_bytes == 1 ? add_codes_by_key(counter, records, n, 1, 1)
			       : add_codes_by_key(counter, records, n, 1, 2);
	else
		key_bytes == 1 ? add_codes_by_key(counter, records, n, 2, 1)
			       : add_codes_by_key(counter, records, n, 2, 2);
	return true;
}

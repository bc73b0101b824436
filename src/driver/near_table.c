/* SPDX-License-Identifier: MIT */
/*
 * near_table: three ways to cut the range into entries; the one that crowds edges least is taken.
 */
#include "driver/near_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bins/sample.h"

#define ENTRIES_MOST 16384u /* 64 KiB, which every block copies when it starts */
#define ENTRIES_LEAST 64u
#define KEY_BITS_MOST ((1u << NEAR_BIN_BITS) - 1)

/* The edges within the range, as their distances from its first key. */
struct edges_of {
	const struct binning *b;
	unsigned bits; /* of a key */
	/*
	 * the index of the first of them among the inner edges: every sample is above those before
	 * it
	 */
	uint32_t from;
	uint32_t count;
	const uint32_t *keys; /* as in bin_table.h: the distance before each inner edge */
};

/* The last distance that is below an inner edge. */
static uint64_t below(const struct edges_of *e, uint32_t i)
{
	uint64_t key;

	if (e->bits == 32)
		return e->keys[i];
	memcpy(&key, e->keys + 2 * (size_t)i, sizeof(key));
	return key;
}

static struct edges_of find_edges(const struct binning *b, unsigned bits)
{
	const uint32_t *const guide = (const uint32_t *)(uintptr_t)b->table.at;
	const uint32_t start = table_guide_words(&b->table);
	const uint64_t keys = (b->table.words - start) / (bits / 32);
	struct edges_of e = {.b = b, .bits = bits, .from = guide[0], .keys = guide + start};

	/* After the last edge in the range come edges that no sample reaches. */
	while (e.from + e.count < keys && e.from + e.count + 1 < b->bins &&
	       below(&e, e.from + e.count) < b->span)
		e.count++;
	return e;
}

/* The bits of (e | 1) as a binary32, rounded towards zero, less the bits of 1. */
static uint32_t ratio_of(uint64_t e)
{
	uint32_t power = 63;

	e |= 1;
	while (!(e >> power))
		power--;
	return power << 23 | ((uint32_t)(e << (63 - power) >> 40) & 0x7fffffu);
}

/* Floats: the value at a distance from the first key. */
static double value_of(const struct edges_of *e, uint64_t distance)
{
	return value_of_float_key(e->bits, e->b->first + distance);
}

static uint32_t entry_of(const struct edges_of *e, const struct near *near, uint64_t distance)
{
	const struct bin_table t = {.lo = near->lo, .scale = near->scale};

	if (near->by == NEAR_KEY)
		return (uint32_t)(distance >> near->shift);
	if (near->by == NEAR_RATIO)
		return ratio_of(distance) >> near->shift;
	return e->bits == 32 ? table_entry_float(&t, (float)value_of(e, distance))
			     : table_entry_double(&t, value_of(e, distance));
}

/* Finds the finest guide of this kind with at most so many entries. False: there is none. */
static bool cut(struct near *near, const struct edges_of *e, enum near_by by, uint32_t entries)
{
	const uint64_t span = e->b->span;

	*near = (struct near){.by = by};
	if (by == NEAR_VALUE) {
		const double lo = value_of(e, 0);
		double range = value_of(e, span) - lo;
		if (e->bits == 32)
			range = (double)(float)range;
		double scale = (entries - 2) / range;
		if (e->bits == 32)
			scale = (double)(float)scale;
		if (!isnormal(range) || !isnormal(scale))
			return false;
		near->lo = lo;
		near->scale = scale;
	} else {
		const uint64_t most = by == NEAR_KEY ? span : ratio_of(span);
		while (most >> near->shift >= entries)
			near->shift++;
	}
	const uint32_t used = entry_of(e, near, span) + 1;
	near->guide = (used + 1) & ~1u;
	return near->guide <= entries;
}

/* How many comparisons the samples next to each edge take, in all: the fewer the better. */
static uint64_t crowding(const struct edges_of *e, const struct near *near, uint32_t *most)
{
	uint64_t sum = 0;
	uint32_t run = 0, last = UINT32_MAX;

	*most = 0;
	for (uint32_t i = 0; i < e->count; i++) {
		const uint32_t entry = entry_of(e, near, below(e, e->from + i) + 1);
		run = entry == last ? run + 1 : 1;
		last = entry;
		sum += run;
		*most = run > *most ? run : *most;
	}
	return sum;
}

static bool choose(struct near *near, const struct edges_of *e, bool real, uint32_t entries)
{
	const enum near_by ways[2] = {NEAR_KEY, real ? NEAR_VALUE : NEAR_RATIO};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 2; i++) {
		struct near next;
		uint32_t most;
		if (!cut(&next, e, ways[i], entries))
			continue;
		const uint64_t sum = crowding(e, &next, &most);
		if (most > NEAR_COUNT_MOST || sum >= least)
			continue;
		least = sum;
		*near = next;
	}
	return least < UINT64_MAX;
}

static void fill(uint32_t *words, const struct near *near, const struct edges_of *e, uint64_t keys)
{
	uint32_t done = 0;

	for (uint32_t entry = 0; entry < near->guide; entry++) {
		const uint32_t before = done;
		while (done < e->count && entry_of(e, near, below(e, e->from + done) + 1) == entry)
			done++;
		words[entry] = (e->from + before) | (done - before) << NEAR_BIN_BITS;
	}
	memcpy(words + near->guide, e->keys, (size_t)keys * sizeof(*words));
}

uint32_t *near_make(struct near *near, const struct binning *binning,
		    const struct sample_type *type, uint32_t words)
{
	const struct edges_of e = find_edges(binning, type->bytes == 8 ? 64 : 32);
	/* Without edges in the range there may be no keys at all. */
	const uint64_t keys = e.count > 0 ? ((uint64_t)e.from + e.count) * (e.bits / 32) : 0;
	const uint64_t left = keys < words ? words - keys : 0;

	if (binning->bins >= KEY_BITS_MOST || left < ENTRIES_LEAST)
		return NULL;
	const uint32_t entries = (left < ENTRIES_MOST ? (uint32_t)left : ENTRIES_MOST) & ~1u;
	if (!choose(near, &e, type->kind == SAMPLE_FLOAT, entries))
		return NULL;
	near->words = near->guide + (uint32_t)keys;
	uint32_t *const memory = malloc(near->words * sizeof(*memory));
	if (memory)
		fill(memory, near, &e, keys);
	return memory;
}

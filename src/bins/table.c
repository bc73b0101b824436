/* SPDX-License-Identifier: MIT */
/*
 * table: explicit edges to keys, and the guide that finds the few keys to compare with.
 *
 * Every sample type has keys in the order of its values (binning.h), so an edge of binary64 is
 * equivalent to the smallest key whose value is not below it. Only those keys are compared; nothing
 * is rounded.
 *
 * The guide cuts the range into equal entries and holds, for each, how many inner edges are before
 * it. A sample's entry g is a function that never falls as samples rise, computed alike here and in
 * every loop and kernel. So edges with a lower g than the sample's are not above it, and those with
 * a higher g are above it; only edges with the same g are compared, by bisection, in as many steps
 * as the most crowded entry needs. Edges that are anywhere near regular need one step; edges that
 * are crowded into one place need at most 20, for 2^20 of them. An edge at the smallest key of its
 * entry is not above any sample of the entry and needs no step, so the many edges between two
 * neighbouring integers need none either.
 *
 * g is (key - first) >> shift: equal steps of an integer, equal ratios of a float. For floats, (x -
 * lo) scale in the sample's own precision is tried too: equal steps of the value. For integers, the
 * bits of their value as a float are tried too: equal ratios.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bins/edges.h"

/*
 * A guide begins with GUIDE_FINE entries for each bin, in case a few are crowded, but at most
 * GUIDE_NEAR, which fit L2; or with GUIDE_PER_BIN for each bin, if that is more. Their number is
 * halved as long as that adds no step.
 */
#define GUIDE_LEAST 1024u /* 4 KiB of L1 */
#define GUIDE_FINE 16u
#define GUIDE_NEAR ((uint32_t)1 << 16)
#define GUIDE_PER_BIN 4u
#define GUIDE_MOST ((uint32_t)1 << 22)

/* What is known of a type, and of the range in it. */
struct span {
	const struct sample_type *type;
	bool real;
	unsigned bits;        /* of a key */
	uint64_t first, last; /* keys in the range */
	uint64_t *key;        /* for each inner edge, the smallest key not below it */
	uint32_t inner;       /* inner edges: one less than bins */
	uint32_t passed;      /* inner edges that are not above `first` */
	uint32_t ahead;       /* inner edges that are above `last` */
};

/* ---- keys ---- */

/*
 * The smallest key whose value is not below x, or, with `above`, is above x. One past the last key
 * if there is none.
 */
static int128_t key_from(const struct span *s, double x, bool above)
{
	if (!s->real) {
		const int128_t min = sample_min(s->type), past = sample_max(s->type) + 1;
		const double held = fmax(fmin(x, 0x1p70), -0x1p70);
		const int128_t whole = above ? (int128_t)floor(held) + 1 : (int128_t)ceil(held);
		return (whole < min ? min : whole > past ? past : whole) - min;
	}
	/* The nearest float may be on either side of x, and 0 has two keys. */
	uint64_t key = sample_key(s->type, x);
	while (above ? sample_of_key(s->type, key) <= x : sample_of_key(s->type, key) < x)
		key++;
	while (above ? sample_of_key(s->type, key - 1) > x : sample_of_key(s->type, key - 1) >= x)
		key--;
	return (int128_t)key;
}

static int128_t key_last(const struct span *s)
{
	return s->real ? (int128_t)sample_key(s->type, (double)INFINITY)
		       : sample_max(s->type) - sample_min(s->type);
}

/* ---- the guide ---- */

/* The entry of a key of the range. */
static uint32_t entry_of(const struct span *s, const struct bin_table *t, uint64_t key)
{
	const double x = t->by_value ? sample_of_key(s->type, key) : 0;

	if (t->by_ratio && s->bits == 32)
		return table_entry_ratio32(t, (uint32_t)(key - s->first));
	if (t->by_ratio)
		return table_entry_ratio64(t, key - s->first);
	if (!t->by_value)
		return (uint32_t)((key - s->first) >> t->shift);
	return s->bits == 32 ? table_entry_float(t, (float)x) : table_entry_double(t, x);
}

/* Is the key of an inner edge, which is above `first`, the smallest of its entry? */
static bool leads(const struct span *s, const struct bin_table *t, uint64_t key, uint32_t entry)
{
	return entry_of(s, t, key - 1) < entry;
}

/* Sets the number of entries, and the steps that the most crowded of them needs. */
static void measure(const struct span *s, struct bin_table *t)
{
	uint32_t run = 0, crowd = 0, entry = 0;

	t->guide = entry_of(s, t, s->last) + 1;
	for (uint32_t i = s->passed; i < s->inner - s->ahead; i++) {
		const uint32_t own = entry_of(s, t, s->key[i]);
		if (leads(s, t, s->key[i], own))
			run = 0;
		else
			run = i > s->passed && own == entry ? run + 1 : 1;
		entry = own;
		crowd = run > crowd ? run : crowd;
	}
	/* The fewest steps for which 2^steps - 1 is at least the crowd. */
	t->half = 0;
	for (uint32_t half = 1; half <= crowd; half *= 2)
		t->half = half;
}

static uint32_t guide_most(const struct span *s)
{
	const uint64_t bins = (uint64_t)s->inner + 1, coarse = GUIDE_PER_BIN * bins;
	const uint64_t fine = GUIDE_FINE * bins < GUIDE_NEAR ? GUIDE_FINE * bins : GUIDE_NEAR;
	const uint64_t n = fine > coarse ? fine : coarse;

	return n < GUIDE_LEAST ? GUIDE_LEAST : n > GUIDE_MOST ? GUIDE_MOST : (uint32_t)n;
}

/*
 * Makes the entries of a guide, which are twice as large with each level. False: they would be as
 * large as the range; or by_value overflows, or the range is too narrow for it.
 */
static bool set_level(const struct span *s, struct bin_table *t, uint32_t level)
{
	if (t->by_value) {
		const double range = sample_of_key(s->type, s->last) - t->lo;
		const uint32_t entries = guide_most(s) >> level;
		/* Both are numbers of the sample's precision. */
		t->scale = s->bits == 32 ? (double)(float)(entries / (double)(float)range)
					 : entries / range;
		if (entries < 2 || !isnormal(range) || !isnormal(t->scale))
			return false;
	} else {
		if (level + 1 >= s->bits)
			return false;
		t->shift = level;
		t->origin = 0;
		t->origin = entry_of(s, t, s->first);
	}
	measure(s, t);
	return true;
}

/* The coarsest guide, from this level on, that needs no more steps. */
static struct bin_table coarsest(const struct span *s, struct bin_table t, uint32_t level)
{
	struct bin_table best;

	t.half = UINT32_MAX; /* of a guide that cannot be made */
	if (!set_level(s, &t, level))
		return t;
	do
		best = t;
	while (best.guide > 2 && set_level(s, &t, ++level) && t.half <= best.half);
	return best;
}

/* The guide of integers by the bits of their value as a float. */
static struct bin_table by_ratio(const struct span *s)
{
	const int128_t value = sample_min(s->type) + (int128_t)s->first;
	const uint64_t most = s->bits == 32 ? UINT32_MAX : UINT64_MAX;
	/* A float from 0 on would spend most entries below 1. */
	struct bin_table t = {.by_ratio = 1,
			      .from = value > 0                   ? (uint64_t)value
				      : s->last - s->first < most ? 1
								  : 0};
	/* so that the difference of two entries is sure to fit 32 bits */
	uint32_t shift = s->bits == 32 ? 8 : 40;

	while (set_level(s, &t, shift) && t.guide > guide_most(s))
		shift++;
	return coarsest(s, t, shift);
}

static struct bin_table choose_guide(const struct span *s)
{
	uint32_t shift = 0;

	while ((s->last - s->first) >> shift >= guide_most(s))
		shift++;
	const struct bin_table by_key = coarsest(s, (struct bin_table){.by_ratio = 0}, shift);
	const struct bin_table other =
		s->real ? coarsest(s,
				   (struct bin_table){.by_value = 1,
						      .lo = sample_of_key(s->type, s->first)},
				   0)
			: by_ratio(s);
	return other.half < by_key.half ? other : by_key;
}

/* ---- the memory ---- */

/* The guide, then for each inner edge the last distance from `first` that is below it. */
static uint32_t *fill(const struct span *s, struct binning *b)
{
	struct bin_table *t = &b->table;
	const uint32_t guide = table_guide_words(t);
	/*
	 * Bisection may look past the last edge of its entry; after the last entry it finds "not
	 * reached" there.
	 */
	const size_t keys = (size_t)s->inner + 2 * (size_t)t->half,
		     words = guide + keys * (s->bits / 32);
	uint32_t *const table = aligned_alloc(8, (4 * words + 7) / 8 * 8);
	uint32_t before = s->passed;

	if (!table)
		return NULL;
	memset(table, 0, 4 * words);
	for (uint32_t entry = 0; entry < t->guide; entry++) {
		for (; before < s->inner - s->ahead; before++) {
			const uint32_t own = entry_of(s, t, s->key[before]);
			if (own > entry || (own == entry && !leads(s, t, s->key[before], own)))
				break;
		}
		table[entry] = before;
	}
	for (size_t i = 0; i < keys; i++) {
		uint64_t below = b->span;
		if (i < s->inner - s->ahead)
			below = i < s->passed ? 0 : s->key[i] - 1 - s->first;
		if (s->bits == 32)
			table[guide + i] = (uint32_t)below;
		else
			((uint64_t *)(void *)(table + guide))[i] = below;
	}
	t->words = words;
	t->at = (uint64_t)(uintptr_t)table;
	return table;
}

/* All of the range is in the cell "edge". */
static uint32_t *fill_empty(const struct span *s, struct binning *b)
{
	uint32_t *const table = aligned_alloc(8, 8);

	if (!table)
		return NULL;
	table[0] = table[1] = b->bins;
	b->table = (struct bin_table){.guide = 2, .shift = s->bits - 1, .words = 2};
	b->table.at = (uint64_t)(uintptr_t)table;
	return table;
}

int table_init(struct edges *e, const double *edges, const struct sample_type *type)
{
	struct binning *const b = &e->binning;
	struct span s = {
		.type = type,
		.real = type->kind == SAMPLE_FLOAT,
		.bits = type->bytes == 8 ? 64 : 32,
		.inner = b->bins - 1,
	};
	int128_t first = key_from(&s, edges[0], false);
	int128_t last = key_from(&s, edges[b->bins], e->closed) - 1;

	b->kind = BIN_TABLE;
	b->is_signed = type->kind == SAMPLE_SIGNED;
	b->bias = s.real ? 0 : (uint64_t)-sample_min(type);
	if (last < first) {
		const int128_t most = key_last(&s);
		e->edge_cell = first > most ? EDGE_IS_UNDER : EDGE_IS_OVER;
		first = first > most ? 0 : first;
		b->first = (uint64_t)first;
		b->span = (uint64_t)(most - first);
		e->table = fill_empty(&s, b);
		return e->table ? 0 : -1;
	}
	s.first = b->first = (uint64_t)first;
	s.last = (uint64_t)last;
	b->span = s.last - s.first;
	s.key = malloc(((size_t)s.inner + 1) * sizeof(*s.key));
	if (!s.key)
		return -1;
	for (uint32_t i = 0; i < s.inner; i++) {
		const int128_t key = key_from(&s, edges[i + 1], false);
		s.passed += key <= first;
		s.ahead += key > last;
		s.key[i] = (uint64_t)key;
	}
	b->table = choose_guide(&s);
	e->table = fill(&s, b);
	free(s.key);
	return e->table ? 0 : -1;
}

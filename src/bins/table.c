/* SPDX-License-Identifier: MIT */
/*
 * table: explicit edges as keys, and the guide to the few keys that a sample is compared with.
 *
 * Every sample type has keys in the order of its values (binning.h), so an edge in binary64 is
 * equivalent to the smallest key whose value is not below it. Samples are compared with these keys
 * only; nothing is rounded.
 *
 * The guide divides the range into entries. Each entry holds the number of inner edges before it. A
 * sample's entry g never falls as samples rise, and every loop and kernel computes it as this file
 * does. So an edge with a lower g than the sample's is not above the sample, and an edge with a
 * higher g is. Only edges with the same g are compared, by bisection, in as many steps as the most
 * crowded entry needs: one step for edges that are roughly regular, and at most 20 for 2^20 edges
 * crowded into one entry. An edge at the smallest key of its entry needs no step, because it is not
 * above any sample of the entry. So even many edges between two neighbouring integers cost nothing.
 *
 * g is the upper bits of a float: the distance from the first value of the range. Each octave of
 * the distance has the same number of entries, and only the octaves from the first inner edge to
 * the last have entries, so the guide suits edges at equal steps and at equal ratios. For integers,
 * the distance is one larger, because the many octaves of floats below 1 contain no integer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "bins/edges.h"

/*
 * The first guide tried has GUIDE_PER_BIN entries for each bin, in case a few bins are crowded, but
 * at least GUIDE_LEAST, which fit L2. Their number is halved while that adds no step.
 */
#define GUIDE_LEAST (UINT64_C(1) << 16)
#define GUIDE_PER_BIN UINT64_C(8)
#define GUIDE_MOST (UINT64_C(1) << 22)

/* The range, in keys of the type. */
struct span {
	const struct sample_type *type;
	bool real;            /* a float type */
	unsigned bits;        /* bits of a key */
	uint64_t first, last; /* the first and the last key in the range */
	uint64_t *key;        /* for each inner edge, the smallest key not below it */
	uint32_t inner;       /* number of inner edges, one less than bins */
	uint32_t passed;      /* number of inner edges not above `first` */
	uint32_t ahead;       /* number of inner edges above `last` */
};

/* ---- keys ---- */

/*
 * Return the smallest key whose value is not below x, or, with `above`, is above x. If no key is,
 * return the one after the last.
 */
static int128_t key_from(const struct span *s, double x, bool above)
{
	if (!s->real) {
		const int128_t min = sample_min(s->type), past = sample_max(s->type) + 1;
		const double bounded = fmax(fmin(x, 0x1p70), -0x1p70);
		const int128_t whole =
			above ? (int128_t)floor(bounded) + 1 : (int128_t)ceil(bounded);
		return (whole < min ? min : whole > past ? past : whole) - min;
	}
	/* The nearest float may be below or above x, and 0 has two keys. */
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

/* The x of table_entry32 and table_entry64 for a sample of this key. */
static double value_of(const struct span *s, uint64_t key)
{
	return s->real ? sample_of_key(s->type, key) : (double)(key - s->first);
}

static double distance_of(const struct span *s, const struct bin_table *t, uint64_t key)
{
	const double x = value_of(s, key);

	return (s->bits == 32 ? (double)((float)x - (float)t->lo) : x - t->lo) + 0.0; /* not -0 */
}

static uint32_t entry_of(const struct span *s, const struct bin_table *t, uint64_t key)
{
	const double x = value_of(s, key);

	return s->bits == 32 ? table_entry32(t, (float)x) : table_entry64(t, x);
}

/* Is this key, which is above `first`, the smallest of its entry? */
static bool leads(const struct span *s, const struct bin_table *t, uint64_t key, uint32_t entry)
{
	return entry_of(s, t, key - 1) < entry;
}

/* Set the number of steps that the most crowded entry needs. */
static void set_steps(const struct span *s, struct bin_table *t)
{
	uint32_t run = 0, crowd = 0, entry = 0;

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

static uint64_t guide_most(const struct span *s)
{
	const uint64_t n = GUIDE_PER_BIN * ((uint64_t)s->inner + 1);

	return n < GUIDE_LEAST ? GUIDE_LEAST : n > GUIDE_MOST ? GUIDE_MOST : n;
}

/* Set the width of the entries, their number, and their steps. */
static void set_shift(const struct span *s, struct bin_table *t, uint32_t shift)
{
	t->shift = shift;
	t->origin = 0;
	t->origin = entry_of(s, t, s->first);
	t->guide = entry_of(s, t, s->last) + 1;
	set_steps(s, t);
}

static struct bin_table choose_guide(const struct span *s)
{
	const bool single = s->bits == 32;
	struct bin_table coarser,
		t = {.lo = s->real ? sample_of_key(s->type, s->first) : -1, .guide = 1};
	uint32_t shift = 0;

	if (s->passed == s->inner - s->ahead)
		return t;
	t.least = distance_of(s, &t, s->key[s->passed] - 1);
	t.most = distance_of(s, &t, s->key[s->inner - s->ahead - 1]);
	const uint64_t from = single ? bits_of_float((float)t.least) : bits_of_double(t.least),
		       to = single ? bits_of_float((float)t.most) : bits_of_double(t.most);
	while ((to - from) >> shift >= guide_most(s))
		shift++;
	set_shift(s, &t, shift);
	for (coarser = t; coarser.half <= t.half && t.guide > 2;) {
		t = coarser;
		set_shift(s, &coarser, ++shift);
	}
	return t;
}

/* ---- the memory ---- */

/* Make the guide, followed by the largest distance from `first` below each inner edge. */
static uint32_t *table_fill(const struct span *s, struct binning *b)
{
	struct bin_table *t = &b->table;
	const uint32_t guide = table_guide_words(t);
	/*
	 * Bisection may read keys past its entry's last edge. After the last entry, those are the
	 * last distance of the range, which no sample is above.
	 */
	const size_t keys = (size_t)s->inner + 2 * (size_t)t->half,
		     words = guide + keys * (s->bits / 32);
	uint32_t *const table = aligned_alloc(8, round_up(4 * words, 8));
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

int table_init(struct edges *e, const double *edges, const struct sample_type *type)
{
	struct binning *const b = &e->binning;
	struct span s = {
		.type = type,
		.real = type->kind == SAMPLE_FLOAT,
		.bits = type->code_bytes == 8 ? 64 : 32,
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
		/* A single entry puts all keys of this range into the cell "edge". */
		b->table = (struct bin_table){.guide = 1};
		s.passed = b->bins;
		s.inner = 0;
		e->table = table_fill(&s, b);
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
	e->table = table_fill(&s, b);
	free(s.key);
	return e->table ? 0 : -1;
}

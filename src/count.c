/*
 * count: the tables and the loops that fill them.
 *
 * Two increments of one address depend on each other through memory: about five cycles each,
 * against less than two for different addresses. Neighbouring samples are often equal, so
 * they go to different tables, two to eight of them, and a constant stream costs no more
 * than noise. The tables hold 32 bits, half the cache of 64; they are flushed into the
 * totals before any of them can have seen 2^32 samples.
 *
 * Counting waits for the tables, a checksum for its multiplications: in one loop they cost less than
 * one behind the other. That is done for samples of 32 bits in few bins; with 8- and 16-bit codes it
 * gained nothing, there a block is added to the checksum and then counted from L1.
 */
#include "count.h"

#include <stdlib.h>
#include <string.h>

#include "huge.h"

#define BLOCK 512u               /* samples between the two loops: cells[] stays in L1 */
#define CODES_BLOCK 2048u        /* codes between checksum and loop */
#define LINE 64u
#define TABLES_MAX ((size_t)512 << 10) /* bytes of replicated tables: half of a usual L2 */
/*
 * Bytes of all workers' private tables together; above, one table for all. Measured on two
 * cores with noise over 2^20, 2^22, 2^24 cells: a private table takes 1.2, 3.1, 7.3 ns a
 * sample, the shared one 8, 12, 16. So private as long as memory allows.
 */
#define PRIVATE_MAX ((size_t)160 << 20)
#define HOT_SLOTS 1024u          /* a direct-mapped cache of cells: 8 KiB, a part of L1 */
#define SHARED_BLOCK 128u        /* lines asked for at once: 8 KiB of L1 more */

struct counter {
	const struct counting *c;
	struct counts *counts;
	uint64_t held;    /* samples in table[] since the last flush, at most 2^32 - 1 */
	size_t stride;    /* entries between two tables */
	uint32_t *table;  /* c->tables of them */
	uint64_t *hot;    /* SHARED: HOT_SLOTS of cell << 32 | count, in table's memory */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

size_t counting_cells(const struct sample_type *type, const struct edges *edges)
{
	return type->bytes <= 2 ? (size_t)1 << (8 * type->bytes)
				: (size_t)edges->binning.bins + CELL_EXTRA;
}

void counting_init(struct counting *c, const struct sample_type *type, const struct edges *edges,
		   unsigned workers, bool spare)
{
	*c = (struct counting){
		.type = *type,
		.binning = edges->binning,
		.bytes = type->bytes,
		.cells = counting_cells(type, edges),
		.tables = 1,
	};
	const size_t table = c->cells * sizeof(uint32_t);

	if (type->bytes == 1) {
		c->method = COUNT_BYTES;
		c->tables = 8;
	} else if (type->bytes == 2) {
		c->method = COUNT_CODES;
		c->tables = 2;
	} else {
		c->cells_of = cells_choose(type, &edges->binning);
		c->method = table <= PRIVATE_MAX / workers && !spare ? COUNT_PRIVATE : COUNT_SHARED;
		while (c->method == COUNT_PRIVATE && c->tables < 4 &&
		       2 * c->tables * table <= TABLES_MAX)
			c->tables *= 2;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (c->method == COUNT_PRIVATE && type->bytes == 4 && type->kind == SAMPLE_UNSIGNED &&
	    !type->big && c->binning.kind == BIN_SHIFT && c->binning.shift == 0 &&
	    c->binning.first == 0 && c->binning.base == 0)
		c->max = cells_max_choose();
#endif
	c->alone = workers == 1;
	c->memory = c->method == COUNT_SHARED ? HOT_SLOTS * 2 * sizeof(uint32_t)
					      : c->tables * round_up(table, LINE) + LINE;
}

/* Zeroed. Large tables are hit at random: huge pages save most of the TLB misses. */
static void *table_alloc(size_t bytes)
{
	void *table = huge_alloc(bytes);

	if (table)
		memset(table, 0, bytes);
	return table;
}

int counts_init(struct counts *counts, size_t cells, struct fail *fail)
{
	*counts = (struct counts){.cells = cells};
	counts->cell = table_alloc(cells * sizeof(uint64_t));
	if (!counts->cell)
		return fail_errno(fail, "counts of %zu cells", cells);
	if (pthread_mutex_init(&counts->lock, NULL) != 0) {
		free(counts->cell);
		counts->cell = NULL;
		return fail_set(fail, STATUS_SYSTEM, "lock: cannot be made");
	}
	return 0;
}

void counts_free(struct counts *counts)
{
	if (!counts->cell)
		return;
	pthread_mutex_destroy(&counts->lock);
	free(counts->cell);
	counts->cell = NULL;
}

struct counter *counter_open(const struct counting *c, struct counts *counts)
{
	struct counter *counter = calloc(1, sizeof(*counter));
	if (!counter)
		return NULL;
	counter->c = c;
	counter->counts = counts;
	/* An odd number of lines apart, so that equal cells do not share a cache set. */
	counter->stride = round_up(c->cells, LINE / sizeof(uint32_t)) + LINE / sizeof(uint32_t);
	const size_t entries = c->method == COUNT_SHARED ? HOT_SLOTS * 2
							 : c->tables * counter->stride;
	counter->table = table_alloc(entries * sizeof(uint32_t));
	if (!counter->table) {
		free(counter);
		return NULL;
	}
	counter->hot = (uint64_t *)(void *)counter->table;
	return counter;
}

static void flush_tables(struct counter *counter)
{
	struct counts *counts = counter->counts;
	const struct counting *c = counter->c;

	pthread_mutex_lock(&counts->lock);
	for (unsigned t = 0; t < c->tables; t++) {
		const uint32_t *table = counter->table + t * counter->stride;
		for (size_t i = 0; i < c->cells; i++)
			counts->cell[i] += table[i];
	}
	counts->samples += counter->held;
	pthread_mutex_unlock(&counts->lock);
	memset(counter->table, 0, c->tables * counter->stride * sizeof(uint32_t));
	counter->held = 0;
}

static void add_bytes(struct counter *counter, const unsigned char *p, size_t n)
{
	uint32_t *const t = counter->table;
	const size_t s = counter->stride;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t w;
		memcpy(&w, p + i, sizeof(w));
		t[w & 255]++;
		t[s + (w >> 8 & 255)]++;
		t[2 * s + (w >> 16 & 255)]++;
		t[3 * s + (w >> 24 & 255)]++;
		t[4 * s + (w >> 32 & 255)]++;
		t[5 * s + (w >> 40 & 255)]++;
		t[6 * s + (w >> 48 & 255)]++;
		t[7 * s + (w >> 56)]++;
	}
	for (; i < n; i++)
		t[p[i]]++;
}

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
		t[p[2 * i] | p[2 * i + 1] << 8]++;
	(void)u;
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
 * of a block wait until their lines were asked for, all at once.
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
				__atomic_fetch_add(&total[out[i] >> 32], (uint32_t)out[i],
						   __ATOMIC_RELAXED);
		}
		cells += some;
		n -= some;
	}
}

static void flush_shared(struct counter *counter)
{
	struct counts *counts = counter->counts;

	for (size_t i = 0; i < HOT_SLOTS; i++) {
		__atomic_fetch_add(&counts->cell[counter->hot[i] >> 32], (uint32_t)counter->hot[i],
				   __ATOMIC_RELAXED);
		counter->hot[i] = 0;
	}
	pthread_mutex_lock(&counts->lock);
	counts->samples += counter->held;
	pthread_mutex_unlock(&counts->lock);
	counter->held = 0;
}

static void flush(struct counter *counter)
{
	if (counter->c->method == COUNT_SHARED)
		flush_shared(counter);
	else
		flush_tables(counter);
}

/* With nothing left over from before, whole stripes can be. */
static bool takes_along(const struct counting *c, const struct xxh64 *hash)
{
	return c->tables == 4 && c->bytes == XXH64_STRIPE / 8 && hash->bytes % XXH64_STRIPE == 0;
}

/* At most 2^31 samples, so that 32-bit counts can be held to their bound. */
static void add_some(struct counter *counter, const unsigned char *p, size_t n, struct xxh64 *hash)
{
	const struct counting *c = counter->c;
	const size_t block = c->bytes > 2 ? BLOCK : hash ? CODES_BLOCK : n;
	uint32_t cells[BLOCK];

	if (counter->held + n > UINT32_MAX)
		flush(counter);
	counter->held += n;
	while (n > 0) {
		const size_t some = n < block ? n : block;
		struct xxh64 *const along = hash && takes_along(c, hash) ? hash : NULL;
		if (hash && !along)
			xxh64_add(hash, p, some * c->bytes);
		if (c->method == COUNT_BYTES) {
			add_bytes(counter, p, some);
		} else if (c->method == COUNT_CODES) {
			add_codes(counter, p, some);
		} else if (c->max && c->max(p, some) <= c->binning.span) {
			add_cells(counter, p, some, p, along);
		} else {
			c->cells_of(&c->binning, p, some, cells);
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
	const size_t most = (size_t)1 << 31;

	for (; n > most; n -= most, samples += most * counter->c->bytes)
		add_some(counter, samples, most, hash);
	add_some(counter, samples, n, hash);
}

void counter_close(struct counter *counter)
{
	if (!counter)
		return;
	flush(counter);
	free(counter->table);
	free(counter);
}

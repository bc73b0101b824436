/* SPDX-License-Identifier: MIT */
/*
 * Samples that repeat, which count.c counts by one addition: every type, every kind of bins, every
 * instruction set; all lengths, one sample that differs at every index, runs across blocks and
 * calls; and more than 2^32 in one call.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/isa.h"
#include "check.h"
#include "count/count.h"

#define MOST 12000u /* samples: some units of count.c */

static uint64_t state = 0x726570656174;
static unsigned long kinds[BIN_KINDS], methods[4], isas;

static const struct spec {
	const char *lo, *hi;
	uint32_t bins;
	bool shared; /* one table for all */
} SPECS[] = {
	{"0", "1024", 1024, false},
	{"full", "", 1024, false},
	{"0", "1000", 7, false},
	{"full", "", 1000, false},
	{"0.1", "8388607.7", 4096, false},
	{"1", "1.0000000000000011", 5, false},
	{"-9", "-8.5", 2, false},
	{"list", "", 6, false}, /* explicit edges */
	{"mod", "", 77, false},
	{"0", "100000", 100000, true},
	{"0", "33554433", 33554433, true},
};
#define FEW 10u /* the last one takes long to clear */

static bool set_up(struct counting *c, const char *type, const struct spec *spec)
{
	static const double LIST[] = {-1e30, 0, 5, 6, 2000, 5e8, 1e30};
	static struct edges e; /* what counting points to, until the next one */
	const bool listed = strcmp(spec->lo, "list") == 0, mod = strcmp(spec->lo, "mod") == 0;
	struct edges_spec wanted = {.bins = spec->bins,
				    .kind = listed ? AXIS_EDGES
					    : mod  ? AXIS_MOD
						   : AXIS_RANGE,
				    .full = spec->lo[0] == 'f',
				    .list = LIST};
	struct sample_type t;
	const char *why;

	edges_free(&e);
	sample_type_parse(&t, type);
	if (!wanted.full && !listed) {
		number_parse(&wanted.lo, spec->lo, strlen(spec->lo));
		number_parse(&wanted.hi, spec->hi, strlen(spec->hi));
	}
	if (edges_init(&e, &wanted, &t, &why) != 0)
		return false; /* no full range for floats */
	counting_init_layout(c, &t, &e, NULL, spec->shared);
	kinds[c->binning.kind]++;
	methods[c->method]++;
	return true;
}

/* The cell of a sample, by the plainest loop there is. */
static size_t cell_of(const struct counting *c, const unsigned char *sample)
{
	uint32_t cell;

	if (c->bytes <= 2)
		return c->bytes == 1 ? sample[0] : (size_t)sample[0] + 256 * sample[1];
	cells_base.cells[cells_load(&c->type)][c->binning.kind](&c->binning, sample, 1, &cell);
	return cell;
}

static void make_sample(unsigned char *sample, const struct counting *c)
{
	/*
	 * Anything; a small whole number, which is in a range more often; one of two that share a
	 * slot.
	 */
	const uint64_t r = check_random(&state);
	const uint64_t v = r & 1   ? check_random(&state)
			   : r & 2 ? r >> 8 & 2047
				   : 5 + (r >> 8 & 1) * 1024;

	for (uint32_t k = 0; k < c->bytes; k++)
		sample[k] = (unsigned char)(v >> 8 * (c->type.big ? c->bytes - 1 - k : k));
}

/*
 * Counts n samples, in calls of any length if `pieces`, and compares with expected, which is
 * cleared.
 */
static void one(const struct counting *c, struct counts *counts, const unsigned char *p, size_t n,
		bool pieces, uint64_t *expected, const char *what)
{
	struct counter *const counter = counter_open(c, counts);
	size_t wrong = 0;

	memset(counts->cell, 0, counts->cells * sizeof(uint64_t));
	counts->samples = 0;
	for (size_t done = 0, some; done < n; done += some) {
		some = pieces ? check_random(&state) % (n - done + 1) : n;
		counter_add(counter, p + done * c->bytes, some);
	}
	counter_close(counter);
	for (size_t i = 0; i < c->cells; i++)
		wrong += counts->cell[i] != expected[i];
	CHECK(wrong == 0 && counts->samples == n,
	      "%s %s, %s kind %u, %zu samples: %zu cells are wrong", isa_name(isa_best()), what,
	      c->type.name, c->binning.kind, n, wrong);
	memset(expected, 0, c->cells * sizeof(*expected));
}

static void equal(const struct counting *c, struct counts *counts, uint64_t *expected,
		  unsigned char *room)
{
	static const size_t MORE[] = {511, 512, 513, 4095, 4096, 4097, 8192, MOST};
	unsigned char sample[8];

	for (size_t k = 0; k < 60 + sizeof(MORE) / sizeof(MORE[0]); k++) {
		const size_t n = k < 60 ? check_random(&state) % 400 : MORE[k - 60];
		unsigned char *const p = room + check_random(&state) % 9;
		make_sample(sample, c);
		for (size_t i = 0; i < n; i++)
			memcpy(p + i * c->bytes, sample, c->bytes);
		expected[cell_of(c, sample)] += n;
		one(c, counts, p, n, false, expected, "equal");
	}
}

/* In a block of several strides and a rest. */
static void one_differs(const struct counting *c, struct counts *counts, uint64_t *expected,
			unsigned char *room)
{
	const size_t n = 3 * CELLS_STRIDE / c->bytes + 5;
	unsigned char *const p = room + check_random(&state) % 9;
	unsigned char sample[8], other[8];

	for (size_t at = 0; at < n; at++) {
		make_sample(sample, c);
		memcpy(other, sample, sizeof(other));
		other[check_random(&state) % c->bytes] ^=
			(unsigned char)(1 << check_random(&state) % 8);
		for (size_t i = 0; i < n; i++)
			memcpy(p + i * c->bytes, i == at ? other : sample, c->bytes);
		expected[cell_of(c, sample)] += n - 1;
		expected[cell_of(c, other)]++;
		one(c, counts, p, n, false, expected, "one differs");
	}
}

static void runs(const struct counting *c, struct counts *counts, uint64_t *expected,
		 unsigned char *room)
{
	static const unsigned LONGEST[] = {2, 100, 5000};
	unsigned char sample[8] = {0};

	for (unsigned k = 0; k < 3; k++) {
		unsigned char *const p = room + check_random(&state) % 9;
		for (size_t i = 0; i < MOST;) {
			uint64_t length = 1 + check_random(&state) % LONGEST[k];
			make_sample(sample, c);
			for (; length > 0 && i < MOST; length--, i++) {
				memcpy(p + i * c->bytes, sample, c->bytes);
				expected[cell_of(c, sample)]++;
			}
		}
		one(c, counts, p, MOST, true, expected, "runs");
	}
}

static void all(const char *type, const struct spec *spec)
{
	struct counting c;
	struct counts counts;
	struct fail fail = {0};

	if (!set_up(&c, type, spec))
		return;
	CHECK(counts_init(&counts, c.cells, &fail) == 0, "%s", fail.text);
	uint64_t *const expected = calloc(c.cells, sizeof(*expected));
	unsigned char *const room = malloc((size_t)MOST * 8 + 16);
	if (c.cells <= 70000) {
		equal(&c, &counts, expected, room);
		one_differs(&c, &counts, expected, room);
	}
	runs(&c, &counts, expected, room);
	free(room);
	free(expected);
	counts_free(&counts);
}

/*
 * More equal samples in one call than 32 bits count: pages that are read and never written take no
 * memory.
 */
static void very_many(const char *type, const struct spec *spec)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	const size_t n = ((size_t)1 << 32) + 12345;
	struct counting c;
	struct counts counts;
	struct fail fail = {0};
	uint64_t sum = 0, most = 0;

	if (!set_up(&c, type, spec))
		return;
	unsigned char *const p = mmap(NULL, n * c.bytes, PROT_READ,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return;
	/* Where the system has large pages, this takes thousands of faults instead of millions. */
	madvise(p, n * c.bytes, MADV_HUGEPAGE);
	CHECK(counts_init(&counts, c.cells, &fail) == 0, "%s", fail.text);
	struct counter *const counter = counter_open(&c, &counts);
	counter_add(counter, p, n);
	counter_close(counter);
	for (size_t i = 0; i < c.cells; i++) {
		sum += counts.cell[i];
		most = counts.cell[i] > most ? counts.cell[i] : most;
	}
	CHECK(most == n && sum == n && counts.samples == n, "%s: %llu of %zu zeros", type,
	      (unsigned long long)most, n);
	counts_free(&counts);
	munmap(p, n * c.bytes);
#else
	(void)type;
	(void)spec;
#endif
}

int main(void)
{
	enum { CODES = 10 }; /* types that are counted by code, whatever the bins */
	static const char *const TYPES[] = {
		"u8",     "i8",    "u16",   "u16be", "i16",   "i16be", "f16",   "f16be", "bf16",
		"bf16be", "u24",   "u24be", "i24",   "i24be", "u32",   "u32be", "i32",   "i32be",
		"u64",    "u64be", "i64",   "i64be", "f32",   "f32be", "f64",   "f64be",
	};

	for (enum isa isa = ISA_BASE; isa < ISAS; isa++) {
		if (isa_force(isa_name(isa)) != 0)
			continue;
		isas++;
		CHECK(isa_best() == isa, "%s was asked for, %s is used", isa_name(isa),
		      isa_name(isa_best()));
		for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++)
			for (size_t s = 0; s < (t < CODES ? 1 : FEW); s++)
				all(TYPES[t], &SPECS[s]);
	}
	CHECK(isa_force("avx1024") != 0, "an instruction set that is none was accepted");
	CHECK(isa_force(NULL) == 0, "the best one was refused");
	all("u32", &SPECS[FEW]);
	very_many("u8", &SPECS[0]);
	very_many("u24", &SPECS[9]);
	for (int k = 0; k < BIN_KINDS; k++)
		CHECK(kinds[k] > 0 || k == BIN_SLOT, "bins of kind %d were not reached", k);
	for (int m = COUNT_BYTES; m <= COUNT_SHARED; m++)
		CHECK(methods[m] > 0, "method %d was not reached", m);
	CHECK(isas > 0, "not even the base instruction set");
	return check_report();
}

/*
 * cells: every loop of every instruction set that this machine has gives, sample by sample,
 * what binning.h gives; at any alignment and length, and writes nothing behind the last cell.
 */
#include "cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "edges.h"

#define MOST 512u
#define GUARD 0xdeadbeefu

static uint64_t state = 0x63656c6c73;
static unsigned long reached[LOADS][BIN_KINDS];

static const struct {
	const char *name;
	const cells_table *table;
} ISAS[] = {
	{"base", &cells_table_base},
#ifdef HAVE_X86_LOOPS
	{"avx2", &cells_table_avx2},
	{"avx512", &cells_table_avx512},
#endif
};

static bool supported(const char *isa)
{
#ifdef HAVE_X86_LOOPS
	if (strcmp(isa, "avx2") == 0)
		return __builtin_cpu_supports("avx2");
	if (strcmp(isa, "avx512") == 0)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
	return strcmp(isa, "base") == 0;
}

/* The bytes of a sample as a number, most significant first or last. */
static uint64_t bits_of(const unsigned char *p, uint32_t bytes, bool big)
{
	uint64_t v = 0;

	for (uint32_t k = 0; k < bytes; k++)
		v |= (uint64_t)p[k] << 8 * (big ? bytes - 1 - k : k);
	return v;
}

static uint32_t expected(const struct edges *e, const struct sample_type *t, const unsigned char *p)
{
	const struct binning *b = &e->binning;
	const uint64_t bits = bits_of(p, t->bytes, t->big);

	if (t->kind == SAMPLE_FLOAT && t->bytes == 4) {
		const uint32_t low = (uint32_t)bits;
		float f;
		memcpy(&f, &low, sizeof(f));
		return bin_float(b, b->kind, (double)f);
	}
	if (t->kind == SAMPLE_FLOAT) {
		double f;
		memcpy(&f, &bits, sizeof(f));
		return bin_float(b, b->kind, f);
	}
	/* The key: the value's distance from the smallest one. */
	const uint64_t key = bits ^ (t->kind == SAMPLE_SIGNED ? (uint64_t)1 << (8 * t->bytes - 1) : 0);
	return t->bytes == 8 ? bin_key64(b, b->kind, key) : bin_key32(b, b->kind, (uint32_t)key);
}

/* Half of the samples anywhere, half near the range's ends, and for floats all that is odd. */
static void make_sample(unsigned char *p, const struct edges *e, const struct sample_type *t)
{
	const uint64_t r = check_random(&state);
	uint64_t bits = check_random(&state);

	if (t->kind == SAMPLE_FLOAT) {
		static const double ODD[] = {0.0, -0.0, (double)INFINITY, -(double)INFINITY, (double)NAN,
					     1e-310, -1e300, 1e300};
		const uint32_t i = (uint32_t)(r >> 8) % (e->binning.bins + 1);
		double x = r % 4 == 0 ? ODD[r >> 8 & 7] : edges_value(e, i);
		if (r % 4 == 1)
			x = nextafter(x, r >> 40 & 1 ? (double)INFINITY : -(double)INFINITY);
		float f = (float)x;
		uint32_t low;
		memcpy(&low, &f, sizeof(low));
		if (r % 4 != 3)
			memcpy(&bits, &x, sizeof(bits));
		if (r % 4 != 3 && t->bytes == 4)
			bits = low;
	} else if (r % 2) {
		/* keys beside the first and the last in range; what wraps around is a sample too */
		bits = e->binning.first + (r & 2 ? e->binning.span : 0) + (r >> 8) % 7 - 3;
		bits ^= e->binning.bias;
	}
	for (uint32_t k = 0; k < t->bytes; k++)
		p[k] = (unsigned char)(bits >> 8 * (t->big ? t->bytes - 1 - k : k));
}

static void one_length(cells_fn *fn, const char *isa, const struct edges *e,
		       const struct sample_type *t, size_t n)
{
	static unsigned char room[MOST * 8 + 16];
	static uint32_t cells[MOST + 1];
	unsigned char *p = room + check_random(&state) % 9;

	for (size_t i = 0; i < n; i++)
		make_sample(p + i * t->bytes, e, t);
	cells[n] = GUARD;
	fn(&e->binning, p, n, cells);
	CHECK(cells[n] == GUARD, "%s %s: wrote behind %zu cells", isa, t->name, n);
	for (size_t i = 0; i < n; i++)
		CHECK(cells[i] == expected(e, t, p + i * t->bytes),
		      "%s %s kind %u: sample %zu of %zu, bits %llx: cell %u, not %u", isa, t->name,
		      e->binning.kind, i, n, (unsigned long long)bits_of(p + i * t->bytes, t->bytes, t->big),
		      cells[i], expected(e, t, p + i * t->bytes));
}

static enum cells_load load_of(const struct sample_type *t)
{
	const unsigned base = t->kind == SAMPLE_FLOAT ? (t->bytes == 4 ? LOAD_F32 : LOAD_F64)
			      : t->bytes == 3 ? LOAD_KEY24 : t->bytes == 4 ? LOAD_KEY32 : LOAD_KEY64;

	return base + t->big;
}

static void one(const char *type, const char *lo, const char *hi, uint32_t bins, bool closed)
{
	struct edges_spec spec = {.bins = bins, .closed = closed, .ranged = true};
	struct sample_type t;
	struct edges e;
	const char *why = NULL;

	spec.full = lo[0] == 'f';
	sample_type_parse(&t, type);
	if (!spec.full) {
		number_parse(&spec.lo, lo, strlen(lo));
		number_parse(&spec.hi, hi, strlen(hi));
	}
	if (edges_init(&e, &spec, &t, &why) != 0) {
		CHECK(false, "%s %s:%s: %s", type, lo, hi, why);
		return;
	}
	for (size_t i = 0; i < sizeof(ISAS) / sizeof(ISAS[0]); i++) {
		if (!supported(ISAS[i].name))
			continue;
		cells_fn *fn = (*ISAS[i].table)[load_of(&t)][e.binning.kind];
		CHECK(fn, "%s has no loop for %s kind %u", ISAS[i].name, type, e.binning.kind);
		if (!fn)
			continue;
		for (size_t n = 0; n <= 70; n++)
			one_length(fn, ISAS[i].name, &e, &t, n);
		one_length(fn, ISAS[i].name, &e, &t, MOST);
		reached[load_of(&t)][e.binning.kind]++;
		if (strcmp(ISAS[i].name, cells_isa()) == 0)
			CHECK(cells_choose(&t, &e.binning) == fn, "%s: another loop is chosen", type);
	}
}

int main(void)
{
	static const char *const TYPES[] = {"u24", "i24", "u32", "i32", "u64", "i64", "f32", "f64"};
	static const struct {
		const char *lo, *hi;
		uint32_t bins;
	} SPECS[] = {
		{"0", "1024", 1024},   {"full", "", 256},        {"-1000", "7000", 64},
		{"0", "1000", 7},      {"-3", "100003", 65536},  {"full", "", 1000},
		{"0", "100", 1000},    {"5", "18446744073709551615", 1000}, {"full", "", 1},
		{"-0.5", "1000.5", 9}, {"0.1", "8388607.7", 4096}, {"0.25", "0.75", 3},
		{"-9", "-8.5", 2},     {"1e20", "2e20", 4},      {"-1.5", "1e300", 50},
		{"0.5", "1e305", 77},  {"1", "1.0000000000000004", 5}, {"0", "4294967296", 3},
	};
	char big[8];

	for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++)
		for (size_t s = 0; s < sizeof(SPECS) / sizeof(SPECS[0]); s++)
			for (int closed = 0; closed <= 1; closed++) {
				one(TYPES[t], SPECS[s].lo, SPECS[s].hi, SPECS[s].bins, closed);
				snprintf(big, sizeof(big), "%sbe", TYPES[t]);
				one(big, SPECS[s].lo, SPECS[s].hi, SPECS[s].bins, closed);
			}
	for (int load = 0; load < LOADS; load++)
		for (int kind = 0; kind < BIN_KINDS; kind++)
			CHECK((reached[load][kind] > 0) == (cells_table_base[load][kind] != NULL),
			      "load %d kind %d: reached %lu times", load, kind, reached[load][kind]);
	return check_report();
}

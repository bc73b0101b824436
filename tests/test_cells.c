/* SPDX-License-Identifier: MIT */
/*
 * cells: every loop of every instruction set that this machine has gives the cells of binning.h,
 * sample by sample, at any alignment and length, and writes nothing after the last cell. The same
 * goes for the loops that find repeated samples. Each instruction set can be forced, and then its
 * own loops run, or, if it has none, the loops of the set before it.
 */
#include "count/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "bins/edges.h"
#include "check.h"

#define MOST 512u
#define GUARD 0xdeadbeefu

static uint64_t state = 0x63656c6c73;
static unsigned long reached[LOADS][BIN_KINDS];

/* The loops meant for each instruction set. */
static const struct cells_isa *const MEANT[ISAS] = {
	[ISA_BASE] = &cells_base,
#ifdef HAVE_X86_LOOPS
	[ISA_AVX2] = &cells_avx2,
	[ISA_AVX512] = &cells_avx512,
	[ISA_VBMI2] = &cells_avx512,
#endif
};

static bool supported(enum isa isa)
{
#ifdef HAVE_X86_LOOPS
	if (isa == ISA_VBMI2)
		return supported(ISA_AVX512) && __builtin_cpu_supports("avx512vbmi") &&
		       __builtin_cpu_supports("avx512vbmi2") &&
		       __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("gfni");
	if (isa != ISA_BASE && !(__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")))
		return false;
	if (isa == ISA_AVX2)
		return __builtin_cpu_supports("avx2");
	if (isa == ISA_AVX512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
	return isa == ISA_BASE;
}

/* Return the bytes of a sample as a number, most significant first or last. */
static uint64_t bits_of(const unsigned char *p, uint32_t bytes, bool big)
{
	uint64_t v = 0;

	for (uint32_t k = 0; k < bytes; k++)
		v |= (uint64_t)p[k] << 8 * (big ? bytes - 1 - k : k);
	return v;
}

/*
 * Return the slot of a key's bin, computed in another way than auto.c does. Ranks use the slots of
 * their sign, with the slot of zero between them.
 */
static uint32_t slot_of(const struct edges *e, uint64_t key, int sign)
{
	const bool log = e->auto_bins.log;
	const uint32_t slots = e->auto_bins.most, /* a power of two */
		zero = e->auto_bins.type.kind == SAMPLE_UNSIGNED ? 0 : slots;

	if (log && sign == 0)
		return zero;
	return (uint32_t)auto_bin(&e->auto_bins, key, e->span.k) % slots +
	       (log && sign > 0 ? zero + 1 : 0);
}

static uint32_t rank_expected(const struct edges *e, const struct sample_type *t, double x)
{
	const struct binning *b = &e->binning;

	return isnan(x)    ? cell_nan(b)
	       : !isinf(x) ? slot_of(e, sample_key(t, x), (x > 0) - (x < 0))
	       : x > 0     ? cell_over(b)
			   : cell_under(b);
}

static uint32_t expected(const struct edges *e, const struct sample_type *t, const unsigned char *p)
{
	const struct binning *b = &e->binning;
	const uint64_t bits = bits_of(p, t->code_bytes, t->big);

	if (t->kind == SAMPLE_FLOAT && t->code_bytes == 4) {
		const uint32_t low = (uint32_t)bits;
		float f;
		memcpy(&f, &low, sizeof(f));
		return b->kind == BIN_RANK    ? rank_expected(e, t, (double)f)
		       : b->kind == BIN_TABLE ? bin_table32(b, key32_of_float(low), f)
					      : bin_float(b, b->kind, (double)f);
	}
	if (t->kind == SAMPLE_FLOAT) {
		double f;
		memcpy(&f, &bits, sizeof(f));
		return b->kind == BIN_RANK    ? rank_expected(e, t, f)
		       : b->kind == BIN_TABLE ? bin_table64(b, key64_of_double(bits), f)
					      : bin_float(b, b->kind, f);
	}
	/* The key: the value's distance from the smallest one. */
	const uint64_t key =
		bits ^ (t->kind == SAMPLE_SIGNED ? (uint64_t)1 << (8 * t->code_bytes - 1) : 0);
	if (b->kind == BIN_RANK)
		return slot_of(e, key, (key > b->bias) - (key < b->bias));
	return t->code_bytes == 8 ? bin_key64(b, b->kind, key)
				  : bin_key32(b, b->kind, (uint32_t)key);
}

/* Draw a sample: half of them anywhere, half near the range's ends, and every special float. */
static void make_sample(unsigned char *p, const struct edges *e, const struct sample_type *t)
{
	const uint64_t r = check_random(&state);
	uint64_t bits = check_random(&state);

	if (t->kind == SAMPLE_FLOAT) {
		static const double ODD[] = {
			0.0,         -0.0,   (double)INFINITY, -(double)INFINITY,
			(double)NAN, 1e-310, -1e300,           1e300};
		const uint32_t i = (uint32_t)(r >> 8) % (e->binning.bins + 1);
		double x = r % 4 == 0 ? ODD[r >> 8 & 7] : edges_value(e, i);
		if (r % 4 == 1)
			x = nextafter(x, r >> 40 & 1 ? (double)INFINITY : -(double)INFINITY);
		float f = (float)x;
		uint32_t low;
		memcpy(&low, &f, sizeof(low));
		if (r % 4 != 3)
			memcpy(&bits, &x, sizeof(bits));
		if (r % 4 != 3 && t->code_bytes == 4)
			bits = low;
	} else if (r % 2) {
		/*
		 * keys next to the first and the last in range; one that wraps around is a valid
		 * sample too
		 */
		bits = e->binning.first + (r & 2 ? e->binning.span : 0) + (r >> 8) % 7 - 3;
		bits ^= e->binning.bias;
	}
	for (uint32_t k = 0; k < t->code_bytes; k++)
		p[k] = (unsigned char)(bits >> 8 * (t->big ? t->code_bytes - 1 - k : k));
}

static void one_length(cells_fn *fn, const char *isa, const struct edges *e,
		       const struct sample_type *t, size_t n)
{
	static unsigned char room[MOST * 8 + 16];
	static uint32_t cells[MOST + 1];
	unsigned char *p = room + check_random(&state) % 9;

	for (size_t i = 0; i < n; i++)
		make_sample(p + i * t->code_bytes, e, t);
	cells[n] = GUARD;
	fn(&e->binning, p, n, cells);
	CHECK(cells[n] == GUARD, "%s %s: wrote behind %zu cells", isa, t->name, n);
	for (size_t i = 0; i < n; i++)
		CHECK(cells[i] == expected(e, t, p + i * t->code_bytes),
		      "%s %s kind %u: sample %zu of %zu, bits %llx: cell %u, not %u", isa, t->name,
		      e->binning.kind, i, n,
		      (unsigned long long)bits_of(p + i * t->code_bytes, t->code_bytes, t->big),
		      cells[i], expected(e, t, p + i * t->code_bytes));
}

static void every_isa_of(const char *type, const struct sample_type *t, const struct edges *e)
{
	const struct cells_isa *last = NULL;

	for (enum isa isa = ISA_BASE; isa < ISAS; isa++) {
		if (isa_force(isa_name(isa)) != 0)
			continue;
		CHECK(cells_best() == MEANT[isa], "%s: other loops than those of %s are chosen",
		      type, isa_name(isa));
		if (cells_best() == last)
			continue;
		last = cells_best();
		cells_fn *fn = last->cells[cells_load(t)][e->binning.kind];
		CHECK(fn, "%s has no loop for %s kind %u", isa_name(isa), type, e->binning.kind);
		if (!fn)
			continue;
		for (size_t n = 0; n <= 70; n++)
			one_length(fn, isa_name(isa), e, t, n);
		one_length(fn, isa_name(isa), e, t, MOST);
		reached[cells_load(t)][e->binning.kind]++;
	}
}

static void every_isa(const char *type, const struct axis_spec *spec, const char *shown)
{
	struct sample_type t;
	struct edges e;
	const char *why = NULL;

	sample_type_parse(&t, type);
	if (edges_init(&e, spec, &t, &why) != 0) {
		CHECK(false, "%s %s: %s", type, shown, why);
		return;
	}
	every_isa_of(type, &t, &e);
	edges_free(&e);
}

static void one(const char *type, const char *lo, const char *hi, uint32_t bins, bool closed)
{
	struct axis_spec spec = {.bins = bins, .closed = closed, .kind = AXIS_RANGE};

	spec.full = lo[0] == 'f';
	if (!spec.full) {
		number_parse(&spec.lo, lo, strlen(lo));
		number_parse(&spec.hi, hi, strlen(hi));
	}
	every_isa(type, &spec, lo);
}

/* Explicit edges: one step of a bisection, several of them, none; guides by value and by key. */
static void lists(const char *type, bool closed)
{
	static const double SHAPES[][7] = {
		{-1, 0, 1, 2, 3, 4, 5},
		{0, 1, 10, 100, 1e4, 1e8, 1e16},
		{-1e300, -5, -4.75, -4.5, -4.25, -4, 1e300},
		{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7},
		{1e30, 2e30, 3e30, 4e30, 5e30, 6e30, 7e30},
	};
	static double many[3001];

	for (size_t s = 0; s < sizeof(SHAPES) / sizeof(SHAPES[0]); s++)
		for (uint32_t bins = 1; bins <= 6; bins += 5)
			every_isa(type,
				  &(struct axis_spec){.bins = bins,
						      .closed = closed,
						      .kind = AXIS_EDGES,
						      .list = SHAPES[s]},
				  "list");
	for (uint32_t i = 0; i <= 3000; i++)
		many[i] = -1000 + i * 0.7;
	every_isa(type,
		  &(struct axis_spec){
			  .bins = 3000, .closed = closed, .kind = AXIS_EDGES, .list = many},
		  "many");
}

/* Samples are anywhere in the type, so k is the least that any of them fits, or larger. */
static void slots(const char *type, enum axis_kind kind)
{
	struct sample_type t;
	struct edges e;

	sample_type_parse(&t, type);
	const uint64_t zero = (uint64_t)-sample_min(&t); /* the key of an integer */
	for (uint32_t slots = 4; slots <= 1u << 20; slots *= 8) {
		const struct extent all =
			t.kind != SAMPLE_FLOAT
				? (struct extent){0,
						  t.code_bytes == 8
							  ? UINT64_MAX
							  : ((uint64_t)1 << 8 * t.code_bytes) - 1,
						  zero - 1, zero + 1}
			: t.code_bytes == 4
				? (struct extent){0x00800000, 0xff7fffff, 0x7ffffffe, 0x80000001}
				: (struct extent){0x0010000000000000, 0xffefffffffffffff,
						  0x7ffffffffffffffe, 0x8000000000000001};
		const struct axis_spec spec = {.bins = slots, .kind = kind};
		const char *why = NULL;
		if (edges_init(&e, &spec, &t, &why) != 0) {
			CHECK(false, "%s %s: %s", type, AXIS_KINDS[kind].name, why);
			return;
		}
		for (int more = 0; more < 3; more++) {
			e.span.k = auto_k(&e.auto_bins, &all) + more;
			if (kind == AXIS_RANKS && t.kind == SAMPLE_FLOAT && e.span.k >= (int)t.bits)
				break;
			auto_rule(&e.binning, &e.auto_bins, e.span.k);
			every_isa_of(type, &t, &e);
		}
	}
}

int main(void)
{
	static const char *const TYPES[] = {"u24", "i24", "u32", "i32", "u64", "i64", "f32", "f64"};
	static const struct {
		const char *lo, *hi;
		uint32_t bins;
	} SPECS[] = {
		{"0", "1024", 1024},
		{"full", "", 256},
		{"-1000", "7000", 64},
		{"0", "1000", 7},
		{"-3", "100003", 65536},
		{"full", "", 1000},
		{"0", "100", 1000},
		{"5", "18446744073709551615", 1000},
		{"full", "", 1},
		{"-0.5", "1000.5", 9},
		{"0.1", "8388607.7", 4096},
		{"0.25", "0.75", 3},
		{"-9", "-8.5", 2},
		{"1e20", "2e20", 4},
		{"-1.5", "1e300", 50},
		{"0.5", "1e305", 77},
		{"1", "1.0000000000000011", 5},
		{"0", "4294967296", 3},
	};
	char big[8];

	for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++)
		for (size_t s = 0; s < sizeof(SPECS) / sizeof(SPECS[0]); s++)
			for (int closed = 0; closed <= 1; closed++) {
				one(TYPES[t], SPECS[s].lo, SPECS[s].hi, SPECS[s].bins, closed);
				snprintf(big, sizeof(big), "%sbe", TYPES[t]);
				one(big, SPECS[s].lo, SPECS[s].hi, SPECS[s].bins, closed);
			}
	for (enum isa isa = ISA_BASE; isa < ISAS; isa++)
		CHECK((isa_force(isa_name(isa)) == 0) == supported(isa), "%s cannot be forced",
		      isa_name(isa));
	for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++)
		for (int closed = 0; closed <= 1; closed++) {
			snprintf(big, sizeof(big), "%sbe", TYPES[t]);
			lists(TYPES[t], closed);
			lists(big, closed);
		}
	for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++)
		for (int be = 0; be <= 1; be++) {
			static const uint32_t MODULI[] = {1, 2, 3, 7, 256, 1000, 65537, 1u << 28};
			snprintf(big, sizeof(big), "%s%s", TYPES[t], be ? "be" : "");
			slots(big, AXIS_AUTO);
			slots(big, AXIS_RANKS);
			for (size_t m = 0; m < 8 && TYPES[t][0] != 'f'; m++)
				every_isa(big,
					  &(struct axis_spec){.bins = MODULI[m], .kind = AXIS_MOD},
					  "mod");
		}
	for (int load = 0; load < LOADS; load++)
		for (int kind = 0; kind < BIN_KINDS; kind++)
			CHECK((reached[load][kind] > 0) == (cells_base.cells[load][kind] != NULL),
			      "load %d kind %d: reached %lu times", load, kind,
			      reached[load][kind]);
	return check_report();
}

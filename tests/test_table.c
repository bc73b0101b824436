/* SPDX-License-Identifier: MIT */
/*
 * table: explicit edges of every shape, for every type: samples on the edges, beside them, at the
 * ends of the type and anywhere go where the definition says, compared as real numbers one edge
 * after the other; and the bisection is as short as the shape of the edges allows.
 */
#include "bins/edges.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* A 64-bit sample must fit a long double: the comparison with a binary64 is then exact. */
static_assert(LDBL_MANT_DIG >= 64, "no exact comparison on this machine");

#define MOST 5000u
enum { UNDER = -1, OVER = -2, NOT = -3 };

static uint64_t state = 0x7461626c65;
static double list[MOST + 1];
static uint32_t bins;
static const char *shape;
static unsigned long empty, by_value, by_key, bisected;

static double random_between(double lo, double hi)
{
	return lo + (hi - lo) * ((double)(check_random(&state) >> 11) * 0x1p-53);
}

static int rising(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts what is in the list and leaves each value once. */
static void settle(uint32_t n)
{
	uint32_t kept = 1;

	qsort(list, n, sizeof(*list), rising);
	for (uint32_t i = 1; i < n; i++)
		if (list[i] > list[kept - 1])
			list[kept++] = list[i];
	bins = kept - 1;
}

/* The definition, with x a sample's value; NaN is not less or more than anything. */
static int64_t place(long double x, bool closed)
{
	int64_t bin = UNDER;

	if (isnan(x))
		return NOT;
	if (x > (long double)list[bins] || (x == (long double)list[bins] && !closed))
		return OVER;
	for (uint32_t i = 0; i < bins && (long double)list[i] <= x; i++)
		bin = i;
	return bin;
}

static int64_t fold(const struct edges *e, uint32_t cell)
{
	const struct binning *b = &e->binning;

	if (cell == b->bins)
		return e->edge_cell == EDGE_IS_UNDER  ? UNDER
		       : e->edge_cell == EDGE_IS_OVER ? OVER
						      : -9;
	return cell == cell_under(b)  ? UNDER
	       : cell == cell_over(b) ? OVER
	       : cell == cell_nan(b)  ? NOT
				      : (int64_t)cell;
}

static void try_bits(const struct edges *e, const struct sample_type *t, uint64_t bits)
{
	const struct binning *b = &e->binning;
	const uint64_t mask = t->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * t->bytes) - 1;
	const uint64_t sign = t->kind == SAMPLE_SIGNED ? (mask >> 1) + 1 : 0;
	long double x;
	uint32_t cell;
	float f;
	double d;

	bits &= mask;
	const uint32_t low = (uint32_t)bits;
	if (t->kind != SAMPLE_FLOAT) {
		x = (long double)(bits ^ sign) - (long double)sign;
		cell = t->bytes == 8 ? bin_key64(b, b->kind, bits ^ sign)
				     : bin_key32(b, b->kind, low ^ (uint32_t)sign);
	} else if (t->bytes == 8) {
		memcpy(&d, &bits, sizeof(d));
		x = (long double)d;
		cell = bin_table_double(b, d, bits);
	} else if (t->bytes == 4) {
		memcpy(&f, &low, sizeof(f));
		x = (long double)f;
		cell = bin_table_float(b, f, low);
	} else {
		x = (long double)sample_code(t, low);
		cell = edges_cell_of_code(e, t, low);
	}
	CHECK(fold(e, cell) == place(x, e->closed), "%s, %s%s: %La goes to %lld, not %lld", shape,
	      t->name, e->closed ? " closed" : "", x, (long long)fold(e, cell),
	      (long long)place(x, e->closed));
}

/* The bits of a sample at an edge or next to it. */
static uint64_t bits_near(const struct sample_type *t, double x)
{
	const int64_t off = (int64_t)(check_random(&state) % 5) - 2;
	const float f = (float)x;
	uint32_t low;
	uint64_t bits;

	if (t->kind != SAMPLE_FLOAT) {
		const double held = fmax(fmin(x, (double)sample_max(t)), (double)sample_min(t));
		return (uint64_t)((int128_t)held + off);
	}
	memcpy(&bits, &x, sizeof(bits));
	memcpy(&low, &f, sizeof(low));
	if (t->bytes == 8)
		return bits + (uint64_t)off;
	return t->bytes == 4 ? low + (uint64_t)off : check_random(&state);
}

static void sweep(const struct edges *e, const struct sample_type *t)
{
	const uint32_t every = bins / 60 + 1;

	for (uint32_t i = 0; i <= bins; i = i + every > bins && i < bins ? bins : i + every)
		for (int k = 0; k < 6; k++)
			try_bits(e, t, bits_near(t, list[i]));
	for (uint64_t near = 0; near < 5; near++) { /* 0, the signs, the ends */
		try_bits(e, t, near - 2);
		try_bits(e, t, ((uint64_t)1 << (8 * t->bytes - 1)) + near - 2);
		try_bits(e, t, 0x7f800000 + near - 2); /* infinity and NaN of f32 */
		try_bits(e, t, 0xff800000 + near - 2);
		try_bits(e, t, 0x7ff0000000000000 + near - 2);
		try_bits(e, t, 0xfff0000000000000 + near - 2);
	}
	for (int i = 0; i < 100; i++) {
		const double x = random_between(list[0], list[bins]);
		try_bits(e, t, check_random(&state));
		try_bits(e, t, bits_near(t, x));
	}
}

static void one(const char *type, bool closed, uint32_t half_most)
{
	struct edges_spec spec = {.bins = bins, .closed = closed, .kind = AXIS_EDGES, .list = list};
	struct sample_type t;
	struct edges e;
	const char *why = "";

	sample_type_parse(&t, type);
	if (edges_init(&e, &spec, &t, &why) != 0) {
		CHECK(false, "%s, %s: refused: %s", shape, type, why);
		return;
	}
	CHECK(e.binning.kind == BIN_TABLE, "%s, %s: kind %u", shape, type, e.binning.kind);
	CHECK(e.binning.table.half <= half_most, "%s, %s: %u of a bisection", shape, type,
	      e.binning.table.half);
	empty += e.edge_cell != EDGE_IS_LAST;
	by_value += e.binning.table.by_value;
	by_key += t.kind == SAMPLE_FLOAT && !e.binning.table.by_value;
	bisected += e.binning.table.half > 1;
	for (uint32_t i = 0; i <= bins; i += bins / 40 + 1) {
		char text[NUMBER_TEXT];
		edges_format(&e, i, text);
		CHECK(edges_value(&e, i) == list[i] && strtod(text, NULL) == list[i],
		      "%s: edge %u is %s", shape, i, text);
	}
	sweep(&e, &t);
	edges_free(&e);
}

/* half_most: of the bisection, for types that can tell the edges apart; 0: any */
static void all_types(const char *name, uint32_t half_most)
{
	static const char *const TYPES[] = {"u8",   "i8",  "u16", "i16", "u24", "i24", "f16",
					    "bf16", "u32", "i32", "u64", "i64", "f32", "f64"};

	shape = name;
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
		const uint32_t most = i >= 8 && half_most > 0 ? half_most : UINT32_MAX;
		one(TYPES[i], false, most);
		one(TYPES[i], true, most);
	}
}

static void regular(const char *name, double lo, double step, uint32_t n, uint32_t half_most)
{
	for (uint32_t i = 0; i <= n; i++)
		list[i] = lo + step * i;
	bins = n;
	all_types(name, half_most);
}

static void few(const char *name, const double *edges, uint32_t n)
{
	memcpy(list, edges, n * sizeof(*list));
	bins = n - 1;
	all_types(name, 0);
}

/* The number of inner edges alone decides the steps where all of them are in one place. */
static void crowded(void)
{
	for (uint32_t n = 2; n < 40; n++) {
		list[0] = 0;
		for (uint32_t i = 1; i < n; i++)
			list[i] = 1000 + (double)i * 0x1p-30;
		list[n] = 1e6;
		bins = n;
		shape = "crowded";
		one("f64", false, n);
		one("u32", false, n);
		one("i64", true, n);
	}
	for (uint32_t i = 0; i <= MOST; i++)
		list[i] = i < MOST ? (double)i * 0x1p-1074 : 1;
	bins = MOST;
	all_types("denormals", 0);
}

/* Powers of two, of integers that begin above and at 0: one step, by a guide of equal ratios. */
static void ratios(void)
{
	static const char *const TYPES[] = {"u32", "i32be", "u64", "i64be"};

	bins = 30;
	for (int i = 0; i < 31; i++)
		list[i] = ldexp(1, i);
	for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++)
		for (int zero = 0; zero <= 1; zero++) {
			const struct edges_spec spec = {
				.bins = 30, .kind = AXIS_EDGES, .list = list};
			struct sample_type type;
			struct edges e;
			const char *why = NULL;
			list[0] = zero ? 0 : 1;
			sample_type_parse(&type, TYPES[t]);
			CHECK(edges_init(&e, &spec, &type, &why) == 0, "%s: %s", TYPES[t], why);
			CHECK(e.binning.table.by_ratio && e.binning.table.half <= 1,
			      "%s: %lu in the last step", TYPES[t],
			      (unsigned long)e.binning.table.half);
			sweep(&e, &type);
			edges_free(&e);
		}
}

static void refusals(void)
{
	static const double SAME[] = {1, 2, 2, 3}, FALLING[] = {1, 3, 2, 4}, ZEROS[] = {-0.0, 0.0};
	const double *const lists[] = {SAME, FALLING, ZEROS};
	const uint32_t sizes[] = {3, 3, 1};
	struct sample_type t;
	struct edges e;

	sample_type_parse(&t, "f32");
	for (int i = 0; i < 3; i++) {
		const char *why = NULL;
		const struct edges_spec spec = {
			.bins = sizes[i], .kind = AXIS_EDGES, .list = lists[i]};
		CHECK(edges_init(&e, &spec, &t, &why) == -1 && why, "list %d is taken", i);
	}
}

int main(void)
{
	static const double MIXED[] = {0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e6, 1e9};
	static const double SIGNS[] = {-1e300,   -1e38, -3.5, -1,  -1e-50, 0,    1e-50, 0x1p-149,
				       0x1p-148, 0.5,   1,    3.5, 70000,  1e38, 1e300};
	static const double WIDE[] = {-0x1p64,
				      -0x1p63,
				      -9007199254740994.0,
				      -9007199254740992.0,
				      0,
				      0x1p53,
				      0x1p53 + 2,
				      0x1p62 + 1024,
				      0x1.fffffffffffffp62,
				      0x1p63,
				      0x1.fffffffffffffp63,
				      0x1p64,
				      1e20};
	static const double NO_NUMBER[] = {1e-60, 2e-60}, BELOW[] = {-1e30, -5e29},
			    ABOVE[] = {1e30, 2e30}, FAR[] = {1e39, 1e40},
			    ALL[] = {-DBL_MAX, DBL_MAX}, MINUS_ZERO[] = {-1, -0.0, 1},
			    HALF[] = {0.25, 0.75}, TO_ZERO[] = {-2, -1, 0}, FROM_ZERO[] = {0, 1};

	regular("0 to 1000", 0, 1, 1000, 1);
	regular("-500 to 500", -500, 1, 1000, 1);
	regular("fractions", -1, 1.0 / 256, 512, 0);
	regular("thirds", 0, 100.0 / 3, 300, 1);
	regular("one bin", 7, 90, 1, 1);
	regular("far from 0", 16777216, 1, 50, 2); /* every second number is no f32 */
	for (uint32_t i = 0; i <= 300; i++)
		list[i] = pow(1.07, i);
	bins = 300;
	shape = "ratios";
	one("f32", false, 1);
	one("f64", true, 1);
	all_types("ratios", 0);
	/* Dozens of edges between 1 and 2, where no integer is: still one step for each sample. */
	for (uint32_t i = 0; i <= 1000; i++)
		list[i] = pow(2, 0.031 * i);
	bins = 1000;
	shape = "between integers";
	one("u32", false, 1);
	one("i32be", true, 1);
	one("u64", false, 1);
	one("i64", true, 1);
	few("mixed", MIXED, sizeof(MIXED) / sizeof(*MIXED));
	few("signs", SIGNS, sizeof(SIGNS) / sizeof(*SIGNS));
	few("wide", WIDE, sizeof(WIDE) / sizeof(*WIDE));
	few("no number", NO_NUMBER, 2);
	few("below", BELOW, 2);
	few("above", ABOVE, 2);
	few("far", FAR, 2);
	few("all", ALL, 2);
	few("-0", MINUS_ZERO, 3);
	few("no integer", HALF, 2);
	few("up to 0", TO_ZERO, 3);
	few("from 0", FROM_ZERO, 2);
	crowded();
	for (int round = 0; round < 60; round++) {
		const uint32_t n = 2 + (uint32_t)(check_random(&state) % 200);
		const int wide = (int)(check_random(&state) % 80) - 5;
		for (uint32_t i = 0; i < n; i++)
			list[i] = round % 3 == 0   ? ldexp(random_between(-1, 1), wide)
				  : round % 3 == 1 ? ldexp(random_between(0, 1),
							   (int)(check_random(&state) % 64))
						   : floor(ldexp(random_between(-1, 1), wide));
		settle(n);
		if (bins > 0)
			all_types("random", 0);
	}
	ratios();
	refusals();
	CHECK(empty > 0 && by_value > 0 && by_key > 0 && bisected > 0,
	      "%lu empty, %lu by value, %lu by key, %lu bisected", empty, by_value, by_key,
	      bisected);
	return check_report();
}

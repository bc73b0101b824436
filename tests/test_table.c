/* SPDX-License-Identifier: MIT */
/*
 * table: the bisection between explicit edges is as short as their shape allows. test_edges checks
 * the bins of samples.
 */
#include "bins/edges.h"

#include <math.h>

#include "check.h"

#define MOST 5000u

static double list[MOST + 1];
static uint32_t bins;

/* half_most: at most 2^(steps - 1) of the bisection; 0 is no step. */
static void one(const char *shape, const char *type, uint32_t half_most)
{
	for (int closed = 0; closed <= 1; closed++) {
		const struct axis_spec spec = {
			.bins = bins, .closed = closed, .kind = AXIS_EDGES, .list = list};
		struct sample_type t;
		struct edges e;
		const char *why = "";
		sample_type_parse(&t, type);
		if (edges_init(&e, &spec, &t, &why) != 0) {
			CHECK(false, "%s, %s: %s", shape, type, why);
			return;
		}
		const struct bin_table *const table = &e.binning.table;
		CHECK(table->half <= half_most, "%s, %s: %u of a bisection", shape, type,
		      table->half);
		edges_free(&e);
	}
}

static void regular(const char *shape, double lo, double step, uint32_t n, uint32_t half_most)
{
	static const char *const TYPES[] = {"u32", "i32", "u64", "i64", "f32", "f64"};

	for (uint32_t i = 0; i <= n; i++)
		list[i] = lo + step * i;
	bins = n;
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
		one(shape, TYPES[i], half_most);
}

static void growing(double ratio, uint32_t n)
{
	for (uint32_t i = 0; i <= n; i++)
		list[i] = pow(ratio, i);
	bins = n;
}

int main(void)
{
	static const char *const INTEGERS[] = {"u32", "i32be", "u64", "i64be"};

	regular("0 to 1000", 0, 1, 1000, 1);
	regular("-500 to 500", -500, 1, 1000, 1);
	regular("thirds", 0, 100.0 / 3, 300, 1);
	regular("one bin", 7, 90, 1, 1);
	regular("far from 0", 16777216, 1, 50, 2); /* f32 cannot represent every second number */
	regular("about 0", -1, 1.0 / 256, 512, 1);
	one("about 0", "f32", 1);
	growing(1.07, 300);
	one("ratios", "f32", 1);
	one("ratios", "f64", 1);
	for (size_t t = 0; t < sizeof(INTEGERS) / sizeof(INTEGERS[0]); t++) {
		growing(2, 30);
		one("powers of two", INTEGERS[t], 1);
		list[0] = 0;
		one("powers of two and 0", INTEGERS[t], 1);
		/* Dozens of edges between 1 and 2, with no integer between them. */
		growing(pow(2, 0.031), 1000);
		one("between integers", INTEGERS[t], 1);
	}
	/* Only the number of inner edges matters if all of them are in one place. */
	for (bins = 2; bins < 40; bins++) {
		list[0] = 0;
		for (uint32_t i = 1; i < bins; i++)
			list[i] = 1000 + (double)i * 0x1p-30;
		list[bins] = 1e6;
		one("crowded", "f64", bins);
		one("crowded", "u32", bins);
	}
	return check_report();
}

/* SPDX-License-Identifier: MIT */
/*
 * edges of --log: the nearest binary64 of every one, against powers of 113 bits where the C library
 * has them, and against edges that are known without computing.
 */
#include "bins/edges.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "check.h"

static uint64_t state = 0x726174696f;
static double edges[(1u << 20) + 1];
static unsigned made;

#if defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wpedantic" /* _Float128 */
extern _Float128 powf128(_Float128, _Float128);
extern _Float128 fabsf128(_Float128);

/* Is `edge` nearest to what the power is, give or take its last bits? */
static bool is_nearest(double edge, double lo, double hi, uint32_t i, uint32_t bins)
{
	const _Float128 exact = lo * powf128((_Float128)hi / lo, (_Float128)i / bins);
	const _Float128 own = fabsf128(exact - edge), slack = exact * 0x1p-98f;

	return own <= fabsf128(exact - nextafter(edge, 0)) + slack &&
	       own <= fabsf128(exact - nextafter(edge, (double)INFINITY)) + slack;
}
#else
static bool is_nearest(double edge, double lo, double hi, uint32_t i, uint32_t bins)
{
	const long double exact = lo * powl((long double)hi / lo, (long double)i / bins);

	return fabsl(edge - exact) <= exact * 0x1p-52L + 0x1p-1074L;
}
#endif

/* False: refused, because some would coincide. */
static bool ratio_edges(double lo, double hi, uint32_t bins)
{
	static const struct sample_type TYPE = {
		.bits = 64, .code_bytes = 8, .kind = SAMPLE_FLOAT, .mantissa = 52};
	const struct edges_spec spec = {
		.kind = AXIS_LOG, .bins = bins, .lo.value = lo, .hi.value = hi, .definition = true};
	struct edges e;
	const char *why;

	if (edges_init(&e, &spec, &TYPE, &why) != 0)
		return false;
	for (uint32_t i = 0; i <= bins; i++)
		edges[i] = edges_value(&e, i);
	edges_free(&e);
	return true;
}

static void one(double lo, double hi, uint32_t bins, uint32_t step)
{
	if (!ratio_edges(lo, hi, bins))
		return;
	made++;
	CHECK(edges[0] == lo && edges[bins] == hi, "%.17g:%.17g: the ends", lo, hi);
	for (uint32_t i = 0; i < bins; i += step)
		CHECK(is_nearest(edges[i], lo, hi, i, bins), "%.17g:%.17g, edge %lu of %lu: %.17g",
		      lo, hi, (unsigned long)i, (unsigned long)bins, edges[i]);
}

int main(void)
{
	/* Powers that are whole. */
	ratio_edges(1, 1024, 10);
	for (int i = 0; i <= 10; i++)
		CHECK(edges[i] == ldexp(1, i), "power of two %d: %.17g", i, edges[i]);
	ratio_edges(1, 1e15, 15);
	for (int i = 0; i <= 15; i++)
		CHECK(edges[i] == strtod((char[]){'1', 'e', (char)('0' + i / 10),
						  (char)('0' + i % 10), 0},
					 NULL),
		      "power of ten %d: %.17g", i, edges[i]);
	ratio_edges(5e-324, 0x1p-1064, 10);
	for (int i = 0; i <= 10; i++)
		CHECK(edges[i] == ldexp(1, i - 1074), "subnormal power of two %d: %.17g", i,
		      edges[i]);
	ratio_edges(94906263.0 * 94906263.0, 94906265.0 * 94906265.0, 2);
	CHECK(edges[1] == 94906263.0 * 94906265.0, "a square root of 53 bits: %.17g", edges[1]);

	one(1, 2, 1000, 1);
	one(1, 1000, 7, 1);
	one(1e-6, 1, 300, 1);
	one(0.1, 1e5, 1 << 20, 1021);
	one(5e-324, DBL_MAX, 4096, 1);
	one(1e-320, 3e-308, 64, 1);
	one(1, nextafter(1, 2) * 1.5, 1 << 20, 4093);
	for (int i = 0; i < 300; i++) {
		const int from = (int)(check_random(&state) % 2000) - 1000;
		const double lo = ldexp((double)(check_random(&state) >> 11), from - 53);
		const double hi = lo * (1 + ldexp((double)(check_random(&state) >> 11),
						  -(int)(check_random(&state) % 70)));
		if (lo > 0 && hi > lo && isfinite(hi))
			one(lo, hi, 1 + (uint32_t)(check_random(&state) % 200), 1);
	}
	CHECK(made > 200, "%u were not refused", made);
	return check_report();
}

/* SPDX-License-Identifier: MIT */
/*
 * hist_stats: quantiles beside sorted samples, of every type, by value and by bin; samples at the
 * ends; entropy.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "count/count.h"
#include "hist/hist.h"

#define MOST 900

static uint64_t seed = 31;

static uint64_t draw(uint64_t below)
{
	return check_random(&seed) % below;
}

/* A small whole number, or an infinity or NaN, as the type has it in memory. */
static void put(unsigned char *p, const struct sample_type *t, double x)
{
	const float f = (float)x;
	uint64_t bits = 0;
	uint32_t narrow;

	memcpy(&narrow, &f, sizeof(narrow));
	if (t->kind != SAMPLE_FLOAT)
		bits = (uint64_t)(int64_t)x;
	else if (t->bytes == 8)
		memcpy(&bits, &x, sizeof(bits));
	else if (t->bytes == 4)
		bits = narrow;
	else if (t->mantissa == 7)
		bits = narrow >> 16; /* NaN stays one, small whole numbers are exact */
	else if (!isfinite(x))
		bits = isnan(x) ? 0x7e01 : x < 0 ? 0xfc00 : 0x7c00;
	else /* binary16 */
		bits = (narrow >> 31 << 15) |
		       (x == 0 ? 0 : ((narrow >> 13 & 0x3ffff) - (112u << 10)) & 0x7fff);
	for (uint32_t k = 0; k < t->bytes; k++)
		p[t->big ? t->bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The least sample that is not below so many of 10^6 of them. */
static double quantile_of(const double *sorted, size_t n, uint64_t millionths)
{
	size_t i = 0;

	while ((i + 1) * 1000000 < millionths * n)
		i++;
	return sorted[i];
}

/* Two numbers that a sample lies between: as text they are those of its bin, or the ends. */
static void check_between(const struct hist *h, unsigned i, double expected, const char *what)
{
	char lower[NUMBER_TEXT], upper[NUMBER_TEXT];
	const bool closed = hist_stats_format_quantile(lower, upper, h, 0, i);
	const double lo = strtod(lower, NULL), hi = strtod(upper, NULL);
	const enum hist_quantile_kind kind = h->stats[0].quantile[i].kind;

	CHECK(isfinite(lo) && isfinite(hi) && lo <= expected &&
		      (closed ? expected <= hi : expected < hi),
	      "%s: %g, not from %s to %s", what, expected, lower, upper);
	if (kind == QUANTILE_BIN && h->clamped[0].under + h->clamped[0].over == 0)
		CHECK(lo == edges_value(&h->axis.edges, h->stats[0].quantile[i].bin) && lo < hi,
		      "%s: %g from %s", what, expected, lower);
}

/* Of a sorted list. */
static void check_ends(const struct hist *h, const double *sorted, size_t n, const char *what)
{
	uint64_t least = 0, greatest = 0;

	for (size_t i = 0; i < n && h->axis.type.bytes <= 2; i++) {
		least += sorted[i] == sorted[0];
		greatest += sorted[i] == sorted[n - 1];
	}
	CHECK(h->stats[0].at_least == least && h->stats[0].at_greatest == greatest,
	      "%s: %llu and %llu at the ends", what, (unsigned long long)h->stats[0].at_least,
	      (unsigned long long)h->stats[0].at_greatest);
}

/* log2 n - sum c log2 c / n, of the codes as they lie in memory, or of the bins. */
static void check_entropy(const struct hist *h, const unsigned char *samples, size_t n,
			  const char *what)
{
	static uint64_t count[65536];
	const uint32_t bytes = h->axis.type.bytes;
	long double sum = 0, all = 0;

	memset(count, 0, sizeof(count));
	for (size_t i = 0; i < n && bytes <= 2; i++)
		count[samples[i * bytes] | (bytes == 2 ? samples[i * bytes + 1] << 8 : 0)]++;
	for (uint32_t i = 0; i < axis_bins(&h->axis) && bytes > 2; i++)
		count[i] = hist_count(h, 0, i);
	for (size_t i = 0; i < 65536; i++) {
		all += (long double)count[i];
		sum += count[i] > 0 ? (long double)count[i] * log2l((long double)count[i]) : 0;
	}
	const double expected = all > 0 ? (double)(log2l(all) - sum / all) : -1;
	CHECK(fabs(h->stats[0].entropy - expected) < 1e-12, "%s: entropy %.17g, not %.17g", what,
	      h->stats[0].entropy, expected);
}

static void check_quantile(const struct hist *h, unsigned i, double expected, const char *what)
{
	const struct hist_quantile *const q = &h->stats[0].quantile[i];
	const struct edges *const e = &h->axis.edges;
	const uint32_t bins = axis_bins(&h->axis);
	const double lo = edges_value(e, 0), hi = edges_value(e, bins);
	const bool last = e->closed && expected == hi;

	if (h->axis.type.bytes <= 2) {
		CHECK(q->kind == QUANTILE_VALUE && q->value == expected &&
			      !(expected == 0 && signbit(q->value)),
		      "%s: %g, not %g", what, q->value, expected);
	} else if (!h->axis.clamp && expected < lo) {
		CHECK(q->kind == QUANTILE_UNDER, "%s: %g is under, not kind %d", what, expected,
		      q->kind);
	} else if (!h->axis.clamp && expected >= hi && !last) {
		CHECK(q->kind == QUANTILE_OVER, "%s: %g is over, not kind %d", what, expected,
		      q->kind);
	} else {
		const bool in =
			(edges_value(e, q->bin) <= expected || (q->bin == 0 && h->axis.clamp)) &&
			(expected < edges_value(e, q->bin + 1) ||
			 (q->bin == bins - 1 && (h->axis.clamp || last)));
		CHECK(q->kind == QUANTILE_BIN && in, "%s: %g in bin %u, kind %d", what, expected,
		      (unsigned)q->bin, q->kind);
	}
}

struct axis_of {
	const char *lo, *hi;
	uint32_t bins;
	bool closed, clamp;
};

static void one(const char *name, const struct axis_of *as, size_t n, unsigned spread, bool odd)
{
	struct axis_spec spec = {
		.edges = {.kind = AXIS_RANGE, .bins = as->bins, .closed = as->closed},
		.clamp = as->clamp};
	struct sample_type t;
	struct axis axis;
	struct counting counting;
	struct counts counts;
	struct hist h;
	struct fail fail = {0};
	struct quantiles asked = {.n = 4, .at = {0, 500000, 999000, 1000000}};
	const char *why;
	unsigned char samples[8 * MOST];
	double finite[MOST];
	size_t number = 0;
	char what[96];

	asked.at[1] = 1 + (uint32_t)draw(998999);
	sample_type_parse(&t, name);
	snprintf(what, sizeof(what), "%s, %s:%s, %zu samples of %u values", name, as->lo, as->hi, n,
		 spread);
	number_parse(&spec.edges.lo, as->lo, strlen(as->lo));
	number_parse(&spec.edges.hi, as->hi, strlen(as->hi));
	CHECK(axis_init(&axis, &spec, &t, &why) == 0, "%s: %s", what, why);
	for (size_t i = 0; i < n; i++) {
		double x = (double)draw(spread) -
			   (t.kind == SAMPLE_UNSIGNED ? 0 : (double)(spread / 2));
		if (x == 0 && draw(2))
			x = -x;
		if (odd && t.kind == SAMPLE_FLOAT && draw(3) == 0)
			x = draw(3) == 0 ? (double)NAN
			    : draw(2)    ? (double)INFINITY
					 : -(double)INFINITY;
		put(samples + i * t.bytes, &t, x);
		if (isfinite(x))
			finite[number++] = x;
	}
	qsort(finite, number, sizeof(finite[0]), by_value);
	counting_init_layout(&counting, &t, &axis.edges, NULL, false);
	counting_keep_stats(&counting, 1);
	CHECK(counts_init(&counts, counting.cells, &fail) == 0 &&
		      counts_keep_stats(&counts, &t, 1, &fail) == 0 &&
		      hist_reserve(&h, &axis, 1, &fail) == 0 &&
		      hist_keep_stats(&h, &asked, &fail) == 0,
	      "%s", fail.text);
	for (int half = 0; half < 2; half++) { /* two workers */
		struct counter *counter = counter_open(&counting, &counts);
		const size_t from = half ? n / 3 : 0, to = half ? n : n / 3;
		counter_add(counter, samples + from * t.bytes, to - from);
		counter_close(counter);
	}
	hist_fill(&h, &counts);
	CHECK(h.stats[0].of.number == number, "%s: %llu finite samples", what,
	      (unsigned long long)h.stats[0].of.number);
	check_ends(&h, finite, number, what);
	check_entropy(&h, samples, n, what);
	for (unsigned i = 0; i < asked.n; i++) {
		const double expected = number ? quantile_of(finite, number, asked.at[i]) : 0;
		if (number > 0) {
			check_quantile(&h, i, expected, what);
			check_between(&h, i, expected, what);
		} else {
			CHECK(h.stats[0].quantile[i].kind == QUANTILE_NONE, "%s: kind %d", what,
			      h.stats[0].quantile[i].kind);
		}
	}
	hist_free(&h);
	counts_free(&counts);
}

int main(void)
{
	static const char *const TYPES[] = {"u8",    "i8",     "u16",   "i16be", "f16",
					    "f16be", "bf16be", "u24",   "i24",   "u32",
					    "i64",   "u64be",  "f32be", "f64"};
	static const struct axis_of AXES[] = {
		{"0", "40", 40, false, false}, {"10", "30", 7, true, false},
		{"10", "30", 7, true, true},   {"-20", "20", 1, false, true},
		{"35", "60", 2, false, false},
	};

	for (size_t t = 0; t < sizeof(TYPES) / sizeof(TYPES[0]); t++)
		for (size_t a = 0; a < sizeof(AXES) / sizeof(AXES[0]); a++)
			for (unsigned i = 0; i < 12; i++) {
				const size_t n = i < 2   ? i
						 : i < 4 ? 100 * (i - 1)
							 : 1 + draw(MOST - 1);
				one(TYPES[t], &AXES[a], n, 1 + (unsigned)draw(60), i % 2);
			}
	return check_report();
}

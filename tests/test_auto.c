/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * auto: the k, the bins and the counts of --auto and --log=auto are those that plain arithmetic
 * gives for all samples together, whatever their order, their division among counters and the way of counting.
 */
#include "bins/auto.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "count/count.h"
#include "hist/hist.h"

#define MOST 3000u

static uint64_t state = 0x6175746f;
static unsigned long grown, shared;
static bool ranks; /* --log=auto */

static int128_t floor_div(int128_t x, int k)
{
	const int128_t d = (int128_t)1 << k;

	return x >= 0 ? x / d : -((-x + d - 1) / d);
}

/* A sample as a value: of integers, of floats. */
struct value {
	bool finite;
	int128_t whole;
	double real;
};

static struct value value_of(const struct sample_type *t, uint64_t bits)
{
	struct value v = {.finite = true};
	float f;

	if (t->kind != SAMPLE_FLOAT) {
		v.whole = (int128_t)bits;
		if (t->kind == SAMPLE_SIGNED && bits >> (8 * t->code_bytes - 1))
			v.whole -= (int128_t)1 << 8 * t->code_bytes;
		return v;
	}
	if (t->code_bytes == 8) {
		memcpy(&v.real, &bits, 8);
	} else if (t->code_bytes == 4) {
		const uint32_t low = (uint32_t)bits;
		memcpy(&f, &low, 4);
		v.real = (double)f;
	} else {
		v.real = sample_code(t, (uint32_t)bits);
	}
	v.finite = isfinite(v.real);
	return v;
}

/* ---- ranks, by octaves ---- */

/* The bins that the whole numbers from 2^e up to 2^(e + 1) have at k, none of which is empty. */
static int128_t octave_bins(int e, int k)
{
	return (int128_t)1 << (e < 52 - k ? e : 52 - k);
}

/* How many bins lie between 0 and that of a whole number from 0 on. */
static int128_t plain_whole(int128_t v, int k)
{
	int128_t before = 1, from = 1;
	int e = 0;

	if (v == 0)
		return 0;
	for (; 2 * from <= v; from *= 2, e++)
		before += k > 52 ? 1 : octave_bins(e, k);
	if (k > 52)
		return floor_div(before, k - 52);
	return before + (v - from) / (from / octave_bins(e, k));
}

/* Steps of one unit in the last place between 0 and x. */
static int128_t plain_steps(const struct sample_type *t, double x)
{
	const int128_t each = (int128_t)1 << t->mantissa;
	int128_t before = 0;
	double from = t->mantissa == 10 ? 0x1p-14 : t->code_bytes < 8 ? 0x1p-126 : 0x1p-1022;

	if (x < from)
		return (int128_t)(x / from * (double)each);
	for (; from <= x / 2; from *= 2)
		before += each;
	return before + (int128_t)(x / from * (double)each);
}

static int128_t plain_rank(const struct sample_type *t, const struct value *v, int k)
{
	if (t->kind != SAMPLE_FLOAT)
		return v->whole >= 0 ? plain_whole(v->whole, k)
				     : -1 - plain_whole(-1 - v->whole, k);
	const int128_t steps = plain_steps(t, fabs(v->real));
	return floor_div(v->real < 0 ? -steps : steps, k);
}

/* The bin of a value at k, straight from the definition: |x| / 2^k is at most 2^53. */
static int128_t plain_bin(const struct sample_type *t, const struct value *v, int k)
{
	if (ranks)
		return plain_rank(t, v, k);
	if (t->kind != SAMPLE_FLOAT)
		return floor_div(v->whole, k);
	/* A long double has room for the quotient of any two binary64. */
	return (int128_t)floorl((long double)v->real * powl(2, -k));
}

/*
 * The least number of the type, or the one after its largest, that is in bin j: by bisection among
 * its bits. An edge below 0 is one above 0 with another sign.
 */
static double plain_edge(const struct sample_type *t, int128_t j, int k)
{
	const bool real = t->kind == SAMPLE_FLOAT;
	const unsigned bits = 8 * t->code_bytes;
	uint64_t low = 0, high;

	if (real)
		high = t->code_bytes == 8   ? 0x7ff0000000000000
		       : t->code_bytes == 4 ? 0x7f800000
		       : t->mantissa == 10  ? 0x7c00
					    : 0x7f80;
	else
		high = t->kind == SAMPLE_SIGNED ? (uint64_t)1 << (bits - 1)
						: UINT64_MAX >> (64 - bits);
	const uint64_t past = high;
	while (low < high) { /* the bin of low is at most j, that of high is above it, or past */
		const uint64_t middle = low + (high - low) / 2;
		const struct value v =
			real ? value_of(t, middle) : (struct value){true, (int128_t)middle, 0};
		if (plain_bin(t, &v, k) < (j < 0 ? -j : j))
			low = middle + 1;
		else
			high = middle;
	}
	struct value v = real ? value_of(t, low) : (struct value){true, (int128_t)low, 0};
	double edge = real ? v.real : (double)v.whole;
	if (!real && low == past && t->kind == SAMPLE_UNSIGNED && plain_bin(t, &v, k) < j)
		edge = ldexp(1, (int)bits);
	else if (real && low == past && t->code_bytes < 8)
		edge = t->mantissa == 10 ? 65536 : 0x1p128;
	return j < 0 ? -edge : edge;
}

struct plain {
	bool any;
	int k;
	int128_t first, last;
	uint64_t under, over, nan;
};

static int plain_unit(const struct sample_type *t, double x)
{
	int e;
	const int least = t->mantissa == 10   ? -24
			  : t->mantissa == 7  ? -133
			  : t->mantissa == 23 ? -149
					      : -1074;

	(void)frexp(x, &e);
	e -= (int)t->mantissa + 1;
	return x == 0 || e < least ? least : e;
}

static struct plain plain_auto(const struct sample_type *t, const uint64_t *samples, size_t n,
			       uint32_t bins)
{
	struct plain p = {.k = 0};
	struct value low = {0}, high = {0};

	for (size_t i = 0; i < n; i++) {
		const struct value v = value_of(t, samples[i]);
		if (!v.finite) {
			p.nan += isnan(v.real) ? 1 : 0;
			p.under += v.real < 0;
			p.over += v.real > 0;
			continue;
		}
		if (!p.any || v.whole < low.whole || v.real < low.real)
			low = v;
		if (!p.any || v.whole > high.whole || v.real > high.real)
			high = v;
		p.any = true;
	}
	if (!p.any)
		return p;
	if (t->kind == SAMPLE_FLOAT && !ranks)
		p.k = plain_unit(t, fmax(fabs(low.real), fabs(high.real)));
	while (plain_bin(t, &high, p.k) - plain_bin(t, &low, p.k) >= (int128_t)bins)
		p.k++;
	p.first = plain_bin(t, &low, p.k);
	p.last = plain_bin(t, &high, p.k);
	return p;
}

static void compare(const struct hist *h, const struct sample_type *t, const uint64_t *samples,
		    size_t n, uint32_t bins, const char *how)
{
	const struct plain p = plain_auto(t, samples, n, bins);
	const uint32_t own = p.any ? (uint32_t)(p.last - p.first + 1) : 0;
	uint64_t *const expected = calloc((size_t)own + 1, sizeof(*expected));
	struct fail fail = {.status = STATUS_OK};
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++) {
		const struct value v = value_of(t, samples[i]);
		if (v.finite)
			expected[plain_bin(t, &v, p.k) - p.first]++;
	}
	CHECK(axis_bins(&h->axis) == own && own <= bins, "%s %s: %lu bins, not %lu", t->name, how,
	      (unsigned long)axis_bins(&h->axis), (unsigned long)own);
	for (uint32_t i = 0; i < own && axis_bins(&h->axis) == own; i++) {
		uint64_t all = 0;
		for (uint32_t c = 0; c < h->channels; c++)
			all += hist_count(h, c, i);
		wrong += all != expected[i];
	}
	CHECK(wrong == 0, "%s %s, at most %lu bins: %zu counts are wrong", t->name, how,
	      (unsigned long)bins, wrong);
	const struct hist_flow flow = hist_flow_sum(h);
	CHECK(flow.under == p.under && flow.over == p.over && flow.nan == p.nan,
	      "%s %s: under, over or nan", t->name, how);
	for (uint32_t i = 0; i <= own && own > 0; i += own > 8 ? own / 4 : 1) {
		const double edge =
			ranks ? plain_edge(t, p.first + i, p.k)
			: t->kind == SAMPLE_FLOAT
				? ldexp((double)(p.first + (int128_t)i), p.k)
				: (double)((p.first + (int128_t)i) * ((int128_t)1 << p.k));
		CHECK(edges_value(&h->axis.edges, i) == edge, "%s %s: edge %lu is %.17g, not %.17g",
		      t->name, how, (unsigned long)i, edges_value(&h->axis.edges, i), edge);
	}
	CHECK(hist_audit(h, &fail) == 0, "%s %s: %s", t->name, how, fail.text);
	free(expected);
}

static void put(unsigned char *p, const struct sample_type *t, uint64_t bits)
{
	for (uint32_t k = 0; k < t->code_bytes; k++)
		p[t->big ? t->code_bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

/*
 * Counts the samples with so many counters, in chunks of any size, each taken by any of them, which
 * now and then adds what it holds to the totals.
 */
static void count(const struct sample_type *t, const uint64_t *samples, size_t n, uint32_t bins,
		  unsigned counters, bool one_table, uint32_t channels, const char *how)
{
	const struct layout layout = {
		.record = channels * t->code_bytes, .samples = channels, .channels = channels};
	const struct axis_spec spec = {
		.edges = {.bins = bins, .kind = ranks ? AXIS_RANKS : AXIS_AUTO}};
	struct axis axis;
	struct counting c;
	struct counts counts;
	struct hist h;
	struct fail fail = {.status = STATUS_OK};
	struct codebook book;
	struct counter *counter[4];
	const char *why = "";
	unsigned char *const bytes = malloc(n * t->code_bytes + 1);
	n -= n % channels;

	for (size_t i = 0; i < n; i++)
		put(bytes + i * t->code_bytes, t, samples[i]);
	CHECK(axis_init(&axis, &spec, t, &why) == 0, "%s %s: %s", t->name, how, why);
	counting_init_layout(&c, t, &axis.edges, &layout, one_table);
	c.alone = one_table;
	hist_reserve(&h, &axis, channels, &fail);
	codebook_init(&book, &axis, &fail);
	struct hist_scratch *const scratch = hist_scratch_new(t);
	counts_init(&counts, c.cells, &fail);
	if (c.auto_bins.most > 0)
		counts_set_auto(&counts, &c.auto_bins);
	for (unsigned i = 0; i < counters; i++)
		counter[i] = counter_open(&c, &counts);
	for (size_t at = 0; at < n;) {
		const size_t some =
			1 + check_random(&state) % (check_random(&state) % 4 ? 50 : n - at);
		const size_t records = (some + channels - 1) / channels * channels,
			     take = records < n - at ? records : n - at;
		struct counter *const one = counter[check_random(&state) % counters];
		counter_add(one, bytes + at * t->code_bytes, take);
		if (check_random(&state) % 16 == 0)
			counter_flush(one);
		at += take;
	}
	for (unsigned i = 0; i < counters; i++)
		counter_close(counter[i]);
	grown += counts.k > (ranks ? 0 : auto_k_least(t));
	shared += c.method == COUNT_SHARED;
	hist_fill(&h, &counts, &book, scratch);
	codebook_free(&book);
	free(scratch);
	compare(&h, t, samples, n, bins, how);
	hist_free(&h);
	counts_free(&counts);
	edges_free(&axis.edges);
	free(bytes);
}

static void shuffle(uint64_t *samples, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		const size_t j = check_random(&state) % i;
		const uint64_t other = samples[j];
		samples[j] = samples[i - 1];
		samples[i - 1] = other;
	}
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * The same samples as they came, shuffled, rising and falling, by one to four counters, straight
 * into the totals, and as those of several channels.
 */
static void many_ways(const char *type, uint64_t *samples, size_t n, uint32_t bins,
		      const char *what)
{
	struct sample_type t;

	sample_type_parse(&t, type);
	for (unsigned way = 0; way < (t.code_bytes == 2 ? 8 : 7); way++) {
		char how[100];
		snprintf(how, sizeof(how), "%s, %lu, way %u", what, (unsigned long)bins, way);
		if (way == 1 || way == 2)
			shuffle(samples, n);
		else if (way > 2)
			qsort(samples, n, sizeof(*samples), by_size);
		for (size_t i = 0; way == 4 && i < n / 2; i++) {
			const uint64_t other = samples[i];
			samples[i] = samples[n - 1 - i];
			samples[n - 1 - i] = other;
		}
		count(&t, samples, n, bins, way == 5 ? 1 : 1 + way % 4,
		      way == 5 && t.code_bytes > 2,
		      way == 6   ? 5
		      : way == 7 ? 9
				 : 1,
		      how);
	}
}

static uint64_t bits_of(const struct sample_type *t, double x)
{
	const float f = (float)x;
	uint32_t low;
	uint64_t bits;

	memcpy(&low, &f, 4);
	memcpy(&bits, &x, 8);
	return t->code_bytes == 8 ? bits : low;
}

static void integers(const char *type)
{
	static uint64_t samples[MOST];
	static const uint32_t BINS[] = {2, 3, 256, 1000, 1 << 16};
	struct sample_type t;

	sample_type_parse(&t, type);
	const unsigned bits = 8 * t.code_bytes;
	const uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
	for (size_t b = 0; b < sizeof(BINS) / sizeof(BINS[0]); b++)
		for (int shape = 0; shape < 5; shape++) {
			const size_t n = shape == 4   ? 5
					 : shape == 3 ? 1
						      : 200 + check_random(&state) % 300;
			const uint64_t middle = check_random(&state);
			for (size_t i = 0; i < n; i++) {
				const uint64_t r = check_random(&state);
				/*
				 * noise of all sizes; a walk; near one value; one value; the ends
				 * of the type
				 */
				samples[i] = shape == 0   ? r >> check_random(&state) % bits
					     : shape == 1 ? middle + i * (r % 3)
					     : shape == 2 ? middle + r % 300
					     : shape == 3 ? middle
							  : (uint64_t[]){0, 1, mask, mask >> 1,
									 (mask >> 1) + 1}[i];
				samples[i] &= mask;
			}
			many_ways(type, samples, n, BINS[b], "integers");
			if (t.kind == SAMPLE_UNSIGNED && b == 0)
				many_ways(type, samples, n, 1, "integers");
		}
}

static void floats(const char *type)
{
	static uint64_t samples[MOST];
	static const uint32_t BINS[] = {2, 3, 256, 1000, 1 << 16};
	static const double ODD[] = {
		0.0,    -0.0,    DBL_MAX,          -DBL_MAX,          DBL_MIN,
		5e-324, -5e-324, FLT_MAX,          -FLT_MAX,          1e-45,
		-1e-45, 1,       (double)INFINITY, -(double)INFINITY, (double)NAN};
	struct sample_type t;

	sample_type_parse(&t, type);
	for (size_t b = 0; b < sizeof(BINS) / sizeof(BINS[0]); b++)
		for (int shape = 0; shape < 6; shape++) {
			const size_t n = shape == 4 ? 1 : 200 + check_random(&state) % 300;
			for (size_t i = 0; i < n; i++) {
				const uint64_t r = check_random(&state);
				const double unit = (double)(r >> 11) * 0x1p-53;
				const double x = shape == 0   ? unit * 2 - 1
						 : shape == 1 ? ODD[r % 15]
						 : shape == 2 ? 1e6 + unit * 1e-3
						 : shape == 3
							 ? ldexp(unit - 0.3, (int)(r % 60) - 30)
						 : shape == 4 ? ODD[r % 12]
							      : -0.0;
				samples[i] = bits_of(&t, x);
			}
			many_ways(type, samples, n, BINS[b], "floats");
			for (size_t i = 0; i < n; i++) /* any bits */
				samples[i] = t.code_bytes == 8 ? check_random(&state)
							       : check_random(&state) >> 32;
			many_ways(type, samples, n, BINS[b], "bits");
		}
	for (size_t i = 0; i < 9; i++)
		samples[i] = bits_of(&t, ODD[12 + i % 3]);
	many_ways(type, samples, 9, 256, "nothing finite");
}

/* Magnitudes that rise to the greatest of the type: the range grows with every few samples. */
static void rising(const char *type)
{
	static uint64_t samples[MOST];
	static const uint32_t BINS[] = {1000, 1 << 17};
	struct sample_type t;

	sample_type_parse(&t, type);
	const unsigned bits = 8 * t.code_bytes - (t.kind == SAMPLE_SIGNED);
	const int least = t.code_bytes == 8 ? -1074 : -149,
		  greatest = t.code_bytes == 8 ? 1023 : 127;
	for (size_t b = 0; b < 2; b++) {
		for (size_t i = 0; i < MOST; i++) {
			const uint64_t r = check_random(&state);
			const double place = (double)i / MOST,
				     unit = 1 - (double)(r >> 12) * 0x1p-53;
			const bool less = i % 2;
			const double x =
				ldexp(unit, least + (int)(place * (double)(greatest + 1 - least)));
			const uint64_t whole = r & ((UINT64_MAX >> (64 - bits)) >>
						    (bits - 1 - (unsigned)(place * bits)));
			samples[i] = t.kind == SAMPLE_FLOAT ? bits_of(&t, less ? -x : x)
				     : less                 ? 0 - whole
							    : whole;
			samples[i] &= UINT64_MAX >> (64 - 8 * t.code_bytes);
		}
		for (unsigned counters = 1; counters < 4; counters += 2)
			count(&t, samples, MOST, BINS[b], counters, false, 1, "rising");
		count(&t, samples, MOST, BINS[b], 1, true, 1, "rising");
	}
}

/* Many bins, few samples: the tables of 2^28 slots are another matter, the arithmetic is not. */
static void most_bins(void)
{
	struct auto_bins least = {.most = 1}, two = {.most = 2}, almost = {.most = (1u << 28) - 1},
			 all = {.most = 1u << 28};
	const struct extent e = {0, UINT64_MAX};

	sample_type_parse(&least.type, "u64");
	almost.type = all.type = least.type;
	CHECK(auto_slots(1u << 28) == 1u << 28 && auto_slots((1u << 27) + 1) == 1u << 28,
	      "slots of 2^28 bins");
	CHECK(auto_k(&all, &e) == 36 && auto_k(&almost, &e) == 37 && auto_k(&least, &e) == 64,
	      "k of all of u64");
	sample_type_parse(&two.type, "f64");
	all.type = two.type;
	const struct extent f = {0x0010000000000000, 0xffefffffffffffff};
	CHECK(auto_k(&two, &f) == 1024 && auto_k(&all, &f) == 1024 - 27, "k of all of f64");
	two.log = all.log = true;
	CHECK(auto_k(&two, &f) == 63 && auto_k(&all, &f) == 64 - 28, "k of all ranks of f64");
	least.log = true;
	CHECK(auto_k(&least, &e) == 52 + 7, "k of all ranks of u64");
}

static void all_types(bool log_auto)
{
	static const char *const INTEGERS[] = {"u8",  "i8",  "u16", "i16be", "u24",   "i24be",
					       "u32", "i32", "u64", "i64",   "i64be", "u32be"};
	static const char *const FLOATS[] = {"f32", "f32be", "f64", "f64be"};
	static uint64_t codes[MOST];

	ranks = log_auto;
	for (size_t i = 0; i < sizeof(INTEGERS) / sizeof(INTEGERS[0]); i++)
		integers(INTEGERS[i]);
	for (size_t i = 0; i < sizeof(FLOATS) / sizeof(FLOATS[0]); i++)
		floats(FLOATS[i]);
	for (size_t i = 4; i < sizeof(INTEGERS) / sizeof(INTEGERS[0]); i++)
		rising(INTEGERS[i]);
	for (size_t i = 0; i < sizeof(FLOATS) / sizeof(FLOATS[0]); i++)
		rising(FLOATS[i]);
	for (unsigned shape = 0; shape < 40; shape++) {
		for (size_t i = 0; i < MOST; i++)
			codes[i] = (check_random(&state) >> 48) & (shape % 2 ? 0x7bff : 0xffff);
		many_ways(shape % 4 < 2 ? "f16" : "bf16be", codes, 1 + shape * 70, 2 + shape * 9,
			  "codes");
	}
}

int main(void)
{
	all_types(false);
	all_types(true);
	most_bins();
	CHECK(grown > 100 && shared > 100, "grown %lu times, shared %lu times", grown, shared);
	return check_report();
}

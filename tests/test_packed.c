/* SPDX-License-Identifier: MIT */
/*
 * packed: samples of less than a byte, and floats of 8 bits, are counted as the same values in
 * types of whole bytes are: bins, channels, statistics, --auto.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "count/count.h"
#include "hist/hist.h"

#define BYTES 3000

static uint64_t seed = 7;

static const struct quantiles ASKED = {5, {0, 10000, 500000, 999000, 1000000}};

/* The histogram of n bytes of samples of this type, in so many channels. */
static void count(struct hist *h, const char *name, const unsigned char *bytes, size_t n,
		  uint32_t channels, enum axis_kind kind)
{
	struct axis_spec spec = {.edges = {.kind = kind, .bins = 6}};
	struct sample_type t;
	struct axis axis;
	struct counting counting;
	struct counts counts;
	struct fail fail = {0};
	const char *why;

	CHECK(sample_type_parse(&t, name) == 0, "%s", name);
	const uint32_t own = channels > sample_packed(&t) ? channels / sample_packed(&t) : 1;
	struct layout layout;
	number_parse(&spec.edges.lo, "-3", 2);
	number_parse(&spec.edges.hi, "3", 1);
	CHECK(layout_init(&layout, &(struct layout){.channels = own}, t.bytes, &why) == 0 &&
		      axis_init(&axis, &spec, &t, &why) == 0,
	      "%s: %s", name, why);
	counting_init_layout(&counting, &t, &axis.edges, &layout, false);
	counting_keep_stats(&counting, channels);
	CHECK(counts_init(&counts, counting.cells, &fail) == 0 &&
		      counts_keep_stats(&counts, &t, channels, &fail) == 0 &&
		      hist_reserve(h, &axis, channels, &fail) == 0 &&
		      hist_keep_stats(h, &ASKED, &fail) == 0,
	      "%s", fail.text);
	struct counter *counter = counter_open(&counting, &counts);
	counter_add(counter, bytes, n / t.bytes);
	counter_close(counter);
	hist_fill(h, &counts);
	CHECK(hist_audit(h, &fail) == 0, "%s: %s", name, fail.text);
	edges_free(&axis.edges);
	counts_free(&counts);
}

static bool same_flow(const struct hist_flow *a, const struct hist_flow *b)
{
	return a->under == b->under && a->over == b->over && a->nan == b->nan;
}

/* Both hold the same values: all but the unit of --auto, which the types give, must be equal. */
static void compare(const struct hist *a, const struct hist *b, const char *what)
{
	const bool real = a->axis.type.kind == SAMPLE_FLOAT;

	CHECK(a->samples == b->samples && axis_bins(&a->axis) == axis_bins(&b->axis), "%s", what);
	for (uint32_t c = 0; c < a->channels; c++) {
		const struct hist_stats *const s = &a->stats[c], *const t = &b->stats[c];
		const struct stats_result *const x = &s->of, *const y = &t->of;
		for (uint32_t i = 0; i < axis_bins(&a->axis); i++)
			CHECK(hist_count(a, c, i) == hist_count(b, c, i) &&
				      edges_value(&a->axis.edges, i) ==
					      edges_value(&b->axis.edges, i),
			      "%s: bin %u of channel %u", what, i, c);
		CHECK(same_flow(&a->flow[c], &b->flow[c]), "%s: flow of %u", what, c);
		CHECK(x->number == y->number && x->nan == y->nan && x->below == y->below &&
			      x->above == y->above && x->mean == y->mean &&
			      x->deviation == y->deviation,
		      "%s: channel %u: mean %g, %g", what, c, x->mean, y->mean);
		CHECK(real ? x->least_real == y->least_real && x->greatest_real == y->greatest_real
			   : x->least == y->least && x->greatest == y->greatest,
		      "%s: extremes of %u", what, c);
		/* The wider type has fewer codes of NaN in use. */
		CHECK((real || s->entropy == t->entropy) && s->at_least == t->at_least &&
			      s->at_greatest == t->at_greatest,
		      "%s: channel %u: entropy %g, %g", what, c, s->entropy, t->entropy);
		for (unsigned i = 0; i < ASKED.n; i++)
			CHECK(s->quantile[i].kind == t->quantile[i].kind &&
				      s->quantile[i].value == t->quantile[i].value,
			      "%s: quantile %u of %u", what, i, c);
	}
}

static void both(const char *name, const char *plain, const unsigned char *bytes, size_t n,
		 const unsigned char *wide, size_t wide_n, uint32_t channels)
{
	static const enum axis_kind KINDS[] = {AXIS_RANGE, AXIS_AUTO};

	for (int k = 0; k < 2; k++) {
		struct hist a, b;
		char what[64];
		snprintf(what, sizeof(what), "%s, %u channels, kind %d", name, channels, k);
		count(&a, name, bytes, n, channels, KINDS[k]);
		count(&b, plain, wide, wide_n, channels, KINDS[k]);
		compare(&a, &b, what);
		hist_free(&a);
		hist_free(&b);
	}
}

/* Of noise, and of bytes that are few and often equal. */
static void make(unsigned char *bytes, bool noise)
{
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(noise ? check_random(&seed)
						 : 0x1b * (check_random(&seed) % 9 == 0));
}

static void packed(unsigned bits, bool is_signed, bool big, bool noise)
{
	const unsigned each = 8 / bits;
	unsigned char bytes[BYTES], wide[8 * BYTES];
	char name[24];

	make(bytes, noise);
	snprintf(name, sizeof(name), "%c%ubit%s", is_signed ? 'i' : 'u', bits, big ? "be" : "");
	for (size_t i = 0; i < BYTES * each; i++) {
		int x = 0; /* bit by bit, the most significant one first */
		for (unsigned k = 0; k < bits; k++) {
			const size_t place = i % each * bits + (big ? k : bits - 1 - k);
			x = 2 * x + (bytes[i / each] >> (big ? 7 - place : place) & 1);
		}
		wide[i] = (unsigned char)(is_signed && x >> (bits - 1) ? x - (1 << bits) : x);
	}
	for (uint32_t channels = 1; channels <= 64; channels *= 2)
		if (BYTES * each % channels == 0)
			both(name, is_signed ? "i8" : "u8", bytes, BYTES, wide, BYTES * each,
			     channels);
	/* as many bytes as make whole records */
	both(name, is_signed ? "i8" : "u8", bytes, 48, wide, 48 * each, 3 * each);
}

static void eighths(const char *name, bool noise)
{
	unsigned char bytes[BYTES], wide[2 * BYTES];
	struct sample_type t, half;

	make(bytes, noise);
	sample_type_parse(&t, name);
	sample_type_parse(&half, "f16");
	for (size_t i = 0; i < BYTES; i++) {
		const double x = sample_code(&t, bytes[i]);
		uint32_t code = 0;
		while (isnan(x) ? !isnan(sample_code(&half, code)) : sample_code(&half, code) != x)
			code++;
		wide[2 * i] = (unsigned char)code;
		wide[2 * i + 1] = (unsigned char)(code >> 8);
	}
	for (uint32_t channels = 1; channels <= 3; channels++)
		both(name, "f16", bytes, BYTES, wide, 2 * BYTES, channels);
}

int main(void)
{
	for (int noise = 0; noise < 2; noise++) {
		for (int big = 0; big < 2; big++) {
			packed(1, false, big, noise);
			for (unsigned bits = 2; bits <= 4; bits *= 2) {
				packed(bits, false, big, noise);
				packed(bits, true, big, noise);
			}
		}
		eighths("f8e4m3", noise);
		eighths("f8e5m2", noise);
	}
	return check_report();
}

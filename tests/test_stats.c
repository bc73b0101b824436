/* SPDX-License-Identifier: MIT */
/*
 * stats: cases that the oracle cannot reach. Figures of up to 2^64 samples are right, and every
 * loop gives the same sums, to the last digit, as adding one sample at a time.
 */
#include "count/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
#include "check.h"

static uint64_t seed = 20261122;

static uint64_t draw(void)
{
	return check_random(&seed);
}

static uint64_t draw_below(uint64_t n)
{
	return draw() % n;
}

/* ---- very many samples ---- */

/* Is it the expected number, or next to it? */
static bool is_near(double a, double expected)
{
	return fabs(a) >= nextafter(fabs(expected), 0) &&
	       fabs(a) <= nextafter(fabs(expected), (double)INFINITY) &&
	       (a == 0 || signbit(a) == signbit(expected));
}

/* These figures were computed with integers of a thousand digits. */
static void pairs(void)
{
	static const struct {
		const char *type;
		uint64_t bits[2], times[2];
		double mean, deviation;
	} CASES[] = {
		{"u64", {UINT64_MAX, 0}, {UINT64_MAX - 1, 1}, 0x1p64, 0x1p32},
		{"u64", {UINT64_MAX, 1}, {UINT64_MAX / 2, UINT64_MAX / 2 + 1}, 0x1p63, 0x1p63},
		{"u64", {0, 0xfffffffe}, {1, 1}, 0x1.fffffffcp30, 0x1.fffffffcp30},
		{"i64",
		 {(uint64_t)1 << 63, UINT64_MAX >> 1},
		 {UINT64_MAX / 2, UINT64_MAX / 2 + 1},
		 0,
		 0x1p63},
		{"i64", {(uint64_t)1 << 63, (uint64_t)1 << 63}, {UINT64_MAX - 1, 1}, -0x1p63, 0},
		{"f64",
		 {0x7fefffffffffffff, 0xffefffffffffffff},
		 {UINT64_MAX - 7, 7},
		 0x1.fffffffffffffp1023,
		 0x1.52a7fa9d2f8e9p994},
		{"f64",
		 {0x7fefffffffffffff, 0xffefffffffffffff},
		 {UINT64_MAX / 2, UINT64_MAX / 2 + 1},
		 -0x1.fffffffffffffp959,
		 0x1.fffffffffffffp1023},
		{"f64",
		 {0x7fefffffffffffff, 1},
		 {1, UINT64_MAX - 1},
		 0x1.fffffffffffffp959,
		 0x1.fffffffffffffp991},
		{"f64",
		 {0x7fefffffffffffff, 0x7feffffffffffffe},
		 {1, UINT64_MAX - 1},
		 0x1.ffffffffffffep1023,
		 0x1p939},
		{"f64", {1, 2}, {UINT64_MAX / 3, 5}, 0x1p-1074, 0},
		{"f64", {0, 3}, {1, 1}, 0x1p-1073, 0x1p-1073},
		{"f64", {0x3ff0000000000000, 0x3ff0000000000001}, {1, 1}, 1, 0x1p-53},
		{"f32",
		 {0x7f7fffff, 0xff7fffff},
		 {UINT64_MAX / 2, UINT64_MAX / 2 + 1},
		 -0x1.fffffep63,
		 0x1.fffffep127},
		{"f32",
		 {0x7f7fffff, 1},
		 {UINT64_MAX / 2, UINT64_MAX / 2 + 1},
		 0x1.fffffep126,
		 0x1.fffffep126},
		{"u24", {0xffffff, 0}, {UINT64_MAX - 1, 1}, 0x1.fffffep23, 0x1.fffffep-9},
		{"f16", {0xfbff, 0x7bff}, {UINT64_MAX - 1, 1}, -0x1.ffcp15, 0x1.ffcp-16},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct sample_type t;
		struct stats_result r;
		sample_type_parse(&t, CASES[i].type);
		struct stats *const s = stats_open(&t, 2);
		for (int k = 0; k < 2; k++)
			stats_add_bits(&s[k], CASES[i].bits[k], CASES[i].times[k]);
		stats_merge(&s[0], &s[1]);
		stats_result(&s[0], &r);
		CHECK(is_near(r.mean, CASES[i].mean), "pair %zu: %a", i, r.mean);
		CHECK(is_near(r.deviation, CASES[i].deviation), "pair %zu: %a", i, r.deviation);
		free(s);
	}
}

/* ---- blocks of samples ---- */

/* Do digits make the same sum? */
static bool same_sum(const int128_t *a, const int128_t *b, size_t n, unsigned bits)
{
	int128_t rest = 0;

	for (size_t i = 0; i < n && rest % ((int128_t)1 << bits) == 0; i++)
		rest = (rest >> bits) + a[i] - b[i];
	return rest == 0;
}

/* The distribution from which the samples of a run are drawn. */
struct drawn {
	unsigned kind;
	uint64_t exponent; /* of most of them, at most */
	uint64_t octaves;  /* number of exponents */
	uint64_t others;   /* one sample in this many lies elsewhere */
	bool alike;        /* one sign, all digits ones */
};

static struct drawn draw_run(const struct sample_type *t, unsigned i)
{
	const uint64_t top = t->code_bytes == 8 ? 2046 : 254;
	/* Exponents at which a window begins or ends are drawn as often as all others. */
	const uint64_t ends[] = {1, 20, top, 44, 45, 622, 1500, 1501};

	return (struct drawn){
		.kind = i % 4,
		.exponent = draw() % 2 ? draw_below(top + 1) : ends[draw_below(8)] % (top + 1),
		.octaves = draw() % 4 ? draw_below(3) : draw_below(30),
		.others = (uint64_t)1 << (1 + draw_below(11)),
		.alike = draw() % 8 == 0,
	};
}

static uint64_t draw_real(const struct sample_type *t, const struct drawn *d)
{
	const uint64_t sign = (uint64_t)1 << (8 * t->code_bytes - 1), all = sign - 1 + sign,
		       digits = ((uint64_t)1 << t->mantissa) - 1;
	uint64_t e = d->exponent;

	if (d->kind > 0 && draw_below(d->others) == 0) {
		const uint64_t infinity = (sign - 1) & ~digits;
		const uint64_t special[] = {0, sign,          infinity,   infinity | sign, all,
					    1, sign | digits, digits + 1, infinity - 1};
		return d->kind == 1   ? draw() & all
		       : d->kind == 2 ? special[draw_below(9)]
				      : draw() & digits;
	}
	if (d->alike)
		return e << t->mantissa | digits;
	e -= e > 0 ? draw_below((d->octaves < e ? d->octaves : e) + 1) : 0;
	return ((draw() & digits) | e << t->mantissa | (draw() % 2 ? sign : 0)) & all;
}

static uint64_t draw_integer(const struct sample_type *t, const struct drawn *d)
{
	const uint64_t sign = (uint64_t)1 << (8 * t->code_bytes - 1), all = sign - 1 + sign;

	return d->kind == 0   ? draw() & all
	       : d->kind == 1 ? (draw() % 2 ? 0 : all)
	       : d->kind == 2 ? (d->alike ? all : sign - draw_below(3))
			      : draw_below(d->others);
}

/* The same samples in calls of any length from any address, merged, and one by one. */
static void one_run(const char *isa, const char *name, unsigned i)
{
	enum { LONGEST = 5000, PARTS = 3 };
	static unsigned char samples[8 * LONGEST + 8];
	static const size_t LENGTHS[] = {15, 16, 17, 31, 1023, 1024, 1025, 2047};
	static const uint32_t CHANNELS[] = {1, 1, 1, 2, 3, 7, STATS_FEW + 1, 64, 65, 99};
	struct sample_type t;

	sample_type_parse(&t, name);
	const struct drawn d = draw_run(&t, i);
	const uint32_t channels = CHANNELS[draw_below(10)];
	uint32_t first = 0; /* the channel of the next sample */
	struct stats *const part = stats_open(&t, PARTS * channels), *const single = stats_open(
									     &t, channels);
	for (unsigned calls = 1 + (unsigned)draw_below(4); calls > 0; calls--) {
		unsigned char *const from = samples + draw_below(8);
		size_t some = draw() % 2 ? LENGTHS[draw_below(8)] : draw_below(1200);
		some = some * channels < LONGEST ? some * channels : channels;
		some += channels > 64 ? draw_below(channels) : 0;
		some = some <= LONGEST ? some : LONGEST;
		for (size_t k = 0; k < some; k++) {
			const uint64_t bits =
				t.kind == SAMPLE_FLOAT ? draw_real(&t, &d) : draw_integer(&t, &d);
			for (uint32_t b = 0; b < t.code_bytes; b++)
				from[k * t.code_bytes + (t.big ? t.code_bytes - 1 - b : b)] =
					(unsigned char)(bits >> 8 * b);
			stats_add_bits(&single[(first + k) % channels], bits, 1);
		}
		struct stats *const to = part + draw_below(PARTS) * channels;
		if (channels <= STATS_FEW)
			stats_add_channels(to, channels, from, some);
		else
			stats_add_across(to, channels, first, from, some, NULL);
		first = (uint32_t)((first + some) % channels);
	}
	for (uint32_t c = 0; c < channels; c++) {
		struct stats *const a = &part[c], *const b = &single[c];
		for (unsigned k = 1; k < PARTS; k++)
			stats_merge(a, &part[k * channels + c]);
		CHECK(same_sum(a->sum, b->sum, a->digits, 8) &&
			      same_sum(a->square, b->square, a->digits, 16),
		      "%s, %s, run %u: another sum", isa, name, i);
		CHECK(a->number == b->number && a->below == b->below && a->above == b->above &&
			      a->nan == b->nan && a->zeros == b->zeros &&
			      a->extent.least == b->extent.least &&
			      a->extent.greatest == b->extent.greatest,
		      "%s, %s, run %u: other numbers or extremes", isa, name, i);
	}
	free(part);
	free(single);
}

/* Samples of 16 bits at the extremes, in records of many channels cut anywhere. */
static void ends(const char *name)
{
	enum { CHANNELS = 70, LONGEST = 20000, CODES = 1 << 16 };
	static unsigned char samples[2 * LONGEST];
	static uint32_t words[CODES];
	struct sample_type t;

	sample_type_parse(&t, name);
	for (uint32_t i = 0; i < CODES; i++)
		words[i] = t.kind == SAMPLE_FLOAT    ? (i & 0x8000) << 16 | 0x3f800000 | (i & 0x7f)
			   : t.kind == SAMPLE_SIGNED ? (uint32_t)(int16_t)i
						     : i;
	struct stats *const s = stats_open(&t, CHANNELS);
	size_t n = 0;
	while (n < LONGEST) {
		const size_t left = LONGEST - n, some = 1 + draw_below(9000);
		for (size_t i = n; i < n + some && i < LONGEST; i++) {
			samples[2 * i] = (unsigned char)draw_below(i < LONGEST / 2 ? 64 : 128);
			samples[2 * i + 1] = draw() % 2 ? 0x80 : 0;
		}
		stats_add_across(s, CHANNELS, (uint32_t)(n % CHANNELS), samples + 2 * n,
				 some < left ? some : left, words);
		n += some < left ? some : left;
	}
	for (uint32_t c = 0; c < CHANNELS; c++) {
		struct stats *const one = stats_open(&t, 1);
		uint64_t least = 0, greatest = 0;
		for (size_t i = c; i < LONGEST; i += CHANNELS)
			stats_add_bits(one, words[samples[2 * i] | samples[2 * i + 1] << 8], 1);
		for (size_t i = c; i < LONGEST; i += CHANNELS) {
			struct stats *const sample = stats_open(&t, 1);
			stats_add_bits(sample, words[samples[2 * i] | samples[2 * i + 1] << 8], 1);
			least += sample->extent.least == one->extent.least;
			greatest += sample->extent.least == one->extent.greatest;
			free(sample);
		}
		CHECK(s[c].number == one->number && s[c].extent.least == one->extent.least &&
			      s[c].extent.greatest == one->extent.greatest,
		      "%s, channel %u: another number or extreme", name, c);
		CHECK(s[c].at_least == least && s[c].at_greatest == greatest,
		      "%s, channel %u: %llu at the minimum, %llu at the maximum", name, c,
		      (unsigned long long)s[c].at_least, (unsigned long long)s[c].at_greatest);
		free(one);
	}
	free(s);
}

static void blocks(void)
{
	static const char *const SETS[] = {"base", "avx2", "avx512"};
	static const char *const TYPES[] = {"f32", "f32be", "f64",   "f64be", "u24", "i24be",
					    "u32", "i32be", "u32be", "u64",   "i64", "u64be"};

	for (size_t isa = 0; isa < 3; isa++)
		for (size_t k = 0; isa_force(SETS[isa]) == 0 && k < 12; k++)
			for (unsigned i = 0; i < (k < 4 ? 400 : 60); i++)
				one_run(SETS[isa], TYPES[k], i);
	isa_force(NULL);
}

int main(void)
{
	pairs();
	blocks();
	ends("u32");
	ends("i32");
	ends("f32");
	return check_report();
}

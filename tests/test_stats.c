/* SPDX-License-Identifier: MIT */
/*
 * stats: mean and deviation are the nearest binary64 of the exact figures, whatever the order and
 * the parts.
 *
 * The reference adds every sample, aligned to the smallest denormal, to one long number, and never
 * divides: a figure is right where the exact value lies between the middles to its two neighbours,
 * compared as whole numbers. It shares no code with src/.
 */
#include "count/stats.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* ---- long numbers, by the schoolbook ---- */

#define LIMBS 144 /* of 32 bits: 4608 */

struct ref {
	uint32_t limb[LIMBS];
};

static bool short_of; /* a number did not fit, or fell below 0: the reference is wrong */

static struct ref ref_of(uint64_t x)
{
	return (struct ref){{(uint32_t)x, (uint32_t)(x >> 32)}};
}

static struct ref ref_shift(const struct ref *a, unsigned bits)
{
	struct ref out = {{0}};

	for (unsigned i = 0; i < LIMBS * 32; i++)
		if (a->limb[i / 32] >> i % 32 & 1) {
			short_of |= i + bits >= LIMBS * 32;
			out.limb[(i + bits) / 32 % LIMBS] |= 1u << (i + bits) % 32;
		}
	return out;
}

static struct ref ref_add(const struct ref *a, const struct ref *b)
{
	struct ref out;
	uint64_t carry = 0;

	for (unsigned i = 0; i < LIMBS; i++) {
		carry += (uint64_t)a->limb[i] + b->limb[i];
		out.limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	short_of |= carry != 0;
	return out;
}

/* a - b, a >= b */
static struct ref ref_subtract(const struct ref *a, const struct ref *b)
{
	struct ref out;
	int64_t borrow = 0;

	for (unsigned i = 0; i < LIMBS; i++) {
		borrow += (int64_t)a->limb[i] - b->limb[i];
		out.limb[i] = (uint32_t)borrow;
		borrow >>= 32;
	}
	short_of |= borrow != 0;
	return out;
}

static struct ref ref_multiply(const struct ref *a, const struct ref *b)
{
	struct ref out = {{0}};

	for (unsigned i = 0; i < LIMBS; i++) {
		uint64_t carry = 0;
		for (unsigned k = 0; a->limb[i] != 0 && i + k < LIMBS; k++) {
			carry += (uint64_t)a->limb[i] * b->limb[k] + out.limb[i + k];
			out.limb[i + k] = (uint32_t)carry;
			carry >>= 32;
		}
		short_of |= carry != 0;
	}
	return out;
}

static int ref_compare(const struct ref *a, const struct ref *b)
{
	for (unsigned i = LIMBS; i-- > 0;)
		if (a->limb[i] != b->limb[i])
			return a->limb[i] < b->limb[i] ? -1 : 1;
	return 0;
}

/* A positive binary64 in units of 2^-1074. */
static struct ref ref_of_double(double x)
{
	int exponent;
	const double m = frexp(x, &exponent);
	const struct ref whole = ref_of((uint64_t)ldexp(m, 53));

	if (exponent - 53 < -1074) /* a denormal is a whole number of units */
		return ref_of((uint64_t)ldexp(x, 1074));
	return ref_shift(&whole, (unsigned)(exponent - 53 + 1074));
}

/* ---- the exact figures ---- */

/* Of n samples, in units of 2^-1074 and 2^-2148. */
struct exact {
	uint64_t n;
	struct ref plus, minus, squares;
};

/* `times` samples of +-whole 2^exponent. */
static void exact_add(struct exact *e, bool negative, uint64_t whole, int exponent, uint64_t times)
{
	const struct ref unit = ref_of(whole), weight = ref_of(times);
	const struct ref x = ref_shift(&unit, (unsigned)(exponent + 1074));
	const struct ref sum = ref_multiply(&x, &weight), square = ref_multiply(&sum, &x);
	struct ref *const to = negative ? &e->minus : &e->plus;

	*to = ref_add(to, &sum);
	e->squares = ref_add(&e->squares, &square);
	e->n += times;
}

/*
 * Is d the binary64 nearest to `root` of a, over n? That is, with D and E for d and its neighbour
 * in units: is (D + E) n / 2, or its square, on the right side of a; in the middle only where d is
 * even.
 */
static bool is_nearest(double d, const struct ref *a, uint64_t n, bool root)
{
	const struct ref own = ref_of_double(d), number = ref_of(n),
			 scaled = ref_shift(a, root ? 2 : 1);
	uint64_t bits;
	bool right = true;

	memcpy(&bits, &d, sizeof(bits));
	for (int up = 0; up < 2; up++) {
		const double neighbour = nextafter(d, up ? (double)INFINITY : 0);
		if ((up && isinf(neighbour)) || (!up && d == 0))
			continue;
		const struct ref other = ref_of_double(neighbour), both = ref_add(&own, &other);
		struct ref middle = ref_multiply(&both, &number);
		if (root)
			middle = ref_multiply(&middle, &middle);
		const int order = ref_compare(&scaled, &middle);
		right = right && (order == 0 ? bits % 2 == 0 : (order < 0) == up);
	}
	return right;
}

static void check_figures(const struct exact *e, const struct stats_result *r, const char *what)
{
	const bool negative = ref_compare(&e->minus, &e->plus) > 0;
	const struct ref sum =
		negative ? ref_subtract(&e->minus, &e->plus) : ref_subtract(&e->plus, &e->minus);
	const struct ref number = ref_of(e->n), all = ref_multiply(&e->squares, &number);
	const struct ref square = ref_multiply(&sum, &sum), spread = ref_subtract(&all, &square);

	CHECK(r->number == e->n, "%s: number %llu", what, (unsigned long long)r->number);
	CHECK(is_nearest(fabs(r->mean), &sum, e->n, false), "%s: mean %a", what, r->mean);
	CHECK(r->mean == 0 ? !signbit(r->mean) : signbit(r->mean) == negative, "%s: mean %a", what,
	      r->mean);
	CHECK(!signbit(r->deviation) && is_nearest(r->deviation, &spread, e->n, true),
	      "%s: deviation %a", what, r->deviation);
}

/* ---- samples ---- */

#define MOST 240

static uint64_t seed = 20261122;

static uint64_t draw(void)
{
	return check_random(&seed);
}

static uint64_t draw_below(uint64_t n)
{
	return draw() % n;
}

/* A sample as its bits, of one of the kinds of data. */
static uint64_t draw_bits(const struct sample_type *t, unsigned kind, unsigned i)
{
	const unsigned bits = 8 * t->bytes;
	const uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1,
		       sign = (uint64_t)1 << (bits - 1);
	const uint64_t one = t->mantissa == 10   ? 0x3c00
			     : t->mantissa == 7  ? 0x3f80
			     : t->mantissa == 23 ? 0x3f800000
						 : 0x3ff0000000000000;
	const uint64_t infinity = (all >> 1) - (((uint64_t)1 << t->mantissa) - 1);

	switch (kind) {
	case 0: /* anything: infinities and NaNs of small types too */
		return draw() & all;
	case 1: /* all equal */
		return (one + 12345) & all;
	case 2: /* extremes */
		return draw() % 2 ? all : draw() % 2 ? sign : draw() % 2 ? sign - 1 : 0;
	case 3: /* a narrow place */
		return one + draw_below(100);
	case 4: /* small numbers; denormals, zeros of both signs */
		return draw_below(40) | (draw() % 2 ? sign : 0);
	case 5: /* pairs that cancel but for a little */
		return i % 2 ? (one + 77) | sign : one + 77 + (draw_below(20) == 0);
	case 6: /* the largest finite numbers */
		return (infinity - 1 - draw_below(4)) | (draw() % 8 ? 0 : sign);
	case 7: /* infinities and NaN among others */
		return draw_below(4) ? one + draw_below(3)
		       : draw() % 3  ? infinity | (draw() % 2 ? sign : 0)
				     : all;
	default: /* of both signs and all magnitudes, never an infinity or NaN of binary32 or 64 */
		return (draw() & all & ~((infinity & ~(infinity - 1)) << (draw() % 3))) |
		       (draw() % 2 ? sign : 0);
	}
}
#define KINDS 9

static void put(unsigned char *p, const struct sample_type *t, uint64_t bits)
{
	for (uint32_t k = 0; k < t->bytes; k++)
		p[t->big ? t->bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

/* The finite number that the bits are, as +-whole 2^exponent; false: there is none. */
static bool value_of(const struct sample_type *t, uint64_t bits, bool *negative, uint64_t *whole,
		     int *exponent)
{
	const unsigned width = 8 * t->bytes;

	*negative = t->kind != SAMPLE_UNSIGNED && bits >> (width - 1) & 1;
	*exponent = 0;
	*whole = *negative ? (~bits + 1) & (((uint64_t)1 << (width - 1)) * 2 - 1) : bits;
	if (t->kind != SAMPLE_FLOAT)
		return true;
	const unsigned digits = width - 1 - t->mantissa;
	const int e = (int)(bits >> t->mantissa & (((uint64_t)1 << digits) - 1));
	const int bias = (1 << (digits - 1)) - 1;
	*whole = bits & (((uint64_t)1 << t->mantissa) - 1);
	if (e > 0)
		*whole += (uint64_t)1 << t->mantissa;
	*exponent = (e > 0 ? e : 1) - bias - (int)t->mantissa;
	return e != 2 * bias + 1;
}

/* Adds samples `from` up to `to`, in pieces of a random size. */
static void add(struct stats *s, const struct sample_type *t, const uint64_t *bits, size_t from,
		size_t to)
{
	unsigned char samples[8 * MOST];

	for (size_t i = from; i < to; i++)
		put(samples + i * t->bytes, t, bits[i]);
	for (size_t i = from, some; i < to; i += some) {
		some = 1 + draw_below(to - i);
		if (t->bytes <= 2) {
			some = 1;
			stats_add_bits(s, (uint32_t)bits[i], 1);
		} else if (some == 1) {
			stats_add_same(s, samples + i * t->bytes, 1);
		} else {
			stats_add(s, samples + i * t->bytes, some);
		}
	}
}

static bool same_double(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

static bool same(const struct stats_result *a, const struct stats_result *b)
{
	return a->number == b->number && a->below == b->below && a->above == b->above &&
	       a->nan == b->nan && a->least == b->least && a->greatest == b->greatest &&
	       same_double(a->least_real, b->least_real) &&
	       same_double(a->greatest_real, b->greatest_real) && same_double(a->mean, b->mean) &&
	       same_double(a->deviation, b->deviation);
}

/* The same samples in another order, in parts that are merged in any order: the same to the bit. */
static void check_parts(const struct sample_type *t, uint64_t *bits, size_t n,
			const struct stats_result *expected, const char *what)
{
	enum { PARTS = 5 };
	struct stats *const part = stats_open(t, PARTS);
	struct stats_result r;

	for (size_t i = n; i > 1; i--) {
		const size_t k = draw_below(i);
		const uint64_t own = bits[i - 1];
		bits[i - 1] = bits[k];
		bits[k] = own;
	}
	for (size_t i = 0, to; i < n; i = to) {
		to = i + 1 + draw_below(n - i);
		add(&part[draw_below(PARTS)], t, bits, i, to);
	}
	const unsigned first = (unsigned)draw_below(PARTS);
	for (unsigned k = 1; k < PARTS; k++)
		stats_merge(&part[first], &part[(first + k) % PARTS]);
	stats_result(&part[first], &r);
	CHECK(same(&r, expected), "%s: other parts: mean %a, not %a; deviation %a, not %a", what,
	      r.mean, expected->mean, r.deviation, expected->deviation);
	free(part);
}

/* Extremes and counts, sample by sample. */
static void check_extremes(const struct sample_type *t, const uint64_t *bits, size_t n,
			   const struct stats_result *r, const char *what)
{
	int128_t least = 0, greatest = 0;
	double low = 0, high = 0;
	uint64_t number = 0, odd = 0;

	for (size_t i = 0; i < n; i++) {
		bool negative;
		uint64_t whole;
		int exponent;
		if (!value_of(t, bits[i], &negative, &whole, &exponent)) {
			odd++;
			continue;
		}
		const int128_t x = negative ? -(int128_t)whole : (int128_t)whole;
		const double d = ldexp((double)x, exponent);
		least = number == 0 || x < least ? x : least;
		greatest = number == 0 || x > greatest ? x : greatest;
		low = number == 0 || d < low ? d : low;
		high = number == 0 || d > high ? d : high;
		number++;
	}
	CHECK(r->number == number && r->below + r->above + r->nan == odd,
	      "%s: %llu finite, %llu others", what, (unsigned long long)r->number,
	      (unsigned long long)(r->below + r->above + r->nan));
	if (number > 0 && t->kind == SAMPLE_FLOAT)
		CHECK(r->least_real == low && r->greatest_real == high &&
			      !(low == 0 && signbit(r->least_real)) &&
			      !(high == 0 && signbit(r->greatest_real)),
		      "%s: from %a to %a, not %a to %a", what, r->least_real, r->greatest_real, low,
		      high);
	else if (number > 0)
		CHECK(r->least == least && r->greatest == greatest, "%s: other extremes", what);
}

static void one_set(const char *name, unsigned kind, size_t n)
{
	struct sample_type t;
	struct exact exact = {.n = 0};
	struct stats_result r;
	uint64_t bits[MOST];
	char what[64];

	sample_type_parse(&t, name);
	snprintf(what, sizeof(what), "%s, data %u, %zu samples", name, kind, n);
	for (size_t i = 0; i < n; i++) {
		bool negative;
		uint64_t whole;
		int exponent;
		bits[i] = draw_bits(&t, kind, (unsigned)i) &
			  (t.bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * t.bytes) - 1);
		if (value_of(&t, bits[i], &negative, &whole, &exponent))
			exact_add(&exact, negative, whole, exponent, 1);
	}
	struct stats *const s = stats_open(&t, 1);
	add(s, &t, bits, 0, n);
	stats_result(s, &r);
	check_extremes(&t, bits, n, &r, what);
	if (r.number > 0)
		check_figures(&exact, &r, what);
	check_parts(&t, bits, n, &r, what);
	free(s);
}

static void all_types(void)
{
	static const char *const TYPES[] = {"u8",    "i8",    "u16", "i16",   "f16",   "bf16",
					    "u24",   "i24be", "u32", "i32",   "u32be", "u64",
					    "i64be", "i64",   "f32", "f32be", "f64",   "f64be"};

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
		for (unsigned kind = 0; kind < KINDS; kind++) {
			one_set(TYPES[i], kind, 1);
			one_set(TYPES[i], kind, 2);
			one_set(TYPES[i], kind, 3 + draw_below(MOST - 3));
		}
}

/* Samples that are many: sums as long as they get. */
static void heavy(void)
{
	static const struct {
		const char *type;
		uint64_t bits[2], times[2];
	} CASES[] = {
		{"u64", {UINT64_MAX, 0}, {UINT64_MAX - 1, 1}},
		{"u64", {UINT64_MAX, 1}, {UINT64_MAX / 2, UINT64_MAX / 2 + 1}},
		{"i64", {(uint64_t)1 << 63, UINT64_MAX >> 1}, {UINT64_MAX / 2, UINT64_MAX / 2 + 1}},
		{"i64", {(uint64_t)1 << 63, (uint64_t)1 << 63}, {UINT64_MAX - 1, 1}},
		{"f64", {0x7fefffffffffffff, 0xffefffffffffffff}, {UINT64_MAX - 7, 7}},
		{"f64",
		 {0x7fefffffffffffff, 0xffefffffffffffff},
		 {UINT64_MAX / 2, UINT64_MAX / 2 + 1}},
		{"f64", {0x7fefffffffffffff, 1}, {1, UINT64_MAX - 1}},
		{"f64", {0x7fefffffffffffff, 0x7feffffffffffffe}, {1, UINT64_MAX - 1}},
		{"f64", {1, 2}, {UINT64_MAX / 3, 5}},
		/*
		 * A little more than half of the smallest denormal: rounded once it is that one,
		 * rounded twice 0.
		 */
		{"f64", {1, 0}, {((uint64_t)1 << 59) + 1, ((uint64_t)1 << 59) - 1}},
		{"f32", {0x7f7fffff, 0xff7fffff}, {UINT64_MAX / 2, UINT64_MAX / 2 + 1}},
		{"f32", {0x7f7fffff, 1}, {UINT64_MAX / 2, UINT64_MAX / 2 + 1}},
		{"u24", {0xffffff, 0}, {UINT64_MAX - 1, 1}},
		{"u16", {0xffff, 0}, {UINT64_MAX - 1, 1}},
		{"f16", {0xfbff, 0x7bff}, {UINT64_MAX - 1, 1}},
		{"bf16", {0x7f7f, 0x0001}, {UINT64_MAX / 2, UINT64_MAX / 2 + 1}},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct sample_type t;
		struct exact exact = {.n = 0};
		struct stats_result r;
		unsigned char sample[8];
		char what[32];
		sample_type_parse(&t, CASES[i].type);
		snprintf(what, sizeof(what), "heavy %zu: %s", i, CASES[i].type);
		struct stats *const s = stats_open(&t, 2);
		for (int k = 0; k < 2; k++) {
			bool negative;
			uint64_t whole;
			int exponent;
			put(sample, &t, CASES[i].bits[k]);
			if (t.bytes <= 2)
				stats_add_bits(&s[k], (uint32_t)CASES[i].bits[k],
					       CASES[i].times[k]);
			else
				stats_add_same(&s[k], sample, CASES[i].times[k]);
			value_of(&t, CASES[i].bits[k], &negative, &whole, &exponent);
			exact_add(&exact, negative, whole, exponent, CASES[i].times[k]);
		}
		stats_merge(&s[0], &s[1]);
		stats_result(&s[0], &r);
		check_figures(&exact, &r, what);
		free(s);
	}
}

/* So many large samples that each sum carries into its upper words, by the loops. */
static void carries(void)
{
	static const struct {
		const char *type;
		uint64_t bits;
	} CASES[] = {{"u32", 0xffffffff},           {"u64", UINT64_MAX - 5},
		     {"i64be", (uint64_t)1 << 63},  {"f32", 0x40ffffff},
		     {"f32be", 0xc0ffffff},         {"f64", 0x401fffffffffffff},
		     {"f64be", 0xc01fffffffffffff}, {"i24", 0x7fffff}};
	enum { CHUNK = 1 << 16, LOOPS = 5 };
	unsigned char *const samples = malloc(8 * (size_t)CHUNK);

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct sample_type t;
		struct stats_result by_loop, at_once;
		sample_type_parse(&t, CASES[i].type);
		struct stats *const s = stats_open(&t, 2);
		for (size_t k = 0; k < CHUNK; k++)
			put(samples + k * t.bytes, &t, CASES[i].bits - k % 2);
		/* The squares of binary64 fill two words after 2^22 samples. */
		const unsigned loops = t.bytes == 8 && t.kind == SAMPLE_FLOAT ? 160 : LOOPS;
		for (unsigned k = 0; k < loops; k++)
			stats_add(&s[0], samples, CHUNK);
		stats_add_same(&s[1], samples, (uint64_t)loops * CHUNK / 2);
		stats_add_same(&s[1], samples + t.bytes, (uint64_t)loops * CHUNK / 2);
		stats_result(&s[0], &by_loop);
		stats_result(&s[1], &at_once);
		CHECK(same(&by_loop, &at_once), "%s: mean %a, not %a; deviation %a, not %a",
		      CASES[i].type, by_loop.mean, at_once.mean, by_loop.deviation,
		      at_once.deviation);
		CHECK(memcmp(s[0].sums, s[1].sums, sizeof(*s[0].sums)) == 0, "%s: other sums",
		      CASES[i].type);
		free(s);
	}
	free(samples);
}

/* Known by hand: middles between two numbers go to the even one. */
static void ties(void)
{
	static const struct {
		const char *type;
		uint64_t bits[2];
		double mean, deviation;
	} CASES[] = {
		/* A middle and a little more, far below the digits that are looked at. */
		{"f64",
		 {0x4350000000000001, 0x3ffffffffffffffc},
		 0x1.0000000000001p53,
		 0x1.0000000000001p53},
		{"u64", {0, 2}, 1, 1},
		{"u64", {0, ((uint64_t)1 << 54) + 2}, 0x1p53, 0x1p53},
		{"u64", {0, ((uint64_t)1 << 54) + 6}, 0x1p53 + 4, 0x1p53 + 4},
		{"i64", {(uint64_t)1 << 63, ((uint64_t)1 << 63) - 1}, -0.5, 0x1p63},
		{"f64", {0x3ff0000000000000, 0x3ff0000000000001}, 1, 0x1p-53},
		{"f64", {0x3ff0000000000001, 0x3ff0000000000002}, 0x1.0000000000002p0, 0x1p-53},
		{"f64", {0, 1}, 0, 0},
		{"f64", {0x8000000000000000, 0x8000000000000001}, 0, 0},
		{"f64", {0, 3}, 0x1p-1073, 0x1p-1073},
		{"f64", {0x7fefffffffffffff, 0xffefffffffffffff}, 0, DBL_MAX},
		{"f64", {0x7fefffffffffffff, 0x7fefffffffffffff}, DBL_MAX, 0},
		{"f32", {0x3f800000, 0x40400000}, 2, 1},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct sample_type t;
		struct stats_result r;
		sample_type_parse(&t, CASES[i].type);
		struct stats *const s = stats_open(&t, 1);
		add(s, &t, CASES[i].bits, 0, 2);
		stats_result(s, &r);
		CHECK(same_double(r.mean, CASES[i].mean) &&
			      same_double(r.deviation, CASES[i].deviation),
		      "%s, tie %zu: mean %a, deviation %a", CASES[i].type, i, r.mean, r.deviation);
		free(s);
	}
}

/* Nothing finite: nothing is said but how many others there were. */
static void nothing(void)
{
	static const uint64_t ODD[] = {0x7ff0000000000000, 0xfff0000000000000, 0xfff0000000000000,
				       0x7ff8000000000000, 0xfff0000000000001, 0x7fffffffffffffff};
	struct sample_type t;
	struct stats_result r;

	sample_type_parse(&t, "f64be");
	struct stats *const s = stats_open(&t, 3);
	stats_result(&s[1], &r);
	CHECK(r.number == 0 && r.below + r.above + r.nan == 0, "empty");
	add(&s[1], &t, ODD, 0, 6);
	stats_result(&s[1], &r);
	CHECK(r.number == 0 && r.below == 2 && r.above == 1 && r.nan == 3, "%llu, %llu, %llu",
	      (unsigned long long)r.below, (unsigned long long)r.above, (unsigned long long)r.nan);
	CHECK(s[0].number + s[2].number + s[0].nan + s[2].nan == 0, "another channel got them");
	free(s);
}

int main(void)
{
	all_types();
	heavy();
	carries();
	ties();
	nothing();
	CHECK(!short_of, "the reference is too short");
	return check_report();
}

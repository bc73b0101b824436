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

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/isa.h"
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

/* Samples that are many: sums as long as they get. And two whose mean is a middle, or nearly. */
static void pairs(void)
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
		/* A middle and a little more, far below the digits that are looked at. */
		{"f64", {0x4350000000000001, 0x3ffffffffffffffc}, {1, 1}},
		/* Middles between two numbers go to the even one. */
		{"u64", {0, ((uint64_t)1 << 54) + 2}, {1, 1}},
		{"u64", {0, ((uint64_t)1 << 54) + 6}, {1, 1}},
		{"f64", {0x3ff0000000000000, 0x3ff0000000000001}, {1, 1}},
		{"f64", {0x3ff0000000000001, 0x3ff0000000000002}, {1, 1}},
		{"f64", {0, 1}, {1, 1}},
		{"f64", {0x8000000000000000, 0x8000000000000001}, {1, 1}},
		{"f64", {0, 3}, {1, 1}},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct sample_type t;
		struct exact exact = {.n = 0};
		struct stats_result r;
		unsigned char sample[8];
		char what[32];
		sample_type_parse(&t, CASES[i].type);
		snprintf(what, sizeof(what), "pair %zu: %s", i, CASES[i].type);
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

/* ---- blocks of samples, as whole numbers to the last digit ---- */

/* A long number whose carries wait: each place has a part of 32 bits of up to 2^32 numbers. */
struct heap {
	uint64_t place[LIMBS];
};

static void heap_add(struct heap *h, uint64_t x, unsigned shift)
{
	const uint128_t moved = (uint128_t)x << shift % 32;

	for (unsigned i = 0; i < 3; i++)
		h->place[shift / 32 + i] += (uint32_t)(moved >> 32 * i);
}

static struct ref heap_end(const struct heap *h)
{
	struct ref out;
	uint64_t carry = 0;

	for (unsigned i = 0; i < LIMBS; i++) {
		carry += h->place[i];
		out.limb[i] = (uint32_t)carry;
		carry >>= 32;
	}
	return out;
}

/* Sums in units of the smallest number of the type; of integers, of keys. */
struct whole {
	struct heap plus, minus, squares;
	uint64_t number, below, above, nan;
	uint64_t least, greatest; /* of keys */
	double low, high;         /* of floats */
};

static void whole_add(struct whole *w, const struct sample_type *t, uint64_t bits)
{
	const int least = t->kind != SAMPLE_FLOAT ? 0 : t->bytes == 4 ? -149 : -1074;
	bool negative;
	uint64_t whole;
	int exponent;

	if (!value_of(t, bits, &negative, &whole, &exponent)) {
		*(whole > (uint64_t)1 << t->mantissa ? &w->nan
		  : negative                         ? &w->below
						     : &w->above) += 1;
		return;
	}
	if (t->kind != SAMPLE_FLOAT) {
		whole = t->kind == SAMPLE_SIGNED ? bits ^ (uint64_t)1 << (8 * t->bytes - 1) : bits;
		negative = false;
	}
	const double x = ldexp(negative ? -(double)whole : (double)whole, exponent);
	w->low = w->number == 0 || x < w->low ? x : w->low;
	w->high = w->number == 0 || x > w->high ? x : w->high;
	w->least = w->number == 0 || whole < w->least ? whole : w->least;
	w->greatest = whole > w->greatest ? whole : w->greatest;
	w->number++;
	const uint128_t square = (uint128_t)whole * whole;
	const unsigned shift = (unsigned)(exponent - least);
	heap_add(negative ? &w->minus : &w->plus, whole, shift);
	heap_add(&w->squares, (uint64_t)square, 2 * shift);
	heap_add(&w->squares, (uint64_t)(square >> 64), 2 * shift + 64);
}

/* What statistics hold. */
static void whole_of(struct whole *w, const struct stats *s)
{
	const unsigned exponents = s->type.kind != SAMPLE_FLOAT ? 1
				   : s->type.bytes == 4         ? 256
								: 2048;

	*w = (struct whole){.plus = {{0}}};
	for (unsigned i = 0; i < (exponents == 1 ? 1 : 2 * exponents); i++) {
		const unsigned e = i % exponents, shift = e > 0 ? e - 1 : 0;
		for (unsigned k = 0; k < 2; k++)
			heap_add(i < exponents ? &w->plus : &w->minus, s->sums[i].sum[k],
				 shift + 64 * k);
		for (unsigned k = 0; k < 3; k++)
			heap_add(&w->squares, s->sums[i].square[k], 2 * shift + 64 * k);
	}
}

/* Is a - b = c - d? */
static bool same_difference(const struct heap *a, const struct heap *b, const struct heap *c,
			    const struct heap *d)
{
	const struct ref x = heap_end(a), y = heap_end(b), z = heap_end(c), u = heap_end(d);
	const struct ref left = ref_add(&x, &u), right = ref_add(&z, &y);

	return ref_compare(&left, &right) == 0;
}

/* How the samples of a run are drawn. */
struct drawn {
	unsigned kind;
	uint64_t exponent; /* of most of them, at most */
	uint64_t octaves;  /* by which these differ */
	uint64_t others;   /* one in so many is another */
	bool alike;        /* one sign, all digits ones */
};

static struct drawn draw_run(const struct sample_type *t, unsigned i)
{
	const uint64_t top = t->bytes == 8 ? 2046 : 254;
	/* Places where a window begins or ends are drawn as often as all others. */
	const uint64_t ends[] = {1, 20, top, 622, 638, 1500, 1501, 1023};

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
	const uint64_t sign = (uint64_t)1 << (8 * t->bytes - 1), all = sign - 1 + sign,
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
	const uint64_t sign = (uint64_t)1 << (8 * t->bytes - 1), all = sign - 1 + sign;

	return d->kind == 0   ? draw() & all
	       : d->kind == 1 ? (draw() % 2 ? 0 : all)
	       : d->kind == 2 ? (d->alike ? all : sign - draw_below(3))
			      : draw_below(d->others);
}

/* One array of samples, in calls of any length from any address, of one channel or several. */
static void one_run(const char *isa, const char *name, unsigned i)
{
	enum { LONGEST = 5000 };
	static uint64_t bits[LONGEST];
	static unsigned char samples[8 * LONGEST + 8];
	static const size_t LENGTHS[] = {15, 16, 17, 31, 1023, 1024, 1025, 2047};
	static const uint32_t CHANNELS[] = {1, 1, 1, 2, 3, 7, 64};
	struct sample_type t;
	char what[96];

	sample_type_parse(&t, name);
	const struct drawn d = draw_run(&t, i);
	const uint32_t channels = CHANNELS[draw_below(7)];
	const size_t offset = draw_below(8);
	snprintf(what, sizeof(what), "%s, %s, run %u, %u channels", isa, name, i, channels);
	struct stats *const s = stats_open(&t, channels);
	size_t n = 0;
	for (unsigned calls = 1 + (unsigned)draw_below(4); calls > 0; calls--) {
		size_t some = draw() % 2 ? LENGTHS[draw_below(8)] : draw_below(1200);
		some = (some < (LONGEST - n) / channels ? some : (LONGEST - n) / channels) *
		       channels;
		for (size_t k = n; k < n + some; k++) {
			bits[k] = t.kind == SAMPLE_FLOAT ? draw_real(&t, &d) : draw_integer(&t, &d);
			put(samples + offset + k * t.bytes, &t, bits[k]);
		}
		stats_add_channels(s, channels, samples + offset + n * t.bytes, some);
		n += some;
	}
	for (uint32_t c = 0; c < channels; c++) {
		struct whole e = {.number = 0}, found;
		struct stats_result r;
		for (size_t k = c; k < n; k += channels)
			whole_add(&e, &t, bits[k]);
		whole_of(&found, &s[c]);
		CHECK(same_difference(&found.plus, &found.minus, &e.plus, &e.minus),
		      "%s: another sum", what);
		CHECK(same_difference(&found.squares, &(struct heap){{0}}, &e.squares,
				      &(struct heap){{0}}),
		      "%s: another sum of squares", what);
		CHECK(s[c].number == e.number && s[c].below == e.below && s[c].above == e.above &&
			      s[c].nan == e.nan,
		      "%s: other numbers of samples", what);
		stats_result(&s[c], &r);
		CHECK(e.number == 0 || (t.kind == SAMPLE_FLOAT
						? r.least_real == e.low && r.greatest_real == e.high
						: s[c].extent.least == e.least &&
							  s[c].extent.greatest == e.greatest),
		      "%s: other extremes", what);
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
	all_types();
	pairs();
	carries();
	blocks();
	CHECK(!short_of, "the reference is too short");
	return check_report();
}

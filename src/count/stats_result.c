/* SPDX-License-Identifier: MIT */
/*
 * stats_result: mean and deviation from exact sums, each rounded once.
 *
 *	mean = S1 / n        deviation = sqrt(n S2 - S1^2) / n
 *
 * where S1 is the sum and S2 the sum of the squares. The sums of a float are whole multiples of its smallest
 * denormal, those of squares of that denormal's square. So n S2 - S1^2 and S1 are whole numbers and exact, and
 * big.c rounds each quotient once. n S2 - S1^2 is never negative: it is the sum of (x - y)^2 over all pairs.
 */
#include "count/stats.h"

#include <stdbool.h>

#include "base/big.h"

/* The smallest denormal of a float type is 2 to this power. */
static int unit_of(const struct sample_type *type)
{
	const int exponent_bits = (int)(8 * type->bytes - 1 - type->mantissa);
	const int bias = (1 << (exponent_bits - 1)) - 1;

	return 1 - bias - (int)type->mantissa;
}

/*
 * The sum as a magnitude and a sign, and the sum of squares, in units of the smallest difference of
 * two samples and of its square.
 */
struct totals {
	struct big sum, squares;
	bool negative;
};

static void totals_of_keys(struct totals *t, const struct stats_sums *s)
{
	big_add(&t->sum, s->sum, 2, 0);
	big_add(&t->squares, s->square, 3, 0);
}

/* a -= b, or a = b - a where that is larger; returns true then. */
static bool distance(struct big *a, struct big *b)
{
	if (big_compare(a, b) >= 0) {
		big_subtract(a, b);
		return false;
	}
	big_subtract(b, a);
	*a = *b;
	return true;
}

static void totals_of_reals(struct totals *t, const struct stats *s)
{
	const size_t exponents = stats_sums_of_type(&s->type) / 2;
	struct big minus = {{0}};

	/* The last exponent is that of infinities and NaN, which are in no sum. */
	for (size_t e = 0; e < exponents - 1; e++) {
		const unsigned shift =
			e > 0 ? (unsigned)e - 1
			      : 0; /* denormals have the unit of the least normal ones */
		const struct stats_sums *const plus = &s->sums[e], *const less =
									   &s->sums[exponents + e];
		big_add(&t->sum, plus->sum, 2, shift);
		big_add(&minus, less->sum, 2, shift);
		big_add(&t->squares, plus->square, 3, 2 * shift);
		big_add(&t->squares, less->square, 3, 2 * shift);
	}
	t->negative = distance(&t->sum, &minus);
}

/* n S2 - S1^2 */
static void spread(struct big *out, const struct totals *t, uint64_t n)
{
	const struct big number = {{n}};
	struct big square;

	big_multiply(out, &t->squares, &number);
	big_multiply(&square, &t->sum, &t->sum);
	big_subtract(out, &square);
}

void stats_result(const struct stats *s, struct stats_result *r)
{
	const bool real = s->type.kind == SAMPLE_FLOAT;
	const int unit = real ? unit_of(&s->type) : 0;
	const uint64_t n = s->number;
	struct totals t = {.negative = false};
	struct big square;

	*r = (struct stats_result){
		.number = n, .below = s->below, .above = s->above, .nan = s->nan};
	if (n == 0)
		return;
	if (real)
		totals_of_reals(&t, s);
	else
		totals_of_keys(&t, &s->sums[0]);
	spread(&square, &t, n);
	r->deviation = big_root_quotient(&square, n, unit);
	if (real) {
		r->least_real = s->least_real + 0.0; /* -0 becomes 0 */
		r->greatest_real = s->greatest_real + 0.0;
	} else {
		/* The sum of the samples is that of their keys and n sample_min. */
		const uint128_t shift = (uint128_t)n * (uint128_t)-sample_min(&s->type);
		struct big moved = {{(uint64_t)shift, (uint64_t)(shift >> 64)}};
		t.negative = distance(&t.sum, &moved);
		r->least = (int128_t)s->least + sample_min(&s->type);
		r->greatest = (int128_t)s->greatest + sample_min(&s->type);
	}
	r->mean = big_quotient(&t.sum, n, unit);
	if (t.negative && r->mean > 0)
		r->mean = -r->mean;
}

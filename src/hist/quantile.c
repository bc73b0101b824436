/* SPDX-License-Identifier: MIT */
/* quantile: the values of a cell, and one of them that has few digits. */
#include "hist/quantile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_LEAST 3 /* of a quantile that is not exact */
#define DIGITS_MOST 17 /* enough for every binary64 */
#define WHOLE_MOST 0x1p53

bool quantiles_add(struct quantiles *asked, uint32_t at)
{
	unsigned i = asked->n;

	while (i > 0 && asked->at[i - 1] > at)
		i--;
	if (i > 0 && asked->at[i - 1] == at)
		return true;
	if (asked->n == QUANTILES_MAX)
		return false;
	memmove(asked->at + i + 1, asked->at + i, (asked->n - i) * sizeof(asked->at[0]));
	asked->at[i] = at;
	asked->n++;
	return true;
}

uint64_t quantile_rank(uint64_t n, uint32_t at)
{
	const uint64_t nth = (uint64_t)(((uint128_t)n * at + QUANTILE_ALL - 1) / QUANTILE_ALL);

	return nth > 0 ? nth : 1;
}

/* ---- whole numbers ---- */

/* Round to a multiple of 10^digits, half to even. */
static int128_t round_to(int128_t x, int128_t unit)
{
	const int128_t size = x < 0 ? -x : x, rest = size % unit;
	const int128_t down = size - rest;
	const bool up = 2 * rest > unit || (2 * rest == unit && down / unit % 2 == 1);
	const int128_t rounded = down + (up ? unit : 0);

	return x < 0 ? -rounded : rounded;
}

/* The quantile among the whole numbers from a to b of a cell, between the extremes. */
static int128_t whole_quantile(int128_t a, int128_t b, int128_t least, int128_t greatest)
{
	const int128_t lower = a > least ? a : least, upper = b < greatest ? b : greatest,
		       middle = (a + b) >> 1, /* rounds down below 0 too */
		x = middle < lower   ? lower
		    : middle > upper ? upper
				     : middle;
	int128_t unit = 1, rounded = x;

	for (int128_t most = 1000; (x < 0 ? -x : x) >= most; most *= 10)
		unit *= 10;
	for (; unit > 1; unit /= 10) {
		rounded = round_to(x, unit);
		if (rounded < lower) /* then try the multiple on the other side of x */
			rounded += unit;
		else if (rounded > upper)
			rounded -= unit;
		if (rounded >= lower && rounded <= upper)
			return rounded;
	}
	return x;
}

static int128_t integer_quantile(const struct digest_rule *rule, int64_t cell,
				 const struct stats_result *of)
{
	uint64_t values;
	const uint64_t own = digest_first(rule, cell, &values);
	const int128_t a = cell < 0 ? ~(int128_t)(own + (values - 1)) : (int128_t)own;

	return whole_quantile(a, a + values - 1, of->least, of->greatest);
}

/* ---- floats ---- */

/* The rank of infinity. */
static int64_t rank_infinite(const struct sample_type *type)
{
	return (int64_t)(((uint64_t)1 << (type->bits - 1)) - ((uint64_t)1 << type->mantissa));
}

static double value_of_rank(const struct sample_type *type, int64_t rank)
{
	const uint64_t size = (uint64_t)(rank < 0 ? -rank : rank);
	const double x =
		type->bits == 32 ? (double)float_of_bits((uint32_t)size) : double_of_bits(size);

	return rank < 0 ? -x : x;
}

/*
 * Return the decimal after the one in `text`, which printf wrote as d.ddde+dd, with as many digits;
 * step -1: the one before it.
 */
static double next_decimal(const char *text, int digits, int step)
{
	char next[48];
	long long mantissa = 0, power = 1;
	int exponent = atoi(strchr(text, 'e') + 1) - digits + 1;

	for (const char *p = text; *p != 'e'; p++)
		mantissa = *p >= '0' && *p <= '9' ? 10 * mantissa + (*p - '0') : mantissa;
	for (int i = 1; i < digits; i++)
		power *= 10;
	if (step < 0 && mantissa == power) { /* below 1.00e+03 comes 9.99e+02 */
		mantissa *= 10;
		exponent--;
	}
	snprintf(next, sizeof(next), "%s%llde%d", *text == '-' ? "-" : "", mantissa + step,
		 exponent);
	return strtod(next, NULL);
}

static double real_quantile(const struct sample_type *type, bool whole,
			    const struct digest_rule *rule, int64_t cell,
			    const struct stats_result *of)
{
	const int64_t first = cell * ((int64_t)1 << rule->shift),
		      past = first + ((int64_t)1 << rule->shift);
	const double lower = value_of_rank(type, first), upper = value_of_rank(type, past),
		     middle = value_of_rank(type, first + (past - first) / 2),
		     x = fmin(fmax(middle, of->least_real), of->greatest_real);
	char text[32];
	/* Only a document that lies has a cell without whole numbers. */
	if (whole && ceil(lower) < upper && fabs(lower) <= WHOLE_MOST)
		return (double)whole_quantile((int128_t)ceil(lower), (int128_t)ceil(upper) - 1,
					      (int128_t)fmax(of->least_real, -2 * WHOLE_MOST),
					      (int128_t)fmin(of->greatest_real, 2 * WHOLE_MOST));
	const double low = fmax(lower, of->least_real), high = fmin(upper, of->greatest_real);
	for (int digits = DIGITS_LEAST; digits < DIGITS_MOST; digits++) {
		snprintf(text, sizeof(text), "%.*e", digits - 1, x);
		double rounded = strtod(text, NULL);
		if (rounded < low || rounded >= upper || rounded > high) /* the other side of x */
			rounded = next_decimal(text, digits, (rounded < low) == (x > 0) ? 1 : -1);
		/* Zeros are in cell 0, but are counted apart. */
		if (rounded >= low && rounded < upper && rounded <= high && rounded != 0)
			return rounded;
	}
	return x;
}

/* ---- any type ---- */

void quantile_of_cell(struct hist_quantile *q, const struct sample_type *type, bool whole,
		      const struct digest_rule *rule, uint32_t index, uint64_t nth,
		      const struct stats_result *of)
{
	const int64_t cell = digest_cell(rule, index);

	if (!rule->real)
		q->whole = integer_quantile(rule, cell, of);
	else if (cell != 0 || nth > of->zeros) /* zeros precede the positive samples of cell 0 */
		q->real = real_quantile(type, whole, rule, cell, of);
}

void digest_keep_finite(struct digest *d, const struct sample_type *type,
			const struct stats_result *of)
{
	uint64_t count;

	if (!d->rule.real || !d->touched || d->lists)
		return;
	const uint32_t reach = (uint32_t)(rank_infinite(type) >> d->rule.shift);
	const uint32_t first = d->rule.zero - reach, past = d->rule.zero + reach;
	for (uint32_t i = 0; of->nan > 0 && digest_next(d, &i, &count) && i < first; i++)
		d->wide[i] = 0;
	if (of->below > 0)
		d->wide[first] -= of->below; /* it shares a cell with the largest magnitudes */
	for (uint32_t i = past; of->nan + of->above > 0 && digest_next(d, &i, &count); i++)
		d->wide[i] = 0;
}

/* The cell of a value. */
static int64_t cell_of(const struct digest_rule *rule, const struct sample_type *type, double real,
		       int128_t whole)
{
	if (!rule->real) {
		const int64_t cell =
			digest_of_whole((uint64_t)(whole < 0 ? ~whole : whole), rule->digits);
		return whole < 0 ? ~cell : cell;
	}
	const double size = fabs(real);
	const int64_t rank =
		(int64_t)(type->bits == 32 ? bits_of_float((float)size) : bits_of_double(size));
	return (real < 0 ? -rank : rank) >> rule->shift;
}

bool digest_agrees(const struct digest *d, const struct sample_type *type,
		   const struct stats_result *of)
{
	uint64_t count, sum = 0, zeros = 0;
	int64_t first = 0, last = 0;

	for (uint32_t i = 0; digest_next(d, &i, &count); i++) {
		last = digest_cell(&d->rule, i);
		first = sum == 0 ? last : first;
		zeros = last == 0 ? count : zeros;
		if (__builtin_add_overflow(sum, count, &sum))
			return false;
	}
	if (type->code_bytes <= 2)
		return sum == of->number + (type->kind == SAMPLE_FLOAT
						    ? of->below + of->above + of->nan
						    : 0); /* missing integers have no code */
	if (sum != of->number || of->zeros > zeros || (!d->rule.real && of->zeros < zeros))
		return false;
	return sum == 0 || (cell_of(&d->rule, type, of->least_real, of->least) == first &&
			    cell_of(&d->rule, type, of->greatest_real, of->greatest) == last);
}

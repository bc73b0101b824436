/* SPDX-License-Identifier: MIT */
/*
 * range: bounds that are difficult for some part of the program, and the samples next to the edges
 * of bins.
 */
#include "job.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The oracle accepts whole bounds below 2^96. */
#define FAR_OUT ((wide)1 << 90)

static void write_whole(char *text, size_t size, wide x)
{
	char digits[64];
	size_t at = sizeof(digits) - 1, zeros = 0;
	bool negative = x < 0;

	digits[at] = '\0';
	for (wide rest = x; rest || !digits[at]; rest /= 10)
		digits[--at] = (char)('0' + abs((int)(rest % 10)));
	if (negative)
		digits[--at] = '-';
	while (x != 0 && digits[sizeof(digits) - 2 - zeros] == '0')
		zeros++;
	if (zeros && once_in(3)) {
		digits[sizeof(digits) - 1 - zeros] = '\0';
		snprintf(text, size, "%se%zu", digits + at, zeros);
	} else {
		snprintf(text, size, "%s%s", digits + at, once_in(20) ? ".0" : "");
	}
}

static void set_whole_range(struct job *j, wide lo, wide hi)
{
	if (lo < -FAR_OUT)
		lo = -FAR_OUT;
	if (hi <= lo && !once_in(20)) /* a usage error at times */
		hi = lo + 1;
	j->exact = true;
	j->whole_lo = lo;
	j->whole_hi = hi;
	write_whole(j->lo, sizeof(j->lo), lo);
	write_whole(j->hi, sizeof(j->hi), hi);
}

/* Draw a number at which a register or a loop of the program changes its width. */
static wide draw_landmark(void)
{
	static const unsigned bits[] = {0, 7, 8, 10, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64};
	wide x = (wide)1 << bits[below(sizeof(bits) / sizeof(bits[0]))];

	return once_in(3) ? -x : x;
}

static wide draw_whole(const struct type *t)
{
	return once_in(2)   ? min_of(t) + (wide)(draw() & mask_of(t))
	       : once_in(2) ? -(wide)draw_magnitude(t->bits)
			    : (wide)draw_magnitude(t->bits);
}

static void draw_whole_range(struct job *j)
{
	const struct type *t = j->type;
	wide n = (wide)j->bins, lo = draw_whole(t), hi;

	switch (below(8)) {
	case 0: /* bins of one value, or of a few */
		set_whole_range(j, lo, lo + n * (wide)(1 + below(4)));
		break;
	case 1: /* every width */
		set_whole_range(j, lo, lo + (wide)draw_magnitude(t->bits) * 2 + 1);
		break;
	case 2: /* bins finer than whole numbers */
		set_whole_range(j, lo, lo + 1 + (wide)below(j->bins));
		break;
	case 3: /* around a landmark */
		lo = draw_landmark() - (wide)below(j->bins + 5);
		set_whole_range(j, lo, lo + 1 + (wide)below(2 * j->bins + 2));
		break;
	case 4: /* between two landmarks */
		hi = draw_landmark() + (wide)below(5) - 2;
		lo = draw_landmark() + (wide)below(5) - 2;
		set_whole_range(j, lo < hi ? lo : hi, lo < hi ? hi : lo);
		break;
	case 5: /* beyond the type */
		lo = min_of(t) - (wide)draw_magnitude(63) * (wide)(draw_magnitude(26) + 1);
		hi = max_of(t) + (wide)draw_magnitude(63) * (wide)(draw_magnitude(26) + 1);
		set_whole_range(j, lo, hi);
		break;
	case 6: /* around the whole type */
		lo = min_of(t) + (wide)below(3) - 1;
		set_whole_range(j, lo, max_of(t) + (wide)below(4) - 1);
		break;
	default: /* small numbers */
		lo = (wide)below(300) - 150;
		set_whole_range(j, lo, lo + 1 + (wide)below(500));
		break;
	}
}

static bool set_real_range(struct job *j, double lo, double hi)
{
	if (!(lo < hi) || isinf(lo) || isinf(hi))
		return false;
	j->exact = false;
	j->real_lo = lo == 0 ? 0 : lo;
	j->real_hi = hi == 0 ? 0 : hi;
	snprintf(j->lo, sizeof(j->lo), "%.17g", j->real_lo);
	snprintf(j->hi, sizeof(j->hi), "%.17g", j->real_hi);
	return true;
}

/* Draw a range for integer samples, with a fraction in at least one bound. */
static void draw_fractional_range(struct job *j)
{
	static const double parts[] = {2, 3, 7, 8, 10, 1000};
	double n = (double)j->bins;
	double part = parts[below(sizeof(parts) / sizeof(parts[0]))];
	double lo = (double)draw_magnitude(j->type->bits > 48 ? 48 : j->type->bits);
	double hi;

	lo = (once_in(3) ? -lo : lo) + (1 + (double)below(3)) / part;
	switch (below(4)) {
	case 0:
		hi = lo + n / part;
		break;
	case 1:
		hi = lo + n * (1 + (double)below(5));
		break;
	case 2: /* up to the numbers at which binary64 skips integers */
		hi = ldexp(1, (int)(once_in(3) ? below(66) : j->type->bits + 1 - below(5)));
		hi += fabs(lo);
		break;
	default:
		hi = lo + (1 + (double)draw_magnitude(20)) / part;
		break;
	}
	if (lo == floor(lo))
		lo -= 0.5;
	if (!set_real_range(j, lo, hi))
		set_real_range(j, lo, lo + 1);
}

/* Return x moved up by some of its units in the last place. */
static double step_up(double x, uint64_t steps)
{
	while (steps--)
		x = nextafter(x, (double)INFINITY);
	return x;
}

static double draw_real(int least, int greatest)
{
	double x = ldexp((double)draw(), least - 64 + (int)below((uint64_t)(greatest - least)));

	return once_in(2) ? -x : x;
}

static bool draw_float_range(struct job *j)
{
	static const double plain[][2] = {
		{0, 1},    {-1, 1}, {-3.7, 12.25}, {0, 0.1},    {-0.5, 0.5},
		{0, 1000}, {1, 2},  {0.1, 0.7},    {-1e6, 1e6}, {-2, 0},
	};
	const struct type *t = j->type;
	uint64_t key = draw_finite_key(t), other = draw_finite_key(t);
	double greatest = real_of_key(t, (infinity_of(t) | sign_of(t)) - 1);
	double x = real_of_key(t, key), y = real_of_key(t, other);
	double least = real_of_key(t, sign_of(t) + 1);
	size_t i = below(sizeof(plain) / sizeof(plain[0]));

	switch (below(9)) {
	case 0: /* two samples */
		return set_real_range(j, fmin(x, y), fmax(x, y));
	case 1: /* neighbours, in the type */
		key += 1 + below(2 * (j->bins < 5000 ? j->bins : 5000));
		return set_real_range(j, x, key > mask_of(t) ? x : real_of_key(t, key));
	case 2: /* neighbours, in binary64: bins too fine for it */
		return set_real_range(j, x, step_up(x, 1 + below(50)));
	case 3: /* subnormal in binary64 */
		x = ldexp((double)below(2000) - 1000, -1074);
		return set_real_range(j, x, x + ldexp(1 + (double)below(3 * j->bins), -1074));
	case 4: /* subnormal in the type */
		x = least * ((double)below(200) - 100);
		return set_real_range(j, x, x + least * (1 + (double)below(3 * j->bins)) / 2);
	case 5: /* near overflow, in the type or in binary64 */
		if (once_in(2))
			greatest = DBL_MAX;
		x = greatest * (1 - ldexp((double)draw_magnitude(40), -42));
		return set_real_range(j, once_in(2) ? -greatest : -x, x);
	case 6: /* beyond the type */
		return set_real_range(j, -greatest * 3, greatest * 5);
	case 7: /* every size */
		x = draw_real(-60, 60);
		return set_real_range(j, x, x + fabs(draw_real(-60, 60)));
	default:
		return set_real_range(j, plain[i][0], plain[i][1]);
	}
}

/* Write x 10^place, in one of its spellings. */
static void write_decimal(char *text, size_t size, wide x, int place)
{
	char digits[64];
	int n = snprintf(digits, sizeof(digits), "%0*llu", place < 0 ? 1 - place : 1,
			 (unsigned long long)(x < 0 ? -x : x));
	int whole = n + (place < 0 ? place : 0);

	if (place > 0 || once_in(4))
		snprintf(text, size, "%s%se%d", x < 0 ? "-" : "", digits, place);
	else
		snprintf(text, size, "%s%.*s%s%s%s", x < 0 ? "-" : "", whole, digits,
			 place < 0 || once_in(20) ? "." : "", digits + whole,
			 place < 0 && once_in(8) ? "00" : "");
}

/* Draw LO:HI:STEP, in units of a power of ten; at times it is a usage error. */
static void draw_steps(struct job *j)
{
	unsigned bits = j->type->bits < 40 ? j->type->bits : 40;
	int place = j->type->kind == FLOAT ? (int)below(20) - 13 : (int)below(7) - 4;
	wide lo = (wide)draw_magnitude(bits), step = 1 + (wide)draw_magnitude(20), hi, unit = 1;

	if (once_in(4)) /* few bins, and many digits after the point */
		step += (wide)draw_magnitude(38);
	lo = once_in(2) ? -lo : once_in(3) ? 0 : lo;
	hi = lo + (wide)j->bins * step + (once_in(10) ? 1 : 0);
	write_decimal(j->lo, sizeof(j->lo), lo, place);
	write_decimal(j->hi, sizeof(j->hi), hi, place);
	write_decimal(j->step, sizeof(j->step), once_in(40) ? -step * (wide)below(2) : step, place);
	j->bins_given = once_in(40);
	j->real_lo = strtod(j->lo, NULL);
	j->real_hi = strtod(j->hi, NULL);
	for (int i = place; i < 0; i++)
		unit *= 10;
	j->exact = j->type->kind != FLOAT && lo % unit == 0 && hi % unit == 0;
	j->whole_lo = lo / unit;
	j->whole_hi = hi / unit;
	for (; j->exact && place > 0; place--) {
		j->whole_lo *= 10;
		j->whole_hi *= 10;
	}
}

void draw_range(struct job *j)
{
	const struct type *t = j->type;

	if (once_in(5)) {
		draw_steps(j);
	} else if (once_in(9)) {
		j->full = true;
		j->exact = t->kind != FLOAT;
		j->whole_lo = min_of(t);
		j->whole_hi = max_of(t) + 1;
		if (t->kind == FLOAT)
			j->real_hi = real_of_key(t, (infinity_of(t) | sign_of(t)) - 1);
		j->real_lo = -j->real_hi;
	} else if (t->kind == FLOAT) {
		while (!draw_float_range(j))
			;
	} else if (once_in(4)) {
		j->exact = true;
		j->whole_hi = (wide)j->bins;
	} else if (once_in(4)) {
		draw_fractional_range(j);
	} else {
		draw_whole_range(j);
	}
	if (t->kind != FLOAT && !j->step[0] && (j->full || j->lo[0]) && once_in(4)) {
		j->bins_given = false;
		j->bins = 256;
	}
	/* a bin for each of a few values */
	if (j->exact && !j->bins_given && !j->step[0] && j->whole_hi - j->whole_lo <= 256 &&
	    j->whole_lo < j->whole_hi)
		j->bins = (uint64_t)(j->whole_hi - j->whole_lo);
}

double real_edge(const struct job *j, uint64_t i)
{
	double half = isinf(j->real_hi - j->real_lo) ? 0.5 : 1;
	double span = j->real_hi * half - j->real_lo * half;
	double step = span / (double)j->bins;
	volatile double product = step == 0 ? (double)i / (double)j->bins * span : (double)i * step;

	return i == j->bins ? j->real_hi : (product + j->real_lo * half) / half;
}

uint64_t key_at_real(const struct type *t, double x)
{
	if (t->kind == FLOAT)
		return key_of_real(t, x);
	return key_of_whole(t, (wide)fmax(fmin(ceil(x), ldexp(1, 70)), -ldexp(1, 70)));
}

uint64_t key_at_edge(const struct job *j, uint64_t i)
{
	wide n = (wide)j->bins, times, edge;

	if (j->exact) {
		times = j->whole_lo * n + (wide)i * (j->whole_hi - j->whole_lo);
		edge = times / n + (times % n > 0);
		return key_of_whole(j->type, edge);
	}
	return key_at_real(j->type, real_edge(j, i));
}

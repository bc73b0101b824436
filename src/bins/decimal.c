/* SPDX-License-Identifier: MIT */
/* decimal: digits to bits. */
#include "bins/decimal.h"

#include <fenv.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bins/binning.h"
#include "bins/exact.h"

#define DIGITS_MOST 19     /* decimal digits that always fit 64 bits */
#define HEX_DIGITS_MOST 16 /* hexadecimal digits that always fit 64 bits */
#define POWER_MOST 27      /* the largest power that exact_decimal takes */
#define EXPONENT_MOST 100000000

/* ---- reading ---- */

static int digit_of(char c, bool hex)
{
	const unsigned decimal = (unsigned char)c - (unsigned)'0';

	if (decimal < 10)
		return (int)decimal;
	const unsigned letter = ((unsigned char)c | 32u) - (unsigned)'a';
	return hex && letter < 6 ? (int)letter + 10 : -1;
}

/* Read the exponent whose letter is at p. A letter without digits is not part of the number. */
static const char *read_exponent(const char *p, int32_t *exponent)
{
	const char *q = p + 1 + (p[1] == '-' || p[1] == '+');
	int32_t value = 0;

	if (digit_of(*q, false) < 0)
		return p;
	for (int digit; (digit = digit_of(*q, false)) >= 0; q++)
		value = value < EXPONENT_MOST ? value * 10 + digit : value;
	*exponent += p[1] == '-' ? -value : value;
	return q;
}

/* Read a word such as nan at p, which is `text` without its sign. */
static const char *read_word(struct decimal *d, const char *text, const char *p)
{
	static const struct {
		const char *word;
		enum decimal_kind kind;
		bool bare; /* must not have a sign */
	} WORDS[] = {{"nan", DECIMAL_NAN, false},
		     {"infinity", DECIMAL_INFINITE, false},
		     {"inf", DECIMAL_INFINITE, false},
		     {"na", DECIMAL_NAN, true},
		     {"null", DECIMAL_NAN, true}};

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
		const size_t length = strlen(WORDS[i].word);
		if (strncasecmp(WORDS[i].bare ? text : p, WORDS[i].word, length) == 0) {
			d->kind = WORDS[i].kind;
			return p + length;
		}
	}
	return NULL;
}

const char *decimal_read(struct decimal *d, const char *text)
{
	const char *p = text + (*text == '-' || *text == '+');
	const char *point = NULL;
	bool any = false;
	int stored = 0;

	*d = (struct decimal){.negative = *text == '-', .text = p};
	if (digit_of(*p, false) < 0 && *p != '.')
		return read_word(d, text, p);
	d->hex = p[0] == '0' && (p[1] | 32) == 'x';
	p += d->hex ? 2 : 0;
	const int most = d->hex ? HEX_DIGITS_MOST : DIGITS_MOST;
	const int32_t per_digit = d->hex ? 4 : 1;
	for (;; p++) {
		const int digit = digit_of(*p, d->hex);
		if (digit < 0) {
			if (*p != '.' || point)
				break;
			point = p;
			continue;
		}
		any = true;
		if (digit == 0 && !d->first) { /* a leading zero */
			d->exponent -= point ? per_digit : 0;
			continue;
		}
		if (!d->first)
			d->first = p;
		d->places += d->places < INT_MAX;
		if (stored < most) {
			d->digits = d->digits * (d->hex ? 16 : 10) + (uint64_t)digit;
			stored++;
			d->exponent -= point ? per_digit : 0;
		} else {
			d->more |= digit != 0;
			d->exponent += point ? 0 : per_digit;
		}
	}
	if (!any)
		return NULL;
	if ((*p | 32) == (d->hex ? 'p' : 'e')) {
		int32_t exponent = 0;
		p = read_exponent(p, &exponent);
		d->exponent += exponent;
	}
	return p;
}

/* ---- codes ---- */

/* Does exact_decimal take the number? */
static bool is_short(const struct decimal *d)
{
	return d->places <= DIGITS_MOST && d->exponent <= POWER_MOST && d->exponent >= -POWER_MOST;
}

/*
 * strtod rounds correctly whatever the number of digits, both down and up. If the two results
 * differ, the number is above the lower one.
 */
static struct exact by_strtod(const struct decimal *d)
{
	const int mode = fegetround();
	double down, up;
	int exponent;

	fesetround(FE_DOWNWARD);
	down = strtod(d->text, NULL);
	fesetround(FE_UPWARD);
	up = strtod(d->text, NULL);
	fesetround(mode);
	if (down == 0)
		return (struct exact){(uint64_t)1 << 63, -2000, true};
	const double mantissa = frexp(down, &exponent);
	return (struct exact){(uint64_t)ldexp(mantissa, 64), exponent - 64, up != down};
}

/*
 * Return the binary64 nearest to the number. The strtod of glibc 2.36 drops one bit of a number
 * between two subnormals: 0.5 units and that bit are taken for a tie. A long double can hold the
 * bit and the exponent.
 */
static double nearest(const struct decimal *d)
{
	const double near = strtod(d->text, NULL);
	const int mode = fegetround();
	long double down, up;

	if (near == 0 || near >= DBL_MIN)
		return near;
	fesetround(FE_DOWNWARD);
	down = strtold(d->text, NULL);
	fesetround(FE_UPWARD);
	up = strtold(d->text, NULL);
	fesetround(mode);
	/* In units of 2^-1138, the numbers below DBL_MIN take 116 bits at most. */
	const long double units = ldexpl(down, 1138);
	const uint128_t whole = (uint128_t)units;
	return exact_double(exact_of(whole, -1138, up != down || (long double)whole != units));
}

/* Return the code of the nearest float of the type. */
static uint64_t float_code(const struct decimal *d, const struct sample_type *type)
{
	const uint32_t mantissa = type->mantissa, exponents = type->bits - 1 - mantissa;
	const uint64_t sign = (uint64_t)d->negative << (type->bits - 1);
	const bool finite_only = mantissa == 3; /* f8e4m3: no infinity, and the last code is NaN */
	const uint64_t infinite = finite_only ? 0x7f : (((uint64_t)1 << exponents) - 1) << mantissa;

	if (d->kind == DECIMAL_NAN)
		return infinite | (finite_only ? 0 : (uint64_t)1 << (mantissa - 1));
	if (d->kind == DECIMAL_INFINITE)
		return sign | infinite;
	if (!d->first)
		return sign;
	if (type->bits == 64 && !d->hex && !is_short(d))
		return sign | bits_of_double(nearest(d));
	const uint64_t code = exact_code(d->hex        ? exact_of(d->digits, d->exponent, d->more)
					 : is_short(d) ? exact_decimal(d->digits, d->exponent)
						       : by_strtod(d),
					 mantissa, exponents);
	return sign | (code < infinite ? code : infinite);
}

enum decimal_fit decimal_whole(const struct decimal *d, uint128_t *magnitude)
{
	const uint128_t limit = (uint128_t)1 << 120;
	const int per_digit = d->hex ? 4 : 1, most = d->hex ? HEX_DIGITS_MOST : DIGITS_MOST;
	int32_t n = d->places;
	int64_t exponent = d->exponent - (int64_t)per_digit * (n > most ? n - most : 0);
	const char *p = d->first, *end = p;
	uint128_t x = 0;

	for (int32_t left = n; left > 0; end++)
		left -= *end != '.';
	for (; n > 0 && (end[-1] == '0' || end[-1] == '.'); end--) { /* zeros at the end */
		n -= end[-1] == '0';
		exponent += end[-1] == '0' ? per_digit : 0;
	}
	/* Up to three bits of the last hexadecimal digit may be zeros after the point. */
	const int spare = d->hex && n > 0 ? __builtin_ctz((unsigned)digit_of(end[-1], true)) : 0;
	if (n > 0 && exponent + spare < 0)
		return DECIMAL_FRACTION;
	for (; n > 0 && x < limit; p++)
		if (*p != '.') {
			x = x * (d->hex ? 16 : 10) + (unsigned)digit_of(*p, d->hex);
			n--;
		}
	for (; exponent > 0 && x > 0 && x < limit; exponent--)
		x *= d->hex ? 2 : 10;
	*magnitude = exponent < 0 && x > 0 ? x >> -exponent : x;
	return x < limit && n == 0 ? DECIMAL_FITS : DECIMAL_TOO_LARGE;
}

enum decimal_fit decimal_code(const struct decimal *d, const struct sample_type *type,
			      uint64_t *code)
{
	uint128_t magnitude = 0;

	if (type->kind == SAMPLE_FLOAT) {
		*code = float_code(d, type);
		return DECIMAL_FITS;
	}
	if (d->kind != DECIMAL_NUMBER)
		return DECIMAL_FRACTION;
	const enum decimal_fit fit = decimal_whole(d, &magnitude);
	if (fit != DECIMAL_FITS)
		return fit;
	const int128_t value = d->negative ? -(int128_t)magnitude : (int128_t)magnitude;
	if (value < sample_min(type) || value > sample_max(type))
		return DECIMAL_TOO_LARGE;
	*code = (uint64_t)value;
	return DECIMAL_FITS;
}

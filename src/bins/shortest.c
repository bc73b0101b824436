/* SPDX-License-Identifier: MIT */
/* shortest: the shortest decimal that reads back as a double. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/exact.h"
#include "bins/number.h"

/*
 * This is Raffaello Giulietti's algorithm Schubfach ("The Schubfach way to render doubles", 2021).
 * He proves the claims made here; section numbers and names are his.
 *
 * Let x = c 2^q. Every number between the midpoints to its two neighbours reads back as x, and so
 * do the midpoints if c is even. 10^k is the largest power of ten that is not above the width of
 * this interval, so the interval contains at least one multiple of 10^k and at most one of
 * 10^(k+1). The multiple of 10^(k+1), if there is one, is the shortest decimal; otherwise it is the
 * multiple of 10^k that is nearest to x. x and both ends of the interval are needed in units of
 * 10^k / 4, rounded to odd. g, the first 126 bits of 10^-k, is enough for that (section 9.9).
 */
#define TEN_LEAST (-292) /* the smallest -k of any q */
#define TEN_MOST 324     /* the largest -k */
#define TEN_WORDS 18     /* 5^324 has 753 bits; 2^1023 / 5^292 has 345 */

static uint128_t ten[TEN_MOST - TEN_LEAST + 1]; /* g: the first 126 bits of a power, plus 1 */
static pthread_once_t ten_once = PTHREAD_ONCE_INIT;

/* The first 126 bits of a number; its two lowest words are 0. */
static uint128_t first_bits(const uint64_t word[TEN_WORDS])
{
	size_t top = TEN_WORDS - 1;

	while (word[top] == 0)
		top--;
	const int zeros = __builtin_clzll(word[top]);
	const uint128_t high = ((uint128_t)word[top] << 64 | word[top - 1]) << zeros;
	return (high | (uint128_t)word[top - 2] << zeros >> 64) >> 2;
}

/*
 * 10^n begins with the bits of 5^n, and 10^-n with the bits of 2^1023 / 5^n, whose whole part is
 * exact after n divisions by 5, each rounded down. Two words of 0 below serve first_bits.
 */
static void set_ten(void)
{
	uint64_t power[TEN_WORDS] = {[2] = 1},
		 inverse[TEN_WORDS] = {[TEN_WORDS - 1] = (uint64_t)1 << 63};

	for (int n = 0; n <= TEN_MOST; n++) {
		uint128_t carry = 0, rest = 0;
		ten[n - TEN_LEAST] = first_bits(power) + 1;
		if (n <= -TEN_LEAST && n > 0)
			ten[-n - TEN_LEAST] = first_bits(inverse) + 1;
		for (int i = 2; i < TEN_WORDS; i++, carry >>= 64) {
			carry += (uint128_t)power[i] * 5;
			power[i] = (uint64_t)carry;
		}
		for (int i = TEN_WORDS - 1; i > 1; i--, rest %= 5) {
			rest = rest << 64 | inverse[i];
			inverse[i] = (uint64_t)(rest / 5);
		}
	}
}

/* The product, rounded to odd (figure 8: rop). */
static uint64_t multiply_odd(uint128_t g, uint64_t c)
{
	const uint128_t product = exact_mul_high(g, (uint128_t)c << 64);

	return (uint64_t)(product >> 63) | ((product & (UINT64_MAX >> 1)) != 0);
}

/* Return the digits of the shortest decimal of x > 0, which is digits 10^*power. */
static uint64_t shortest(double x, int *power)
{
	uint64_t c;

	memcpy(&c, &x, sizeof(c));
	const int exponent = (int)(c >> 52), q = exponent > 0 ? exponent - 1075 : -1074;
	c &= ((uint64_t)1 << 52) - 1;
	/* A power of two is nearer to its lower neighbour, except the smallest normal number. */
	const bool narrow = c == 0 && exponent > 1;
	c += exponent > 0 ? (uint64_t)1 << 52 : 0;

	/*
	 * The floors of q log10(2), minus log10(4/3) if `narrow`, and of -k log2(10). They are
	 * exact for every q of a double (section 9).
	 */
	const int k = (int)((q * 661971961083 - (narrow ? 274743187321 : 0)) >> 41);
	const int shift = q + (int)((-k * 913124641741) >> 38) + 2;
	const uint128_t g = ten[-k - TEN_LEAST];
	const uint64_t odd = c & 1, at = multiply_odd(g, 4 * c << shift),
		       from = multiply_odd(g, (4 * c - (narrow ? 1 : 2)) << shift) + odd,
		       to = multiply_odd(g, (4 * c + 2) << shift) - odd;
	const uint64_t s = at / 4, s10 = s / 10;

	if ((from <= 40 * s10) != (40 * s10 + 40 <= to)) {
		*power = k + 1;
		return s10 + (from > 40 * s10);
	}
	*power = k;
	if ((from <= 4 * s) != (4 * s + 4 <= to))
		return s + (from > 4 * s);
	return s + (at > 4 * s + 2 || (at == 4 * s + 2 && s % 2 == 1));
}

/*
 * Write x as printf's %.15g does, or %.16g or %.17g if it needs that many digits: with an exponent
 * if that is below -4 or at least the number of digits.
 */
static size_t format_real(char text[NUMBER_TEXT], double x)
{
	char digits[NUMBER_TEXT];
	size_t used = x < 0;
	int power;

	pthread_once(&ten_once, set_ten);
	int n = (int)number_format_count(digits, shortest(fabs(x), &power));
	const int exponent = power + n - 1;
	while (digits[n - 1] == '0')
		n--;
	text[0] = '-';
	if (exponent < -4 || exponent >= (n > 15 ? n : 15))
		return used + (size_t)snprintf(text + used, 32, "%c%s%.*se%+03d", digits[0],
					       n > 1 ? "." : "", n - 1, digits + 1, exponent);
	if (exponent < 0) {
		memcpy(text + used, "0.0000", 6);
		used += (size_t)(1 - exponent);
	}
	const int whole = exponent < 0 ? n : exponent + 1;
	memcpy(text + used, digits, (size_t)whole);
	used += (size_t)whole;
	if (whole < n) {
		text[used] = '.';
		memcpy(text + used + 1, digits + whole, (size_t)(n - whole));
		used += (size_t)(n - whole + 1);
	}
	text[used] = '\0';
	return used;
}

size_t number_format(char text[NUMBER_TEXT], double x)
{
	if (isnan(x))
		return (size_t)snprintf(text, NUMBER_TEXT, "nan");
	if (isinf(x))
		return (size_t)snprintf(text, NUMBER_TEXT, x < 0 ? "-inf" : "inf");
	/* The common case: small whole numbers. */
	if (fabs(x) < 1e15 && x == floor(x))
		return number_format_integer(text, (int128_t)x);
	return format_real(text, x);
}

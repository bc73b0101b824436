/* SPDX-License-Identifier: MIT */
/*
 * big: addition, subtraction, multiplication, and the two quotients that round once.
 *
 * A quotient r, either a/n or sqrt(a)/n, is never computed itself. Its first 61 or 62 binary digits
 * q are found from the top one down. A digit belongs to q if q with that digit is not above r /
 * 2^t; and
 *
 *	q <= a/n / 2^t          means      q n 2^t <= a
 *	q <= sqrt(a)/n / 2^t    means      (q n)^2 2^(2t) <= a
 *
 * which compare whole numbers, because a is multiplied until t is at most 0. So q is the floor of r
 * / 2^t, and r is q 2^t only where the two sides are equal. Where they are not, r is between q 2^t
 * and (q + 1) 2^t, and rounds as (q + 1/2) 2^t does: every binary64, and every middle between two
 * of them, is a multiple of 2^(t + 1), because q has at least 61 digits and they have 53 and 54, or
 * fewer near 0.
 */
#include "base/big.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

__extension__ typedef unsigned __int128 u128;

#define QUOTIENT_BITS 62 /* of q at most: 61 or 62, see find */

void big_add(struct big *to, const uint64_t *words, unsigned count, unsigned shift)
{
	unsigned at = shift / 64;
	const unsigned bits = shift % 64;
	uint64_t left = 0; /* of the word before: the bits that are shifted into this one */
	bool carry = false;

	while (count > 0 && words[count - 1] == 0)
		count--;
	for (unsigned i = 0; i < count || left > 0 || carry; i++, at++) {
		const uint64_t own = i < count ? words[i] : 0;
		const uint64_t word = own << bits | left;
		assert(at < BIG_WORDS);
		left = bits > 0 ? own >> (64 - bits) : 0;
		const u128 sum = (u128)to->word[at] + word + carry;
		to->word[at] = (uint64_t)sum;
		carry = sum >> 64;
	}
}

void big_subtract(struct big *from, const struct big *what)
{
	bool borrow = false;

	for (unsigned i = 0; i < BIG_WORDS; i++) {
		const u128 difference = (u128)from->word[i] - what->word[i] - borrow;
		from->word[i] = (uint64_t)difference;
		borrow = difference >> 64 != 0;
	}
	assert(!borrow);
}

/* The number of words up to the last one that is not 0. */
static unsigned used(const struct big *a)
{
	unsigned n = BIG_WORDS;

	while (n > 0 && a->word[n - 1] == 0)
		n--;
	return n;
}

void big_multiply(struct big *out, const struct big *a, const struct big *b)
{
	const unsigned as = used(a), bs = used(b);

	*out = (struct big){{0}};
	for (unsigned i = 0; i < as; i++) {
		uint64_t carry = 0;
		for (unsigned k = 0; k < bs || carry > 0; k++) {
			const u128 factor = k < bs ? b->word[k] : 0;
			if (i + k >= BIG_WORDS) {
				assert(carry == 0 && factor == 0);
				break;
			}
			const u128 sum = factor * a->word[i] + out->word[i + k] + carry;
			out->word[i + k] = (uint64_t)sum;
			carry = (uint64_t)(sum >> 64);
		}
	}
}

int big_compare(const struct big *a, const struct big *b)
{
	for (unsigned i = BIG_WORDS; i-- > 0;)
		if (a->word[i] != b->word[i])
			return a->word[i] < b->word[i] ? -1 : 1;
	return 0;
}

static int bit_length(uint64_t x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

/* out = q n 2^shift, or (q n)^2 2^shift. */
static void candidate(struct big *out, uint64_t q, uint64_t n, bool root, unsigned shift)
{
	const u128 product = (u128)q * n;
	const struct big factor = {{(uint64_t)product, (uint64_t)(product >> 64)}};
	struct big square = factor;

	if (root)
		big_multiply(&square, &factor, &factor);
	*out = (struct big){{0}};
	big_add(out, square.word, 4, shift);
}

/*
 * The binary64 nearest to q 2^exponent or, with `more`, to a number between that and (q + 1)
 * 2^exponent; q < 2^62.
 */
static double nearest(uint64_t q, bool more, int exponent)
{
	int drop = bit_length(q) - 53; /* digits that have no room in 53 ... */

	if (drop < -1074 - exponent) /* ... or above the smallest denormal */
		drop = -1074 - exponent;
	if (drop <= 0)
		return ldexp((double)q, exponent);
	if (drop > QUOTIENT_BITS)
		return 0; /* q is less than half of the smallest denormal */
	const uint64_t half = (uint64_t)1 << (drop - 1), rest = q & (2 * half - 1);
	q >>= drop;
	q += rest > half || (rest == half && (more || q % 2 == 1));
	return ldexp((double)q, exponent + drop);
}

/*
 * With d the digits of n and h those of a's root, or of a, before the point: r is from 2^(h - 1 -
 * d) to below 2^(h + 1 - d). So with t = h - d - 61 the quotient r / 2^t is from 2^60 to below
 * 2^62.
 */
static double quotient(const struct big *a, uint64_t n, bool root, int unit)
{
	const int words = (int)used(a);
	struct big scaled = {{0}}, product;
	uint64_t q = 0;

	assert(n > 0);
	if (words == 0)
		return 0;
	const int bits = 64 * (words - 1) + bit_length(a->word[words - 1]);
	const int t = (root ? (bits + 1) / 2 : bits) - bit_length(n) - (QUOTIENT_BITS - 1);
	const int shift = root ? 2 * t : t;
	big_add(&scaled, a->word, (unsigned)words, shift < 0 ? (unsigned)-shift : 0);
	for (uint64_t digit = (uint64_t)1 << (QUOTIENT_BITS - 1); digit > 0; digit /= 2) {
		candidate(&product, q | digit, n, root, shift > 0 ? (unsigned)shift : 0);
		if (big_compare(&product, &scaled) <= 0)
			q |= digit;
	}
	candidate(&product, q, n, root, shift > 0 ? (unsigned)shift : 0);
	assert(q >> (QUOTIENT_BITS - 2) > 0);
	return nearest(q, big_compare(&product, &scaled) != 0, t + unit);
}

double big_quotient(const struct big *a, uint64_t n, int unit)
{
	return quotient(a, n, false, unit);
}

double big_root_quotient(const struct big *a, uint64_t n, int unit)
{
	return quotient(a, n, true, unit);
}

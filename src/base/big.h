/* SPDX-License-Identifier: MIT */
/*
 * big: whole numbers of a few thousand bits, with only the operations that statistics need
 * (count/stats.c).
 *
 * Numbers are not negative and have a fixed size. A result that does not fit is a bug of the
 * caller, and asserted.
 */
#ifndef GPUHIST_BASE_BIG_H
#define GPUHIST_BASE_BIG_H

#include <stdint.h>

/*
 * 4352 bits. The largest number there is: 2^64 samples of binary64, each below 2^2098 units of the
 * smallest denormal, have a sum of squares below 2^4260; times their number it is below 2^4324.
 */
#define BIG_WORDS 68u

struct big {
	uint64_t word[BIG_WORDS]; /* the least significant first */
};

/* to += the number in these words, the least significant first, times 2^shift. */
void big_add(struct big *to, const uint64_t *words, unsigned count, unsigned shift);

/* from -= what, which is not larger. */
void big_subtract(struct big *from, const struct big *what);

/* out = a b; out is neither of them. */
void big_multiply(struct big *out, const struct big *a, const struct big *b);

/* Below 0, 0 or above 0, as a is less than, equal to or greater than b. */
int big_compare(const struct big *a, const struct big *b);

/* The binary64 nearest to a/n 2^unit, ties to even. 0 < n; a < n 2^(1023 - unit). */
double big_quotient(const struct big *a, uint64_t n, int unit);

/* The binary64 nearest to sqrt(a)/n 2^unit, ties to even. 0 < n; sqrt(a) < n 2^(1023 - unit). */
double big_root_quotient(const struct big *a, uint64_t n, int unit);

#endif

/* SPDX-License-Identifier: MIT */
/* type: samples as codes, and as keys, which are codes in the order of values. */
#ifndef JOBS_TYPE_H
#define JOBS_TYPE_H

#include <stdint.h>

__extension__ typedef __int128 wide;

enum kind { UNSIGNED, SIGNED, FLOAT };

struct type {
	const char *name;       /* the manual's */
	const char *numpy;      /* after the order character; NULL: has none */
	const char *word;       /* numpy's long name; NULL: has none */
	unsigned bits;          /* of a sample */
	enum kind kind;         /* what they mean */
	unsigned exponent_bits; /* FLOAT: width of the exponent field */
};

const struct type *draw_type(void);

uint64_t sign_of(const struct type *t);
uint64_t mask_of(const struct type *t);
uint64_t infinity_of(const struct type *t);
uint64_t code_of_key(const struct type *t, uint64_t key);
wide min_of(const struct type *t);
wide max_of(const struct type *t);
uint64_t key_of_whole(const struct type *t, wide x);
double real_of_key(const struct type *t, uint64_t key);

/* The key of the smallest sample that is not below x. */
uint64_t key_of_real(const struct type *t, double x);

/* Any finite sample of a float type. */
uint64_t draw_finite_key(const struct type *t);

#endif

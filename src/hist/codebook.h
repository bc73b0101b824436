/* SPDX-License-Identifier: MIT */
/*
 * codebook: the codes of a type of up to 16 bits (count.h), in the order of their values, and the
 * cell of each. It is computed once for a run, then const and shared.
 */
#ifndef GPUHIST_CODEBOOK_H
#define GPUHIST_CODEBOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/axis.h"

struct codebook {
	uint32_t codes; /* number of codes; 0: a larger type, whose cells are bins */
	size_t stride;  /* counts from one channel to the next: codes, 2^16 if unpacked, or words */
	uint16_t *ordered; /* all codes in the order of values; NaNs come first and last; owned */
	uint32_t *cell;    /* the cell of each code; NULL: the samples give the range; owned */
	/* Types that are binned: the word to count for each code, NaN if it is missing; owned. */
	uint32_t *words;
	uint32_t *ranks; /* the same with --log=auto, for floats to find their cells; owned */
	uint32_t *by;    /* the cell of each code with --by; owned */
};

int codebook_init(struct codebook *book, const struct axis *axis, struct fail *fail);
void codebook_free(struct codebook *book);

/* Is a word missing? `before` is the sample_type_signed of its type. */
bool codebook_missing(const struct missing *missing, const struct sample_type *before,
		      uint32_t word);

/* The position of a code in the order of values. */
static inline uint32_t codebook_place(const struct sample_type *type, uint32_t code)
{
	const uint32_t own = sample_swapped(type, code), sign = 1u << (type->bits - 1);

	return type->kind == SAMPLE_UNSIGNED                     ? own
	       : type->kind == SAMPLE_FLOAT && (own & sign) != 0 ? own ^ (2 * sign - 1)
								 : own ^ sign;
}

/* The code with this position. */
static inline uint32_t codebook_code(const struct sample_type *type, uint32_t place)
{
	const uint32_t sign = 1u << (type->bits - 1);
	const uint32_t own = type->kind == SAMPLE_UNSIGNED                ? place
			     : type->kind == SAMPLE_FLOAT && place < sign ? place ^ (2 * sign - 1)
									  : place ^ sign;

	return sample_swapped(type, own);
}

#endif

/* SPDX-License-Identifier: MIT */
/* codebook: fill the tables of all codes. */
#include "hist/codebook.h"

#include <math.h>
#include <stdlib.h>

#define CODES 65536u

bool codebook_missing(const struct missing *missing, const struct sample_type *before,
		      uint32_t word)
{
	return missing_has(missing, before->word > 0 ? sample_masked(before, word) : word);
}

/* Make the table of words, for types that are binned. -1: no memory. */
static int codebook_widen(struct codebook *book, const struct axis *axis)
{
	const struct sample_type *const type = &axis->type, word_type = sample_type_word(type),
					before = sample_type_signed(type);
	const bool ranks = type->kind == SAMPLE_FLOAT && axis->edges.binning.kind == BIN_RANK;

	book->words = malloc(CODES * sizeof(*book->words));
	book->ranks = ranks ? malloc(CODES * sizeof(*book->ranks)) : NULL;
	if (!book->words || (ranks && !book->ranks))
		return -1;
	for (uint32_t code = 0; code < CODES; code++) {
		const bool missing =
			codebook_missing(&axis->missing, &before, sample_swapped(&word_type, code));
		const uint32_t word = book->words[code] =
			missing ? bits_of_float((float)NAN)
				: sample_widened(type, &word_type, code);
		if (ranks) /* finite samples have the ranks of their type */
			book->ranks[code] = isfinite(float_of_bits(word))
						    ? sample_of_code(type, &word_type, code)
							      << (32 - type->bits)
						    : word;
	}
	return 0;
}

int codebook_init(struct codebook *book, const struct axis *axis, struct fail *fail)
{
	const struct sample_type *const type = &axis->type;
	const bool fixed = !axis_kind_of(axis)->from_samples;

	*book = (struct codebook){.codes = sample_is_code(type) ? 1u << type->bits : 0};
	if (type->binned && codebook_widen(book, axis) != 0)
		return fail_errno(fail, "codes of %s", type->name);
	if (book->codes == 0)
		return 0;
	book->stride = sample_unpacks(type) ? (size_t)1 << 16
		       : type->word > 0     ? (size_t)1 << type->word
					    : book->codes;
	book->ordered = malloc(book->codes * sizeof(*book->ordered));
	book->cell = fixed ? malloc(book->codes * sizeof(*book->cell)) : NULL;
	if (!book->ordered || (fixed && !book->cell))
		return fail_errno(fail, "cells of %lu codes", (unsigned long)book->codes);
	for (uint32_t code = 0; code < book->codes; code++) {
		book->ordered[codebook_place(type, code)] = (uint16_t)code;
		if (fixed)
			book->cell[code] =
				edges_cell_of_code(&axis->edges, type, sample_swapped(type, code));
	}
	return 0;
}

void codebook_free(struct codebook *book)
{
	free(book->ordered);
	free(book->cell);
	free(book->words);
	free(book->ranks);
	free(book->by);
}

/* SPDX-License-Identifier: MIT */
/* codebook: fill the tables of all codes. */
#include "hist/codebook.h"

#include <stdlib.h>

int codebook_init(struct codebook *book, const struct axis *axis, struct fail *fail)
{
	const struct sample_type *const type = &axis->type;
	const bool binned = !axis_kind_of(axis)->from_samples;

	*book = (struct codebook){.codes = type->code_bytes <= 2 ? 1u << type->bits : 0};
	if (book->codes == 0)
		return 0;
	book->stride = sample_unpacks(type) ? (size_t)1 << 16
		       : type->word > 0     ? (size_t)1 << type->word
					    : book->codes;
	book->ordered = malloc(book->codes * sizeof(*book->ordered));
	book->cell = binned ? malloc(book->codes * sizeof(*book->cell)) : NULL;
	if (!book->ordered || (binned && !book->cell))
		return fail_errno(fail, "cells of %lu codes", (unsigned long)book->codes);
	for (uint32_t code = 0; code < book->codes; code++) {
		book->ordered[codebook_place(type, code)] = (uint16_t)code;
		if (binned)
			book->cell[code] =
				edges_cell_of_code(&axis->edges, type, sample_swapped(type, code));
	}
	return 0;
}

void codebook_free(struct codebook *book)
{
	free(book->ordered);
	free(book->cell);
}

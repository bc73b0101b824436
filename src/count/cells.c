/* SPDX-License-Identifier: MIT */
/* cells: the choice among the loops of cells_loops.c. */
#include "count/cells.h"

#include "base/isa.h"

const struct cells_isa *cells_best(void)
{
	static const struct cells_isa *const LOOPS[] = {
		&cells_base,
#ifdef HAVE_X86_LOOPS
		&cells_avx2,
		&cells_avx512,
		&cells_avx512,
#endif
	};

	return LOOPS[isa_best()];
}

enum cells_load cells_load(const struct sample_type *type)
{
	const bool real = type->kind == SAMPLE_FLOAT;
	const unsigned little = type->code_bytes == 3   ? LOAD_KEY24
				: type->code_bytes == 8 ? (real ? LOAD_F64 : LOAD_KEY64)
							: (real ? LOAD_F32 : LOAD_KEY32);

	return little + type->big;
}

enum cells_load cells_load_of_words(const struct sample_type *type)
{
	return cells_load(&(struct sample_type){.kind = type->kind,
						.code_bytes = type->code_bytes == 8 ? 8 : 4});
}

/* cells: the choice among the loops of cells_loops.c. */
#include "cells.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct isa {
	const char *name;
	const cells_table *table;
	cells_max_fn *max;
} BASE = {"base", &cells_table_base, cells_max_base};

/* The best instruction set that was compiled in and that this processor and system have. */
static const struct isa *best(void)
{
#ifdef HAVE_X86_LOOPS
	static const struct isa AVX2 = {"avx2", &cells_table_avx2, cells_max_avx2};
	static const struct isa AVX512 = {"avx512", &cells_table_avx512, cells_max_avx512};

	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		return &AVX512;
	if (__builtin_cpu_supports("avx2"))
		return &AVX2;
#endif
	return &BASE;
}

const char *cells_isa(void)
{
	return best()->name;
}

cells_max_fn *cells_max_choose(void)
{
	return best()->max;
}

cells_fn *cells_choose(const struct sample_type *type, const struct binning *b)
{
	enum cells_load load;

	if (type->kind == SAMPLE_FLOAT)
		load = type->bytes == 4 ? LOAD_F32 : LOAD_F64;
	else
		load = type->bytes == 3 ? LOAD_KEY24 : type->bytes == 4 ? LOAD_KEY32 : LOAD_KEY64;
	if (type->big)
		load++;
	cells_fn *fn = (*best()->table)[load][b->kind];
	assert(fn);
	return fn;
}

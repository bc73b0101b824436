/* SPDX-License-Identifier: MIT */
/* cells: the choice among the loops of cells_loops.c. */
#include "count/cells.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_X86_LOOPS
#if defined(__GLIBC__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif

/* The best last. */
static const struct isa {
	const char *name;
	const cells_table *table;
	cells_max_fn *max;
	cells_repeat_fn *repeat;
	const cells_extents *extents;
} ISAS[] = {
	{"base", &cells_table_base, cells_max_base, cells_repeat_base, &cells_extents_base},
#ifdef HAVE_X86_LOOPS
	{"avx2", &cells_table_avx2, cells_max_avx2, cells_repeat_avx2, &cells_extents_avx2},
	{"avx512", &cells_table_avx512, cells_max_avx512, cells_repeat_avx512,
	 &cells_extents_avx512},
#endif
};
#define LAST (sizeof(ISAS) / sizeof(ISAS[0]) - 1)

static const struct isa *forced; /* NULL: the best */

/*
 * Do this processor and this system have an extension? The C library has known since it started.
 * The compiler's function asks the processor a dozen times before main: 0.08 ms in a virtual
 * machine, where a hypervisor answers each question.
 */
#ifdef CPU_FEATURE_ACTIVE
/* CPU_FEATURE_ACTIVE, which shifts a signed 1 by 31 places for some. */
static bool active(unsigned feature)
{
	const unsigned bits = 8 * sizeof(unsigned), leaf = 4 * bits;

	return __x86_get_cpuid_feature_leaf(feature / leaf)->active_array[feature % leaf / bits] >>
		       feature % bits &
	       1;
}
#define HAVE(glibc, compiler) active(x86_cpu_##glibc)
#else
#define HAVE(glibc, compiler) __builtin_cpu_supports(compiler)
#endif

/* Do this processor and this system support it? */
static bool have(const struct isa *isa)
{
#ifdef HAVE_X86_LOOPS
	if (isa->table == &cells_table_avx512)
		return HAVE(AVX512F, "avx512f") && HAVE(AVX512DQ, "avx512dq") &&
		       HAVE(AVX512BW, "avx512bw") && HAVE(AVX512VL, "avx512vl") &&
		       HAVE(BMI2, "bmi2");
	if (isa->table == &cells_table_avx2)
		return HAVE(AVX2, "avx2") && HAVE(BMI2, "bmi2");
#endif
	return isa->table == &cells_table_base;
}

static const struct isa *chosen(void)
{
	const struct isa *isa = &ISAS[LAST];

	if (forced)
		return forced;
	while (!have(isa))
		isa--;
	return isa;
}

int cells_force(const char *name)
{
	forced = NULL;
	for (size_t i = 0; name && i <= LAST; i++)
		if (strcmp(ISAS[i].name, name) == 0 && have(&ISAS[i]))
			forced = &ISAS[i];
	return name && !forced ? -1 : 0;
}

const char *cells_isa(void)
{
	return chosen()->name;
}

cells_max_fn *cells_max_choose(void)
{
	return chosen()->max;
}

cells_repeat_fn *cells_repeat_choose(void)
{
	return chosen()->repeat;
}

static enum cells_load load_of(const struct sample_type *type)
{
	enum cells_load load;

	if (type->kind == SAMPLE_FLOAT)
		load = type->bytes == 2 ? LOAD_F16 : type->bytes == 4 ? LOAD_F32 : LOAD_F64;
	else
		load = type->bytes == 2   ? LOAD_KEY16
		       : type->bytes == 3 ? LOAD_KEY24
		       : type->bytes == 4 ? LOAD_KEY32
					  : LOAD_KEY64;
	if (type->big)
		load++;
	return load;
}

cells_fn *cells_choose(const struct sample_type *type, const struct binning *b)
{
	cells_fn *fn = (*chosen()->table)[load_of(type)][b->kind];
	assert(fn);
	return fn;
}

cells_extent_fn *cells_extent_choose(const struct sample_type *type)
{
	return (*chosen()->extents)[load_of(type)];
}

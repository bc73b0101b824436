/* SPDX-License-Identifier: MIT */
/* cells: the choice among the loops of cells_loops.c. */
#include "count/cells.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#ifdef HAVE_X86_LOOPS
#if defined(__GLIBC__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif

/* The best last. */
static const struct cells_isa *const ISAS[] = {
	&cells_base,
#ifdef HAVE_X86_LOOPS
	&cells_avx2,
	&cells_avx512,
#endif
};
#define LAST (sizeof(ISAS) / sizeof(ISAS[0]) - 1)

static const struct cells_isa *forced; /* NULL: the best */

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
static bool have(const struct cells_isa *isa)
{
#ifdef HAVE_X86_LOOPS
	if (isa == &cells_avx512)
		return HAVE(AVX512F, "avx512f") && HAVE(AVX512DQ, "avx512dq") &&
		       HAVE(AVX512BW, "avx512bw") && HAVE(AVX512VL, "avx512vl") &&
		       HAVE(BMI2, "bmi2");
	if (isa == &cells_avx2)
		return HAVE(AVX2, "avx2") && HAVE(BMI2, "bmi2");
#endif
	return isa == &cells_base;
}

const struct cells_isa *cells_best(void)
{
	size_t i = LAST;

	while (!forced && !have(ISAS[i]))
		i--;
	return forced ? forced : ISAS[i];
}

int cells_force(const char *name)
{
	forced = NULL;
	for (size_t i = 0; name && i <= LAST; i++)
		if (strcmp(ISAS[i]->name, name) == 0 && have(ISAS[i]))
			forced = ISAS[i];
	return name && !forced ? -1 : 0;
}

const char *cells_isa(void)
{
	return cells_best()->name;
}

enum cells_load cells_load(const struct sample_type *type)
{
	const bool real = type->kind == SAMPLE_FLOAT;
	const unsigned little = type->bytes == 2   ? (real ? LOAD_F16 : LOAD_KEY16)
				: type->bytes == 3 ? LOAD_KEY24
				: type->bytes == 4 ? (real ? LOAD_F32 : LOAD_KEY32)
						   : (real ? LOAD_F64 : LOAD_KEY64);

	return little + type->big;
}

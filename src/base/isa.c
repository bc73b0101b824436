/* SPDX-License-Identifier: MIT */
/* isa: checks what this CPU and system support. */
#include "base/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#ifdef HAVE_X86_LOOPS
#if defined(__GLIBC__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif
#endif

static enum isa forced = ISAS; /* set by isa_force; ISAS: none */

/*
 * Do CPU and system support an extension? The C library has known since it started. The compiler's
 * function executes CPUID a dozen times before main: 0.08 ms in a virtual machine, where each one
 * traps to the hypervisor.
 */
#ifdef CPU_FEATURE_ACTIVE
/* Like CPU_FEATURE_ACTIVE, which shifts a signed 1 by 31 bits for some features. */
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

static bool have(enum isa isa)
{
#ifdef HAVE_X86_LOOPS
	if (isa == ISA_AVX512)
		return HAVE(AVX512F, "avx512f") && HAVE(AVX512DQ, "avx512dq") &&
		       HAVE(AVX512BW, "avx512bw") && HAVE(AVX512VL, "avx512vl") &&
		       HAVE(BMI2, "bmi2") && HAVE(FMA, "fma");
	if (isa == ISA_AVX2)
		return HAVE(AVX2, "avx2") && HAVE(BMI2, "bmi2") && HAVE(FMA, "fma");
#endif
	return isa == ISA_BASE;
}

enum isa isa_best(void)
{
	enum isa isa = ISA_AVX512;

	while (forced == ISAS && !have(isa))
		isa--;
	return forced == ISAS ? isa : forced;
}

const char *isa_name(enum isa isa)
{
	static const char *const NAMES[ISAS] = {"base", "avx2", "avx512"};

	return NAMES[isa];
}

int isa_force(const char *name)
{
	forced = ISAS;
	for (enum isa isa = ISA_BASE; name && isa < ISAS; isa++)
		if (strcmp(isa_name(isa), name) == 0 && have(isa))
			forced = isa;
	return name && forced == ISAS ? -1 : 0;
}

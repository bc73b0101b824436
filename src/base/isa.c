/* SPDX-License-Identifier: MIT */
/* isa: checks what this CPU and system support. */
#include "base/isa.h"

#include <stdbool.h>
#include <string.h>

static enum isa forced = ISAS; /* set by isa_force; ISAS: none */

static bool isa_have(enum isa isa)
{
#ifdef HAVE_X86_LOOPS
	if (isa == ISA_VBMI2)
		return isa_have(ISA_AVX512) && __builtin_cpu_supports("avx512vbmi") &&
		       __builtin_cpu_supports("avx512vbmi2") &&
		       __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("gfni");
	if (isa == ISA_AVX512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
	if (isa == ISA_AVX2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
		       __builtin_cpu_supports("fma");
#endif
	return isa == ISA_BASE;
}

enum isa isa_best(void)
{
	enum isa isa = ISA_VBMI2;

	while (forced == ISAS && !isa_have(isa))
		isa--;
	return forced == ISAS ? isa : forced;
}

const char *isa_name(enum isa isa)
{
	static const char *const NAMES[ISAS] = {"base", "avx2", "avx512", "vbmi2"};

	return NAMES[isa];
}

int isa_force(const char *name)
{
	forced = ISAS;
	for (enum isa isa = ISA_BASE; name && isa < ISAS; isa++)
		if (strcmp(isa_name(isa), name) == 0 && isa_have(isa))
			forced = isa;
	return name && forced == ISAS ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/* isa: the instruction sets for which loops are compiled, and which of them this machine can run. */
#ifndef GPUHIST_ISA_H
#define GPUHIST_ISA_H

/* The best last. Without HAVE_X86_LOOPS a program has the first alone. */
enum isa { ISA_BASE, ISA_AVX2, ISA_AVX512, ISAS };

/* The best one of this machine, unless another is forced. */
enum isa isa_best(void);

const char *isa_name(enum isa isa);

/*
 * Chooses another one by its name from now on; NULL: the best one again. -1, and the best is
 * chosen, when the program or the machine does not have it. Call it before any thread is started.
 */
int isa_force(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* isa: the instruction sets for which loops are compiled, and which of them this machine runs. */
#ifndef GPUHIST_ISA_H
#define GPUHIST_ISA_H

/* Instruction sets, the best last. Without HAVE_X86_LOOPS a program has ISA_BASE alone. */
enum isa { ISA_BASE, ISA_AVX2, ISA_AVX512, ISAS };

/* The best instruction set that this machine runs, or the one that isa_force chose. */
enum isa isa_best(void);

const char *isa_name(enum isa isa);

/*
 * From now on isa_best returns the instruction set of this name; NULL: the best again. -1: the
 * program or the machine does not have it, and isa_best returns the best. Call it before any thread
 * is started.
 */
int isa_force(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* isa: the instruction sets for which loops are compiled, and the ones this machine supports. */
#ifndef GPUHIST_ISA_H
#define GPUHIST_ISA_H

/*
 * Instruction sets, the best last. Without HAVE_X86_LOOPS there is only ISA_BASE. ISA_VBMI2 is
 * AVX-512 of Ice Lake and Zen 4: it counts bytes in a loop of its own, all else like ISA_AVX512.
 */
enum isa { ISA_BASE, ISA_AVX2, ISA_AVX512, ISA_VBMI2, ISAS };

/* Best instruction set that this machine supports, or the one chosen by isa_force. */
enum isa isa_best(void);

const char *isa_name(enum isa isa);

/*
 * Make isa_best return the instruction set of this name; NULL: the best again. -1: the program or
 * the machine does not support it, and isa_best returns the best. Call it before any thread starts.
 */
int isa_force(const char *name);

#endif

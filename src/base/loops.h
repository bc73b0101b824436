/* SPDX-License-Identifier: MIT */
/*
 * loops: for the files that the Makefile compiles once for each instruction set (X_loops.c), with
 * ISA set to its name.
 */
#ifndef GPUHIST_LOOPS_H
#define GPUHIST_LOOPS_H

#include "base/inline.h"

#ifndef ISA
#define ISA base
#endif

/* FOR_ISA(cells_) is cells_avx2 in the loops for avx2. */
#define FOR_ISA(name) LOOPS_PASTED(name, ISA)
#define LOOPS_PASTED(a, b) LOOPS_PASTE(a, b)
#define LOOPS_PASTE(a, b) a##b

#endif

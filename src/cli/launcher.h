/* SPDX-License-Identifier: MIT */
/*
 * launcher: which part of how many this process is by the variables of the launcher that started it, for
 * --part=auto. Pure: the environment is asked through a function.
 *
 * There are four sources, each with a rank and a number of tasks: Open MPI's mpirun, launchers that speak PMI (MPICH,
 * Intel MPI, Cray), srun, and arrays of Slurm. One launcher may run inside another, and leaves the outer one's
 * variables in place; so:
 *
 * - A source of one task leaves the parts to the others: `mpirun -n 1`, or `srun -n 1`, in each task of an array.
 * - Ranks of mpirun may have the variables of the step by which mpirun started its own servers on other nodes. So a
 * step says nothing where mpirun has more than one rank; where mpirun has one rank and the step more tasks, it cannot
 * be told which is meant.
 * - Any other two sources of more than one task contradict each other, unless Open MPI and PMI say the same.
 * - SLURM_PROCID alone is that of a batch script, which is no part.
 * - An array's tasks must be all of one row of numbers, as in 0-7 or 3-9:3. Of a list like 1,3,7, which is how a few
 * tasks are started again, the numbers of the parts cannot be known.
 */
#ifndef GPUHIST_LAUNCHER_H
#define GPUHIST_LAUNCHER_H

#include <stdint.h>

#include "base/fail.h"

/* The most parts that a whole may have. */
#define PARTS_MAX ((uint32_t)1 << 31)

struct launched {
	uint32_t part, parts; /* the part-th, from 1 */
	const char *variable; /* the variable that gave their number */
};

/* The value of a variable, which stays valid as long as the environment; NULL: it is not set. */
typedef const char *launcher_lookup(const void *environment, const char *name);

/*
 * -1: there is no launcher, or it is not clear which part this is; *fail says which variables are
 * missing or wrong.
 */
int launcher_part(struct launched *launched, launcher_lookup *lookup, const void *environment,
		  struct fail *fail);

/* Reads a number of digits alone, from least to most. -1: the text is not one. */
int launcher_number(uint32_t *number, const char *text, uint32_t least, uint32_t most);

#endif

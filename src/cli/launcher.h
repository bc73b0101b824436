/* SPDX-License-Identifier: MIT */
/*
 * launcher: --part=auto: which part of how many this process is, by the environment that Open MPI,
 * PMI (MPICH, Intel MPI, Cray), srun or an array of Slurm gave it.
 *
 * One launcher may run inside another, and leaves the outer one's variables in place; so:
 *
 * - A launcher of one task leaves the parts to the others: `mpirun -n 1`, or `srun -n 1`, in each
 *   task of an array.
 * - Ranks of mpirun may have the variables of the step by which mpirun started its own servers on
 *   other nodes. So the step is ignored where mpirun has more than one rank; where mpirun has one
 *   rank and the step has more tasks, either may be meant, and both are refused.
 * - Any other two launchers of more than one task contradict each other, unless Open MPI and PMI
 *   say the same.
 * - SLURM_PROCID alone is that of a batch script, which is no part.
 * - The task numbers of an array must be evenly spaced, as in 0-7 or 3-9:3. A list like 1,3,7, by
 *   which a few tasks are started again, does not say which parts they are.
 */
#ifndef GPUHIST_LAUNCHER_H
#define GPUHIST_LAUNCHER_H

#include <stdint.h>

#include "base/fail.h"

/* The most parts that a whole may have. */
#define PARTS_MAX ((uint32_t)1 << 31)

/*
 * This is the *part-th of *parts, from 1; *variable is the variable that gave their number. -1:
 * there is no launcher, or it is not clear which part this is; *fail says which variables are
 * missing or wrong.
 */
int launcher_part(uint32_t *part, uint32_t *parts, const char **variable, struct fail *fail);

#endif

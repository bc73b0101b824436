/* SPDX-License-Identifier: MIT */
/* worker: counts turn by turn, on the GPU or the CPU, until the source ends. */
#ifndef GPUHIST_WORKER_H
#define GPUHIST_WORKER_H

#include "engine/engine.h"

/*
 * Run a worker until the end of the source. Each turn goes to the GPU if it has a free slot, else
 * to the CPU; under gpu_only always to the GPU, whose loss is a failure. -1: w->fail says why.
 */
int worker_run(struct worker *w);

#endif

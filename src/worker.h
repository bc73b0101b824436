/* SPDX-License-Identifier: MIT */
/* worker: turns by one engine or another, until the source ends. */
#ifndef GPUHIST_WORKER_H
#define GPUHIST_WORKER_H

#include "engine/engine.h"

/*
 * Runs a worker from the first record to the last. Each turn is the GPU's if that has room for one,
 * else the CPU's; under gpu_only the GPU's alone, and its loss is a failure. -1: w->fail says why.
 */
int worker_run(struct worker *w);

#endif

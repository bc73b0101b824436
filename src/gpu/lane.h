/* SPDX-License-Identifier: MIT */
/* lane: the GPU as an engine of workers: a worker's turns by way of a lane. */
#ifndef GPUHIST_GPU_LANE_H
#define GPUHIST_GPU_LANE_H

#include "engine/engine.h"

/*
 * A turn fills a slot of the work's GPU, once that is ready and has a lane for the worker, or waits
 * for a slot where there is nothing better to do.
 */
extern const struct engine gpu_engine;

#endif

/* SPDX-License-Identifier: MIT */
/* gpu_engine: the engine that counts on the GPU, as a worker sees it. */
#ifndef GPUHIST_GPU_ENGINE_H
#define GPUHIST_GPU_ENGINE_H

#include "engine/engine.h"

/*
 * A turn fills a slot, once the GPU is ready and has a lane for the worker, or waits for a slot if
 * that is the fastest thing to do.
 */
extern const struct engine gpu_engine;

#endif

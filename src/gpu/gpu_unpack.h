/* SPDX-License-Identifier: MIT */
/*
 * gpu_unpack: the GPU as the source's unpacker. Its "rooms" are slots that no lane takes: buffers
 * for a batch of packed blocks, which its decoded bytes then replace.
 */
#ifndef GPUHIST_GPU_UNPACK_H
#define GPUHIST_GPU_UNPACK_H

#include "gpu/gpu.h"
#include "input/unpacker.h"

/*
 * Returns an unpacker that is not demanded. Any thread may set *gpu later, atomically; the variable
 * must outlive the unpacker.
 */
struct unpacker gpu_unpacker(struct gpu **gpu);

#endif

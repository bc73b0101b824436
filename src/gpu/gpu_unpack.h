/* SPDX-License-Identifier: MIT */
/*
 * gpu_unpack: the GPU as the source's unpacker. Its rooms are slots that no lane
 * takes; a batch's decoded bytes come back into its room, where they are samples like others.
 */
#ifndef GPUHIST_GPU_UNPACK_H
#define GPUHIST_GPU_UNPACK_H

#include "gpu/gpu.h"
#include "input/unpacker.h"

/*
 * An unpacker that is not demanded. *gpu may be set later, by any thread, atomically; it must outlive
 * all use.
 */
struct unpacker gpu_unpacker(struct gpu **gpu);

#endif

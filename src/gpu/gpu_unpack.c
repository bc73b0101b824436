/* SPDX-License-Identifier: MIT */
/* gpu_unpack: submits rooms of packed blocks and collects their decoded bytes. */
#include "gpu/gpu.h"

#include <string.h>

#include "gpu/gpu_state.h"

static struct gpu *gpu_of(void *arg)
{
	return __atomic_load_n((struct gpu **)arg, __ATOMIC_ACQUIRE);
}

static struct slot *slot_of(struct gpu *gpu, unsigned which)
{
	return &gpu->slot[gpu->size.slots - gpu->size.rooms + which];
}

static unsigned rooms(void *arg, size_t *bytes)
{
	struct gpu *const gpu = gpu_of(arg);

	if (!gpu || gpu_starting(gpu) || gpu_failed(gpu))
		return 0;
	*bytes = gpu->size.slot_bytes;
	return gpu->rooms;
}

static unsigned char *room(void *arg, unsigned which)
{
	return slot_of(gpu_of(arg), which)->data;
}

static void submit(void *arg, unsigned which, size_t packed)
{
	struct gpu *const gpu = gpu_of(arg);
	struct slot *const slot = slot_of(gpu, which);

	if (gpu_failed(gpu)) /* it keeps the rooms that it had; unpack_done says that it is lost */
		return;
	slot->shared->request = REQUEST_UNPACK;
	slot->shared->bytes = packed;
	slot->shared->batch = gpu->batches++;
	slot_to_helper(gpu, slot);
}

static bool unpack_answered(void *arg, unsigned which)
{
	struct gpu *const gpu = gpu_of(arg);

	return slot_answered(gpu, slot_of(gpu, which), 0) != GPU_NOT_YET;
}

static enum unpacked unpack_done(void *arg, unsigned which, double seconds, size_t *bytes)
{
	struct gpu *const gpu = gpu_of(arg);
	struct slot *const slot = slot_of(gpu, which);
	const enum gpu_answer got = slot_answered(gpu, slot, seconds);
	struct unpack_answer answer;

	if (got != GPU_DONE)
		return got == GPU_LOST ? UNPACKED_LOST : UNPACKED_NOT_YET;
	memcpy(&answer, region_cells(gpu->region, slot->index), sizeof(answer));
	if (answer.bytes > gpu->size.slot_bytes) {
		gpu_fail(gpu, "check", "a batch was decoded to more bytes than fit");
		return UNPACKED_LOST;
	}
	*bytes = answer.bytes;
	return answer.refused ? UNPACKED_REFUSED : UNPACKED_DONE;
}

struct unpacker gpu_unpacker(struct gpu **gpu)
{
	return (struct unpacker){rooms, room, submit, unpack_answered, unpack_done, .arg = gpu};
}

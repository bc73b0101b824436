/* SPDX-License-Identifier: MIT */
/* gpu_resident: commits chunks one by one, and fetches the table once, in pieces. */
#include "gpu/gpu_resident.h"

#include "gpu/gpu_state.h"

#define WAIT_SECONDS 0.1

bool gpu_is_resident(const struct gpu *gpu)
{
	return gpu->size.resident;
}

void gpu_resident_commit(struct gpu *gpu, uint64_t samples)
{
	__atomic_fetch_add(&gpu->resident_samples, samples, __ATOMIC_RELAXED);
}

static uint64_t committed(const struct gpu *gpu)
{
	return __atomic_load_n(&gpu->resident_samples, __ATOMIC_RELAXED);
}

bool gpu_resident_lost(const struct gpu *gpu)
{
	return committed(gpu) > 0 && gpu_failed(gpu);
}

/* Submit a slot to fetch up to `most` counters from `first` on. */
static void resident_ask(struct gpu *gpu, struct slot *slot, size_t first, size_t most)
{
	const size_t left = gpu->spec.counting->cells - first;

	slot->shared->request = REQUEST_FETCH;
	slot->shared->at = first * sizeof(uint64_t);
	slot->shared->bytes = (left < most ? left : most) * sizeof(uint64_t);
	slot_to_helper(gpu, slot);
}

/* Add the counters in a slot to the totals; return their sum. */
static uint64_t resident_add(const struct slot *slot, struct counts *totals)
{
	const uint64_t *const counter = (const uint64_t *)(const void *)slot->data;
	uint64_t *const cell = totals->cell + slot->shared->at / sizeof(uint64_t);
	uint64_t sum = 0;

	for (size_t i = 0; i < slot->shared->bytes / sizeof(uint64_t); i++) {
		cell[i] += counter[i];
		sum += counter[i];
	}
	return sum;
}

int gpu_resident_fetch(struct gpu *gpu, struct counts *totals)
{
	const size_t most = gpu->size.slot_bytes / sizeof(uint64_t), cells = totals->cells,
		     pieces = (cells + most - 1) / most, slots = gpu->slots;
	uint64_t sum = 0;

	if (committed(gpu) == 0)
		return 0;
	/* Each slot fetches its next piece as soon as its last one has been added. */
	for (size_t i = 0; i < pieces + slots; i++) {
		struct slot *const slot = &gpu->slot[i % slots];
		enum gpu_answer answer = GPU_NOT_YET;
		while (i >= slots && i - slots < pieces && answer == GPU_NOT_YET)
			answer = slot_answered(gpu, slot, WAIT_SECONDS);
		if (gpu_failed(gpu))
			return -1;
		if (answer == GPU_DONE)
			sum += resident_add(slot, totals);
		if (i < pieces)
			resident_ask(gpu, slot, i * most, most);
	}
	if (sum != committed(gpu)) {
		gpu_fail(gpu, "check", "the counts do not sum to the samples");
		return -1;
	}
	counts_add_samples(totals, sum);
	return 0;
}

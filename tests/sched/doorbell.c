/* SPDX-License-Identifier: MIT */
/*
 * doorbell: threads submit slots to the loop of the GPU process (pump.c), on a driver of which only
 * a queue is left. Each request must come back without the limits of their waits, which make up for
 * a lost wake: the scheduler knows no limit.
 */
#include "doorbell.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gpu/gpu_state.h"
#include "gpu_helper/device.h"

enum { THREADS = 3, ROUNDS = 6, PLACE = 1 << 20 };

static jmp_buf over;
static bool ends;
static uint64_t state;
static struct gpu gpu;
static struct device device;

/* ---- the driver ---- */

static CUresult to_host(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	(void)stream;
	memcpy(to, &from, bytes);
	return CUDA_SUCCESS;
}

static CUresult event_record(CUevent event, CUstream stream)
{
	(void)event;
	(void)stream;
	if (ends)
		longjmp(over, 1);
	return CUDA_SUCCESS;
}

static CUresult event_query(CUevent event)
{
	(void)event;
	return check_random(&state) >> 62 > 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static void *helper(void *arg)
{
	(void)arg;
	if (!setjmp(over))
		pump(&device);
	return NULL;
}

/* ---- the program ---- */

static void submit(unsigned k, size_t at)
{
	struct slot *const slot = &gpu.slot[k];

	slot->shared->request = REQUEST_FETCH;
	slot->shared->at = at;
	slot->shared->bytes = sizeof(CUdeviceptr);
	slot_to_helper(&gpu, slot);
}

/* Use two slots, one or both at a time. */
static void *use(void *arg)
{
	const unsigned first = (unsigned)(size_t)arg;

	for (size_t round = 1; round <= ROUNDS; round++) {
		for (unsigned k = first; k < first + 2; k++)
			submit(k, round * 100 + k);
		for (unsigned k = first; k < first + 2; k++) {
			CUdeviceptr got;
			while (slot_answered(&gpu, &gpu.slot[k], 0.1) == GPU_NOT_YET)
				;
			memcpy(&got, region_data(gpu.region, k), sizeof(got));
			CHECK(got == PLACE + round * 100 + k, "slot %u, round %zu", k, round);
		}
	}
	return NULL;
}

void doorbell(uint64_t seed, unsigned threads)
{
	struct region shape = {.slots = 2 * THREADS, .slot_bytes = 4096, .cell_bytes = 256};
	pthread_t loop, user[THREADS];

	threads = threads < THREADS ? threads : THREADS;
	state = seed | 1;
	region_lay_out(&shape);
	gpu.region = aligned_alloc(4096, shape.total);
	memset(gpu.region, 0, shape.total);
	*gpu.region = shape;
	gpu.size.slots = shape.slots;
	for (unsigned k = 0; k < shape.slots; k++)
		gpu.slot[k].shared = &gpu.region->slot[k];
	device.region = gpu.region;
	device.slots = shape.slots;
	device.counters = PLACE;
	device.cuda.to_host = to_host;
	device.cuda.event_record = event_record;
	device.cuda.event_query = event_query;
	pthread_create(&loop, NULL, helper, NULL);
	for (size_t i = 0; i < threads; i++)
		pthread_create(&user[i], NULL, use, (void *)(2 * i));
	for (unsigned i = 0; i < threads; i++)
		pthread_join(user[i], NULL);
	ends = true;
	submit(0, 0);
	pthread_join(loop, NULL);
	free(gpu.region);
}

/* SPDX-License-Identifier: MIT */
/* device: opens the driver, and allocates slots on the device. */
#include "gpu_helper/device.h"

#include <time.h>

#define SLOTS_LEAST 2u

void device_open(struct device *d)
{
	const struct cuda *const cuda = &d->cuda;

	cuda_open(&d->cuda);
	for (unsigned i = 0; i < DEVICE_STREAMS; i++)
		cuda_must(cuda, cuda->stream_create(&d->stream[i], CU_STREAM_NON_BLOCKING),
			  "stream");
}

/*
 * Allocate a slot's memory on the device: for the chunk, its counters and its packed samples. Return
 * false, with nothing allocated, if the device has too little memory.
 */
static bool slot_make(struct device *d, struct device_slot *s)
{
	struct kernel_chunk *const c = &s->chunk;
	const struct {
		CUdeviceptr *at;
		size_t bytes;
	} parts[] = {{&s->data, (size_t)d->region->slot_bytes},
		     {&c->cells, d->counters ? 0 : (size_t)d->region->cell_bytes},
		     {&c->dense, d->plan.gather ? (size_t)d->region->slot_bytes : 0}};
	CUresult r = CUDA_SUCCESS;
	size_t n = 0;

	for (; n < sizeof(parts) / sizeof(parts[0]) && r == CUDA_SUCCESS; n++)
		if (parts[n].bytes > 0)
			r = d->cuda.memory_alloc(parts[n].at, parts[n].bytes);
	if (r != CUDA_ERROR_OUT_OF_MEMORY) {
		cuda_must(&d->cuda, r, "memory for a slot");
		if (d->counters)
			c->cells = d->counters;
		return true;
	}
	for (n--; n-- > 0;)
		if (parts[n].bytes > 0)
			cuda_must(&d->cuda, d->cuda.memory_free(*parts[n].at), "memory for a slot");
	return false;
}

/* Copy explicit edges, if any, from page-locked memory to the device. */
static void upload_edges(struct device *d)
{
	if (d->plan.edges_bytes == 0)
		return;
	cuda_must(&d->cuda, d->cuda.memory_alloc(&d->edges, d->plan.edges_bytes),
		  "memory for the edges");
	cuda_must(&d->cuda,
		  d->cuda.to_device(d->edges, d->plan.edges, d->plan.edges_bytes, d->stream[0]),
		  "edges");
	for (unsigned k = 0; k < d->slots; k++)
		d->slot[k].chunk.edges = d->edges;
}

/* Allocate and clear the counters that stay on the device. */
static void make_counters(struct device *d)
{
	const size_t bytes = (size_t)d->plan.cells * sizeof(uint64_t);

	cuda_must(&d->cuda, d->cuda.memory_alloc(&d->counters, bytes), "memory for the counters");
	cuda_must(&d->cuda, d->cuda.fill32(d->counters, 0, bytes / sizeof(uint32_t), d->stream[0]),
		  "clear");
}

/* Wait until edges and counters are set: requests may be queued on the other stream. */
static void wait_uploads(struct device *d)
{
	CUresult r = d->cuda.event_record(d->slot[0].done, d->stream[0]);

	while (r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_READY) {
		r = d->cuda.event_query(d->slot[0].done);
		if (r == CUDA_SUCCESS)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	cuda_must(&d->cuda, r, "edges and counters");
}

void device_make_slots(struct device *d)
{
	const struct region *const r = d->region;
	const struct cuda *const cuda = &d->cuda;

	cuda_must(cuda,
		  cuda->host_register((unsigned char *)d->region + r->edges_at,
				      (size_t)(r->total - r->edges_at), 0),
		  "memory for a slot");
	kernel_plan_init(&d->plan, &d->counting, cuda, r->resident);
	if (r->rooms > 0)
		kernel_plan_unaligned(&d->plan, &d->counting, cuda);
	if (r->resident)
		make_counters(d);
	while (d->slots < r->slots - r->rooms && slot_make(d, &d->slot[d->slots]))
		d->slots++;
	if (d->slots < SLOTS_LEAST)
		cuda_must(cuda, CUDA_ERROR_OUT_OF_MEMORY, "memory for a slot");
	for (unsigned k = 0; k < d->slots; k++)
		cuda_must(cuda, cuda->event_create(&d->slot[k].done, CU_EVENT_DISABLE_TIMING),
			  "event");
	unpack_make_rooms(d);
	upload_edges(d);
	if (d->edges || d->counters)
		wait_uploads(d);
}

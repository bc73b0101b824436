/* SPDX-License-Identifier: MIT */
/* gpu_lane: what a lane is made of, and the way of a chunk through one of its slots. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gpu/gpu_group.h"
#include "gpu/gpu_state.h"

#define OWN_TOTAL_CELLS ((size_t)3 << 19) /* above, 8 bytes a cell and lane are too much */
#define PAGE ((size_t)4096)

/* Gives back what a lane that was not finished has; the driver still works. */
static void lane_undo(struct gpu *gpu, struct lane_device *own)
{
	const struct cuda *cuda = &gpu->cuda;

	for (unsigned k = 0; k < own->lane.slots; k++) {
		const struct slot_device *s = &own->slot[k];
		if (s->done)
			cuda->event_destroy(s->done);
		if (s->chunk.data)
			cuda->memory_free(s->chunk.data);
		if (s->chunk.cells)
			cuda->memory_free(s->chunk.cells);
		if (s->chunk.packed)
			cuda->memory_free(s->chunk.packed);
		if (s->chunk.work)
			cuda->memory_free(s->chunk.work);
	}
	if (own->table)
		cuda->memory_free(own->table);
	if (own->host) {
		cuda->host_unregister(own->host);
		munmap(own->host, own->host_bytes);
	}
	free(own->lane.total);
	free(own);
}

/*
 * Page-locked memory: our own mapping, in huge pages, touched, then registered. That is half
 * of what the driver's allocator takes, and it stays ours when the driver is gone.
 */
static CUresult lane_host(struct gpu *gpu, struct lane_device *own)
{
	const size_t huge = (size_t)2 << 20;
	const size_t bytes = gpu->slots * (gpu->slot_bytes + gpu->cell_bytes);
	unsigned char *p;

	own->host_bytes = (bytes + huge - 1) / huge * huge;
	p = mmap(NULL, own->host_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
#ifdef MADV_HUGEPAGE
	(void)madvise(p, own->host_bytes, MADV_HUGEPAGE);
#endif
	for (size_t i = 0; i < own->host_bytes; i += 4096)
		p[i] = 0;
	CUresult r = gpu->cuda.host_register(p, own->host_bytes, 0);
	if (r != CUDA_SUCCESS) {
		munmap(p, own->host_bytes);
		return r;
	}
	own->host = p;
	for (unsigned k = 0; k < own->lane.slots; k++) {
		struct slot *slot = &own->lane.slot[k];
		struct slot_device *s = &own->slot[k];
		s->from = slot->data = p + k * gpu->slot_bytes;
		s->cells = (uint32_t *)(void *)(p + gpu->slots * gpu->slot_bytes + k * gpu->cell_bytes);
		slot->cells = s->cells;
		slot->device = s;
	}
	return CUDA_SUCCESS;
}

static CUresult slot_on_device(struct gpu *gpu, const struct kernel_plan *plan, size_t data, struct slot_device *s)
{
	const struct cuda *cuda = &gpu->cuda;
	CUresult r = cuda->event_create(&s->done, CU_EVENT_DISABLE_TIMING);
	if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&s->chunk.data, data);
	if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&s->chunk.cells, gpu->cell_bytes);
	if (r == CUDA_SUCCESS && plan->packed_bytes > 0)
		r = cuda->memory_alloc(&s->chunk.packed, plan->packed_bytes);
	if (r == CUDA_SUCCESS && plan->work_bytes > 0)
		r = cuda->memory_alloc(&s->chunk.work, plan->work_bytes);
	return r;
}

/*
 * The table of explicit edges to the device, by way of the first slot's page-locked memory, and the
 * end of the copy awaited: the slots' streams do not wait for each other.
 */
static CUresult upload_table(struct gpu *gpu, const struct kernel_plan *plan, struct lane_device *own)
{
	const struct cuda *cuda = &gpu->cuda;
	unsigned char *const data = own->lane.slot[0].data;
	const CUstream stream = own->slot[0].chunk.stream;
	const CUevent copied = own->slot[0].done;
	CUresult r = CUDA_SUCCESS;

	for (size_t done = 0, some; done < plan->table_bytes && r == CUDA_SUCCESS; done += some) {
		some = plan->table_bytes - done < gpu->slot_bytes ? plan->table_bytes - done : gpu->slot_bytes;
		memcpy(data, (const unsigned char *)plan->table + done, some);
		r = cuda->to_device(own->table + done, data, some, stream);
		if (r == CUDA_SUCCESS)
			r = cuda->event_record(copied, stream);
		if (r == CUDA_SUCCESS)
			r = cuda->event_query(copied);
		while (r == CUDA_ERROR_NOT_READY && !gpu_failed(gpu)) {
			nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
			r = cuda->event_query(copied);
		}
	}
	return r;
}

CUresult lane_make(struct gpu *gpu, unsigned device, size_t window_bytes, struct lane **out)
{
	const size_t data = window_bytes > gpu->slot_bytes ? window_bytes : gpu->slot_bytes;
	const struct kernel_plan *const plan = &gpu->device[device].plan;
	struct lane_device *own = calloc(1, sizeof(*own));
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	*out = NULL;
	if (!own)
		return r;
	struct lane *lane = &own->lane;
	own->index = device;
	lane->gpu = gpu;
	lane->device = own;
	lane->slots = gpu->slots;
	lane->window_bytes = window_bytes;
	lane->cells = plan->cells;
	lane->slots_of_k = plan->extent != NULL;
	lane->k = auto_k_least(&gpu->counting.type);
	lane->extent = EXTENT_NONE;
	/* Counters of groups are no cells: they cannot be added to the totals one by one. */
	if (lane->slots_of_k || plan->grouped || gpu->spec.counting->cells <= OWN_TOTAL_CELLS) {
		lane->total = calloc(lane->cells, sizeof(*lane->total));
		if (!lane->total)
			goto undo;
	}
	r = lane_host(gpu, own);
	for (unsigned k = 0; k < lane->slots && r == CUDA_SUCCESS; k++) {
		const unsigned nth = gpu->lane_count / gpu->device_count * lane->slots + k;
		own->slot[k].chunk.stream = gpu->device[device].stream[nth % DEVICE_STREAMS];
		r = slot_on_device(gpu, plan, data, &own->slot[k]);
	}
	if (r == CUDA_SUCCESS && plan->table_bytes > 0)
		r = gpu->cuda.memory_alloc(&own->table, plan->table_bytes);
	if (r == CUDA_SUCCESS) {
		for (unsigned k = 0; k < lane->slots; k++)
			own->slot[k].chunk.table = own->table;
		/* What has failed may still be copying: the lane is left as it is. */
		r = upload_table(gpu, plan, own);
		*out = r == CUDA_SUCCESS ? lane : NULL;
		return r == CUDA_ERROR_OUT_OF_MEMORY ? CUDA_ERROR_INVALID_VALUE : r; /* fewer bytes would not help */
	}
undo:
	lane_undo(gpu, own);
	return r;
}

/* What a driver says that cannot page-lock this; anything else is the end of it. */
static bool refused(CUresult r)
{
	return r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_OUT_OF_MEMORY || r == CUDA_ERROR_ALREADY_REGISTERED ||
	       r == CUDA_ERROR_NOT_PERMITTED || r == CUDA_ERROR_NOT_SUPPORTED || r == CUDA_ERROR_OPERATING_SYSTEM;
}

void gpu_fill(struct lane *lane, struct slot *slot, size_t bytes)
{
	assert(slot->state == SLOT_FREE && bytes > 0);
	slot->bytes = bytes;
	slot->samples = kernel_samples(&lane->gpu->counting, bytes);
	slot->state = SLOT_FILLED;
}

/*
 * The mapping is never read by us: the driver fetches and locks the pages, the device reads
 * them, so that a file which is cut meanwhile raises no SIGBUS. MAP_POPULATE made it slower.
 */
int gpu_map(struct lane *lane, struct slot *slot, int fd, uint64_t offset, size_t bytes)
{
	struct gpu *gpu = lane->gpu;
	struct slot_device *s = slot->device;
	const size_t lead = (size_t)(offset % PAGE);
	const size_t length = (lead + bytes + PAGE - 1) / PAGE * PAGE;

	assert(slot->state == SLOT_FILLED);
	if (gpu_failed(gpu))
		return -1;
	unsigned char *p = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, (off_t)(offset - lead));
	if (p == MAP_FAILED) {
		lane->window_bytes = 0;
		return -1;
	}
	CUresult r = gpu->cuda.host_register(p, length, CU_MEMHOSTREGISTER_READ_ONLY);
	if (r != CUDA_SUCCESS) {
		munmap(p, length);
		lane->window_bytes = 0;
		return refused(r) ? -1 : gpu_check(gpu, r, "page-locking of a file");
	}
	s->window = p;
	s->window_bytes = length;
	s->from = p + lead;
	slot->state = SLOT_MAPPED;
	return 0;
}

int slot_unmap(struct gpu *gpu, struct slot *slot)
{
	struct slot_device *s = slot->device;

	if (gpu_check(gpu, gpu->cuda.host_unregister(s->window), "release of a file") != 0)
		return -1;
	munmap(s->window, s->window_bytes);
	s->window = NULL;
	s->from = slot->data;
	return 0;
}

/* Queues clear, count, fetch and the event that ends them, for a chunk that is on its way to the device or there. */
static int queue(struct lane *lane, struct slot *slot)
{
	struct gpu *gpu = lane->gpu;
	const struct cuda *cuda = &gpu->cuda;
	const struct kernel_plan *plan = &gpu->device[lane->device->index].plan;
	const struct slot_device *s = slot->device;
	const struct kernel_chunk *c = &s->chunk;
	const size_t words = kernel_out_words(plan);
	CUresult (*const launch)(const struct kernel_plan *, const struct cuda *, const struct kernel_chunk *, size_t,
				 const struct binning *) = slot->again ? kernel_launch_again : kernel_launch;
	struct binning bins = gpu->counting.binning;

	if (lane->slots_of_k)
		auto_rule(&bins, &gpu->counting.type, gpu->counting.binning.bins, slot->k);
	/* The extent behind the counters was found the first time. */
	if (gpu_check(gpu, cuda->fill32(c->cells, 0, slot->again ? lane->cells : words, c->stream), "clear") != 0 ||
	    gpu_check(gpu, launch(plan, cuda, c, slot->samples, lane->slots_of_k ? &bins : NULL), "kernel") != 0 ||
	    gpu_check(gpu, cuda->to_host(s->cells, c->cells, words * sizeof(uint32_t), c->stream),
		      "copy from the GPU") != 0 ||
	    gpu_check(gpu, cuda->event_record(s->done, c->stream), "event") != 0)
		return -1;
	return 0;
}

int gpu_submit(struct lane *lane, struct slot *slot)
{
	struct gpu *gpu = lane->gpu;
	const struct slot_device *s = slot->device;

	assert(slot->state == SLOT_FILLED || slot->state == SLOT_MAPPED);
	if (gpu_failed(gpu))
		return -1;
	slot->state = SLOT_SUBMITTED;
	slot->k = lane->k;
	slot->again = false;
	if (gpu_check(gpu, gpu->cuda.to_device(s->chunk.data, s->from, slot->bytes, s->chunk.stream),
		      "copy to the GPU") != 0)
		return -1;
	return queue(lane, slot);
}

/* Is this the extent of samples of the type, or of none? A GPU that has gone mad may say anything. */
static bool plausible(const struct extent *e, const struct sample_type *type)
{
	const uint64_t most = type->bytes == 8 ? UINT64_MAX : type->bytes == 4 ? UINT32_MAX : 0xffffff;

	return e->least <= e->greatest ? e->greatest <= most : e->least == UINT64_MAX && e->greatest == 0;
}

/*
 * A chunk was counted at a k that was known before it was read. 1: its samples span few enough bins at that; 0: it
 * is queued again, at the k of all samples of the lane and its own, and that will do.
 */
static int settle(struct lane *lane, struct slot *slot)
{
	struct gpu *gpu = lane->gpu;
	const struct counting *c = &gpu->counting;
	const struct kernel_plan *plan = &gpu->device[lane->device->index].plan;
	struct extent all = lane->extent;

	slot->extent = kernel_extent(plan, slot->cells);
	if (!plausible(&slot->extent, &c->type)) {
		gpu_fail(gpu, "check", "a chunk's least and greatest sample are none of the type");
		return -1;
	}
	if (auto_k(&slot->extent, c->most, &c->type) <= slot->k)
		return 1;
	if (slot->again) {
		gpu_fail(gpu, "check", "a chunk's least and greatest sample have changed");
		return -1;
	}
	extent_add(&all, &slot->extent);
	slot->k = auto_k(&all, c->most, &c->type);
	slot->again = true;
	return queue(lane, slot);
}

int gpu_done(struct lane *lane, struct slot *slot)
{
	struct gpu *gpu = lane->gpu;
	int settled;

	assert(slot->state == SLOT_SUBMITTED);
	if (gpu_failed(gpu))
		return -1;
	CUresult r = gpu->cuda.event_query(slot->device->done);
	if (r == CUDA_ERROR_NOT_READY)
		return 0;
	if (gpu_check(gpu, r, "counting") != 0)
		return -1;
	if (lane->slots_of_k && (settled = settle(lane, slot)) != 1)
		return settled;
	return slot->device->window && slot_unmap(gpu, slot) != 0 ? -1 : 1;
}

void gpu_align(struct lane *lane, struct slot *slot)
{
	const struct counting *c = &lane->gpu->counting;
	const struct extent before = lane->extent;
	const uint32_t slots = c->binning.bins;

	extent_add(&lane->extent, &slot->extent);
	const int k = auto_k_grown(lane->k > slot->k ? lane->k : slot->k, &lane->extent, c->most, &c->type);
	for (size_t at = 0; at < lane->cells; at += c->cells_each) {
		auto_coarsen64(lane->total + at, slots, &c->type, &before, lane->k, k);
		auto_coarsen32(slot->device->cells + at, slots, &c->type, &slot->extent, slot->k, k);
	}
	lane->k = slot->k = k;
}

void gpu_free(struct slot *slot)
{
	slot->bytes = slot->samples = 0;
	slot->state = SLOT_FREE;
}

size_t gpu_counter(const struct lane *lane, size_t cell)
{
	const struct gpu *gpu = lane->gpu;
	const struct kernel_plan *plan = &gpu->device[lane->device->index].plan;

	const size_t each = gpu->counting.cells_each;

	if (!plan->grouped)
		return cell;
	return cell / each * plan->cells_each +
	       groups_of_code(&plan->rule.groups, &gpu->counting.type, (uint32_t)(cell % each));
}

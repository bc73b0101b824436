/* gpu_lane: what a lane is made of, and the way of a chunk through one of its slots. */
#include <stdlib.h>
#include <sys/mman.h>

#include "gpu_group.h"
#include "gpu_state.h"

#define OWN_TOTAL_CELLS ((size_t)3 << 19) /* above, 8 bytes a cell and lane are too much */
#define PAGE ((size_t)4096)

/* Gives back what a lane that was not finished has; the driver still works. */
static void lane_undo(struct gpu *gpu, struct lane *lane)
{
	const struct cuda *cuda = &gpu->cuda;

	for (unsigned k = 0; k < lane->slots; k++) {
		struct slot *s = &lane->slot[k];
		if (s->done)
			cuda->event_destroy(s->done);
		if (s->d_data)
			cuda->memory_free(s->d_data);
		if (s->d_cells)
			cuda->memory_free(s->d_cells);
		if (s->d_work)
			cuda->memory_free(s->d_work);
	}
	if (lane->host) {
		cuda->host_unregister(lane->host);
		munmap(lane->host, lane->host_bytes);
	}
	free(lane->total);
	free(lane);
}

/*
 * Page-locked memory: our own mapping, in huge pages, touched, then registered. That is half
 * of what the driver's allocator takes, and it stays ours when the driver is gone.
 */
static CUresult lane_host(struct gpu *gpu, struct lane *lane)
{
	const size_t huge = (size_t)2 << 20;
	const size_t bytes = gpu->slots * (gpu->slot_bytes + gpu->cell_bytes);
	unsigned char *p;

	lane->host_bytes = (bytes + huge - 1) / huge * huge;
	p = mmap(NULL, lane->host_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
#ifdef MADV_HUGEPAGE
	(void)madvise(p, lane->host_bytes, MADV_HUGEPAGE);
#endif
	for (size_t i = 0; i < lane->host_bytes; i += 4096)
		p[i] = 0;
	CUresult r = gpu->cuda.host_register(p, lane->host_bytes, 0);
	if (r != CUDA_SUCCESS) {
		munmap(p, lane->host_bytes);
		return r;
	}
	lane->host = p;
	for (unsigned k = 0; k < lane->slots; k++) {
		lane->slot[k].data = p + k * gpu->slot_bytes;
		lane->slot[k].from = lane->slot[k].data;
		lane->slot[k].cells = (uint32_t *)(void *)(p + gpu->slots * gpu->slot_bytes +
							   k * gpu->cell_bytes);
	}
	return CUDA_SUCCESS;
}

static CUresult slot_device(struct gpu *gpu, const struct kernel_plan *plan, size_t data, struct slot *s)
{
	const struct cuda *cuda = &gpu->cuda;
	CUresult r = cuda->event_create(&s->done, CU_EVENT_DISABLE_TIMING);
	if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&s->d_data, data);
	if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&s->d_cells, gpu->cell_bytes);
	if (r == CUDA_SUCCESS && plan->work_bytes > 0)
		r = cuda->memory_alloc(&s->d_work, plan->work_bytes);
	return r;
}

CUresult lane_make(struct gpu *gpu, unsigned device, size_t window_bytes, struct lane **out)
{
	const size_t data = window_bytes > gpu->slot_bytes ? window_bytes : gpu->slot_bytes;
	struct lane *lane = calloc(1, sizeof(*lane));
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	*out = NULL;
	if (!lane)
		return r;
	lane->gpu = gpu;
	lane->device = device;
	lane->slots = gpu->slots;
	lane->window_bytes = window_bytes;
	lane->cells = gpu->device[device].plan.cells;
	if (gpu->spec.counting->cells <= OWN_TOTAL_CELLS) {
		lane->total = calloc(lane->cells, sizeof(*lane->total));
		if (!lane->total)
			goto undo;
	}
	r = lane_host(gpu, lane);
	for (unsigned k = 0; k < lane->slots && r == CUDA_SUCCESS; k++) {
		const unsigned nth = gpu->lane_count / gpu->device_count * lane->slots + k;
		lane->slot[k].stream = gpu->device[device].stream[nth % DEVICE_STREAMS];
		r = slot_device(gpu, &gpu->device[device].plan, data, &lane->slot[k]);
	}
	if (r == CUDA_SUCCESS) {
		*out = lane;
		return r;
	}
undo:
	lane_undo(gpu, lane);
	return r;
}

/* What a driver says that cannot page-lock this; anything else is the end of it. */
static bool refused(CUresult r)
{
	return r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_OUT_OF_MEMORY ||
	       r == CUDA_ERROR_ALREADY_REGISTERED || r == CUDA_ERROR_NOT_PERMITTED ||
	       r == CUDA_ERROR_NOT_SUPPORTED || r == CUDA_ERROR_OPERATING_SYSTEM;
}

/*
 * The mapping is never read by us: the driver fetches and locks the pages, the device reads
 * them, so that a file which is cut meanwhile raises no SIGBUS. MAP_POPULATE made it slower.
 */
int gpu_map(struct lane *lane, struct slot *s, int fd, uint64_t offset, size_t bytes)
{
	struct gpu *gpu = lane->gpu;
	const size_t lead = (size_t)(offset % PAGE);
	const size_t length = (lead + bytes + PAGE - 1) / PAGE * PAGE;

	if (gpu_failed(gpu))
		return -1;
	unsigned char *p = mmap(NULL, length, PROT_READ, MAP_SHARED, fd,
				(off_t)(offset - lead));
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
	return 0;
}

int gpu_unmap(struct lane *lane, struct slot *s)
{
	struct gpu *gpu = lane->gpu;

	if (gpu_failed(gpu) ||
	    gpu_check(gpu, gpu->cuda.host_unregister(s->window), "release of a file") != 0)
		return -1;
	munmap(s->window, s->window_bytes);
	s->window = NULL;
	s->from = s->data;
	return 0;
}

int gpu_submit(struct lane *lane, struct slot *s, size_t samples)
{
	struct gpu *gpu = lane->gpu;
	const struct cuda *cuda = &gpu->cuda;
	const struct counting *c = gpu->spec.counting;
	const struct kernel_plan *plan = &gpu->device[lane->device].plan;

	if (gpu_failed(gpu) ||
	    gpu_check(gpu, cuda->to_device(s->d_data, s->from, samples * c->bytes, s->stream), "copy to the GPU") != 0 ||
	    gpu_check(gpu, cuda->fill32(s->d_cells, 0, lane->cells, s->stream), "clear") != 0 ||
	    gpu_check(gpu, kernel_launch(plan, cuda, s, samples), "kernel") != 0 ||
	    gpu_check(gpu, cuda->to_host(s->cells, s->d_cells, lane->cells * sizeof(uint32_t), s->stream), "copy from the GPU") != 0 ||
	    gpu_check(gpu, cuda->event_record(s->done, s->stream), "event") != 0)
		return -1;
	return 0;
}

size_t gpu_counter(const struct lane *lane, size_t cell)
{
	const struct gpu *gpu = lane->gpu;
	const struct kernel_plan *plan = &gpu->device[lane->device].plan;

	return plan->grouped ? groups_of_code(&plan->rule.groups, &gpu->counting.type, (uint32_t)cell)
			     : cell;
}

int gpu_done(struct lane *lane, struct slot *s)
{
	struct gpu *gpu = lane->gpu;

	if (gpu_failed(gpu))
		return -1;
	CUresult r = gpu->cuda.event_query(s->done);
	if (r == CUDA_ERROR_NOT_READY)
		return 0;
	return gpu_check(gpu, r, "counting") == 0 ? 1 : -1;
}


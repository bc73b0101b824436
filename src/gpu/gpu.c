/* SPDX-License-Identifier: MIT */
/* gpu: starts the GPU, records its failure, and moves chunks through lanes and slots. */
#include "gpu/gpu.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "gpu/gpu_state.h"

#define LOOK_NS 1000000 /* polling interval while the driver starts */

/* ---- the state ---- */

/* The caller holds the lock. */
static void set_state(struct gpu *gpu, enum gpu_state state)
{
	lock_assert_held(&gpu->lock);
	__atomic_store_n(&gpu->report.state, state, __ATOMIC_RELEASE);
}

static enum gpu_state state_of(const struct gpu *gpu)
{
	return __atomic_load_n(&gpu->report.state, __ATOMIC_ACQUIRE);
}

void gpu_fail(struct gpu *gpu, const char *what, const char *why)
{
	lock_take(&gpu->lock);
	if (gpu->report.state != GPU_FAILED)
		snprintf(gpu->report.why, sizeof(gpu->report.why), "%s: %s", what, why);
	set_state(gpu, GPU_FAILED);
	lock_drop(&gpu->lock);
}

bool gpu_failed(const struct gpu *gpu)
{
	return state_of(gpu) == GPU_FAILED;
}

int gpu_fail_run(struct gpu *gpu, struct fail *fail)
{
	struct gpu_report report;

	gpu_describe(gpu, &report);
	return fail_set(fail, STATUS_SYSTEM, "the GPU failed (%s); try --device=cpu", report.why);
}

bool gpu_starting(const struct gpu *gpu)
{
	return state_of(gpu) == GPU_STARTING;
}

bool gpu_wait(const struct gpu *gpu, double seconds)
{
	const double began = clock_seconds();

	while (gpu_starting(gpu) && clock_seconds() - began < seconds)
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
	return state_of(gpu) == GPU_READY;
}

void gpu_describe(struct gpu *gpu, struct gpu_report *report)
{
	lock_take(&gpu->lock);
	*report = gpu->report;
	lock_drop(&gpu->lock);
}

/* ---- the start ---- */

/* Make the region and put the job in it: the GPU process shares no other memory with us. */
static struct region *make_region(const struct counting *c, const struct gpu_size *size, int *fd)
{
	struct region plan = {
		.edges_bytes =
			c->binning.kind == BIN_TABLE ? 4 * (uint64_t)c->binning.table.words : 0,
		.slot_bytes = size->slot_bytes,
		.cell_bytes = size->cell_bytes,
		.slots = size->slots,
		.rooms = size->rooms,
		.resident = size->resident,
		.counting = *c,
	};
	region_lay_out(&plan);

	*fd = memfd_create("gpuhist", MFD_CLOEXEC);
	if (*fd < 0)
		return NULL;
	struct region *r = MAP_FAILED;
	if (ftruncate(*fd, (off_t)plan.total) == 0)
		r = mmap(NULL, (size_t)plan.total, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (r == MAP_FAILED) {
		const int error = errno;
		close(*fd);
		errno = error;
		return NULL;
	}
	*r = plan;
	if (r->edges_bytes > 0)
		memcpy((unsigned char *)r + r->edges_at,
		       (const void *)(uintptr_t)c->binning.table.at, r->edges_bytes);
	return r;
}

/* Make the region and the thread that starts the GPU process. Call gpu_fail if either fails. */
static void start_helper(struct gpu *gpu)
{
	int fd;

	gpu->link.socket = -1;
	gpu->region = make_region(gpu->spec.counting, &gpu->size, &fd);
	if (!gpu->region) {
		gpu_fail(gpu, "memory to share with the driver's process", strerror(errno));
		return;
	}
	device_show(gpu->region->device, sizeof(gpu->region->device),
		    getenv("CUDA_VISIBLE_DEVICES"), gpu->spec.device);
	for (unsigned k = 0; k < REGION_SLOTS; k++)
		gpu->slot[k] = (struct slot){.shared = &gpu->region->slot[k],
					     .data = region_data(gpu->region, k),
					     .index = k};
	if (link_open(gpu, fd) != 0)
		gpu_fail(gpu, "a socket or a thread for the driver's process", strerror(errno));
}

struct gpu *gpu_start(const struct gpu_spec *spec)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	assert(spec->lanes > 0);
	if (!gpu)
		return NULL;
	gpu->spec = *spec;
	gpu->size = gpu_size(spec);
	gpu->started = clock_seconds();
	gpu->report.state = GPU_STARTING;
	lock_init(&gpu->lock, LOCK_LAST);
	start_helper(gpu);
	return gpu;
}

void gpu_close(struct gpu *gpu)
{
	if (!gpu)
		return;
	link_close(gpu);
	if (gpu->region)
		munmap(gpu->region, (size_t)gpu->region->total);
	lock_destroy(&gpu->lock);
	free(gpu);
}

int gpu_is_ready(struct gpu *gpu, const struct notice *n)
{
	struct gpu_report *const report = &gpu->report;

	if (n->slots < 1 || n->slots > gpu->size.slots - gpu->size.rooms ||
	    n->rooms > gpu->size.rooms)
		return -1;
	lock_take(&gpu->lock);
	gpu->slots = report->slots = n->slots;
	gpu->rooms = report->rooms = n->rooms;
	report->slot_bytes = gpu->size.slot_bytes;
	report->memory = gpu->region->total;
	memcpy(report->name, n->name, sizeof(report->name));
	memcpy(report->kernel, n->kernel, sizeof(report->kernel));
	report->start_seconds = clock_seconds() - gpu->started;
	if (gpu->report.state == GPU_STARTING)
		set_state(gpu, GPU_READY);
	lock_drop(&gpu->lock);
	return 0;
}

/* ---- lanes ---- */

bool gpu_lane_free(const struct gpu *gpu)
{
	return state_of(gpu) == GPU_READY &&
	       __atomic_load_n(&gpu->lanes, __ATOMIC_RELAXED) < gpu->size.lanes;
}

bool gpu_lane_open(struct gpu *gpu)
{
	lock_take(&gpu->lock);
	const bool is_free = gpu_lane_free(gpu);
	if (is_free)
		__atomic_store_n(&gpu->lanes, gpu->lanes + 1, __ATOMIC_RELAXED);
	lock_drop(&gpu->lock);
	return is_free;
}

void gpu_lane_close(struct gpu *gpu)
{
	lock_take(&gpu->lock);
	__atomic_store_n(&gpu->lanes, gpu->lanes - 1, __ATOMIC_RELAXED);
	lock_drop(&gpu->lock);
}

size_t gpu_slot_bytes(const struct gpu *gpu)
{
	return gpu->size.slot_bytes;
}

/* ---- slots ---- */

struct slot *gpu_take_slot(struct gpu *gpu)
{
	for (unsigned i = 0; i < gpu->slots; i++) {
		uint32_t *const state = &gpu->region->slot[i].state, expected = SLOT_FREE;
		if (__atomic_load_n(state, __ATOMIC_RELAXED) == SLOT_FREE &&
		    __atomic_compare_exchange_n(state, &expected, SLOT_TAKEN, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return &gpu->slot[i];
	}
	return NULL;
}

void gpu_free(struct slot *slot)
{
	__atomic_store_n(&slot->shared->state, SLOT_FREE, __ATOMIC_RELEASE);
}

void slot_to_helper(struct gpu *gpu, struct slot *slot)
{
	assert(slot_state_of(slot->shared) != SLOT_SUBMITTED);
	slot->shared->extent = slot->extent;
	__atomic_store_n(&slot->shared->awaited, 0, __ATOMIC_RELAXED);
	__atomic_fetch_add(&gpu->submitted, 1, __ATOMIC_RELAXED);
	slot_submit(gpu->region, slot->shared);
}

bool gpu_counts_rooms(const struct gpu *gpu)
{
	return gpu->rooms > 0;
}

int gpu_submit(struct gpu *gpu, struct slot *slot, const unsigned char *data, size_t bytes)
{
	const size_t most = gpu->size.slot_bytes;

	assert(bytes > 0);
	if (gpu_failed(gpu))
		return -1;
	slot->shared->request = REQUEST_COUNT;
	slot->shared->room = NO_ROOM;
	slot->shared->at = 0;
	if (data != slot->data) {
		const size_t at =
			(size_t)(data - gpu->slot[gpu->size.slots - gpu->size.rooms].data);
		assert(at < gpu->size.rooms * most && at % most + bytes <= most);
		slot->shared->room = (uint32_t)(at / most);
		slot->shared->at = at % most;
	}
	slot->shared->bytes = bytes;
	slot->shared->samples = samples_of(&gpu->spec.counting->layout, bytes);
	slot_to_helper(gpu, slot);
	return 0;
}

/*
 * --auto: set the slot's extent to the chunk's, and its k to the k of the counters. If the k sent
 * was too small, pump.c has recounted the chunk at the k of the samples so far and the chunk's
 * together. Return -1 if the extent is impossible.
 */
static int take_extent(struct gpu *gpu, struct slot *slot)
{
	const struct counting *c = gpu->spec.counting;
	const struct extent own = slot->shared->extent;
	struct extent all = slot->extent;

	if (!auto_is_extent(&c->auto_bins, &own)) /* a faulty GPU may report any */
		return -1;
	if (auto_k(&c->auto_bins, &own) > slot->shared->k) {
		extent_add(&all, &own);
		slot->shared->k = auto_k(&c->auto_bins, &all);
	}
	slot->extent = own;
	return 0;
}

enum gpu_answer slot_answered(struct gpu *gpu, const struct slot *slot, double seconds)
{
	struct shared_slot *const s = slot->shared;

	if (slot_state_of(s) == SLOT_SUBMITTED && seconds > 0 && !gpu_failed(gpu)) {
		__atomic_store_n(&s->awaited, 1, __ATOMIC_SEQ_CST);
		region_wait(&s->state, SLOT_SUBMITTED, seconds);
	}
	if (gpu_failed(gpu))
		return GPU_LOST;
	return slot_state_of(s) == SLOT_SUBMITTED ? GPU_NOT_YET : GPU_DONE;
}

enum gpu_answer gpu_done(struct gpu *gpu, struct slot *slot, double seconds)
{
	const enum gpu_answer answer = slot_answered(gpu, slot, seconds);

	if (answer != GPU_DONE)
		return answer;
	if (gpu->spec.counting->auto_bins.most > 0 && take_extent(gpu, slot) != 0) {
		gpu_fail(gpu, "check", "the extremes of a chunk are not values of its type");
		return GPU_LOST;
	}
	slot->cells = region_cells(gpu->region, slot->index);
	return GPU_DONE;
}

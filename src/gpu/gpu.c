/* SPDX-License-Identifier: MIT */
/* gpu: start-up on a thread of its own, lanes as they get ready, one place for failure. */
#include "gpu/gpu.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"
#include "gpu/gpu_group.h"
#include "gpu/gpu_state.h"

/*
 * A copy to the device costs the bus a few microseconds beside its bytes, and slots that outgrow
 * the processor's cache cost its memory: 4 MiB is between the two (bench/README.md).
 */
#define SLOT_MIN ((size_t)1 << 20)
#define SLOT_ENOUGH ((size_t)4 << 20)
#define SLOT_MAX ((size_t)64 << 20)
#define SLOT_DECODED ((size_t)16 << 20) /* of frames, which are decoded in one call up to this size */
#define SLOTS_DECODED 1u
#define WINDOW_BYTES ((size_t)32 << 20)
#define SLOT_LEAST ((size_t)256 << 10) /* where memory is short */
#define GROUPS_MOST 15000u             /* that the shared memory of any device holds, codes being counted otherwise */

/* With the lock held. */
static void set_state(struct gpu *gpu, enum gpu_state state)
{
	lock_assert_held(&gpu->lock);
	__atomic_store_n(&gpu->state, state, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&gpu->changed);
}

static enum gpu_state state_of(const struct gpu *gpu)
{
	return __atomic_load_n(&gpu->state, __ATOMIC_ACQUIRE);
}

void gpu_fail(struct gpu *gpu, const char *what, const char *why)
{
	lock_take(&gpu->lock);
	if (gpu->state != GPU_FAILED)
		snprintf(gpu->report.why, sizeof(gpu->report.why), "%s: %s", what, why);
	set_state(gpu, GPU_FAILED);
	lock_drop(&gpu->lock);
}

bool gpu_failed(const struct gpu *gpu)
{
	return state_of(gpu) == GPU_FAILED;
}

int gpu_check(struct gpu *gpu, CUresult result, const char *what)
{
	if (result == CUDA_SUCCESS)
		return 0;
	if (!gpu_failed(gpu))
		gpu_fail(gpu, what, cuda_error(&gpu->cuda, result));
	return -1;
}

size_t gpu_slot_bytes(const struct gpu *gpu)
{
	return gpu->slot_bytes;
}

/*
 * The driver starts five times faster when it sees only the devices that are asked for. What
 * the user's own CUDA_VISIBLE_DEVICES hides stays hidden: our numbers count what it shows.
 */
void gpu_choose_devices(const char *wanted)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	char list[512] = "";
	size_t used = 0;

	if (strcmp(wanted, "all") == 0)
		return;
	for (const char *p = wanted; *p;) {
		char *end;
		unsigned long ordinal = strtoul(p, &end, 10);
		char name[64];
		snprintf(name, sizeof(name), "%lu", ordinal);
		if (visible) {
			const char *v = visible;
			/* Behind an entry that names no device the driver shows none. */
			for (; v && (ordinal > 0 || *v == '-' || *v == ',' || *v == '\0'); ordinal--) {
				v = *v == '-' || *v == ',' ? NULL : strchr(v, ',');
				v = v ? v + 1 : NULL;
			}
			/* Past the list's end: a number that no device has. */
			snprintf(name, sizeof(name), "%.*s", v ? (int)strcspn(v, ",") : 2, v ? v : "-1");
		}
		const int n = snprintf(list + used, sizeof(list) - used, "%s%s", used ? "," : "", name);
		used += n > 0 ? (size_t)n : 0;
		if (used >= sizeof(list))
			return;
		p = *end == ',' ? end + 1 : end + strlen(end);
	}
	setenv("CUDA_VISIBLE_DEVICES", list, 1);
}

/* How many devices there must be. */
static unsigned devices_wanted(const char *wanted)
{
	unsigned n = 1;

	for (const char *p = wanted; *p; p++)
		n += *p == ',';
	return n;
}

/* At most so many, in whole samples and whole pages, but a record at least. */
static size_t slot_bytes_for(const struct counting *c, size_t bytes)
{
	const size_t unit = (size_t)4096 * c->bytes, record = layout_bytes(&c->layout);

	return bytes / unit * unit >= record ? bytes / unit * unit : (record + unit - 1) / unit * unit;
}

/*
 * A chunk's fixed work is proportional to its counters (clear, fetch, add): a chunk is made
 * large enough that its bytes outweigh theirs 16 to 1, as far as that goes. With few counters
 * it is as large as the memory allows for all lanes, up to what keeps the bus busy.
 */
static size_t slot_size(const struct gpu_spec *spec, unsigned slots)
{
	const struct counting *c = spec->counting;
	struct groups groups;
	const uint32_t channels = (uint32_t)(c->cells / c->cells_each);
	const uint32_t grouped = c->stats ? 0 : groups_choose(&groups, &c->type, &c->binning, GROUPS_MOST / channels);
	const size_t cells = (grouped > 0 ? grouped * channels : c->cells) * sizeof(uint32_t);
	size_t bytes = spec->decoded ? SLOT_DECODED : SLOT_ENOUGH;
	unsigned lanes = spec->lanes;

	if (spec->lanes_least > 0 && spec->lanes_least < lanes)
		lanes = spec->lanes_least;

	while (bytes > SLOT_MIN && lanes * slots * (uint64_t)bytes > spec->memory)
		bytes /= 2;
	if (bytes < 16 * cells)
		bytes = 16 * cells < SLOT_MAX ? 16 * cells : SLOT_MAX;
	while (bytes > SLOT_LEAST && slots * (uint64_t)bytes > spec->memory)
		bytes /= 2;
	return slot_bytes_for(c, bytes);
}

/* How many lanes, of what size, now that the devices are known. -1: the GPU has failed. */
static int size_lanes(struct gpu *gpu)
{
	struct gpu_spec *spec = &gpu->spec;

	if (spec->lanes_each > 0 && spec->lanes > spec->lanes_each * gpu->device_count)
		spec->lanes = spec->lanes_each * gpu->device_count;
	if (spec->lanes > GPU_LANES_MAX)
		spec->lanes = GPU_LANES_MAX;
	/* A frame that fits a slot is decoded straight into it; the bus then takes no time to speak of. */
	gpu->slots = spec->decoded ? SLOTS_DECODED : GPU_SLOTS;
	gpu->slot_bytes = slot_size(spec, gpu->slots);
	/* Long records leave room for fewer. */
	while (gpu->slots > 1 && gpu->slot_bytes > SLOT_LEAST && gpu->slots * (uint64_t)gpu->slot_bytes > spec->memory)
		gpu->slots--;
	/* Behind the counters there may be an extent (gpu_kernel.h). */
	gpu->cell_bytes = (spec->counting->cells * sizeof(uint32_t) + 32 + 4095) / 4096 * 4096;
	while (spec->lanes > 1 && spec->lanes * gpu->slots * (uint64_t)gpu->slot_bytes > spec->memory)
		spec->lanes--;
	if (gpu->slot_bytes <= SLOT_LEAST || gpu->slot_bytes <= spec->memory)
		return 0;
	char why[100];
	snprintf(why, sizeof(why), "a record of %lu bytes does not fit the %llu bytes for chunks",
		 (unsigned long)layout_bytes(&spec->counting->layout), (unsigned long long)spec->memory);
	gpu_fail(gpu, "memory", why);
	return -1;
}

static int start_device(struct gpu *gpu, unsigned index)
{
	const struct cuda *cuda = &gpu->cuda;
	struct device *d = &gpu->device[index];

	if (gpu_check(gpu, cuda->device_get(&d->handle, (int)index), "device") != 0 ||
	    gpu_check(gpu, cuda->context_retain(&d->context, d->handle), "context") != 0 ||
	    gpu_check(gpu, cuda->context_set(d->context), "context") != 0 ||
	    gpu_check(gpu, cuda->module_load(&d->module, kernel_image), "kernels") != 0)
		return -1;
	for (unsigned i = 0; i < DEVICE_STREAMS; i++)
		if (gpu_check(gpu, cuda->stream_create(&d->stream[i], CU_STREAM_NON_BLOCKING), "stream") != 0)
			return -1;
	if (index == 0 && gpu->spec.lanes == 1) {
		int can = 0; /* and stays so where a driver does not know the question */
		(void)cuda->device_attribute(&can, CU_ATTRIBUTE_READ_ONLY_REGISTER, d->handle);
		gpu->window_bytes = !can ? 0 : gpu->slot_bytes > WINDOW_BYTES ? gpu->slot_bytes : WINDOW_BYTES;
	}
	return 0;
}

/* Kernels for chunks as large as they are by now. The last device's context is then current. */
static int plan_devices(struct gpu *gpu)
{
	const size_t chunk = gpu->window_bytes > gpu->slot_bytes ? gpu->window_bytes : gpu->slot_bytes;

	for (unsigned i = 0; i < gpu->device_count; i++) {
		struct device *d = &gpu->device[i];
		const struct kernel_device on = {
			.cuda = &gpu->cuda,
			.device = d->handle,
			.module = d->module,
			.bytes_max = chunk,
		};
		const char *what = "context";
		CUresult r = gpu->cuda.context_set(d->context);
		if (r == CUDA_SUCCESS)
			r = kernel_plan_init(&d->plan, gpu->spec.counting, &on, &what);
		if (gpu_check(gpu, r, what) != 0)
			return -1;
	}
	return 0;
}

/* What -v reports of the first device; gpu_describe may look meanwhile. */
static void name_device(struct gpu *gpu)
{
	const struct device *d = &gpu->device[0];
	char name[sizeof(gpu->report.name)] = "";

	(void)gpu->cuda.device_name(name, (int)sizeof(name), d->handle);
	lock_take(&gpu->lock);
	memcpy(gpu->report.name, name, sizeof(name));
	memcpy(gpu->report.kernel, d->plan.name, sizeof(gpu->report.kernel));
	lock_drop(&gpu->lock);
}

static void add_lane(struct gpu *gpu, struct lane *lane)
{
	lock_take(&gpu->lock);
	gpu->lane[gpu->lane_count] = lane;
	__atomic_store_n(&gpu->lane_count, gpu->lane_count + 1, __ATOMIC_RELAXED); /* gpu_lanes peeks */
	if (gpu->lane_count == 1)
		gpu->report.start_seconds = clock_seconds() - gpu->started;
	gpu->report.lanes = gpu->lane_count;
	gpu->report.devices = gpu->lane_count < gpu->device_count ? gpu->lane_count : gpu->device_count;
	if (gpu->state == GPU_STARTING)
		set_state(gpu, GPU_READY);
	lock_drop(&gpu->lock);
}

/*
 * All lanes, one device after the other. The first decides how large slots are: without windows, then
 * smaller until it fits.
 */
static void make_lanes(struct gpu *gpu)
{
	const struct counting *const c = gpu->spec.counting;

	for (unsigned i = 0; i < gpu->spec.lanes && !gpu_failed(gpu); i++) {
		const unsigned device = i % gpu->device_count;
		struct lane *lane;
		CUresult r;
		if (gpu_check(gpu, gpu->cuda.context_set(gpu->device[device].context), "context") != 0)
			return;
		while ((r = lane_make(gpu, device, i == 0 ? gpu->window_bytes : 0, &lane)) ==
			       CUDA_ERROR_OUT_OF_MEMORY &&
		       i == 0 &&
		       (gpu->window_bytes > 0 ||
			(gpu->slot_bytes > SLOT_LEAST && slot_bytes_for(c, gpu->slot_bytes / 2) < gpu->slot_bytes))) {
			if (gpu->window_bytes == 0)
				gpu->slot_bytes = slot_bytes_for(c, gpu->slot_bytes / 2);
			gpu->window_bytes = 0;
			/* What the kernels need beside a chunk gets smaller with it. */
			if (plan_devices(gpu) != 0 ||
			    gpu_check(gpu, gpu->cuda.context_set(gpu->device[device].context), "context") != 0)
				return;
		}
		if (r != CUDA_SUCCESS) {
			if (i == 0)
				gpu_check(gpu, r, "memory for a lane");
			return; /* with fewer lanes, then */
		}
		add_lane(gpu, lane);
	}
}

/* Ends with a lane, READY, or with a failure. */
static void *start(void *arg)
{
	struct gpu *gpu = arg;
	const struct cuda *cuda = &gpu->cuda;
	const char *why;
	int count = 0;

	if (!kernel_image) {
		gpu_fail(gpu, "kernels", "none were built into this program");
		return NULL;
	}
	if (cuda_load(&gpu->cuda, &why) != 0) {
		gpu_fail(gpu, "driver", why);
		return NULL;
	}
	if (gpu_check(gpu, cuda->init(0), "driver") != 0 || gpu_check(gpu, cuda->device_count(&count), "driver") != 0)
		return NULL;
	gpu->device_count = count < (int)DEVICES_MAX ? (unsigned)count : DEVICES_MAX;
	if (gpu->device_count < devices_wanted(gpu->spec.devices)) {
		gpu_fail(gpu, "driver", "no such device");
		return NULL;
	}
	if (size_lanes(gpu) != 0)
		return NULL;
	for (unsigned i = 0; i < gpu->device_count; i++)
		if (start_device(gpu, i) != 0)
			return NULL;
	if (plan_devices(gpu) != 0)
		return NULL;
	name_device(gpu);
	make_lanes(gpu);
	return NULL;
}

struct gpu *gpu_start(const struct gpu_spec *spec)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	assert(spec->lanes > 0);
	if (!gpu)
		return NULL;
	gpu->spec = *spec;
	gpu->counting = *spec->counting;
	gpu->spec.counting = &gpu->counting;
	gpu->started = clock_seconds();
	gpu->state = GPU_STARTING;
	if (lock_init(&gpu->lock) != 0) {
		free(gpu);
		return NULL;
	}
	pthread_cond_init(&gpu->changed, NULL);
	if (signals_thread(&gpu->thread, start, gpu) != 0) {
		free(gpu);
		return NULL;
	}
	/* Never joined: a driver that hangs in its start must not hold up the result. */
	pthread_detach(gpu->thread);
	return gpu;
}

int gpu_wait(struct gpu *gpu)
{
	lock_take(&gpu->lock);
	while (gpu->state == GPU_STARTING)
		lock_wait(&gpu->lock, &gpu->changed);
	const int rc = gpu->state == GPU_READY ? 0 : -1;
	lock_drop(&gpu->lock);
	return rc;
}

unsigned gpu_lanes(const struct gpu *gpu)
{
	return __atomic_load_n(&gpu->lane_count, __ATOMIC_RELAXED);
}

bool gpu_lane_free(const struct gpu *gpu)
{
	return !gpu_failed(gpu) && __atomic_load_n(&gpu->lanes_taken, __ATOMIC_RELAXED) < gpu_lanes(gpu);
}

struct lane *gpu_take_lane(struct gpu *gpu)
{
	struct lane *lane = NULL;

	if (!gpu_lane_free(gpu)) /* called once a block: look before locking */
		return NULL;
	lock_take(&gpu->lock);
	if (gpu->state != GPU_FAILED && gpu->lanes_taken < gpu->lane_count) {
		lane = gpu->lane[gpu->lanes_taken];
		__atomic_store_n(&gpu->lanes_taken, gpu->lanes_taken + 1, __ATOMIC_RELAXED);
	}
	lock_drop(&gpu->lock);
	if (lane && gpu_check(gpu, gpu->cuda.context_set(gpu->device[lane->device->index].context), "context") != 0)
		return NULL;
	return lane;
}

void gpu_describe(struct gpu *gpu, struct gpu_report *report)
{
	lock_take(&gpu->lock);
	*report = gpu->report;
	report->state = gpu->state;
	lock_drop(&gpu->lock);
}

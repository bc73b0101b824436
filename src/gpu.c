/* gpu: start-up on a thread of its own, lanes as they get ready, one place for failure. */
#include "gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "gpu_kernel.h"

#define DEVICES_MAX 16u
/*
 * Small slots stay in the processor's cache between the copy into them and the DMA out of
 * them. Eight lanes on an H200 host: four slots of 1 MiB 27 GB/s, two of 4 MiB 23, two of
 * 16 MiB 10; the bus alone carries 48 at 1 MiB and more when lanes overlap.
 */
#define SLOT_MIN ((size_t)1 << 20)
#define SLOT_MAX ((size_t)64 << 20)
#define SLOT_LEAST ((size_t)256 << 10) /* where memory is short */
#define OWN_TOTAL_CELLS ((size_t)3 << 19) /* above, 8 bytes a cell and lane are too much */

struct device {
	CUdevice handle;
	CUcontext context;
	CUmodule module;
	struct kernel_plan plan;
};

struct gpu {
	struct gpu_spec spec;
	struct counting counting; /* a copy: the start-up may outlive the run */
	struct cuda cuda;
	double started;          /* clock at gpu_start */
	size_t slot_bytes;
	size_t cell_bytes;       /* of a chunk's counters */
	pthread_t thread;
	pthread_mutex_t lock;    /* all below */
	pthread_cond_t changed;
	bool settled;            /* the first lane is there, or none will be */
	unsigned device_count;
	struct device device[DEVICES_MAX];
	unsigned lane_count;     /* made */
	unsigned lanes_taken;
	struct lane *lane[GPU_LANES_MAX];
	struct gpu_report report;
	bool failed;             /* atomic: read without the lock before each driver call */
};

void gpu_fail(struct gpu *gpu, const char *what, const char *why)
{
	pthread_mutex_lock(&gpu->lock);
	if (!gpu->failed)
		snprintf(gpu->report.why, sizeof(gpu->report.why), "%s: %s", what, why);
	__atomic_store_n(&gpu->failed, true, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&gpu->changed);
	pthread_mutex_unlock(&gpu->lock);
}

bool gpu_failed(const struct gpu *gpu)
{
	return __atomic_load_n(&gpu->failed, __ATOMIC_ACQUIRE);
}

/* Passes a driver call's result on; an error is the end of the GPU. */
static int check(struct gpu *gpu, CUresult result, const char *what)
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

/* ---- lanes ---- */

/* Gives back what a lane that was not finished has; the driver still works. */
static void lane_undo(struct gpu *gpu, struct lane *lane)
{
	const struct cuda *cuda = &gpu->cuda;

	for (unsigned k = 0; k < GPU_SLOTS; k++) {
		struct slot *s = &lane->slot[k];
		if (s->stream)
			cuda->stream_destroy(s->stream);
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
	const size_t bytes = GPU_SLOTS * (gpu->slot_bytes + gpu->cell_bytes);
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
	for (unsigned k = 0; k < GPU_SLOTS; k++) {
		lane->slot[k].data = p + k * gpu->slot_bytes;
		lane->slot[k].cells = (uint32_t *)(void *)(p + GPU_SLOTS * gpu->slot_bytes +
							   k * gpu->cell_bytes);
	}
	return CUDA_SUCCESS;
}

static CUresult slot_device(struct gpu *gpu, const struct kernel_plan *plan, struct slot *s)
{
	const struct cuda *cuda = &gpu->cuda;
	CUresult r = cuda->stream_create(&s->stream, CU_STREAM_NON_BLOCKING);

	if (r == CUDA_SUCCESS)
		r = cuda->event_create(&s->done, CU_EVENT_DISABLE_TIMING);
	if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&s->d_data, gpu->slot_bytes);
	if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&s->d_cells, gpu->cell_bytes);
	if (r == CUDA_SUCCESS && plan->work_bytes > 0)
		r = cuda->memory_alloc(&s->d_work, plan->work_bytes);
	return r;
}

/* The context of the device is current. */
static CUresult lane_make(struct gpu *gpu, unsigned device, struct lane **out)
{
	struct lane *lane = calloc(1, sizeof(*lane));
	CUresult r = CUDA_ERROR_OUT_OF_MEMORY;

	*out = NULL;
	if (!lane)
		return r;
	lane->gpu = gpu;
	lane->device = device;
	if (gpu->spec.counting->cells <= OWN_TOTAL_CELLS) {
		lane->total = calloc(gpu->spec.counting->cells, sizeof(*lane->total));
		if (!lane->total)
			goto undo;
	}
	r = lane_host(gpu, lane);
	for (unsigned k = 0; k < GPU_SLOTS && r == CUDA_SUCCESS; k++)
		r = slot_device(gpu, &gpu->device[device].plan, &lane->slot[k]);
	if (r == CUDA_SUCCESS) {
		*out = lane;
		return r;
	}
undo:
	lane_undo(gpu, lane);
	return r;
}

/* ---- start-up ---- */

/*
 * The driver starts five times faster when it sees only the devices that are asked for. What
 * the user's own CUDA_VISIBLE_DEVICES hides stays hidden: our numbers count what it shows.
 */
static void hide_devices(const char *wanted)
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
			for (; ordinal > 0 && v; ordinal--) {
				v = strchr(v, ',');
				v = v ? v + 1 : NULL;
			}
			/* Past the list's end: a number that no device has. */
			snprintf(name, sizeof(name), "%.*s", v ? (int)strcspn(v, ",") : 2,
				 v ? v : "-1");
		}
		const int n = snprintf(list + used, sizeof(list) - used, "%s%s", used ? "," : "", name);
		used += n > 0 ? (size_t)n : 0;
		if (used >= sizeof(list))
			return;
		p = *end == ',' ? end + 1 : end + strlen(end);
	}
	setenv("CUDA_VISIBLE_DEVICES", list, 1);
}

static int start_device(struct gpu *gpu, unsigned index)
{
	const struct cuda *cuda = &gpu->cuda;
	struct device *d = &gpu->device[index];

	if (check(gpu, cuda->device_get(&d->handle, (int)index), "device") != 0 ||
	    check(gpu, cuda->context_retain(&d->context, d->handle), "context") != 0 ||
	    check(gpu, cuda->context_set(d->context), "context") != 0 ||
	    check(gpu, cuda->module_load(&d->module, kernel_image), "kernels") != 0)
		return -1;
	if (index == 0)
		(void)cuda->device_name(gpu->report.name, (int)sizeof(gpu->report.name), d->handle);
	const struct kernel_device on = {
		.cuda = cuda, .device = d->handle, .module = d->module,
		.samples_max = gpu->slot_bytes / gpu->spec.counting->bytes,
	};
	const char *what;
	CUresult r = kernel_plan_init(&d->plan, gpu->spec.counting, &on, &what);
	if (index == 0)
		memcpy(gpu->report.kernel, d->plan.name, sizeof(gpu->report.kernel));
	return check(gpu, r, what);
}

static void add_lane(struct gpu *gpu, struct lane *lane)
{
	pthread_mutex_lock(&gpu->lock);
	gpu->lane[gpu->lane_count] = lane;
	__atomic_store_n(&gpu->lane_count, gpu->lane_count + 1, __ATOMIC_RELAXED); /* gpu_take_lane peeks */
	if (!gpu->report.ready)
		gpu->report.start_seconds = clock_seconds() - gpu->started;
	gpu->report.ready = true;
	gpu->report.lanes = gpu->lane_count;
	gpu->settled = true;
	pthread_cond_broadcast(&gpu->changed);
	pthread_mutex_unlock(&gpu->lock);
}

/* All lanes, the devices in turn. The first decides how large slots are: smaller until it fits. */
static void make_lanes(struct gpu *gpu)
{
	const uint32_t sample = gpu->spec.counting->bytes;

	for (unsigned i = 0; i < gpu->spec.lanes && !gpu_failed(gpu); i++) {
		const unsigned device = i % gpu->device_count;
		struct lane *lane;
		CUresult r;
		if (check(gpu, gpu->cuda.context_set(gpu->device[device].context), "context") != 0)
			return;
		while ((r = lane_make(gpu, device, &lane)) == CUDA_ERROR_OUT_OF_MEMORY && i == 0 &&
		       gpu->slot_bytes > SLOT_LEAST)
			gpu->slot_bytes = gpu->slot_bytes / 2 / sample * sample / 4096 * 4096;
		if (r != CUDA_SUCCESS) {
			if (i == 0)
				check(gpu, r, "memory for a lane");
			return; /* with fewer lanes, then */
		}
		add_lane(gpu, lane);
	}
}

static void *start(void *arg)
{
	struct gpu *gpu = arg;
	const struct cuda *cuda = &gpu->cuda;
	const char *why;
	int count = 0;

	if (!kernel_image) {
		gpu_fail(gpu, "kernels", "none were built into this program");
		goto out;
	}
	if (cuda_load(&gpu->cuda, &why) != 0) {
		gpu_fail(gpu, "driver", why);
		goto out;
	}
	if (check(gpu, cuda->init(0), "driver") != 0 ||
	    check(gpu, cuda->device_count(&count), "driver") != 0)
		goto out;
	gpu->device_count = count < (int)DEVICES_MAX ? (unsigned)count : DEVICES_MAX;
	if (gpu->device_count == 0) {
		gpu_fail(gpu, "driver", "no such device");
		goto out;
	}
	for (unsigned i = 0; i < gpu->device_count; i++)
		if (start_device(gpu, i) != 0)
			goto out;
	make_lanes(gpu);
out:
	pthread_mutex_lock(&gpu->lock);
	gpu->settled = true;
	pthread_cond_broadcast(&gpu->changed);
	pthread_mutex_unlock(&gpu->lock);
	return NULL;
}

/*
 * A chunk's fixed work is proportional to its counters (clear, fetch, add): a chunk is made
 * large enough that its bytes outweigh theirs 16 to 1, as far as that goes.
 */
static size_t slot_size(const struct gpu_spec *spec)
{
	const size_t cells = spec->counting->cells * sizeof(uint32_t);
	size_t bytes = 16 * cells;

	bytes = bytes < SLOT_MIN ? SLOT_MIN : bytes > SLOT_MAX ? SLOT_MAX : bytes;
	while (bytes > SLOT_LEAST && GPU_SLOTS * bytes > spec->memory)
		bytes /= 2;
	const size_t unit = (size_t)4096 * spec->counting->bytes; /* whole samples, whole pages */
	return bytes / unit * unit;
}

struct gpu *gpu_start(const struct gpu_spec *spec)
{
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	if (!gpu)
		return NULL;
	gpu->spec = *spec;
	gpu->counting = *spec->counting;
	gpu->spec.counting = &gpu->counting;
	gpu->started = clock_seconds();
	gpu->report.started = true;
	gpu->slot_bytes = slot_size(spec);
	gpu->cell_bytes = (spec->counting->cells * sizeof(uint32_t) + 4095) / 4096 * 4096;
	const uint64_t lane = GPU_SLOTS * (uint64_t)gpu->slot_bytes;
	while (gpu->spec.lanes > 1 && gpu->spec.lanes * lane > spec->memory)
		gpu->spec.lanes--;
	if (gpu->spec.lanes > GPU_LANES_MAX)
		gpu->spec.lanes = GPU_LANES_MAX;
	hide_devices(spec->devices);
	pthread_mutex_init(&gpu->lock, NULL);
	pthread_cond_init(&gpu->changed, NULL);
	if (pthread_create(&gpu->thread, NULL, start, gpu) != 0) {
		free(gpu);
		return NULL;
	}
	/* Never joined: a driver that hangs in its start must not hold up the result. */
	pthread_detach(gpu->thread);
	return gpu;
}

int gpu_wait(struct gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	while (!gpu->settled)
		pthread_cond_wait(&gpu->changed, &gpu->lock);
	const int rc = gpu->lane_count > 0 && !gpu->failed ? 0 : -1;
	pthread_mutex_unlock(&gpu->lock);
	return rc;
}

struct lane *gpu_take_lane(struct gpu *gpu)
{
	struct lane *lane = NULL;

	/* Called once a block: look before locking. */
	if (gpu_failed(gpu) || __atomic_load_n(&gpu->lanes_taken, __ATOMIC_RELAXED) ==
				       __atomic_load_n(&gpu->lane_count, __ATOMIC_RELAXED))
		return NULL;
	pthread_mutex_lock(&gpu->lock);
	if (!gpu->failed && gpu->lanes_taken < gpu->lane_count) {
		lane = gpu->lane[gpu->lanes_taken];
		__atomic_store_n(&gpu->lanes_taken, gpu->lanes_taken + 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&gpu->lock);
	if (lane && check(gpu, gpu->cuda.context_set(gpu->device[lane->device].context), "context") != 0)
		return NULL;
	return lane;
}

int gpu_submit(struct lane *lane, struct slot *s, size_t samples)
{
	struct gpu *gpu = lane->gpu;
	const struct cuda *cuda = &gpu->cuda;
	const struct counting *c = gpu->spec.counting;
	const struct kernel_plan *plan = &gpu->device[lane->device].plan;

	if (gpu_failed(gpu) ||
	    check(gpu, cuda->to_device(s->d_data, s->data, samples * c->bytes, s->stream), "copy to the GPU") != 0 ||
	    check(gpu, cuda->fill32(s->d_cells, 0, c->cells, s->stream), "clear") != 0 ||
	    check(gpu, kernel_launch(plan, cuda, s, samples), "kernel") != 0 ||
	    check(gpu, cuda->to_host(s->cells, s->d_cells, c->cells * sizeof(uint32_t), s->stream), "copy from the GPU") != 0 ||
	    check(gpu, cuda->event_record(s->done, s->stream), "event") != 0)
		return -1;
	return 0;
}

int gpu_done(struct lane *lane, struct slot *s)
{
	struct gpu *gpu = lane->gpu;

	if (gpu_failed(gpu))
		return -1;
	CUresult r = gpu->cuda.event_query(s->done);
	if (r == CUDA_ERROR_NOT_READY)
		return 0;
	return check(gpu, r, "counting") == 0 ? 1 : -1;
}

void gpu_describe(struct gpu *gpu, struct gpu_report *report)
{
	pthread_mutex_lock(&gpu->lock);
	*report = gpu->report;
	report->failed = gpu->failed;
	pthread_mutex_unlock(&gpu->lock);
}

/* SPDX-License-Identifier: MIT */
/* device: from a driver that may be missing to slots that can be used. */
#include "driver/device.h"

#include <time.h>

#include "driver/gpu_image.h"

#define SLOTS_LEAST 2u
#define SLOT_LEAST ((size_t)256 << 10)

void device_must(struct device *d, CUresult result, const char *what)
{
	if (result != CUDA_SUCCESS)
		d->fail(d->arg, what, cuda_error(&d->cuda, result));
}

void device_open(struct device *d)
{
	const struct cuda *cuda = &d->cuda;
	const char *why;
	CUcontext context;
	int count = 0;

	if (!kernel_image)
		d->fail(d->arg, "kernels", "none were built into this program");
	if (cuda_load(&d->cuda, &why) != 0)
		d->fail(d->arg, "driver", why);
	device_must(d, cuda->init(0), "driver");
	device_must(d, cuda->device_count(&count), "driver");
	if (count < 1)
		d->fail(d->arg, "driver", "no such device");
	d->devices = (unsigned)count;
	device_must(d, cuda->device_get(&d->handle, 0), "device");
	device_must(d, cuda->context_retain(&context, d->handle), "context");
	device_must(d, cuda->context_set(context), "context");
	device_must(d, cuda->module_load(&d->module, kernel_image), "kernels");
	for (unsigned i = 0; i < DEVICE_STREAMS; i++)
		device_must(d, cuda->stream_create(&d->stream[i], CU_STREAM_NON_BLOCKING),
			    "stream");
}

uint32_t device_pieces(const struct device *d)
{
	return (d->plan.cells + d->layout.piece - 1) / d->layout.piece;
}

static void plan_kernels(struct device *d)
{
	const struct kernel_device on = {.cuda = &d->cuda,
					 .device = d->handle,
					 .module = d->module,
					 .bytes_max = d->slot_bytes,
					 .stays = d->layout.piece > 0};
	const char *what = "kernels";
	const CUresult r = kernel_plan_init(&d->plan, &d->counting, &on, &what);

	device_must(d, r, what);
}

/* What a slot has on the device: the chunk, its counters, its packed samples. */
#define PARTS 3

static void slot_undo(struct device *d, struct kernel_chunk *c)
{
	const CUdeviceptr parts[PARTS] = {c->data, d->counters ? 0 : c->cells, c->packed};

	for (int i = 0; i < PARTS; i++)
		if (parts[i])
			device_must(d, d->cuda.memory_free(parts[i]), "an unfinished slot");
	*c = (struct kernel_chunk){.data = 0};
}

/* False: there is not enough memory, and none is taken. */
static bool slot_make(struct device *d, struct kernel_chunk *c)
{
	CUdeviceptr *const parts[PARTS] = {&c->data, &c->cells, &c->packed};
	const size_t bytes[PARTS] = {d->slot_bytes, d->counters ? 0 : d->layout.cell_bytes,
				     d->plan.packed_bytes};
	CUresult r = CUDA_SUCCESS;

	for (int i = 0; i < PARTS && r == CUDA_SUCCESS; i++)
		if (bytes[i] > 0)
			r = d->cuda.memory_alloc(parts[i], bytes[i]);
	if (r == CUDA_ERROR_OUT_OF_MEMORY)
		slot_undo(d, c);
	else
		device_must(d, r, "memory for a slot");
	if (d->counters)
		c->cells = d->counters;
	return r == CUDA_SUCCESS;
}

/* As many slots as there is memory for, but SLOTS_LEAST or none. False: none. */
static bool make_slots(struct device *d, unsigned wanted)
{
	d->slots = 0;
	while (d->slots < wanted && slot_make(d, &d->slot[d->slots].chunk))
		d->slots++;
	if (d->slots == wanted || d->slots >= SLOTS_LEAST)
		return true;
	while (d->slots > 0)
		slot_undo(d, &d->slot[--d->slots].chunk);
	return false;
}

/*
 * Half of a slot, in whole samples and pages, but at least a record; the slot itself where half
 * would be too small.
 */
static size_t smaller(const struct device *d)
{
	const size_t unit = (size_t)4096 * d->counting.bytes,
		     record = layout_bytes(&d->counting.layout);
	const size_t half = d->slot_bytes / 2 / unit * unit;

	return half >= record && half >= SLOT_LEAST ? half : d->slot_bytes;
}

/* Copies explicit edges, which are page-locked too, to the device. */
static void upload_edges(struct device *d)
{
	if (d->plan.table_bytes == 0)
		return;
	device_must(d, d->cuda.memory_alloc(&d->edges, d->plan.table_bytes),
		    "memory for the edges");
	device_must(d,
		    d->cuda.to_device(d->edges, d->plan.table, d->plan.table_bytes, d->stream[0]),
		    "edges");
	for (unsigned k = 0; k < d->slots; k++)
		d->slot[k].chunk.table = d->edges;
}

/* Makes the counters that stay, all 0, and finds the kernel that adds up their pieces. */
static void make_counters(struct device *d)
{
	const struct cuda *cuda = &d->cuda;

	device_must(d, cuda->memory_alloc(&d->counters, (size_t)d->plan.cells * sizeof(uint32_t)),
		    "memory for the counters");
	device_must(d, cuda->memory_alloc(&d->sums, device_pieces(d) * sizeof(uint64_t)),
		    "memory for the counters");
	device_must(d, cuda->module_function(&d->sum_pieces, d->module, "sum_pieces"), "kernels");
	device_must(d, cuda->fill32(d->counters, 0, d->plan.cells, d->stream[0]), "clear");
}

/*
 * Page-locks the edges, and counters and samples of all slots, or of fewer where the system does
 * not lock so much; returns how many.
 */
static unsigned lock_pages(struct device *d)
{
	const struct region *r = &d->layout;
	unsigned char *const from = (unsigned char *)d->region + r->table_at;

	for (unsigned slots = r->slots;; slots /= 2) {
		const size_t bytes = (size_t)(r->data_at + slots * r->slot_bytes - r->table_at);
		const CUresult result = d->cuda.host_register(from, bytes, 0);
		if (result == CUDA_SUCCESS)
			return slots;
		if (result != CUDA_ERROR_OUT_OF_MEMORY || slots / 2 < SLOTS_LEAST)
			device_must(d, result, "memory for a slot");
	}
}

/* Waits until edges and counters are there: orders may be queued on the other stream. */
static void finish(struct device *d)
{
	CUresult r = d->cuda.event_record(d->slot[0].done, d->stream[0]);

	while (r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_READY) {
		r = d->cuda.event_query(d->slot[0].done);
		if (r == CUDA_SUCCESS)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
	device_must(d, r, "edges and counters");
}

void device_make_slots(struct device *d)
{
	const unsigned most = lock_pages(d);

	plan_kernels(d);
	if (d->layout.piece > 0)
		make_counters(d);
	while (!make_slots(d, most)) {
		const size_t less = smaller(d);
		if (less == d->slot_bytes)
			device_must(d, CUDA_ERROR_OUT_OF_MEMORY, "memory for a slot");
		d->slot_bytes = less;
		/* The memory that kernels need beside a chunk becomes smaller with it. */
		plan_kernels(d);
	}
	for (unsigned k = 0; k < d->slots; k++)
		device_must(d, d->cuda.event_create(&d->slot[k].done, CU_EVENT_DISABLE_TIMING),
			    "event");
	upload_edges(d);
	if (d->edges || d->counters)
		finish(d);
}

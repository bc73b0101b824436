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

static void slot_undo(struct device *d, struct device_slot *s)
{
	const struct cuda *cuda = &d->cuda;
	const CUdeviceptr memory[] = {s->chunk.data, d->counters ? 0 : s->chunk.cells,
				      s->chunk.packed};

	if (s->done)
		device_must(d, cuda->event_destroy(s->done), "an unfinished slot");
	for (unsigned i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		if (memory[i])
			device_must(d, cuda->memory_free(memory[i]), "an unfinished slot");
	*s = (struct device_slot){.done = NULL};
}

static CUresult slot_make(struct device *d, struct device_slot *s)
{
	const struct cuda *cuda = &d->cuda;
	struct kernel_chunk *c = &s->chunk;
	CUresult r = cuda->event_create(&s->done, CU_EVENT_DISABLE_TIMING);

	if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&c->data, d->slot_bytes);
	if (d->counters)
		c->cells = d->counters;
	else if (r == CUDA_SUCCESS)
		r = cuda->memory_alloc(&c->cells, d->layout.cell_bytes);
	if (r == CUDA_SUCCESS && d->plan.packed_bytes > 0)
		r = cuda->memory_alloc(&c->packed, d->plan.packed_bytes);
	return r;
}

/*
 * Makes as many slots as there is memory for. False: there is not enough for SLOTS_LEAST, and those
 * that were made are undone.
 */
static bool make_slots(struct device *d, unsigned wanted)
{
	for (d->slots = 0; d->slots < wanted; d->slots++) {
		struct device_slot *s = &d->slot[d->slots];
		const CUresult r = slot_make(d, s);
		if (r == CUDA_SUCCESS)
			continue;
		if (r != CUDA_ERROR_OUT_OF_MEMORY)
			device_must(d, r, "memory for a slot");
		slot_undo(d, s);
		if (d->slots >= SLOTS_LEAST)
			return true;
		while (d->slots > 0)
			slot_undo(d, &d->slot[--d->slots]);
		return false;
	}
	return true;
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
 * Page-locks the edges, and counters and samples of all slots, or of fewer where the system does not
 * lock so much; returns how many.
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
	upload_edges(d);
	if (d->edges || d->counters)
		finish(d);
}

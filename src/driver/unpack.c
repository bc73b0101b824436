/* SPDX-License-Identifier: MIT */
/*
 * unpack: the way of a batch of zstd's blocks through the device (kernels/unpack.cuh).
 *
 * Each batch is on a stream of its own, because the device must have the blocks of many of them at
 * work: a block with many sequences takes two milliseconds. Two steps are in order: where blocks
 * begin, and what matches copy, from batches before as well. A batch waits for these steps of the
 * batch before it by events.
 */
#include "driver/device.h"

#define RING_BYTES (2 * UNPACKER_WINDOW) /* a power of two, and more than a window and a batch */
#define LINE 256u

/* Takes n bytes of what was allocated, or adds them up where there is nothing yet. */
static uint64_t part(uint64_t *at, uint64_t n)
{
	const uint64_t begin = *at;

	*at += (n + LINE - 1) / LINE * LINE;
	return begin;
}

/* Lays out a room's memory from `at` on; returns where it ends. */
static uint64_t lay_out(struct unpack_memory *m, uint64_t at, uint64_t slot_bytes)
{
	const uint64_t decoded = (uint64_t)UNPACK_BLOCKS * (UNPACK_BLOCK_MAX + 64);

	m->packed = part(&at, UNPACK_BEFORE + slot_bytes + UNPACK_AFTER) + UNPACK_BEFORE;
	m->batch = part(&at, sizeof(struct unpack_orders));
	m->block = m->batch + sizeof(struct unpack_batch);
	m->state = part(&at, UNPACK_BLOCKS * sizeof(struct unpack_state));
	m->answer = part(&at, sizeof(struct unpack_answer));
	m->offset = part(&at, UNPACK_SEQUENCES * sizeof(uint32_t));
	m->literals = part(&at, UNPACK_SEQUENCES * sizeof(uint32_t));
	m->match = part(&at, UNPACK_SEQUENCES * sizeof(uint32_t));
	m->apart = part(&at, decoded);
	m->decoded = part(&at, decoded);
	m->distance = part(&at, (uint64_t)UNPACK_BLOCKS * UNPACK_BLOCK_MAX * sizeof(uint32_t));
	return at;
}

/* False: there is not enough memory. */
static bool allocate(const struct device *d, CUdeviceptr *at, uint64_t bytes)
{
	const CUresult r = d->cuda.memory_alloc(at, (size_t)bytes);

	if (r != CUDA_ERROR_OUT_OF_MEMORY)
		cuda_must(&d->cuda, r, "memory to decode in");
	return r == CUDA_SUCCESS;
}

static bool make_room(struct device *d, struct device_room *room, const struct unpack_memory *all)
{
	const uint64_t bytes = lay_out(&room->memory, 0, d->layout.slot_bytes);
	CUdeviceptr at;

	if (!allocate(d, &at, bytes))
		return false;
	room->memory = *all;
	(void)lay_out(&room->memory, at, d->layout.slot_bytes);
	cuda_must(&d->cuda, d->cuda.stream_create(&room->stream, CU_STREAM_NON_BLOCKING), "stream");
	CUevent *const events[] = {&room->chained, &room->kept, &room->done};
	for (unsigned i = 0; i < 3; i++)
		cuda_must(&d->cuda, d->cuda.event_create(events[i], CU_EVENT_DISABLE_TIMING),
			  "event");
	return true;
}

void unpack_make_rooms(struct device *d)
{
	struct unpacking *const u = &d->unpacking;
	const struct {
		CUfunction *at;
		const char *name;
	} kernels[] = {{&u->sequences, "unpack_sequences"}, {&u->chain, "unpack_chain"},
		       {&u->literals, "unpack_literals"},   {&u->place, "unpack_place"},
		       {&u->resolve, "unpack_resolve"},     {&u->keep, "unpack_keep"}};
	struct unpack_memory all = {.ring_bytes = RING_BYTES};

	if (d->layout.rooms == 0 || !allocate(d, &all.ring, RING_BYTES) ||
	    !allocate(d, &all.carry, sizeof(struct unpack_carry)))
		return;
	for (unsigned i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		*kernels[i].at = cuda_function(&d->cuda, kernels[i].name);
	while (u->rooms < d->layout.rooms && make_room(d, &u->room[u->rooms], &all))
		u->rooms++;
}

/* ---- a batch ---- */

struct step {
	const struct device *device;
	const struct device_room *room;
	struct unpack_memory memory;
};

static void launch(const struct step *s, CUfunction kernel, unsigned grid, unsigned threads,
		   uint32_t from)
{
	struct unpack_memory memory = s->memory;
	void *arguments[] = {&memory, &from}; /* all but "resolve" take only the first */

	cuda_must(&s->device->cuda,
		  s->device->cuda.launch(kernel, grid, 1, 1, threads, 1, 1, 0, s->room->stream,
					 arguments, NULL),
		  "kernel");
}

/* The batch before this one, if there is one, has done that. */
static void after(const struct step *s, CUevent event)
{
	if (s->device->unpacking.begun > 0)
		cuda_must(&s->device->cuda, s->device->cuda.stream_wait(s->room->stream, event, 0),
			  "event");
}

static void record(const struct step *s, CUevent event)
{
	cuda_must(&s->device->cuda, s->device->cuda.event_record(event, s->room->stream), "event");
}

static void copy_in(const struct step *s, uint64_t to, const void *from, size_t bytes)
{
	cuda_must(&s->device->cuda, s->device->cuda.to_device(to, from, bytes, s->room->stream),
		  "copy to the GPU");
}

static void copy_out(const struct step *s, void *to, uint64_t from, size_t bytes)
{
	cuda_must(&s->device->cuda, s->device->cuda.to_host(to, from, bytes, s->room->stream),
		  "copy from the GPU");
}

/* Decoded bytes of a batch, at most. */
static uint32_t decoded_most(const struct unpack_orders *o)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < o->batch.blocks; i++)
		bytes += o->block[i].most;
	return bytes;
}

void unpack_begin(struct device *d, unsigned which)
{
	struct unpacking *const u = &d->unpacking;
	const struct region *const r = &d->layout;
	const unsigned slot = r->slots - r->rooms + which;
	unsigned char *const data = region_data(d->region, r, slot);
	const struct unpack_orders *const o =
		(const struct unpack_orders *)(const void *)(data + r->slot_bytes - sizeof(*o));
	struct device_room *const room = &u->room[which];
	const struct device_room *const before = &u->room[u->last];
	const struct step s = {d, room, room->memory};
	const uint32_t blocks = o->batch.blocks, most = decoded_most(o);

	copy_in(&s, s.memory.batch, o, sizeof(*o));
	copy_in(&s, s.memory.packed, data, (size_t)d->region->slot[slot].bytes);
	launch(&s, u->sequences, blocks, 64, 0);
	after(&s, before->chained);
	launch(&s, u->chain, 1, 32, 0);
	record(&s, room->chained);
	launch(&s, u->literals, blocks, 32, 0);
	if (o->batch.sequences > 0) {
		cuda_must(&d->cuda, d->cuda.fill32(s.memory.distance, 0, most, room->stream),
			  "clear");
		launch(&s, u->place, blocks, 256, 0);
	}
	after(&s, before->kept);
	for (uint32_t from = 0; from < most && o->batch.sequences > 0; from += UNPACK_REGION)
		launch(&s, u->resolve, UNPACK_REGION / 1024, 256, from);
	launch(&s, u->keep, 32, 256, 0);
	record(&s, room->kept);
	copy_out(&s, data, s.memory.decoded, most);
	copy_out(&s, region_cells(d->region, r, slot), s.memory.answer,
		 sizeof(struct unpack_answer));
	record(&s, room->done);
	u->begun++;
	u->last = which;
}

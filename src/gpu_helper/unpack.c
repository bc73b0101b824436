/* SPDX-License-Identifier: MIT */
/*
 * unpack: decodes zstd blocks on the device (kernels/zstd/unpack.cuh).
 *
 * A block with many sequences takes two milliseconds, so the device must decode many batches at
 * once. But each stream with its own connection adds 25 ms to the driver's start. So waiting
 * batches go through a few streams in groups: one launch for the group, for each step that needs no
 * other batch. Two steps go batch by batch: finding the blocks' offsets, and copying matches, also
 * from earlier batches. For these, a group waits on events of the group before it.
 */
#include "base/minmax.h"
#include "gpu_helper/device.h"

#define RING_BYTES (2 * UNPACKER_WINDOW) /* a power of two, and more than a window and a batch */
#define LINE 256u

/* Allot n bytes at *at, and move *at past them. Starting from 0, *at adds up the sizes. */
static uint64_t unpack_part(uint64_t *at, uint64_t n)
{
	const uint64_t begin = *at;

	*at += round_up(n, LINE);
	return begin;
}

/* Lay out a room's memory from `at` on; return its end. */
static uint64_t lay_out(struct unpack_memory *m, uint64_t at, uint64_t slot_bytes)
{
	const uint64_t decoded = (uint64_t)UNPACK_BLOCKS * (UNPACK_BLOCK_MAX + 64);

	m->packed = unpack_part(&at, UNPACK_BEFORE + slot_bytes + UNPACK_AFTER) + UNPACK_BEFORE;
	m->batch = unpack_part(&at, sizeof(struct unpack_orders));
	m->block = m->batch + sizeof(struct unpack_batch);
	m->state = unpack_part(&at, UNPACK_BLOCKS * sizeof(struct unpack_state));
	m->answer = unpack_part(&at, sizeof(struct unpack_answer));
	m->offset = unpack_part(&at, UNPACK_SEQUENCES * sizeof(uint32_t));
	m->literals = unpack_part(&at, UNPACK_SEQUENCES * sizeof(uint32_t));
	m->match = unpack_part(&at, UNPACK_SEQUENCES * sizeof(uint32_t));
	m->apart = unpack_part(&at, decoded);
	m->decoded = unpack_part(&at, decoded);
	m->distance =
		unpack_part(&at, (uint64_t)UNPACK_BLOCKS * UNPACK_BLOCK_MAX * sizeof(uint32_t));
	return at;
}

/* Return false if memory is short. */
static bool allocate(const struct device *d, CUdeviceptr *at, uint64_t bytes)
{
	const CUresult r = d->cuda.memory_alloc(at, (size_t)bytes);

	if (r != CUDA_ERROR_OUT_OF_MEMORY)
		cuda_must(&d->cuda, r, "memory to decode in");
	return r == CUDA_SUCCESS;
}

static CUevent new_event(const struct device *d)
{
	CUevent event;

	cuda_must(&d->cuda, d->cuda.event_create(&event, CU_EVENT_DISABLE_TIMING), "event");
	return event;
}

static bool make_room(struct device *d, struct device_room *room, const struct unpack_memory *all)
{
	const uint64_t bytes = lay_out(&room->memory, 0, d->region->slot_bytes);
	CUdeviceptr at;

	if (!allocate(d, &at, bytes))
		return false;
	room->memory = *all;
	(void)lay_out(&room->memory, at, d->region->slot_bytes);
	room->done = new_event(d);
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
		       {&u->resolve, "unpack_resolve"},     {&u->to_ring, "unpack_keep"}};
	struct unpack_memory all = {.ring_bytes = RING_BYTES};

	if (d->region->rooms == 0 || !allocate(d, &all.ring, RING_BYTES))
		return;
	if (!allocate(d, &all.carry, sizeof(struct unpack_carry))) {
		cuda_must(&d->cuda, d->cuda.memory_free(all.ring), "memory to decode in");
		return;
	}
	for (unsigned i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		*kernels[i].at = cuda_function(&d->cuda, kernels[i].name);
	for (unsigned i = 0; i < UNPACK_STREAMS; i++) {
		struct device_group *const g = &u->group[i];
		cuda_must(&d->cuda, d->cuda.stream_create(&g->stream, CU_STREAM_NON_BLOCKING),
			  "stream");
		g->chained = new_event(d);
		g->in_ring = new_event(d);
	}
	while (u->rooms < d->region->rooms && make_room(d, &u->room[u->rooms], &all))
		u->rooms++;
}

/* ---- a group ---- */

/* A group and the arguments of its copies and kernels. */
struct step {
	const struct device *device;
	const struct device_group *group;
	struct unpack_group memory;
	const struct unpack_orders *orders[UNPACK_GROUP]; /* of each batch */
	uint32_t decoded[UNPACK_GROUP];                   /* most decoded bytes of each batch */
};

static void unpack_launch(const struct step *s, CUfunction kernel, unsigned grid, unsigned rows,
			  unsigned threads, void **arguments)
{
	cuda_must(&s->device->cuda,
		  s->device->cuda.launch(kernel, grid, rows, 1, threads, 1, 1, 0, s->group->stream,
					 arguments, NULL),
		  "kernel");
}

/* Launch a CTA for each block of each batch. */
static void launch_group(const struct step *s, CUfunction kernel, unsigned threads)
{
	struct unpack_group memory = s->memory;
	uint32_t most = 0;

	for (unsigned i = 0; i < s->group->batches; i++)
		most = s->orders[i]->batch.blocks > most ? s->orders[i]->batch.blocks : most;
	unpack_launch(s, kernel, most, s->group->batches, threads, (void *[]){&memory});
}

static void launch_batch(const struct step *s, CUfunction kernel, unsigned grid, unsigned threads,
			 unsigned batch, uint32_t from)
{
	struct unpack_memory memory = s->memory.of[batch];

	unpack_launch(s, kernel, grid, 1, threads, (void *[]){&memory, &from});
}

/* Make the group's stream wait for an event of the group before. */
static void unpack_after(const struct step *s, CUevent event)
{
	cuda_must(&s->device->cuda, s->device->cuda.stream_wait(s->group->stream, event, 0),
		  "event");
}

static void unpack_record(const struct step *s, CUevent event)
{
	cuda_must(&s->device->cuda, s->device->cuda.event_record(event, s->group->stream), "event");
}

static void unpack_copy_in(const struct step *s, uint64_t to, const void *from, size_t bytes)
{
	cuda_must(&s->device->cuda, s->device->cuda.to_device(to, from, bytes, s->group->stream),
		  "copy to the GPU");
}

static void unpack_copy_out(const struct step *s, void *to, uint64_t from, size_t bytes)
{
	cuda_must(&s->device->cuda, s->device->cuda.to_host(to, from, bytes, s->group->stream),
		  "copy from the GPU");
}

/* Most decoded bytes of a batch. */
static uint32_t decoded_most(const struct unpack_orders *o)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < o->batch.blocks; i++)
		bytes += o->block[i].most;
	return bytes;
}

/* The slot of a room. */
static unsigned slot_of(const struct device *d, unsigned which)
{
	return d->region->slots - d->region->rooms + which;
}

static unsigned char *data_of(struct device *d, unsigned which)
{
	return region_data(d->region, slot_of(d, which));
}

/* Resolve a batch's matches, also into earlier batches, and copy its bytes to the ring. */
static void put_together(const struct step *s, unsigned batch)
{
	const struct unpacking *const u = &s->device->unpacking;
	const bool matches = s->orders[batch]->batch.sequences > 0;

	for (uint32_t from = 0; matches && from < s->decoded[batch]; from += UNPACK_REGION)
		launch_batch(s, u->resolve, UNPACK_REGION / 1024, 256, batch, from);
	launch_batch(s, u->to_ring, 32, 256, batch, 0);
}

void unpack_begin(struct device *d, struct device_group *g, const unsigned *rooms)
{
	struct unpacking *const u = &d->unpacking;
	const struct device_group *const before = u->last;
	struct step s = {.device = d, .group = g};

	for (unsigned i = 0; i < g->batches; i++) {
		const struct unpack_memory *const m = &u->room[rooms[i]].memory;
		const unsigned char *const data = data_of(d, rooms[i]);
		const struct unpack_orders *const o =
			(const struct unpack_orders *)(const void *)(data + d->region->slot_bytes -
								     sizeof(*o));
		s.memory.of[i] = *m;
		s.orders[i] = o;
		s.decoded[i] = decoded_most(o);
		unpack_copy_in(&s, m->batch, o, sizeof(*o));
		unpack_copy_in(&s, m->packed, data,
			       (size_t)d->region->slot[slot_of(d, rooms[i])].bytes);
		if (o->batch.sequences > 0)
			cuda_must(&d->cuda, d->cuda.fill32(m->distance, 0, s.decoded[i], g->stream),
				  "clear");
	}
	launch_group(&s, u->sequences, 64);
	if (before)
		unpack_after(&s, before->chained);
	for (unsigned i = 0; i < g->batches; i++)
		launch_batch(&s, u->chain, 1, 32, i, 0);
	unpack_record(&s, g->chained);
	launch_group(&s, u->literals, 32);
	launch_group(&s, u->place, 256);
	if (before)
		unpack_after(&s, before->in_ring);
	for (unsigned i = 0; i < g->batches; i++)
		put_together(&s, i);
	unpack_record(&s, g->in_ring);
	for (unsigned i = 0; i < g->batches; i++) {
		const struct unpack_memory *const m = &s.memory.of[i];
		unpack_copy_out(&s, data_of(d, rooms[i]), m->decoded, s.decoded[i]);
		unpack_copy_out(&s, region_cells(d->region, slot_of(d, rooms[i])), m->answer,
				sizeof(struct unpack_answer));
		unpack_record(&s, u->room[rooms[i]].done);
	}
	u->begun += g->batches;
	u->last = g;
}

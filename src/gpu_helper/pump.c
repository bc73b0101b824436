/* SPDX-License-Identifier: MIT */
/*
 * pump: the GPU process's loop: queues the requests of submitted slots on the device and returns
 * each slot when its request is done.
 *
 * The samples are copied from pinned (page-locked) memory. There are up to 64 slots, each with a
 * buffer of its own on the device, and two streams, which take turns: one copies a chunk while the
 * other counts, as with a double buffer. So copies and kernels overlap, and the bus carries as much
 * as without kernels, 50 GB/s; with one stream, it would carry 0.70 of that (make bench-overlap):
 *
 *	stream 0   [ to the device ][count][to host]  [ to the device ][count][to host]
 *	stream 1                    [ to the device ] [count][to host]
 *	           ------------------------------------------------------------> time
 *
 * One thread serves all slots: a chunk takes five driver calls, about 20 of the 76 microseconds
 * that its 4 MiB take on the bus.
 */
#include <time.h>

#include "gpu_helper/device.h"

/* Polling interval: a quarter of the time that 4 MiB take on PCIe 5 x16. */
#define NAP_NS 20000
#define SLEEP_SECONDS 0.25 /* longest sleep without work; the doorbell ends it */

/* Requests queued on a stream, which finish in this order. */
struct queue {
	unsigned slot[REGION_SLOTS];
	unsigned first, count;
};

/* The queue of batches, which finish in order, although each group has its own stream. */
#define BATCH_QUEUE DEVICE_STREAMS

struct pump {
	struct device *device;
	struct queue queue[DEVICE_STREAMS + 1];
	unsigned next; /* stream for the next request */
	bool at_work[REGION_SLOTS];
};

static void queue_add(struct queue *q, unsigned k)
{
	q->slot[(q->first + q->count++) % REGION_SLOTS] = k;
}

static unsigned queue_take(struct queue *q)
{
	const unsigned k = q->slot[q->first];

	q->first = (q->first + 1) % REGION_SLOTS;
	q->count--;
	return k;
}

/* ---- the pipeline ---- */

/* Copy the samples to the device, unless they were decoded there. */
static void to_device(struct device *d, unsigned k)
{
	const struct shared_slot *const shared = &d->region->slot[k];
	struct device_slot *const s = &d->slot[k];

	s->chunk.data = s->data;
	if (shared->room != NO_ROOM)
		s->chunk.data = d->unpacking.room[shared->room].memory.decoded + shared->at;
	else
		cuda_must(&d->cuda,
			  d->cuda.to_device(s->data, region_data(d->region, k), shared->bytes,
					    s->chunk.stream),
			  "copy to the GPU");
}

/* Clear the chunk's counters; resident ones (gpu_resident.h) go on. */
static void pump_clear(struct device *d, unsigned k)
{
	const struct device_slot *const s = &d->slot[k];
	/* The second time, the extent after the counters is already known: keep it. */
	const size_t words = s->again ? d->plan.cells : kernel_out_words(&d->plan);

	if (!d->counters)
		cuda_must(&d->cuda, d->cuda.fill32(s->chunk.cells, 0, words, s->chunk.stream),
			  "clear");
}

static void pump_launch(struct device *d, unsigned k)
{
	const struct device_slot *const s = &d->slot[k];
	struct binning bins = d->counting.binning;

	if (d->plan.extent)
		auto_rule(&bins, &d->counting.auto_bins, s->k);
	kernel_launch(&d->plan, &d->cuda, &s->chunk, s->samples, d->plan.extent ? &bins : NULL,
		      s->again);
}

static void pump_copy_out(struct device *d, unsigned k, void *to, CUdeviceptr from, size_t bytes)
{
	cuda_must(&d->cuda, d->cuda.to_host(to, from, bytes, d->slot[k].chunk.stream),
		  "copy from the GPU");
}

/* Fetch the chunk's counters; resident ones stay. */
static void to_host(struct device *d, unsigned k)
{
	if (!d->counters)
		pump_copy_out(d, k, region_cells(d->region, k), d->slot[k].chunk.cells,
			      kernel_out_words(&d->plan) * sizeof(uint32_t));
}

static void pump_record(struct device *d, unsigned k)
{
	const struct device_slot *const s = &d->slot[k];

	cuda_must(&d->cuda, d->cuda.event_record(s->done, s->chunk.stream), "event");
}

/*
 * Queue a chunk on its stream: stream k copies while stream 1 - k counts. The second time, the
 * samples are still on the device.
 */
static void count_chunk(struct device *d, unsigned k)
{
	if (!d->slot[k].again)
		to_device(d, k);
	pump_clear(d, k);
	pump_launch(d, k);
	to_host(d, k);
	pump_record(d, k);
}

/* At the end of a run: fetches a part of the resident table. */
static void fetch_resident(struct device *d, unsigned k)
{
	const struct shared_slot *const shared = &d->region->slot[k];

	pump_copy_out(d, k, region_data(d->region, k), d->counters + shared->at, shared->bytes);
	pump_record(d, k);
}

/* ---- requests ---- */

/* The first slot that is a room. */
static unsigned first_room(const struct device *d)
{
	return d->region->slots - d->region->rooms;
}

static bool submitted(const struct pump *p, unsigned k)
{
	return !p->at_work[k] && slot_state_of(&p->device->region->slot[k]) == SLOT_SUBMITTED;
}

/* Return the room of the batch with this number, or unpacking.rooms if it is not submitted yet. */
static unsigned room_of(const struct pump *p, uint64_t number)
{
	const struct device *const d = p->device;
	const unsigned first = first_room(d);
	unsigned which = 0;

	while (which < d->unpacking.rooms &&
	       !(submitted(p, first + which) && d->region->slot[first + which].batch == number))
		which++;
	return which;
}

/* Begin the next submitted batches, as one group, if a stream is free. */
static bool begin_group(struct pump *p)
{
	struct device *const d = p->device;
	struct unpacking *const u = &d->unpacking;
	struct device_group *g = u->group;
	unsigned rooms[UNPACK_GROUP], n = 0;

	while (g < u->group + UNPACK_STREAMS && g->batches > 0)
		g++;
	if (g == u->group + UNPACK_STREAMS)
		return false;
	while (n < UNPACK_GROUP && (rooms[n] = room_of(p, u->begun + n)) < u->rooms) {
		const unsigned k = first_room(d) + rooms[n];
		u->room[rooms[n]].group = g;
		p->at_work[k] = true;
		queue_add(&p->queue[BATCH_QUEUE], k);
		n++;
	}
	if (n == 0)
		return false;
	g->batches = n;
	unpack_begin(d, g, rooms);
	return true;
}

static void pump_begin(struct pump *p, unsigned k)
{
	struct device *d = p->device;
	struct shared_slot *shared = &d->region->slot[k];
	struct device_slot *s = &d->slot[k];
	const unsigned nth = p->next;

	p->next = (nth + 1) % DEVICE_STREAMS;
	s->chunk.stream = d->stream[nth];
	s->samples = shared->samples;
	s->k = shared->k;
	s->all = shared->extent;
	s->again = false;
	if (shared->request == REQUEST_FETCH)
		fetch_resident(d, k);
	else
		count_chunk(d, k);
	p->at_work[k] = true;
	queue_add(&p->queue[nth], k);
}

/*
 * --auto: was the chunk's k, chosen before its samples were read, large enough? If not, counts it
 * again, at the k of the samples so far and the chunk's together.
 */
static bool k_was_enough(struct device *d, unsigned k)
{
	struct device_slot *s = &d->slot[k];
	struct shared_slot *shared = &d->region->slot[k];

	shared->extent = kernel_extent(&d->plan, region_cells(d->region, k));
	/* The program refuses an impossible extent. */
	if (s->again || !auto_is_extent(&d->counting.auto_bins, &shared->extent) ||
	    auto_k(&d->counting.auto_bins, &shared->extent) <= s->k)
		return true;
	extent_add(&s->all, &shared->extent);
	s->k = auto_k(&d->counting.auto_bins, &s->all);
	s->again = true;
	count_chunk(d, k);
	return false;
}

/* Return the slot of the first batch, if that is done. */
static bool reap_batch(struct pump *p)
{
	struct device *d = p->device;
	struct queue *q = &p->queue[BATCH_QUEUE];

	if (q->count == 0)
		return false;
	const unsigned k = q->slot[q->first];
	struct device_room *room = &d->unpacking.room[k - first_room(d)];
	const CUresult r = d->cuda.event_query(room->done);
	if (r == CUDA_ERROR_NOT_READY)
		return false;
	cuda_must(&d->cuda, r, "decoding");
	queue_take(q);
	room->group->batches--;
	p->at_work[k] = false;
	slot_answer(&d->region->slot[k]);
	return true;
}

/* Return the slot of a stream's first request, if that is done. */
static bool pump_reap(struct pump *p, unsigned stream)
{
	struct device *d = p->device;
	struct queue *q = &p->queue[stream];

	if (q->count == 0)
		return false;
	const unsigned k = q->slot[q->first];
	struct device_slot *s = &d->slot[k];
	const CUresult r = d->cuda.event_query(s->done);
	if (r == CUDA_ERROR_NOT_READY)
		return false;
	cuda_must(&d->cuda, r, "counting");
	queue_take(q);
	if (d->plan.extent && !k_was_enough(d, k)) {
		queue_add(q, k);
		return true;
	}
	p->at_work[k] = false;
	slot_answer(&d->region->slot[k]);
	return true;
}

/* `seen` is the doorbell before the last check, which found no work. */
static void sleep_without_work(struct pump *p, uint32_t seen)
{
	struct region *r = p->device->region;

	__atomic_store_n(&r->sleeping, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST) == seen)
		region_wait(&r->doorbell, seen, SLEEP_SECONDS);
	__atomic_store_n(&r->sleeping, 0, __ATOMIC_SEQ_CST);
}

void pump(struct device *d)
{
	struct pump p = {.device = d};
	struct region *r = d->region;

	for (unsigned first = 0;; first = (first + 1) % d->slots) {
		const uint32_t seen = __atomic_load_n(&r->doorbell, __ATOMIC_SEQ_CST);
		bool worked = begin_group(&p);
		for (unsigned i = 0; i < d->slots; i++) {
			const unsigned k = (first + i) % d->slots;
			if (submitted(&p, k)) {
				pump_begin(&p, k);
				worked = true;
			}
		}
		for (unsigned i = 0; i < DEVICE_STREAMS; i++)
			worked |= pump_reap(&p, i);
		worked |= reap_batch(&p);
		if (worked)
			continue;
		if (p.queue[0].count + p.queue[1].count + p.queue[BATCH_QUEUE].count == 0)
			sleep_without_work(&p, seen);
		else
			nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * gpu: devices as they get ready, and the only place where the GPU fails; lanes; the way through a
 * slot, where what comes back is copied, and the copy checked.
 */
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

#define LOOK_NS 1000000 /* from one look to the next, while the driver starts */

/* ---- the state ---- */

/* With the lock held. */
static void set_state(struct gpu *gpu, enum gpu_state state)
{
	lock_assert_held(&gpu->lock);
	__atomic_store_n(&gpu->state, state, __ATOMIC_RELEASE);
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

bool gpu_starting(const struct gpu *gpu)
{
	return state_of(gpu) == GPU_STARTING;
}

int gpu_wait(struct gpu *gpu)
{
	while (gpu_starting(gpu))
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
	return gpu_failed(gpu) ? -1 : 0;
}

void gpu_describe(struct gpu *gpu, struct gpu_report *report)
{
	lock_take(&gpu->lock);
	*report = gpu->report;
	report->state = gpu->state;
	lock_drop(&gpu->lock);
}

/* ---- the start ---- */

/* Makes the region, with the job in it, as the helper shares no other memory with us. */
static struct region *make_region(const struct counting *c, const struct gpu_size *size,
				  struct region *layout, int *fd)
{
	struct region plan = {
		.table_bytes =
			c->binning.kind == BIN_TABLE ? 4 * (uint64_t)c->binning.table.words : 0,
		.slot_bytes = size->slot_bytes,
		.cell_bytes = size->cell_bytes,
		.slots = size->slots,
		.rooms = size->rooms,
		.piece = (uint32_t)size->piece,
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
	*r = *layout = plan;
	if (r->table_bytes > 0)
		memcpy((unsigned char *)r + r->table_at,
		       (const void *)(uintptr_t)c->binning.table.at, r->table_bytes);
	return r;
}

static int start_failed(struct gpu *gpu, const char *what)
{
	gpu_fail(gpu, what, strerror(errno));
	return -1;
}

/*
 * Starts the helper of one device, whose environment shows it that device alone. In this process
 * only the link's thread is started. -1: gpu_fail was called with the reason.
 */
static int device_start(struct gpu *gpu, unsigned index)
{
	struct gpu_device *d = &gpu->device[index];
	const struct gpu_spec *spec = &gpu->spec;
	const unsigned named = devices_named(spec->devices);
	int fd;

	d->gpu = gpu;
	d->link.socket = -1;
	d->region = make_region(spec->counting, &gpu->size, &d->layout, &fd);
	if (!d->region)
		return start_failed(gpu, "memory to share with the driver's process");
	/* With "all", the first helper sees all devices, to report how many there are. */
	if (named > 0 || index > 0)
		devices_show(d->region->devices, sizeof(d->region->devices),
			     getenv("CUDA_VISIBLE_DEVICES"),
			     named ? devices_nth(spec->devices, index) : index);
	for (unsigned k = 0; k < REGION_SLOTS; k++)
		d->slot[k] =
			(struct slot){.index = k, .data = region_data(d->region, &d->layout, k)};
	return link_open(d, fd) == 0
		       ? 0
		       : start_failed(gpu, "a socket or a thread for the driver's process");
}

static void device_close(struct gpu_device *d)
{
	link_close(d);
	epoch_destroy(&d->epoch);
	if (d->region)
		munmap(d->region, (size_t)d->layout.total);
	d->region = NULL;
}

struct gpu *gpu_start(const struct gpu_spec *spec)
{
	const unsigned named = devices_named(spec->devices);
	struct gpu *gpu = calloc(1, sizeof(*gpu));

	assert(spec->lanes > 0);
	if (!gpu)
		return NULL;
	gpu->spec = *spec;
	gpu->size = gpu_size(spec);
	gpu->started = clock_seconds();
	gpu->state = GPU_STARTING;
	if (lock_init(&gpu->lock) != 0) {
		free(gpu);
		return NULL;
	}
	/* With "all", the thread of the first device starts the others and sets their number. */
	const unsigned first = named == 0 ? 1 : named < GPU_DEVICES ? named : GPU_DEVICES;
	gpu->devices = first;
	for (unsigned i = 0; i < first; i++)
		if (device_start(gpu, i) != 0)
			break;
	return gpu;
}

void gpu_close(struct gpu *gpu)
{
	if (!gpu)
		return;
	/*
	 * The thread of the first device may start others until it is joined, so it is closed
	 * first.
	 */
	for (unsigned i = 0; i < GPU_DEVICES; i++)
		device_close(&gpu->device[i]);
	lock_destroy(&gpu->lock);
	free(gpu);
}

/* ---- a device that is ready ---- */

/* Can what the helper says be true? Only what is checked here is used later. */
static bool plausible(const struct gpu_device *d, const struct notice *n)
{
	return n->slots >= 1 && n->slots <= d->layout.slots - d->layout.rooms && n->devices >= 1 &&
	       n->rooms <= d->layout.rooms;
}

int gpu_device_ready(struct gpu_device *d, const struct notice *n)
{
	struct gpu *gpu = d->gpu;
	const bool first = d == gpu->device;

	if (d->ready || !plausible(d, n))
		return -1;
	d->facts = *n;
	d->cells = gpu->spec.counting->cells;
	if (d->layout.piece > 0 && epoch_init(d) != 0)
		return -1;
	if (first && devices_named(gpu->spec.devices) == 0) {
		const unsigned all = n->devices < DEVICES_ALL ? n->devices : DEVICES_ALL;
		lock_take(&gpu->lock);
		gpu->devices = all;
		lock_drop(&gpu->lock);
		for (unsigned i = 1; i < all; i++)
			(void)device_start(gpu, i);
	}
	lock_take(&gpu->lock);
	d->ready = true;
	gpu->report.slots += n->slots;
	gpu->report.rooms += n->rooms;
	gpu->report.memory += d->layout.total;
	gpu->report.devices++;
	if (first) {
		gpu->report.memory += gpu->size.lanes * gpu->size.lane_bytes;
		memcpy(gpu->report.name, d->facts.name, sizeof(d->facts.name));
		memcpy(gpu->report.kernel, d->facts.kernel, sizeof(d->facts.kernel));
		gpu->report.slot_bytes = (size_t)d->layout.slot_bytes;
	}
	if (gpu->state == GPU_STARTING && gpu->report.devices == gpu->devices) {
		gpu->report.start_seconds = clock_seconds() - gpu->started;
		set_state(gpu, GPU_READY);
	}
	lock_drop(&gpu->lock);
	return 0;
}

/* ---- lanes ---- */

bool gpu_lane_free(const struct gpu *gpu)
{
	return state_of(gpu) == GPU_READY &&
	       __atomic_load_n(&gpu->lanes, __ATOMIC_RELAXED) < gpu->size.lanes;
}

static struct gpu_device *choose_device(struct gpu *gpu)
{
	struct gpu_device *best = NULL;

	lock_take(&gpu->lock);
	for (unsigned i = 0;
	     gpu->state == GPU_READY && gpu->lanes < gpu->size.lanes && i < gpu->devices; i++)
		if (!best || gpu->device[i].lanes < best->lanes)
			best = &gpu->device[i];
	if (best) {
		best->lanes++;
		__atomic_store_n(&gpu->lanes, gpu->lanes + 1, __ATOMIC_RELAXED);
	}
	lock_drop(&gpu->lock);
	return best;
}

struct lane *gpu_lane_open(struct gpu *gpu)
{
	const struct counting *c = gpu->spec.counting;
	struct gpu_device *d = gpu_lane_free(gpu) ? choose_device(gpu) : NULL;
	struct lane *lane = d ? calloc(1, sizeof(*lane)) : NULL;

	if (!lane) {
		errno = d ? ENOMEM : 0;
		return NULL;
	}
	*lane = (struct lane){
		.gpu = gpu,
		.device = d,
		.cells = d->cells,
		.stays = d->layout.piece > 0,
		.slots_of_k = c->auto_bins.most > 0,
		.k = auto_k(&c->auto_bins, &EXTENT_NONE),
		.extent = EXTENT_NONE,
	};
	bool short_of_memory = !(lane->cells_copy = malloc(d->layout.cell_bytes));
	if (!lane->stays)
		short_of_memory |= !(lane->total = calloc(lane->cells, sizeof(*lane->total)));
	if (!short_of_memory && lane->stays)
		epoch_join(lane);
	if (!short_of_memory)
		return lane;
	gpu_lane_close(lane);
	errno = ENOMEM;
	return NULL;
}

void gpu_lane_close(struct lane *lane)
{
	if (!lane)
		return;
	struct gpu *const gpu = lane->gpu;
	lock_take(&gpu->lock);
	lane->device->lanes--;
	__atomic_store_n(&gpu->lanes, gpu->lanes - 1, __ATOMIC_RELAXED);
	lock_drop(&gpu->lock);
	free(lane->cells_copy);
	free(lane->total);
	free(lane);
}

size_t gpu_slot_bytes(const struct lane *lane)
{
	return (size_t)lane->device->layout.slot_bytes;
}

/* ---- slots ---- */

/* How many words come back for the slot's order. */
static size_t words_of(const struct gpu_device *d, const struct slot *slot)
{
	switch (slot->order) {
	case ORDER_SUMS:
		return d->epoch.pieces * sizeof(uint64_t) / sizeof(uint32_t);
	case ORDER_PIECE:
		return epoch_piece(d, slot->piece);
	case ORDER_COUNT:
		return d->layout.piece > 0 ? 0 : d->cells;
	case ORDER_CLEAR:
	case ORDER_UNPACK:
		break;
	}
	return 0;
}

struct slot *gpu_take_slot(struct lane *lane)
{
	struct gpu_device *d = lane->device;

	for (unsigned i = 0; i < d->facts.slots; i++) {
		struct slot *slot = &d->slot[i];
		enum slot_state state = SLOT_FREE;
		if (__atomic_load_n(&slot->state, __ATOMIC_RELAXED) == SLOT_FREE &&
		    __atomic_compare_exchange_n(&slot->state, &state, SLOT_TAKEN, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return slot;
	}
	return NULL;
}

void gpu_free(struct slot *slot)
{
	__atomic_store_n(&slot->state, SLOT_FREE, __ATOMIC_RELEASE);
}

void device_submit(struct gpu_device *d, struct slot *slot)
{
	struct shared_slot *s = &d->region->slot[slot->index];

	assert(slot_is(slot, SLOT_TAKEN));
	s->order = slot->order;
	s->piece = slot->piece;
	s->room = slot->room;
	s->at = slot->at;
	s->bytes = slot->bytes;
	s->samples = slot->samples;
	s->k = slot->k;
	s->extent = slot->extent;
	__atomic_store_n(&s->awaited, 0, __ATOMIC_RELAXED);
	/*
	 * Makes the first sum or counter larger than any can be: if an answer comes and nothing was
	 * written, what was there before must not pass the checks.
	 */
	memset(region_cells(d->region, &d->layout, slot->index), 0xff, sizeof(uint64_t));
	__atomic_store_n(&slot->state, SLOT_SUBMITTED, __ATOMIC_RELEASE);
	__atomic_fetch_add(&d->submitted, 1, __ATOMIC_RELAXED);
	slot_submit(d->region, s, ++slot->number);
}

bool gpu_counts_rooms(const struct lane *lane)
{
	return lane->device == &lane->gpu->device[0] && lane->device->facts.rooms > 0;
}

int gpu_submit(struct lane *lane, struct slot *slot, const unsigned char *data, size_t bytes)
{
	const struct gpu_device *const d = lane->device;
	const size_t room = (size_t)d->layout.slot_bytes;

	assert(bytes > 0);
	if (gpu_failed(lane->gpu))
		return -1;
	slot->order = ORDER_COUNT;
	slot->room = NO_ROOM;
	slot->at = 0;
	if (data != slot->data) {
		const size_t at = (size_t)(data - d->slot[d->layout.slots - d->layout.rooms].data);
		assert(at < d->layout.rooms * room && at % room + bytes <= room);
		slot->room = (uint32_t)(at / room);
		slot->at = at % room;
	}
	slot->bytes = bytes;
	slot->samples = samples_of(&lane->gpu->spec.counting->layout, bytes);
	slot->k = lane->k;
	slot->extent = lane->extent;
	device_submit(lane->device, slot);
	return 0;
}

/*
 * Is this an extent that samples of the type can have, or EXTENT_NONE? A faulty GPU may say
 * anything.
 */
static bool is_extent(const struct extent *e, const struct sample_type *type)
{
	const uint64_t most = type->bytes == 8   ? UINT64_MAX
			      : type->bytes == 4 ? UINT32_MAX
						 : 0xffffff;

	return e->least <= e->greatest ? e->greatest <= most
				       : e->least == UINT64_MAX && e->greatest == 0;
}

/*
 * --auto: takes over what the helper says of the chunk's samples, and the k at which it must have
 * counted them: the one it was given if that is large enough, else that of all samples of the lane
 * and the chunk's own (driver/pump.c). Returns why the answer is impossible; NULL: it is not.
 */
static const char *take_extent(struct lane *lane, struct slot *slot)
{
	const struct counting *c = lane->gpu->spec.counting;
	const struct shared_slot *s = &lane->device->region->slot[slot->index];
	const struct extent said = {
		.least = __atomic_load_n(&s->extent.least, __ATOMIC_RELAXED),
		.greatest = __atomic_load_n(&s->extent.greatest, __ATOMIC_RELAXED),
	};
	const int k_said = __atomic_load_n(&s->k, __ATOMIC_RELAXED);
	struct extent all = slot->extent;

	if (!is_extent(&said, &c->type))
		return "a chunk's least and greatest sample are none of the type";
	int k = slot->k;
	if (auto_k(&c->auto_bins, &said) > k) {
		extent_add(&all, &said);
		k = auto_k(&c->auto_bins, &all);
	}
	if (k_said != k)
		return "a chunk was counted by other bins than its samples ask for";
	slot->k = k;
	slot->extent = said;
	return NULL;
}

enum gpu_answer device_done(struct gpu_device *d, const struct slot *slot, double seconds)
{
	struct shared_slot *s = &d->region->slot[slot->index];
	const uint32_t submitted = slot_word(slot->number, SHARED_SUBMITTED);
	uint32_t word;

	assert(slot_is(slot, SLOT_SUBMITTED));
	if ((word = slot_word_of(s)) == submitted && seconds > 0 && !gpu_failed(d->gpu)) {
		__atomic_store_n(&s->awaited, 1, __ATOMIC_SEQ_CST);
		region_wait(&s->word, submitted, seconds);
		word = slot_word_of(s);
	}
	if (gpu_failed(d->gpu))
		return GPU_LOST;
	if (word == submitted)
		return GPU_NOT_YET;
	if (word != slot_word(slot->number, SHARED_DONE)) {
		gpu_fail(d->gpu, "driver", "its process sent an invalid answer");
		return GPU_LOST;
	}
	return GPU_DONE;
}

enum gpu_answer gpu_done(struct lane *lane, struct slot *slot, double seconds)
{
	struct gpu_device *const d = lane->device;
	const enum gpu_answer answer = device_done(d, slot, seconds);

	if (answer != GPU_DONE)
		return answer;
	const char *const why = lane->slots_of_k ? take_extent(lane, slot) : NULL;
	if (why) {
		gpu_fail(lane->gpu, "check", why);
		return GPU_LOST;
	}
	slot->cells = lane->cells_copy;
	memcpy(slot->cells, region_cells(d->region, &d->layout, slot->index),
	       words_of(d, slot) * sizeof(*slot->cells));
	__atomic_store_n(&slot->state, SLOT_TAKEN, __ATOMIC_RELAXED);
	return GPU_DONE;
}

void gpu_align(struct lane *lane, struct slot *slot)
{
	const struct counting *c = lane->gpu->spec.counting;
	const struct extent before = lane->extent;

	extent_add(&lane->extent, &slot->extent);
	const int k =
		auto_k_grown(&c->auto_bins, &lane->extent, lane->k > slot->k ? lane->k : slot->k);
	for (size_t at = 0; at < lane->cells; at += c->cells_each) {
		auto_coarsen64(lane->total + at, &c->auto_bins, &before, lane->k, k);
		auto_coarsen32(slot->cells + at, &c->auto_bins, &slot->extent, slot->k, k);
	}
	lane->k = slot->k = k;
}

/* SPDX-License-Identifier: MIT */
/* gpu_size: a device's share of -M, cut into slots. */
#include "gpu/gpu_size.h"

#include "gpu/gpu_devices.h"
#include "gpu/gpu_group.h"
#include "gpu/region.h"

#define SLOT_MIN ((size_t)1 << 20)
#define SLOT_ENOUGH ((size_t)4 << 20)
#define SLOT_MAX ((size_t)64 << 20)
/* for frames, which are decoded in one call up to this size */
#define SLOT_DECODED ((size_t)16 << 20)
#define SLOT_LEAST ((size_t)256 << 10) /* where memory is short */
#define SLOTS_LEAST 4u
#define SLOTS_MORE 4u /* more slots than lanes: chunks on the bus, and chunks being counted */
/* As many workers, each filling a slot, keep the bus busy; more would only make slots smaller. */
#define SLOTS_BUSY 16u
#define ORDERS 4u
#define ORDERS_MOST 16u
/* adding so many takes all threads; their memory is that of the bins */
#define ORDERS_CELLS ((size_t)1 << 22)
/* As many as fit the shared memory of any device; types with codes are counted otherwise. */
#define GROUPS_MOST 15000u

/* At most this many bytes, in whole samples and whole pages, but at least a record. */
static size_t slot_bytes_for(const struct counting *c, size_t bytes)
{
	const size_t unit = (size_t)4096 * c->bytes, record = layout_bytes(&c->layout);

	return bytes / unit * unit >= record ? bytes / unit * unit
					     : (record + unit - 1) / unit * unit;
}

static size_t piece_of(size_t slot_bytes)
{
	size_t piece = 1024;

	while (2 * piece * sizeof(uint32_t) <= slot_bytes && piece < (size_t)1 << 20)
		piece *= 2;
	return piece;
}

/* Workers that feed one device; with "all" the number of devices is not known yet. */
static unsigned lanes_of_each(const struct gpu_spec *spec)
{
	const unsigned named = devices_named(spec->devices);

	return named < 2 ? spec->lanes : (spec->lanes + named - 1) / named;
}

struct gpu_size gpu_size(const struct gpu_spec *spec, uint64_t memory)
{
	const struct counting *c = spec->counting;
	const uint32_t channels = (uint32_t)(c->cells / c->cells_each);
	struct groups groups;
	const uint32_t grouped =
		c->stats ? 0
			 : groups_choose(&groups, &c->type, &c->binning, GROUPS_MOST / channels);
	const size_t cells = grouped > 0 ? (size_t)grouped * channels : c->cells;
	const unsigned lanes = lanes_of_each(spec);
	struct gpu_size size = {
		.slots = spec->windows ? SLOTS_LEAST : lanes + (spec->decoded ? 0 : SLOTS_MORE),
		.stays = !spec->fetch && c->most == 0 && cells > STAY_CELLS,
	};
	size_t bytes = spec->decoded ? SLOT_DECODED : SLOT_ENOUGH;

	/*
	 * After the counters there may be an extent (driver/kernel.h), and a device may not support
	 * groups.
	 */
	size.cell_bytes = size.stays ? 0 : (c->cells + 8) * sizeof(uint32_t);
	if (size.slots < SLOTS_LEAST)
		size.slots = SLOTS_LEAST;
	if (size.stays)
		size.orders = cells < ORDERS_CELLS || lanes <= ORDERS ? ORDERS
			      : lanes < ORDERS_MOST                   ? lanes
								      : ORDERS_MOST;
	if (cells >= ORDERS_CELLS)
		memory += (uint64_t)cells * sizeof(uint32_t);
	size.slots += size.orders;
	if (size.slots > REGION_SLOTS)
		size.slots = REGION_SLOTS;
	while (!spec->decoded && size.slots > SLOTS_BUSY + size.orders &&
	       size.slots * (uint64_t)bytes > memory)
		size.slots--;
	while (bytes > SLOT_MIN && size.slots * (uint64_t)bytes > memory)
		bytes /= 2;
	/*
	 * The fixed work for a chunk is in proportion to its counters, so it should have many more
	 * bytes than they have.
	 */
	if (!size.stays && bytes < 16 * cells * sizeof(uint32_t))
		bytes = 16 * cells * sizeof(uint32_t) < SLOT_MAX ? 16 * cells * sizeof(uint32_t)
								 : SLOT_MAX;
	while (size.slots > SLOTS_LEAST + size.orders && size.slots * (uint64_t)bytes > memory)
		size.slots--;
	/* One slot must hold the sums of all pieces. */
	const size_t least = size.stays && cells > (size_t)1 << 29 ? 2 * SLOT_LEAST : SLOT_LEAST;
	while (bytes > least && size.slots * (uint64_t)bytes > memory)
		bytes /= 2;
	size.slot_bytes = slot_bytes_for(c, bytes);
	/* With long records there is room for fewer slots. */
	while (size.slots > 2 + size.orders && size.slot_bytes > SLOT_LEAST &&
	       size.slots * (uint64_t)size.slot_bytes > memory)
		size.slots--;
	size.piece = piece_of(size.slot_bytes);
	return size;
}

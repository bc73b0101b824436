/* SPDX-License-Identifier: MIT */
/* gpu_plan: divides the GPU's share of -M among slots, and picks the visible device. */
#include "gpu/gpu_plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "gpu/region.h"
#include "zstd/unpacker.h"

/* ---- slots ---- */

#define SLOT_LEAST ((uint64_t)256 << 10) /* least bytes of a slot if memory is short */
#define SLOT_SMALL ((uint64_t)1 << 20)   /* otherwise: use fewer slots rather than smaller ones */
#define SLOT_ENOUGH ((uint64_t)4 << 20)
#define SLOT_MOST ((uint64_t)64 << 20)
#define SLOTS_LEAST 4u
#define ROOM_LEAST (4 * (size_t)UNPACK_BLOCK_MAX) /* least bytes of a slot that is a room */
#define SLOTS_MORE 4u /* slots beyond one per lane: for chunks on the bus or being counted */
/* This many slots keep the bus busy; with more, each would only be smaller. */
#define SLOTS_BUSY 16u

/* Round down to whole samples and pages, but return at least a record. */
static size_t slot_bytes_for(const struct counting *c, size_t bytes)
{
	const size_t unit = (size_t)4096 * c->bytes, record = layout_bytes(&c->layout);

	return larger(bytes / unit * unit, round_up(record, unit));
}

/*
 * Number of slots that are rooms, for decoding zstd. Most are, because a batch takes longer than a
 * chunk, and the CPU may count the decoded bytes.
 */
static unsigned rooms_of(uint64_t slots)
{
	const uint64_t others = within(slots / 4, 2, SLOTS_BUSY);

	return slots < 2 * others ? 0 : (unsigned)within(slots - others, 0, UNPACKER_ROOMS);
}

struct gpu_size gpu_size(const struct gpu_spec *spec)
{
	const struct counting *c = spec->counting;
	const bool resident = !spec->fetched && c->auto_bins.most == 0 && c->cells > RESIDENT_CELLS;
	/* A chunk should have many more bytes than the counters that it fetches. */
	const uint64_t fetched = resident ? 0 : c->cells * sizeof(uint32_t);
	/* All cells and an extent (gpu_helper/kernel.h), or the answer to a batch. */
	const size_t cell_bytes = fetched + 64;
	const uint64_t least = within(16 * fetched, SLOT_SMALL, SLOT_MOST);
	const uint64_t most = within(SLOT_ENOUGH, least, SLOT_MOST);
	const uint64_t least_of_all = slot_bytes_for(c, within(4 * fetched, SLOT_LEAST, SLOT_MOST));
	const uint64_t small = least_of_all + cell_bytes, two = 2 * small;
	const uint64_t memory = spec->memory;
	const bool fits = memory >= two;
	/* A lane needs a slot, or it is useless. */
	const uint64_t lanes = within(memory / small, 1, spec->lanes);
	const uint64_t left = fits ? memory : 0;
	const uint64_t wanted = within(lanes + SLOTS_MORE + (spec->unpacks ? UNPACKER_ROOMS : 0),
				       SLOTS_LEAST, REGION_SLOTS);
	const uint64_t busy = lesser(wanted, SLOTS_BUSY);
	/* All wanted slots, of the best size. If memory is short: fewer, down to `busy`; smaller,
	 * down to `least`; fewer, down to SLOTS_LEAST; smaller, down to `small`; then fewer. */
	uint64_t slots = within(left / (most + cell_bytes), busy, wanted);
	slots = within(left / (least + cell_bytes), SLOTS_LEAST, slots);
	slots = within(left / small, 2, slots);
	const uint64_t each = fits ? left / slots - cell_bytes : memory / 2;
	const size_t slot_bytes = slot_bytes_for(c, (size_t)within(each, SLOT_LEAST, most));
	return (struct gpu_size){
		.fits = fits,
		.lanes = (unsigned)lanes,
		.slots = (unsigned)slots,
		.rooms = spec->unpacks && slot_bytes >= ROOM_LEAST ? rooms_of(slots) : 0,
		.slot_bytes = slot_bytes,
		.cell_bytes = cell_bytes,
		.resident = resident,
	};
}

/* ---- the device ---- */

void device_show(char *text, size_t size, const char *visible, unsigned number)
{
	const char *v = visible;

	if (!visible) {
		snprintf(text, size, "%u", number);
		return;
	}
	/* The driver ignores every entry after an invalid one. */
	for (; v && (number > 0 || *v == '-' || *v == ',' || *v == '\0'); number--) {
		v = *v == '-' || *v == ',' ? NULL : strchr(v, ',');
		v = v ? v + 1 : NULL;
	}
	snprintf(text, size, "%.*s", v ? (int)strcspn(v, ",") : 2, v ? v : "-1");
}

/* SPDX-License-Identifier: MIT */
/*
 * gpu_plan: the GPU's share of -M, divided among lanes and slots; lists of devices; groups of codes,
 * and the check that they are right.
 */
#include "gpu/gpu_plan.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/region.h"

/* ---- slots ---- */

#define SLOT_LEAST ((uint64_t)256 << 10) /* where memory is short */
#define SLOT_SMALL ((uint64_t)1 << 20)   /* where it is not: fewer slots rather than smaller ones */
#define SLOT_ENOUGH ((uint64_t)4 << 20)
#define SLOT_MOST ((uint64_t)64 << 20)
#define SLOTS_LEAST 4u
#define SLOTS_MORE 4u /* more slots than lanes: chunks on the bus, and chunks being counted */
/* As many workers, each filling a slot, keep the bus busy; more would only make slots smaller. */
#define SLOTS_BUSY 16u
/* A piece in bytes is a sixteenth of a slot, and one slot has room for the sums of all pieces. */
#define PIECE ((size_t)1 << 16)
/* After a failure the CPU may add the codes of a bin as one of them: count.h. */
static_assert(PIECE % 65536 == 0, "a piece has all 16-bit codes of a channel");
/* As many as fit the shared memory of any device; types with codes are counted otherwise. */
#define GROUPS_MOST 15000u

static uint64_t within(uint64_t n, uint64_t least, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

/* At most this many bytes, in whole samples and whole pages, but at least a record. */
static size_t slot_bytes_for(const struct counting *c, size_t bytes)
{
	const size_t unit = (size_t)4096 * c->bytes, record = layout_bytes(&c->layout);

	return bytes / unit * unit >= record ? bytes / unit * unit
					     : (record + unit - 1) / unit * unit;
}

/* Counters of a chunk. */
static size_t counters_of(const struct counting *c)
{
	const uint32_t channels = (uint32_t)(c->cells / c->cells_each);
	struct groups groups;
	const uint32_t grouped =
		c->stats ? 0
			 : groups_choose(&groups, &c->type, &c->binning, GROUPS_MOST / channels);

	return grouped > 0 ? (size_t)grouped * channels : c->cells;
}

/* What a lane keeps: a copy of a slot's counters, a total unless they stay, statistics. */
static uint64_t lane_bytes_for(const struct counting *c, size_t cells, bool stays, size_t copy)
{
	return copy + (stays ? 0 : cells * sizeof(uint64_t)) +
	       (counting_adds_stats(c) ? stats_bytes(&c->type, c->channels) : 0);
}

struct gpu_size gpu_size(const struct gpu_spec *spec)
{
	const struct counting *c = spec->counting;
	const unsigned named = devices_named(spec->devices), devices = named ? named : DEVICES_ALL;
	const size_t cells = counters_of(c);
	const bool stays = !spec->fetch && c->most == 0 && cells > STAY_CELLS;
	/*
	 * After the counters there may be an extent (driver/kernel.h), and a device may not support
	 * groups.
	 */
	const size_t cell_bytes = (stays ? PIECE : c->cells + 8) * sizeof(uint32_t);
	const uint64_t lane_bytes = lane_bytes_for(c, cells, stays, cell_bytes);
	/*
	 * The fixed work for a chunk is in proportion to the counters that it fetches, so it should
	 * have many more bytes than they have, and a few times as many where memory is short.
	 */
	const uint64_t fetched = stays ? 0 : cells * sizeof(uint32_t);
	const uint64_t least = within(16 * fetched, SLOT_SMALL, SLOT_MOST);
	const uint64_t most = within(SLOT_ENOUGH, least, SLOT_MOST);
	const uint64_t least_of_all = slot_bytes_for(c, within(4 * fetched, SLOT_LEAST, SLOT_MOST));
	const uint64_t small = least_of_all + cell_bytes, two = 2 * small * devices;
	const uint64_t memory = spec->memory;
	const bool fits = memory >= two + lane_bytes;
	/* Where memory is short a lane without a slot is of no use. */
	const uint64_t beside = fits ? (memory - two) / lane_bytes : 1,
		       with_slots = memory / (small + lane_bytes);
	const uint64_t lanes = within(beside < with_slots ? beside : with_slots, 1, spec->lanes);
	const uint64_t left = fits ? (memory - lanes * lane_bytes) / devices : 0;
	/* Workers that feed one device; with "all" the number of devices is not known yet. */
	const uint64_t feeders = named ? (lanes + named - 1) / named : lanes;
	const uint64_t wanted = within(feeders + SLOTS_MORE, SLOTS_LEAST, REGION_SLOTS);
	const uint64_t busy = wanted > SLOTS_BUSY ? SLOTS_BUSY : wanted;
	/* As many as are wanted, of the best size; else as many as keep the bus busy, which may be
	 * smaller; else fewer, then smaller ones still, and only then fewer than SLOTS_LEAST. */
	uint64_t slots = within(left / (most + cell_bytes), busy, wanted);
	slots = within(left / (least + cell_bytes), SLOTS_LEAST, slots);
	slots = within(left / small, 2, slots);
	const uint64_t each = fits ? left / slots - cell_bytes : memory / devices / 2;
	return (struct gpu_size){
		.fits = fits,
		.lanes = (unsigned)lanes,
		.lane_bytes = lane_bytes,
		.slots = (unsigned)slots,
		.slot_bytes = slot_bytes_for(c, (size_t)within(each, SLOT_LEAST, most)),
		.cell_bytes = cell_bytes,
		.piece = stays ? PIECE : 0,
	};
}

/* ---- devices ---- */

unsigned devices_named(const char *wanted)
{
	unsigned n = 1;

	if (strcmp(wanted, "all") == 0)
		return 0;
	for (const char *p = wanted; *p; p++)
		n += *p == ',';
	return n;
}

unsigned devices_nth(const char *wanted, unsigned nth)
{
	for (; nth > 0; nth--)
		wanted = strchr(wanted, ',') + 1;
	return (unsigned)strtoul(wanted, NULL, 10);
}

void devices_show(char *text, size_t size, const char *visible, unsigned number)
{
	const char *v = visible;

	if (!visible) {
		snprintf(text, size, "%u", number);
		return;
	}
	/* After an entry that names no device the driver shows none. */
	for (; v && (number > 0 || *v == '-' || *v == ',' || *v == '\0'); number--) {
		v = *v == '-' || *v == ',' ? NULL : strchr(v, ',');
		v = v ? v + 1 : NULL;
	}
	snprintf(text, size, "%.*s", v ? (int)strcspn(v, ",") : 2, v ? v : "-1");
}

/* ---- groups: two ways to cut 65,536 keys ---- */

#define KEYS 65536u
#define UNSET UINT32_MAX

static uint32_t sign_bit(const struct sample_type *type)
{
	return type->kind == SAMPLE_SIGNED ? 0x8000u : 0;
}

/* A group for each value in the range, one below it and one above. */
static bool by_value(struct groups *g, const struct binning *b)
{
	if (b->first >= KEYS || b->span >= KEYS)
		return false;
	*g = (struct groups){
		.low = (int32_t)b->first - 1,
		.last = (int32_t)b->span + 2,
		.mul = UINT32_MAX, /* (place 2^32 - place + add) / 2^32 = place */
		.add = 2 * KEYS,
	};
	return true;
}

/* A group for each bin: 1 + floor((place - 1) mul / 2^32), 0 at place 0. */
static bool by_bin(struct groups *g, const struct binning *b)
{
	uint64_t mul = 0, base = 0;

	if (b->kind == BIN_SHIFT && b->shift.by > 0 && b->shift.by < 32) {
		mul = (uint64_t)1 << (32 - b->shift.by);
		base = b->shift.base;
	} else if (b->kind == BIN_MAGIC) {
		mul = (b->magic.multiplier >> 32) + ((uint32_t)b->magic.multiplier != 0);
		base = b->magic.base;
	}
	if (mul == 0 || mul > UINT32_MAX || b->first >= KEYS || b->span >= KEYS || base > 1u << 30)
		return false;
	*g = (struct groups){
		.low = (int32_t)b->first - (int32_t)base - 1,
		.last = (int32_t)(b->span + base) + 2,
		.mul = (uint32_t)mul,
		.add = 0u - (uint32_t)mul,
	};
	return true;
}

/* Are all keys of each group in one cell? */
static bool holds(const struct groups *g, const struct binning *b, uint32_t most)
{
	uint32_t last = UNSET, cell = UNSET; /* groups rise with the keys */

	if (group_count(g) > most)
		return false;
	for (uint32_t key = 0; key < KEYS; key++) {
		const uint32_t group = group_of(g, key), own = bin_key32(b, b->kind, key);
		if (group == last && own != cell)
			return false;
		last = group;
		cell = own;
	}
	return true;
}

uint32_t groups_choose(struct groups *groups, const struct sample_type *type,
		       const struct binning *binning, uint32_t most)
{
	/* Where the bins come from the samples, any code may be next to a border. */
	if (type->bytes != 2 || type->kind == SAMPLE_FLOAT || binning->kind == BIN_SLOT)
		return 0;
	if (by_value(groups, binning) && holds(groups, binning, most))
		return group_count(groups);
	if (by_bin(groups, binning) && holds(groups, binning, most))
		return group_count(groups);
	return 0;
}

uint32_t groups_of_code(const struct groups *groups, const struct sample_type *type, uint32_t code)
{
	const uint32_t value = type->big ? (code & 255) << 8 | code >> 8 : code;

	return group_of(groups, value ^ sign_bit(type));
}

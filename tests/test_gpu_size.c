/* SPDX-License-Identifier: MIT */
/*
 * gpu_size: what holds for the slots of any job and any -M, drawn from a seed, and some known
 * cases.
 */
#include "gpu/gpu_size.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gpu/gpu_group.h"
#include "gpu/region.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define SMALLEST (256 * KIB) /* a slot, where memory is short */
/* counters for which slots may take as much memory as they do, on top */
#define VERY_MANY ((size_t)1 << 22)

/* False: there are no such bins. */
static bool make_counting(struct counting *c, const char *name, uint32_t bins, const char *range,
			  const struct layout *asked)
{
	struct edges_spec spec = {.bins = bins, .kind = AXIS_VALUES};
	struct sample_type type;
	struct layout layout;
	struct edges edges;
	const char *why = "";

	CHECK(sample_type_parse(&type, name) == 0, "%s", name);
	spec.full = strcmp(range, "full") == 0;
	if (spec.full)
		spec.kind = AXIS_RANGE;
	else if (strcmp(range, "auto") == 0 || type.kind == SAMPLE_FLOAT)
		spec.kind = AXIS_AUTO;
	if (edges_init(&edges, &spec, &type, &why) != 0)
		return false;
	CHECK(layout_init(&layout, asked, type.bytes, &why) == 0, "%s", why);
	counting_init_layout(c, &type, &edges, &layout, true);
	edges_free(&edges);
	return true;
}

/* ---- what always holds ---- */

static void holds(const struct gpu_spec *spec, uint64_t memory, unsigned long i)
{
	const struct counting *c = spec->counting;
	const struct gpu_size s = gpu_size(spec, memory);
	const uint64_t record = layout_bytes(&c->layout), unit = 4096 * (uint64_t)c->bytes;
	const uint64_t of_record = (record + unit - 1) / unit * unit;
	const uint32_t channels = (uint32_t)(c->cells / c->cells_each);
	struct groups groups;
	const uint32_t grouped =
		c->stats ? 0 : groups_choose(&groups, &c->type, &c->binning, 15000 / channels);

	/*
	 * Four slots of the smallest size, or two of one record each: less than that is no GPU at
	 * all.
	 */
	const uint64_t smallest = s.stays && c->cells > 1 << 29 ? 2 * SMALLEST : SMALLEST;
	const uint64_t least =
		of_record <= smallest ? (4 + s.orders) * smallest : (2 + s.orders) * of_record;
	const size_t counters = grouped > 0 ? (size_t)grouped * channels : c->cells;
	memory += counters >= VERY_MANY ? 4 * (uint64_t)counters : 0;
	CHECK(s.slots * (uint64_t)s.slot_bytes <= (memory > least ? memory : least),
	      "size %lu: %u slots of %zu are more than %llu", i, s.slots, s.slot_bytes,
	      (unsigned long long)memory);
	CHECK(s.slots >= 2 + s.orders && s.slots <= REGION_SLOTS,
	      "size %lu: %u slots, %u for orders", i, s.slots, s.orders);
	CHECK(s.slots <= (spec->windows         ? 4
			  : spec->lanes + 4 > 4 ? spec->lanes + 4
						: 4) +
				 s.orders,
	      "size %lu: %u slots for %u lanes", i, s.slots, spec->lanes);
	CHECK(s.slot_bytes >= record && s.slot_bytes % unit == 0,
	      "size %lu: slots of %zu, records of %llu", i, s.slot_bytes,
	      (unsigned long long)record);
	const bool stays = !spec->fetch && c->most == 0 && counters > STAY_CELLS;
	CHECK(s.stays == stays && (s.orders > 0) == stays && (s.cell_bytes == 0) == stays,
	      "size %lu: stays %d", i, (int)s.stays);
	CHECK(stays || s.cell_bytes >= (c->cells + 1) / 2 * 8 + 2 * sizeof(uint64_t),
	      "size %lu: %zu bytes for %zu counters", i, s.cell_bytes, c->cells);
	if (!stays)
		return;
	/* A slot holds a piece, and the sums of all of them (gpu_epoch.c). */
	const uint64_t pieces = (c->cells + s.piece - 1) / s.piece;
	CHECK(s.piece >= 1024 && s.piece * sizeof(uint32_t) <= s.slot_bytes,
	      "size %lu: pieces of %zu", i, s.piece);
	CHECK(pieces * sizeof(uint64_t) <= s.slot_bytes, "size %lu: %llu pieces, slots of %zu", i,
	      (unsigned long long)pieces, s.slot_bytes);
}

static void every_job(void)
{
	static const char *const TYPES[] = {"u8", "i16", "u24", "u32", "i64", "f16", "f32", "f64"};
	static const char *const RANGES[] = {"none", "full", "auto"};
	uint64_t state = 3;
	unsigned long jobs = 0;

	for (unsigned long i = 0; i < 20000; i++) {
		const char *const type =
			TYPES[check_random(&state) % (sizeof(TYPES) / sizeof(TYPES[0]))];
		struct layout layout = {
			.channels = check_random(&state) % 2
					    ? 1
					    : 1 + (uint32_t)(check_random(&state) % 64)};
		const uint32_t bins =
			1 + (uint32_t)(check_random(&state) >> (36 + check_random(&state) % 28));
		struct counting c;
		if (check_random(&state) % 4 == 0)
			layout.record =
				8 * layout.channels + (uint32_t)(check_random(&state) >>
								 (41 + check_random(&state) % 20));
		/* A table that no process could have. */
		if ((bins + (uint64_t)4) * layout.channels > (uint64_t)1 << 30 ||
		    layout.record > LAYOUT_BYTES_MAX)
			continue;
		if (!make_counting(&c, type, bins, RANGES[check_random(&state) % 3], &layout))
			continue;
		jobs++;
		c.stats = check_random(&state) % 8 == 0;
		const uint64_t bits = check_random(&state);
		const struct gpu_spec spec = {
			.counting = &c,
			.devices = bits & 64    ? "0"
				   : bits & 128 ? "0,2,5"
						: "all",
			.lanes = bits & 1 ? 1 : 1 + (unsigned)(check_random(&state) % 60),
			.windows = bits & 1 && bits & 2,
			.decoded = (bits & 12) == 4,
			.fetch = (bits & 48) == 16,
		};
		holds(&spec, (64 * KIB << check_random(&state) % 18) + check_random(&state) % MIB,
		      i);
	}
	CHECK(jobs > 10000, "%lu jobs", jobs);
}

/* ---- some jobs ---- */

static void known(void)
{
	static const struct {
		const char *devices, *type, *range;
		uint32_t bins;
		struct layout layout;
		unsigned lanes;
		bool windows, decoded, fetch;
		uint64_t memory;
		unsigned slots;
		uint64_t slot_bytes;
		bool stays;
	} CASES[] = {
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 8,
		 false,
		 false,
		 false,
		 128 * MIB,
		 12,
		 4 * MIB,
		 false},
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 1,
		 true,
		 false,
		 false,
		 128 * MIB,
		 4,
		 4 * MIB,
		 false},
		/* Short of memory: sixteen of full size will do, then smaller ones, then fewer. */
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 16,
		 false,
		 false,
		 false,
		 64 * MIB,
		 16,
		 4 * MIB,
		 false},
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 60,
		 false,
		 false,
		 false,
		 64 * MIB,
		 16,
		 4 * MIB,
		 false},
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 60,
		 false,
		 false,
		 false,
		 32 * MIB,
		 16,
		 2 * MIB,
		 false},
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 60,
		 false,
		 false,
		 false,
		 1 * MIB,
		 4,
		 256 * KIB,
		 false},
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 60,
		 false,
		 false,
		 false,
		 0,
		 4,
		 256 * KIB,
		 false},
		/*
		 * Each device gets slots for the workers that feed it, who are not known where all
		 * are asked for.
		 */
		{"0,2",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 21,
		 false,
		 false,
		 false,
		 128 * MIB,
		 15,
		 4 * MIB,
		 false},
		{"all",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 21,
		 false,
		 false,
		 false,
		 128 * MIB,
		 25,
		 4 * MIB,
		 false},
		/* Decoders fill them one each, in one go. */
		{"0",
		 "u32",
		 "none",
		 1024,
		 {.channels = 1},
		 8,
		 false,
		 true,
		 false,
		 128 * MIB,
		 8,
		 16 * MIB,
		 false},
		/* In whole samples. */
		{"0",
		 "u24",
		 "full",
		 1024,
		 {.channels = 1},
		 8,
		 false,
		 false,
		 false,
		 128 * MIB,
		 12,
		 341 * 12 * KIB,
		 false},
		/* A record, however long. */
		{"0",
		 "u8",
		 "none",
		 256,
		 {.channels = 1, .record = 9000000},
		 8,
		 false,
		 false,
		 false,
		 64 * MIB,
		 7,
		 8792 * KIB + 0,
		 false},
		/* At the border of the counters that stay, with four slots more for orders. */
		{"0",
		 "u32",
		 "none",
		 (1 << 17) - 4,
		 {.channels = 1},
		 4,
		 false,
		 false,
		 false,
		 128 * MIB,
		 8,
		 8 * MIB,
		 false},
		{"0",
		 "u32",
		 "none",
		 (1 << 17) - 3,
		 {.channels = 1},
		 4,
		 false,
		 false,
		 false,
		 128 * MIB,
		 12,
		 4 * MIB,
		 true},
		{"0",
		 "u32",
		 "none",
		 (1 << 17) - 3,
		 {.channels = 1},
		 4,
		 false,
		 false,
		 true,
		 256 * MIB,
		 8,
		 8 * MIB,
		 false},
		{"0",
		 "u32",
		 "auto",
		 1 << 20,
		 {.channels = 1},
		 4,
		 false,
		 false,
		 false,
		 1024 * MIB,
		 8,
		 64 * MIB,
		 false},
		{"0",
		 "u32",
		 "none",
		 1 << 21,
		 {.channels = 1},
		 4,
		 false,
		 false,
		 false,
		 1 * MIB,
		 8,
		 256 * KIB,
		 true},
		/* Very many: as much memory again, and orders for all who add them. */
		{"0",
		 "u32",
		 "none",
		 1 << 28,
		 {.channels = 1},
		 4,
		 false,
		 false,
		 false,
		 1 * MIB,
		 12,
		 4 * MIB,
		 true},
		{"0",
		 "u32",
		 "none",
		 1 << 28,
		 {.channels = 1},
		 12,
		 false,
		 false,
		 false,
		 1 * MIB,
		 28,
		 4 * MIB,
		 true},
		{"0",
		 "u32",
		 "none",
		 1 << 28,
		 {.channels = 1},
		 60,
		 false,
		 false,
		 false,
		 1 * MIB,
		 64,
		 4 * MIB,
		 true},
		/* Groups of codes are few; codes of many channels are not. */
		{"0",
		 "u16",
		 "full",
		 1000,
		 {.channels = 4},
		 4,
		 false,
		 false,
		 false,
		 128 * MIB,
		 8,
		 4 * MIB,
		 false},
		{"0",
		 "u16",
		 "full",
		 10000,
		 {.channels = 4},
		 4,
		 false,
		 false,
		 false,
		 128 * MIB,
		 12,
		 4 * MIB,
		 true},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct counting c;
		CHECK(make_counting(&c, CASES[i].type, CASES[i].bins, CASES[i].range,
				    &CASES[i].layout),
		      "case %zu", i);
		const struct gpu_spec spec = {.counting = &c,
					      .devices = CASES[i].devices,
					      .lanes = CASES[i].lanes,
					      .windows = CASES[i].windows,
					      .decoded = CASES[i].decoded,
					      .fetch = CASES[i].fetch};
		const struct gpu_size s = gpu_size(&spec, CASES[i].memory);
		CHECK(s.slots == CASES[i].slots && s.slot_bytes == CASES[i].slot_bytes &&
			      s.stays == CASES[i].stays,
		      "case %zu: %u slots of %zu KiB, stays %d", i, s.slots, s.slot_bytes >> 10,
		      (int)s.stays);
	}
}

int main(void)
{
	every_job();
	known();
	return check_report();
}

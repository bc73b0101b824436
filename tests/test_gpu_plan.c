/* SPDX-License-Identifier: MIT */
/*
 * gpu_plan: properties of the slots for any job and any -M, drawn from a seed, and some known
 * cases; the value of CUDA_VISIBLE_DEVICES for the GPU process.
 */
#include "gpu/gpu_plan.h"
#include "zstd/unpacker.h"

#include <string.h>

#include "check.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* Make the bins of a job; false: they are impossible. */
static bool make_counting(struct counting *c, const char *name, uint32_t bins, const char *range,
			  const struct layout *asked)
{
	struct axis_spec spec = {.bins = bins, .kind = AXIS_VALUES};
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
	CHECK(layout_init(&layout, asked, type.code_bytes, &why) == 0, "%s", why);
	counting_init(c, &type, &edges, &layout, true);
	edges_free(&edges);
	return true;
}

/* ---- slots ---- */

static unsigned rooms; /* number of jobs that had some */

static void holds(const struct gpu_spec *spec, unsigned long i)
{
	const struct counting *c = spec->counting;
	const struct gpu_size s = gpu_size(spec);
	const uint64_t record = layout_bytes(&c->layout), unit = 4096 * (uint64_t)c->bytes;
	const uint64_t of_record = (record + unit - 1) / unit * unit;
	const bool resident = !spec->fetched && c->auto_bins.most == 0 && c->cells > RESIDENT_CELLS;
	/*
	 * Two slots and a lane are the minimum; if that is too much, their counters alone must be
	 * the reason, unless slots could not be smaller.
	 */
	const uint64_t least = of_record > 256 * KIB ? of_record : 256 * KIB,
		       samples = (uint64_t)s.slots * s.slot_bytes;
	const uint64_t all = samples + (uint64_t)s.slots * s.cell_bytes;

	CHECK(all <= spec->memory || !s.fits, "size %lu: %llu bytes of %llu", i,
	      (unsigned long long)all, (unsigned long long)spec->memory);
	CHECK(s.fits || (s.slots == 2 && s.lanes == 1 &&
			 (samples <= spec->memory || samples <= 2 * least)),
	      "size %lu: %u lanes, %u slots of %zu do not fit %llu", i, s.lanes, s.slots,
	      s.slot_bytes, (unsigned long long)spec->memory);
	CHECK(s.slots >= 2 && s.slots <= 64 && s.lanes >= 1 && s.lanes <= spec->lanes &&
		      s.slots <= s.lanes + 4 + (spec->unpacks ? UNPACKER_ROOMS : 0),
	      "size %lu: %u slots, %u of %u lanes", i, s.slots, s.lanes, spec->lanes);
	/* Rooms hold some blocks, and lanes still have at least two slots. */
	CHECK(s.rooms == 0 ||
		      (spec->unpacks && s.rooms <= UNPACKER_ROOMS && s.rooms + 2 <= s.slots &&
		       s.slot_bytes >= 3 * UNPACK_BLOCK_MAX + sizeof(struct unpack_orders)),
	      "size %lu: %u rooms of %u slots", i, s.rooms, s.slots);
	rooms += s.rooms > 0;
	/* A chunk whose counters are fetched has several times as many bytes. */
	CHECK(!s.fits || resident || s.slot_bytes + unit >= 16 * (uint64_t)c->cells ||
		      s.slot_bytes + unit >= 64 * MIB,
	      "size %lu: slots of %zu, %zu counters", i, s.slot_bytes, c->cells);
	CHECK(s.slot_bytes >= record && s.slot_bytes % unit == 0,
	      "size %lu: slots of %zu, records of %llu", i, s.slot_bytes,
	      (unsigned long long)record);
	CHECK(s.resident == resident, "size %lu: counters stay: %d", i, s.resident);
	CHECK(resident || s.cell_bytes >= (c->cells + 1) / 2 * 8 + 2 * sizeof(uint64_t),
	      "size %lu: %zu bytes for %zu counters", i, s.cell_bytes, c->cells);
	CHECK(s.cell_bytes >= sizeof(struct unpack_answer), "size %lu: %zu bytes for an answer", i,
	      s.cell_bytes);
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
		/* Skip tables that no process could have. */
		if ((bins + (uint64_t)4) * layout.channels > (uint64_t)1 << 30 ||
		    layout.record > LAYOUT_BYTES_MAX ||
		    !make_counting(&c, type, bins, RANGES[check_random(&state) % 3], &layout))
			continue;
		jobs++;
		const uint64_t bits = check_random(&state);
		const struct gpu_spec spec = {
			.counting = &c,
			.lanes = bits & 1 ? 1 : 1 + (unsigned)(check_random(&state) % 60),
			.fetched = (bits & 48) == 16,
			.unpacks = bits & 512,
			.memory = (64 * KIB << check_random(&state) % 18) +
				  check_random(&state) % MIB,
		};
		holds(&spec, i);
	}
	CHECK(jobs > 10000 && rooms > 100, "%lu jobs, %u with rooms", jobs, rooms);
}

static void known(void)
{
	static const struct {
		const char *type, *range;
		uint32_t bins;
		uint32_t channels, record;
		unsigned lanes;
		bool fetched;
		uint64_t memory;
		unsigned slots;
		uint64_t slot_bytes;
		bool resident;
		unsigned fed; /* number of lanes; 0: the job does not fit, and has one */
	} CASES[] = {
		{"u32", "none", 1024, 1, 0, 8, false, 128 * MIB, 12, 4 * MIB, false, 8},
		{"u32", "none", 1024, 1, 0, 1, false, 128 * MIB, 5, 4 * MIB, false, 1},
		/* Short of memory: sixteen slots of full size, then smaller ones, then fewer. */
		{"u32", "none", 1024, 1, 0, 16, false, 65 * MIB, 16, 4 * MIB, false, 16},
		{"u32", "none", 1024, 1, 0, 60, false, 64 * MIB, 16, 4080 * KIB, false, 60},
		{"u32", "none", 1024, 1, 0, 60, false, 33 * MIB, 16, 2096 * KIB, false, 60},
		{"u32", "none", 1024, 1, 0, 60, false, 1 * MIB, 3, 336 * KIB, false, 3},
		{"u32", "none", 1024, 1, 0, 60, false, 536 * KIB, 2, 256 * KIB, false, 2},
		{"u32", "none", 1024, 1, 0, 60, false, 512 * KIB, 2, 256 * KIB, false, 0},
		{"u32", "none", 1024, 1, 0, 60, false, 0, 2, 256 * KIB, false, 0},
		/* Whole samples and pages, and a record. */
		{"u24", "full", 1024, 1, 0, 8, false, 128 * MIB, 12, 341 * 12 * KIB, false, 8},
		{"u8", "none", 256, 1, 9000000, 8, false, 64 * MIB, 7, 8792 * KIB, false, 7},
		/*
		 * The most counters that are fetched; one more, which stay; the same, if all must
		 * be fetched.
		 */
		{"u32", "none", (1 << 17) - 4, 1, 0, 4, false, 128 * MIB, 8, 8 * MIB, false, 4},
		{"u32", "none", (1 << 17) - 3, 1, 0, 4, false, 128 * MIB, 8, 4 * MIB, true, 4},
		{"u32", "none", (1 << 17) - 3, 1, 0, 4, true, 256 * MIB, 8, 8 * MIB, false, 4},
		{"u32", "auto", 1 << 20, 1, 0, 4, false, 1024 * MIB, 8, 64 * MIB, false, 4},
		/* Fetched counters take host memory of their size: fewer lanes and slots, smaller
		 * slots, and in the end not even one lane and two slots. */
		{"f32", "auto", 1 << 20, 1, 0, 16, false, 192 * MIB, 4, 45040 * KIB, false, 9},
		{"f32", "auto", 1 << 20, 1, 0, 16, false, 49 * MIB, 2, 20976 * KIB, false, 2},
		{"f32", "auto", 1 << 20, 1, 0, 16, false, 40 * MIB, 2, 20 * MIB, false, 0},
		{"f32", "auto", 1 << 28, 1, 0, 16, false, 192 * MIB, 2, 64 * MIB, false, 0},
		{"f32", "auto", 1 << 28, 1, 0, 16, false, 16384 * MIB, 15, 64 * MIB, false, 15},
		{"u32", "none", 1 << 28, 1, 0, 16, true, 192 * MIB, 2, 64 * MIB, false, 0},
		{"u32", "none", 1 << 24, 1, 0, 16, true, 192 * MIB, 2, 64 * MIB, false, 0},
		{"u32", "none", 1 << 24, 1, 0, 16, true, 768 * MIB, 5, 64 * MIB, false, 5},
		/* Counters that stay take no memory here. */
		{"u32", "none", 1 << 24, 1, 0, 16, false, 192 * MIB, 20, 4 * MIB, true, 16},
		{"u32", "none", 1 << 28, 1, 0, 8, false, 64 * MIB, 12, 4 * MIB, true, 8},
		{"u32", "none", 1 << 28, 1, 0, 4, false, 1 * MIB, 3, 336 * KIB, true, 3},
		{"u16", "full", 1000, 2, 0, 4, false, 128 * MIB, 8, 8 * MIB, false, 4},
		{"u16", "full", 10000, 4, 0, 4, false, 128 * MIB, 8, 4 * MIB, true, 4},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct layout layout = {.channels = CASES[i].channels,
					      .record = CASES[i].record};
		struct counting c;
		CHECK(make_counting(&c, CASES[i].type, CASES[i].bins, CASES[i].range, &layout),
		      "case %zu", i);
		const struct gpu_spec spec = {.counting = &c,
					      .lanes = CASES[i].lanes,
					      .fetched = CASES[i].fetched,
					      .memory = CASES[i].memory};
		const struct gpu_size s = gpu_size(&spec);
		CHECK(s.slots == CASES[i].slots && s.slot_bytes == CASES[i].slot_bytes &&
			      s.resident == CASES[i].resident &&
			      (s.fits ? s.lanes : 0) == CASES[i].fed,
		      "case %zu: %u slots of %zu, %u lanes%s", i, s.slots, s.slot_bytes, s.lanes,
		      s.fits ? "" : ", does not fit");
	}
}

/* ---- devices ---- */

static void shown(void)
{
	static const struct {
		const char *visible;
		unsigned number;
		const char *shown;
	} CASES[] = {
		{NULL, 0, "0"},
		{NULL, 13, "13"},
		{"0", 0, "0"},
		{"3", 0, "3"},
		{"3", 1, "-1"},
		{"2,0,1", 0, "2"},
		{"2,0,1", 2, "1"},
		{"2,0,1", 3, "-1"},
		{"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", 0,
		 "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
		{"1,GPU-8932f937,MIG-GPU-5/1/0", 1, "GPU-8932f937"},
		{"1,GPU-8932f937,MIG-GPU-5/1/0", 2, "MIG-GPU-5/1/0"},
		/* No device is visible. */
		{"", 0, "-1"},
		{"-1", 0, "-1"},
		{",0", 0, "-1"},
		{"", 5, "-1"},
		/* The list ends before an entry that names no device. */
		{"1,-1,0", 0, "1"},
		{"1,-1,0", 1, "-1"},
		{"1,-1,0", 2, "-1"},
		{"1,,0", 0, "1"},
		{"1,,0", 1, "-1"},
		{"1,,0", 2, "-1"},
		{"1,", 0, "1"},
		{"1,", 1, "-1"},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		char text[512] = "?";
		device_show(text, sizeof(text), CASES[i].visible, CASES[i].number);
		CHECK(strcmp(text, CASES[i].shown) == 0,
		      "number %u of \"%s\" is \"%s\", not \"%s\"", CASES[i].number,
		      CASES[i].visible ? CASES[i].visible : "(all)", text, CASES[i].shown);
	}
}

/* Extents that a faulty device may report: no sample has the keys of infinity and NaN. */
static void extents(void)
{
	static const struct {
		const char *type;
		uint64_t last, infinity, one, none;
	} TYPES[] = {
		{"f32", 0xff7fffff, 0xff800000, 0xbf800000, UINT32_MAX},
		{"f64", 0xffefffffffffffff, 0xfff0000000000000, 0xbff0000000000000, UINT64_MAX},
	};

	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
		const uint64_t last = TYPES[i].last, infinity = TYPES[i].infinity,
			       one = TYPES[i].one, none = TYPES[i].none;
		struct auto_bins bins = {.most = 256};
		const struct extent both = {none - last, last, none - one, one};
		struct extent e = both;
		CHECK(sample_type_parse(&bins.type, TYPES[i].type) == 0, "%s", TYPES[i].type);
		for (int log = 0; log < 2; log++) {
			bins.log = log == 1;
			CHECK(auto_is_extent(&bins, &both), "%s: all finite", TYPES[i].type);
			CHECK(auto_k(&bins, &both) > auto_k_least(&bins.type), "%s: k",
			      TYPES[i].type);
		}
		for (uint64_t k = infinity; k >= infinity && k <= none;
		     k += (none - infinity) / 4 + 1) {
			e = both;
			e.greatest = k;
			CHECK(!auto_is_extent(&bins, &e), "%s: greatest %#llx", TYPES[i].type,
			      (unsigned long long)k);
			e.least = none - k;
			CHECK(!auto_is_extent(&bins, &e), "%s: both", TYPES[i].type);
			e.greatest = last;
			CHECK(!auto_is_extent(&bins, &e), "%s: least", TYPES[i].type);
		}
		e = (struct extent){infinity, infinity, 0, infinity};
		CHECK(!auto_is_extent(&bins, &e), "%s: infinity alone", TYPES[i].type);
	}
}

int main(void)
{
	extents();
	every_job();
	known();
	shown();
	return check_report();
}

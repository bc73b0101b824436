/* SPDX-License-Identifier: MIT */
/*
 * kernel: the choice of kernels and their launches, without a device: functions of a driver that
 * say what a device of some class would, and look at what is launched.
 *
 * Samples are sorted into buckets for so many cells that no table fits: whatever the device, the
 * bins and the chunk, all of it must lie in the memory that was asked for.
 */
#include "driver/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define KIB 1024u
#define SMS 40u

/* The device: shared memory that a block may ask for. */
static unsigned shared_most;

/* What the last launches of a chunk were given. */
static struct {
	unsigned launches, shared, cleared;
	uint32_t grid;
	struct parts parts;
	struct parts_memory memory;
	uint64_t samples;
	uint32_t all;
} launched;

/* Handles of the functions that were asked for. */
enum { OTHER = 1, SPLIT, PLAN, COUNT };

static CUresult attribute(int *value, int what, CUdevice device)
{
	(void)device;
	*value = what == CU_ATTRIBUTE_SM_COUNT ? (int)SMS : (int)shared_most;
	return CUDA_SUCCESS;
}

static CUresult find(CUfunction *function, CUmodule module, const char *name)
{
	const uintptr_t kind = strncmp(name, "split", 5) == 0            ? SPLIT
			       : strcmp(name, "plan_parts") == 0         ? PLAN
			       : strcmp(name, "count_parts_of_all") == 0 ? COUNT
									 : OTHER;

	(void)module;
	*function = (CUfunction)kind;
	return CUDA_SUCCESS;
}

static CUresult set(CUfunction function, int what, int value)
{
	(void)function;
	(void)what;
	CHECK(value >= 0 && (unsigned)value <= shared_most, "%d bytes of shared memory of %u",
	      value, shared_most);
	return CUDA_SUCCESS;
}

static CUresult occupancy(int *blocks, CUfunction function, int threads, size_t shared)
{
	(void)function;
	(void)threads;
	*blocks = shared <= shared_most;
	return CUDA_SUCCESS;
}

static CUresult fill32(CUdeviceptr to, unsigned value, size_t words, CUstream stream)
{
	(void)stream;
	(void)value, (void)to;
	launched.cleared += (unsigned)words;
	return CUDA_SUCCESS;
}

static CUresult launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
		       CUstream stream, void **arguments, void **extra)
{
	(void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)stream,
		(void)extra;
	launched.launches++;
	CHECK(shared + 1024 <= shared_most, "%u bytes of shared memory of %u", shared, shared_most);
	switch ((uintptr_t)function) {
	case SPLIT:
		launched.grid = grid_x;
		launched.shared = shared;
		memcpy(&launched.samples, arguments[1], sizeof(launched.samples));
		memcpy(&launched.parts, arguments[3], sizeof(launched.parts));
		memcpy(&launched.memory, arguments[4], sizeof(launched.memory));
		break;
	case COUNT:
		memcpy(&launched.all, arguments[2], sizeof(launched.all));
		CHECK(shared == 4 * spread_words(launched.parts.width + 1), "%u bytes for counting",
		      shared);
		break;
	default:
		break;
	}
	return CUDA_SUCCESS;
}

static const struct cuda CUDA = {.device_attribute = attribute,
				 .module_function = find,
				 .function_set = set,
				 .occupancy = occupancy,
				 .fill32 = fill32,
				 .launch = launch};

static bool make_counting(struct counting *c, const char *name, uint32_t bins, uint32_t channels)
{
	const struct edges_spec spec = {.bins = bins, .kind = AXIS_RANGE, .full = true};
	struct sample_type type;
	struct layout layout;
	struct edges edges;
	const char *why = "";

	sample_type_parse(&type, name);
	if (edges_init(&edges, &spec, &type, &why) != 0 ||
	    layout_init(&layout, &(struct layout){.channels = channels}, type.bytes, &why) != 0)
		return false;
	counting_init_layout(c, &type, &edges, &layout, true);
	edges_free(&edges);
	return true;
}

/* ---- sorting into buckets ---- */

/* Is what kernels/parts.cuh relies on so, for n samples in memory of the plan's size? */
static void check_launch(const struct kernel_plan *plan, uint64_t n, const char *what)
{
	const struct kernel_chunk chunk = {
		.data = 1 << 20, .cells = 1 << 21, .work = (CUdeviceptr)1 << 40};
	const struct parts *const s = &launched.parts;
	const struct parts_memory *const m = &launched.memory;
	const CUdeviceptr end = chunk.work + plan->work_bytes;
	uint64_t state = n + plan->cells;

	memset(&launched, 0, sizeof(launched));
	const CUresult r = kernel_launch(plan, &CUDA, &chunk, n, NULL);
	CHECK(r == CUDA_SUCCESS && launched.launches == 3, "%s, %llu samples: %d, %u launches",
	      what, (unsigned long long)n, r, launched.launches);
	if (r != CUDA_SUCCESS)
		return;
	CHECK(launched.samples == n && launched.all == plan->cells, "%s: other samples", what);
	CHECK(launched.cleared == s->buckets, "%s: %u totals are cleared", what, launched.cleared);
	/* Every cell has a bucket, found by a product of 32 bits, and a place of 16 bits in it. */
	CHECK((uint64_t)s->width * s->buckets >= plan->cells && s->width < 0xffff &&
		      s->width % 4096 == 0,
	      "%s: %lu buckets of %lu", what, (unsigned long)s->buckets, (unsigned long)s->width);
	for (int i = 0; i < 200; i++) {
		const uint32_t cell = i == 0   ? 0
				      : i == 1 ? plan->cells - 1
					       : (uint32_t)(check_random(&state) % plan->cells);
		const uint64_t product = (uint64_t)(cell >> 12) * s->mul;
		CHECK(product <= UINT32_MAX && product >> s->shr == cell / s->width,
		      "%s: cell %lu is in bucket %llu", what, (unsigned long)cell,
		      (unsigned long long)(product >> s->shr));
	}
	/*
	 * A tile: its samples and the edges' 31, each bucket of it filled up to 8 and with its
	 * gaps, behind 16 bits.
	 */
	const uint64_t tile = (uint64_t)s->tile_vecs * (plan->sample == 3 ? 16 : 16 / plan->sample);
	const uint64_t most = tile + 31, filled = most < s->buckets ? most : s->buckets;
	CHECK(8ull * s->room >= most + filled * (7 + s->copies * s->gap) && s->room <= UINT16_MAX,
	      "%s, %llu samples: tiles of %llu in room for %lu", what, (unsigned long long)n,
	      (unsigned long long)tile, 8ul * s->room);
	CHECK(tile * s->tiles >= n && launched.grid <= s->tiles, "%s: %lu tiles", what,
	      (unsigned long)s->tiles);
	CHECK(launched.shared >= 16 * s->room + 4 * (s->buckets * (s->copies + 1) + 33),
	      "%s: shared memory", what);
	/*
	 * Units of work: one for each bucket that has any, and one more for each unit of its
	 * samples.
	 */
	CHECK(s->units_max >= s->buckets + n / s->unit, "%s: units", what);
	const struct {
		CUdeviceptr at;
		uint64_t bytes;
	} parts[] = {{m->codes, 16ull * s->tiles * s->room},
		     {m->start, 2ull * (s->buckets + 1) * s->tiles},
		     {m->total, 4ull * s->buckets},
		     {m->units, 16ull * s->units_max},
		     {m->count, 8},
		     {end, 0}};
	CHECK(m->codes == chunk.work, "%s: the memory", what);
	for (size_t i = 0; i + 1 < sizeof(parts) / sizeof(parts[0]); i++)
		CHECK(parts[i].at % 16 == 0 && parts[i].at + parts[i].bytes <= parts[i + 1].at,
		      "%s, %llu samples: part %zu overlaps the next", what, (unsigned long long)n,
		      i);
}

/* The largest number of bins, as a power of two, that devices of each class must count. */
static void buckets(void)
{
	static const struct {
		unsigned shared, bits;
	} CLASSES[] = {{64 * KIB, 26}, {99 * KIB, 27}, {163 * KIB, 28}, {227 * KIB, 28}};
	static const char *const TYPES[] = {"u24", "u32", "f64"};
	static const size_t CHUNKS[] = {256 * KIB, 4 << 20, 64 << 20};
	uint64_t state = 11;

	for (size_t k = 0; k < sizeof(CLASSES) / sizeof(CLASSES[0]); k++) {
		shared_most = CLASSES[k].shared;
		for (unsigned i = 0; i < 300; i++) {
			const unsigned bits =
				17 + (unsigned)(check_random(&state) % (CLASSES[k].bits - 16));
			const uint32_t bins =
				i % 3 == 0 || bits == CLASSES[k].bits
					? 1u << bits
					: (1u << bits) +
						  (uint32_t)(check_random(&state) % (1u << bits));
			const struct kernel_device on = {.cuda = &CUDA, .bytes_max = CHUNKS[i % 3]};
			const char *const type = TYPES[check_random(&state) % 3];
			const char *failed = "";
			struct kernel_plan plan = {.near = NULL};
			struct counting c;
			char what[200];
			if (!make_counting(&c, type, bins > 1u << 28 ? 1u << 28 : bins, 1))
				continue;
			snprintf(what, sizeof(what), "%u KiB, %s, %lu bins, chunks of %zu",
				 shared_most / KIB, type, (unsigned long)bins, on.bytes_max);
			CHECK(kernel_plan_init(&plan, &c, &on, &failed) == CUDA_SUCCESS, "%s: %s",
			      what, failed);
			if (plan.way != WAY_PARTS)
				continue;
			const size_t n = kernel_samples(&c, on.bytes_max);
			check_launch(&plan, n, what);
			check_launch(&plan, 1, what);
			for (int j = 0; j < 20; j++)
				check_launch(
					&plan,
					1 + (check_random(&state) >> check_random(&state) % 50) % n,
					what);
		}
	}
}

/* ---- groups ---- */

/*
 * Counters of groups of codes are no cells: none where they would stay, or where statistics want
 * each code.
 */
static void groups(void)
{
	static const struct {
		uint32_t bins, channels;
		bool stays, stats, grouped;
	} CASES[] = {
		{1000, 1, false, false, true},  {1000, 1, true, false, false},
		{1000, 1, false, true, false},  {10000, 4, false, false, true},
		{10000, 4, true, false, false}, {20000, 4, false, false, false},
	};

	shared_most = 227 * KIB;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct kernel_device on = {
			.cuda = &CUDA, .bytes_max = 4 << 20, .stays = CASES[i].stays};
		const char *failed = "";
		struct kernel_plan plan = {.near = NULL};
		struct counting c;
		CHECK(make_counting(&c, "u16", CASES[i].bins, CASES[i].channels), "case %zu", i);
		c.stats = CASES[i].stats;
		CHECK(kernel_plan_init(&plan, &c, &on, &failed) == CUDA_SUCCESS, "case %zu: %s", i,
		      failed);
		CHECK(plan.grouped == CASES[i].grouped, "case %zu: grouped %d", i,
		      (int)plan.grouped);
		CHECK(plan.cells == (plan.grouped ? CASES[i].bins + 2 : 65536) * CASES[i].channels,
		      "case %zu: %lu counters", i, (unsigned long)plan.cells);
	}
}

/* ---- straight to the table ---- */

/* Counters that stay are counted by one kernel, whatever the device's shared memory. */
static void far(void)
{
	static const char *const TYPES[] = {"u16", "u24", "u32", "f64"};
	const struct kernel_chunk chunk = {.data = 1 << 20, .cells = 1 << 21};

	shared_most = 64 * KIB;
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
		for (uint32_t channels = 1; channels <= 3; channels += 2) {
			const struct kernel_device on = {
				.cuda = &CUDA, .bytes_max = 4 << 20, .stays = true};
			const char *failed = "";
			struct kernel_plan plan = {.near = NULL};
			struct counting c;
			CHECK(make_counting(&c, TYPES[i], i == 0 ? 65536 : 1u << 24, channels),
			      "%s", TYPES[i]);
			CHECK(kernel_plan_init(&plan, &c, &on, &failed) == CUDA_SUCCESS, "%s: %s",
			      TYPES[i], failed);
			memset(&launched, 0, sizeof(launched));
			CHECK(plan.way == WAY_FAR && plan.work_bytes == 0 &&
				      strncmp(plan.name, "far_", 4) == 0,
			      "%s: %s", TYPES[i], plan.name);
			CHECK(kernel_launch(&plan, &CUDA, &chunk, 1000, NULL) == CUDA_SUCCESS &&
				      launched.launches == 1,
			      "%s: %u launches", TYPES[i], launched.launches);
		}
	}
}

int main(void)
{
	buckets();
	groups();
	far();
	return check_report();
}

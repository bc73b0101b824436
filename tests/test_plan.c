/* SPDX-License-Identifier: MIT */
/* slow */
/*
 * plan: the plans of known jobs, as a table, and properties of every job's plan, drawn from a seed.
 */
#include "run/plan.h"

#include <getopt.h>
#include <string.h>

#include "check.h"
#include "cli/options.h"
#include "gpu/gpu_plan.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define ARGUMENTS 20

struct shaped {
	struct job job;
	struct shape shape;
};

/* Return the job of a line of options, and its shape without a header. */
static struct shaped job_of(const char *line)
{
	static char text[256];
	char *argv[ARGUMENTS] = {"gpuhist"};
	struct fail fail = {0};
	struct shaped of;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	for (char *word = strtok(text, " "); word && argc < ARGUMENTS; word = strtok(NULL, " "))
		argv[argc++] = word;
	optind = 0;
	CHECK(options_parse(&of.job, argc, argv, &fail) == OPTIONS_RUN, "%s: %s", line, fail.text);
	CHECK(job_shape(&of.shape, &of.job, &(struct header){0}, &fail) == 0, "%s: %s", line,
	      fail.text);
	/* No plan looks at the memory that they own. */
	edges_free(&of.shape.axis.edges);
	options_free(&of.job);
	return of;
}

#define NO_KERNELS               \
	{                        \
		.kernels = false \
	}
#define KERNELS                 \
	{                       \
		.kernels = true \
	}
#define PLAIN                                  \
	{                                      \
		.kernels = true, .plain = true \
	}

/*
 * A worker's block and the page that aligns it; its share of the totals' table; tables for 256
 * bins.
 */
#define BLOCK (132 * KIB)
#define SHARED (BLOCK + 8 * KIB)
#define FEW (BLOCK + 4 * 1088)
#define BYTES (8 * 17 * 64)   /* tables of bytes */
#define CODES (2 * 4097 * 64) /* tables of codes of 16 bits */

#define SUMS_U32 (sizeof(struct stats) + 2 * 16 * sizeof(int128_t))
#define SUMS_F64 (sizeof(struct stats) + 2 * STATS_DIGITS * sizeof(int128_t))

#define SMALL ((2 * 65536 + 512) * sizeof(uint32_t)) /* tables of small integers */

static void table(void)
{
	static const struct {
		const char *job;
		struct plan_facts facts;
		unsigned workers;
		enum count_method method;
		uint64_t tables, lanes_memory, decoders;
		unsigned lanes;
	} CASES[] = {
		/* The CPU alone. */
		{"-T 1 --device=cpu -b 256", KERNELS, 1, COUNT_PRIVATE, FEW, 0, 256 * MIB - FEW, 0},
		{"-T 8 -b 256", NO_KERNELS, 8, COUNT_PRIVATE, 8 * FEW, 0, 256 * MIB - 8 * FEW, 0},
		{"-T 8 -t u8", NO_KERNELS, 8, COUNT_BYTES, 8 * (BLOCK + BYTES), 0,
		 256 * MIB - 8 * (BLOCK + BYTES), 0},
		{"-T 2 -t u16", NO_KERNELS, 2, COUNT_CODES, 2 * (BLOCK + CODES), 0,
		 256 * MIB - 2 * (BLOCK + CODES), 0},
		/*
		 * Tables and blocks may take half of -M: so there are fewer workers, and in the end
		 * one with the totals' table.
		 */
		{"-T 8 -M 1M -t u64 -b 20", NO_KERNELS, 3, COUNT_PRIVATE, 3 * (BLOCK + 4 * 192), 0,
		 1 * MIB - 3 * (BLOCK + 4 * 192), 0},
		{"-T 2 -b 16777216", NO_KERNELS, 1, COUNT_PRIVATE, BLOCK + 64 * MIB + 64, 0,
		 192 * MIB - BLOCK - 64, 0},
		{"-T 2 -b 16777216", PLAIN, 2, COUNT_PRIVATE, 2 * (BLOCK + 64 * MIB + 64),
		 64 * MIB - BLOCK - 64, 64 * MIB - BLOCK - 64, 2},
		{"-T 3 -b 16777216", NO_KERNELS, 3, COUNT_SHARED, 3 * SHARED, 0,
		 256 * MIB - 3 * SHARED, 0},
		{"-T 4 -M 300K -b 3000000", NO_KERNELS, 1, COUNT_SHARED, SHARED, 0,
		 300 * KIB - SHARED, 0},
		{"-T 4 -M 300K -b 256", NO_KERNELS, 1, COUNT_PRIVATE, FEW, 0, 300 * KIB - FEW, 0},
		/* One worker needs more than half of -M, or even more than all of it. */
		{"-T 4 -M 200K -b 256", NO_KERNELS, 1, COUNT_PRIVATE, FEW, 0, 200 * KIB - FEW, 0},
		{"-T 4 -M 1M -t i16 -b 256", KERNELS, 1, COUNT_CODES, BLOCK + CODES, 0,
		 MIB - (BLOCK + CODES), 0},
		{"-T 4 -M 500K -t i16 -b 256", KERNELS, 0, COUNT_CODES, BLOCK + CODES, 0, 0, 4},
		/* Records: a block holds one. */
		{"-T 8 -t u8 --record=16M", PLAIN, 8, COUNT_BYTES, 8 * (16 * MIB + 4 * KIB + BYTES),
		 64 * MIB - 4 * (4 * KIB + BYTES), 64 * MIB - 4 * (4 * KIB + BYTES), 8},
		{"-T 8 -t u8 --record=16M", KERNELS, 7, COUNT_BYTES,
		 7 * (16 * MIB + 4 * KIB + BYTES), 0, 256 * MIB - 7 * (16 * MIB + 4 * KIB + BYTES),
		 0},
		{"-T 8 -t u8 --rows=9:1M", NO_KERNELS, 8, COUNT_BYTES, 8 * (MIB + 4 * KIB + BYTES),
		 0, 256 * MIB - 8 * (MIB + 4 * KIB + BYTES), 0},
		{"-T 2 -M 40M -t u8 --record=16M", KERNELS, 1, COUNT_BYTES,
		 16 * MIB + 4 * KIB + BYTES, 0, 24 * MIB - (4 * KIB + BYTES), 0},
		/* Channels: their tables count. */
		{"-T 8 -t u16 -c 64 --stats", KERNELS, 7, COUNT_CODES,
		 7 * (BLOCK + 16 * MIB + 4 * KIB), 16 * MIB - 7 * (BLOCK + 4 * KIB), 128 * MIB, 8},
		{"-T 3 -c 64 -b 262144", NO_KERNELS, 3, COUNT_SHARED, 3 * (SHARED + 128 * KIB), 0,
		 256 * MIB - 3 * (SHARED + 128 * KIB), 0},
		/* Lanes in addition, for input that is worth the GPU's start. */
		{"-T 8 -b 256", KERNELS, 8, COUNT_PRIVATE, 8 * FEW, 96 * MIB, 160 * MIB - 8 * FEW,
		 8},
		{"-T 8 -b 256", PLAIN, 8, COUNT_PRIVATE, 8 * FEW, 96 * MIB, 160 * MIB - 8 * FEW, 8},
		{"-T 16 -M 256M -b 256", KERNELS, 16, COUNT_PRIVATE, 16 * FEW, 96 * MIB,
		 160 * MIB - 16 * FEW, 16},
		{"-T 64 -M 256M -b 256", KERNELS, 64, COUNT_PRIVATE, 64 * FEW, 96 * MIB,
		 160 * MIB - 64 * FEW, 60},
		{"-T 1 -b 25165820", KERNELS, 1, COUNT_PRIVATE, BLOCK + 96 * MIB + 64,
		 32 * MIB - BLOCK - 64, 128 * MIB, 1},
		/* Lanes alone. */
		{"-T 8 --device=gpu -b 256", KERNELS, 8, COUNT_PRIVATE, 8 * FEW, 128 * MIB,
		 128 * MIB, 8},
		{"-T 2 --device=gpu -b 256", KERNELS, 2, COUNT_PRIVATE, 2 * FEW, 128 * MIB,
		 128 * MIB, 2},
		{"-T 64 -M 256M --device=gpu -b 256", KERNELS, 60, COUNT_PRIVATE, 64 * FEW,
		 128 * MIB, 128 * MIB, 60},
		/*
		 * Statistics add sums to each worker's memory, and tables of small integers if they
		 * fit; digests take a quarter of -M.
		 */
		{"-T 2 --stats -b 256", NO_KERNELS, 2, COUNT_PRIVATE, 2 * (FEW + SUMS_U32 + SMALL),
		 0, 192 * MIB - 2 * (FEW + SUMS_U32 + SMALL), 0},
		{"-T 2 -M 300K --stats -b 256", NO_KERNELS, 1, COUNT_PRIVATE, FEW + SUMS_U32, 0,
		 225 * KIB - (FEW + SUMS_U32), 0},
		{"-T 2 --stats -t f64 -r 0:1", NO_KERNELS, 2, COUNT_PRIVATE, 2 * (FEW + SUMS_F64),
		 0, 192 * MIB - 2 * (FEW + SUMS_F64), 0},
		/* The cores count these; codes a GPU could count. */
		{"-T 2 --stats -t f64 -r 0:1", KERNELS, 2, COUNT_PRIVATE, 2 * (FEW + SUMS_F64), 0,
		 192 * MIB - 2 * (FEW + SUMS_F64), 0},
		{"-T 2 --stats -t u16 -b 256 --device=gpu", KERNELS, 2, COUNT_CODES,
		 2 * (BLOCK + CODES), 128 * MIB, 128 * MIB, 2},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct shaped of = job_of(CASES[i].job);
		const struct plan p = plan_make(&of.job, &of.shape, &CASES[i].facts);
		CHECK(p.workers == CASES[i].workers && p.counting.method == CASES[i].method,
		      "%s: %u workers, method %d", CASES[i].job, p.workers, (int)p.counting.method);
		CHECK(p.tables == CASES[i].tables, "%s: %zu bytes of tables", CASES[i].job,
		      p.tables);
		CHECK(p.lanes_memory == CASES[i].lanes_memory, "%s: %llu bytes for lanes",
		      CASES[i].job, (unsigned long long)p.lanes_memory);
		CHECK(p.decoders == CASES[i].decoders, "%s: %llu bytes for decoders", CASES[i].job,
		      (unsigned long long)p.decoders);
		CHECK(p.lanes == CASES[i].lanes, "%s: %u lanes", CASES[i].job, p.lanes);
		CHECK(p.counting.alone == (p.workers == 1 && of.job.machine.device == DEVICE_CPU),
		      "%s: alone", CASES[i].job);
	}
}

/* Tables of keys leave room for all workers beside the figures of keys and the windows of frames. */
static void by_key(void)
{
	static const char *const JOBS[] = {
		"-T 16 -M 128M --record=16 --by=u16@0 -t u16 -b 1000",
		"-T 16 -M 128M --record=16 --by=u16@0 -b 100 --stats",
		"-T 16 -M 512M --text=v --by=k -r 0:1 -b 100 --stats",
	};
	const struct plan_facts facts = NO_KERNELS;

	for (size_t i = 0; i < sizeof(JOBS) / sizeof(JOBS[0]); i++) {
		const struct shaped of = job_of(JOBS[i]);
		const struct plan p = plan_make(&of.job, &of.shape, &facts);
		CHECK(p.workers == 16 && p.counting.private > 100, "%s: %u workers, %u keys",
		      JOBS[i], p.workers, p.counting.private);
	}
	/* Keys keep 131,072 samples and 65,536 numbers; they have no tables of small integers. */
	const struct shaped tight = job_of("-T 1 -M 1M --record=8 --by=u8@0 -r 0:9 -b 4 --stats");
	const struct plan p = plan_make(&tight.job, &tight.shape, &facts);
	CHECK(p.tables > BLOCK + (131072 + 65536) * sizeof(uint32_t), "keys: %zu bytes of tables",
	      p.tables);
}

/* With auto the GPU is left out if its slots, lanes and their counters would not fit. */
static void left_out(void)
{
	static const struct {
		const char *job;
		bool plain, gpu;
	} CASES[] = {
		{"-T 1 -M 256M -b 1024", false, true},
		{"-T 2 -M 256M -b 16777216", false, true},
		{"-T 2 -M 256M -b 16777216", true, true},
		{"-T 8 -M 256M -b 1048576", false, true},
		{"-T 16 -M 512M -b 16777216", false, true},
		{"-T 16 -M 512M -b 268435456", false, true},
		{"-T 16 -M 512M -t f32 --auto -b 268435456", false, false},
		{"-T 16 -M 512M -t f32 --auto -b 268435456", true, false},
		{"-T 16 -M 512M -t f32 --auto -b 1048576", false, true},
		{"-T 16 -M 512M --every=1 -o a.json -b 268435456", false, false},
		{"-T 16 -M 512M --every=1 -o a.json -b 16777216", true, false},
		{"-T 16 -M 512M --every=1 -o a.json -b 1048576", true, true},
		{"-T 2 -M 1M -b 1024", false, false},
		{"-T 2 -M 3M -b 1024", false, true},
		{"-T 16 -M 512M --device=gpu -t f32 --auto -b 268435456", false, true},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		const struct shaped of = job_of(CASES[i].job);
		const struct plan_facts facts = {.kernels = true, .plain = CASES[i].plain};
		CHECK((plan_make(&of.job, &of.shape, &facts).lanes > 0) == CASES[i].gpu,
		      "%s%s: a GPU, or none", CASES[i].job, CASES[i].plain ? ", plain" : "");
	}
}

/* With auto the GPU's start must pay: at the rate so far, 0.4 s of work must be left. */
static void pays(void)
{
	static const struct {
		double seconds;
		uint64_t counted, known;
		bool pays;
	} CASES[] = {
		/* The first blocks tell nothing: fewer of them if they are slow. */
		{10, 0, 0, false},
		{10, 8 * MIB - 1, 1 << 30, false},
		{10, 8 * MIB, 128 * MIB, true},
		{0.019, 64 * MIB - 1, UINT64_MAX, false},
		{0.021, 64 * MIB - 1, UINT64_MAX, true},
		/* At 1 GiB/s, 400 MiB left are not enough, a little more is. */
		{0.125, 128 * MIB, 128 * MIB + 409 * MIB, false},
		{0.125, 128 * MIB, 128 * MIB + 410 * MIB, true},
		{1, 1024 * MIB, 1024 * MIB + 409 * MIB, false},
		{1, 1024 * MIB, 1024 * MIB + 410 * MIB, true},
		/* If the end is unknown, as much is left as was counted: it pays after 0.4 s. */
		{0.39, 1024 * MIB, 0, false},
		{0.41, 1024 * MIB, 0, true},
		{0.41, 64 * MIB, 0, true},
		/* Everything is counted, or more than was known. */
		{10, 1024 * MIB, 1024 * MIB, false},
		{10, 1024 * MIB, 100 * MIB, false},
		/* No overflow. */
		{1e6, UINT64_MAX / 2, UINT64_MAX, true},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		CHECK(plan_gpu_pays(CASES[i].seconds, CASES[i].counted, CASES[i].known) ==
			      CASES[i].pays,
		      "%g s, %llu of %llu bytes: does not pay, or does", CASES[i].seconds,
		      (unsigned long long)CASES[i].counted, (unsigned long long)CASES[i].known);
	}
}

/* Draw a number whose order of magnitude is equally likely up to `bits` bits. */
static uint64_t drawn(uint64_t *state, unsigned bits)
{
	return check_random(state) >> (63 - check_random(state) % bits);
}

static struct shaped draw(uint64_t *state)
{
	static const char *const TYPES[] = {"u8", "u16", "u24", "u32", "i64", "f32", "f64"};
	static const char *const DEVICES[] = {"cpu", "auto", "gpu", "gpu:3"};
	char line[256], layout[64] = "";
	const unsigned channels =
		check_random(state) % 3 ? 1 : 1 + (unsigned)(check_random(state) % 64);

	/* Records of any size, and rows. */
	const uint64_t size = 8 * channels + drawn(state, 24) % (LAYOUT_BYTES_MAX - 8 * channels);
	const unsigned kind = (unsigned)(check_random(state) % 4);
	if (kind == 0)
		snprintf(layout, sizeof(layout), "--record=%llu", (unsigned long long)size);
	if (kind == 1)
		snprintf(layout, sizeof(layout), "--rows=%u:%llu", channels,
			 (unsigned long long)size);
	const uint64_t bins = drawn(state, 28) + 1;
	snprintf(line, sizeof(line), "-t %s -r 0:1 -b 1 -T %llu --device=%s -c %u %s",
		 TYPES[check_random(state) % (sizeof(TYPES) / sizeof(TYPES[0]))],
		 (unsigned long long)drawn(state, 12) + 1, DEVICES[check_random(state) % 4],
		 channels, layout);
	struct shaped of = job_of(line);
	of.shape.axis.edges.binning.bins = (uint32_t)bins; /* all that a plan asks of the edges */
	of.job.machine.memory = (100 * KIB << check_random(state) % 16) + drawn(state, 20);
	return of;
}

/* Return the least memory that one worker may take. */
static size_t least_of(const struct shape *shape)
{
	const struct axis *const axis = &shape->axis;
	const uint32_t record = shape->record;
	/* With more than STATS_FEW channels, 1,024 records or 1 MiB. */
	const size_t records = MIB / record < 1024 ? MIB / record : 1024,
		     least = shape->channels > STATS_FEW && records * record > 128 * KIB
				     ? records * record
				     : 128 * KIB,
		     block = record > least ? record : least;
	struct counting own, shared;

	counting_init(&own, &axis->type, &axis->edges, &shape->layout, false);
	counting_init(&shared, &axis->type, &axis->edges, &shape->layout, true);
	return (own.memory < shared.memory ? own.memory : shared.memory) + block + 4 * KIB;
}

static struct plan plan_with(const struct shaped *of, const struct plan_facts *facts,
			     uint64_t memory)
{
	struct job other = of->job;

	other.machine.memory = memory;
	return plan_make(&other, &of->shape, facts);
}

static void bounds(const struct shaped *of, const struct plan_facts *facts, const struct plan *p,
		   unsigned long i)
{
	const size_t least = least_of(&of->shape);
	const uint64_t half = of->job.machine.memory / 2;
	const bool gpu = of->job.machine.device == DEVICE_GPU;

	CHECK((p->workers > 0) == (of->job.machine.memory >= least),
	      "job %lu: %u workers, of which one needs %zu", i, p->workers, least);
	CHECK(plan_with(of, facts, least).workers > 0 &&
		      plan_with(of, facts, least - 1).workers == 0,
	      "job %lu: one worker needs %zu", i, least);
	CHECK(p->workers <= of->job.machine.threads && p->lanes <= of->job.machine.threads,
	      "job %lu: %u workers, %u lanes", i, p->workers, p->lanes);
	if (p->workers == 0) {
		CHECK(p->tables == least, "job %lu: %zu, not %zu", i, p->tables, least);
		return;
	}
	CHECK((gpu ? 0 : p->tables) + p->lanes_memory + p->decoders <=
		      of->job.machine.memory + (p->decoders == 1),
	      "job %lu: more than -M", i);
	/* More than half of -M is only for one worker that needs it. */
	CHECK(facts->plain || p->tables <= half || p->tables == least, "job %lu: tables take %zu",
	      i, p->tables);
	CHECK(facts->plain || p->tables > half || p->decoders >= half, "job %lu: decoders get %llu",
	      i, (unsigned long long)p->decoders);
	CHECK(p->lanes_memory <= (gpu ? half : of->job.machine.memory / 8 * 3),
	      "job %lu: lanes get %llu", i, (unsigned long long)p->lanes_memory);
	CHECK(p->lanes > 0 || p->lanes_memory == 0, "job %lu: memory for no lane", i);
}

/* Lanes exist if they fit, and only then, unless nothing else counts. */
static void lanes(const struct shaped *of, const struct plan_facts *facts, const struct plan *p,
		  unsigned long i)
{
	const bool asked = facts->kernels && of->job.machine.device == DEVICE_AUTO;
	struct gpu_spec spec = plan_gpu(p, &of->job);

	spec.lanes = 1;
	CHECK((of->job.machine.device == DEVICE_GPU)
		      ? p->lanes > 0
		      : p->lanes == 0 || (asked && gpu_size(&spec).fits),
	      "job %lu: a GPU", i);
}

/* Twice the memory that decoders and one worker need is enough for any job. */
static void named(const struct shaped *of, const struct plan_facts *facts, uint64_t need,
		  unsigned long i)
{
	const size_t least = least_of(&of->shape);
	const struct plan p = plan_with(of, facts, 2 * (need > least ? need : least));

	CHECK(p.workers > 0 && (facts->plain || p.decoders >= need),
	      "job %lu: twice %llu is not enough", i, (unsigned long long)need);
}

static void every_job(void)
{
	uint64_t state = 20;

	for (unsigned long i = 0; i < 5000; i++) {
		const struct shaped of = draw(&state);
		const uint64_t bits = check_random(&state);
		const struct plan_facts facts = {.kernels = bits & 1, .plain = bits >> 1 & 1};
		const struct plan p = plan_make(&of.job, &of.shape, &facts),
				  again = plan_make(&of.job, &of.shape, &facts);
		CHECK(p.workers == again.workers && p.tables == again.tables &&
			      p.decoders == again.decoders &&
			      p.counting.method == again.counting.method && p.lanes == again.lanes,
		      "job %lu: another plan", i);
		bounds(&of, &facts, &p, i);
		if (p.workers > 0)
			lanes(&of, &facts, &p, i);
		named(&of, &facts, drawn(&state, 31), i);
		/* The default: zstd windows of 128 MiB for any job. */
		const struct plan usual = plan_with(&of, &facts, 256 * MIB);
		CHECK(facts.plain || usual.decoders >= 128 * MIB,
		      "job %lu: decoders get %llu of the default", i,
		      (unsigned long long)usual.decoders);
	}
}

int main(void)
{
	table();
	by_key();
	left_out();
	pays();
	every_job();
	return check_report();
}

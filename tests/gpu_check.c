/*
 * gpu_check: every kernel against the CPU engine, on a machine with a GPU.
 * usage: gpu_check [SEED [JOBS]]
 *
 * Each job draws a type, bins, a range and a kind of data, starts the GPU engine for it as the
 * program does, and compares the cells of chunks of many sizes with those that the CPU counts.
 * The first jobs walk through a list that reaches every way and every kind of bins; that they
 * did is checked at the end. Without a GPU it says so and exits 77.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "count.h"
#include "gpu.h"
#include "number.h"

enum data { NOISE, INSIDE, EDGES, CONSTANT, SORTED, TWO_HOT, FEW, DATA_KINDS };

struct job {
	const char *type;
	uint32_t bins;
	const char *range; /* NULL: none; "full"; LO:HI */
	bool closed;
};

/* Between them: every kind of bins of every size, every way of keeping counters. */
static const struct job LIST[] = {
	{"u8", 256, NULL, false}, {"i8", 100, "full", false}, {"u16", 65536, NULL, false},
	{"i16be", 1000, "full", false}, {"f16", 500, "-1:1", false}, {"bf16be", 77, "-2:2", false},
	{"u16", 1024, NULL, false}, {"u16be", 1000, "full", false}, {"i16", 2048, "-1024:1024", true},
	{"u16", 16384, NULL, false}, {"i16be", 777, "-30000:30000", false}, {"u16", 300, "-0.5:255.5", false},
	{"i16", 4096, "full", true}, {"u16", 10, "-9:-5", false}, {"u16", 3000, "-70000:70000", false},
	{"u24", 1024, "full", false}, {"i24be", 1000, "-5000:5000", true},
	{"u24be", 100003, "full", false}, {"i24", 1 << 20, "full", false},
	{"u32", 1024, NULL, false}, {"u32be", 1024, NULL, true}, {"i32", 2048, "-1024:1024", false},
	{"u32", 1000, "full", false}, {"i32be", 777, "-12345:54321", true},
	{"u32", 16384, "full", false}, {"u32", 57000, "full", false}, {"u32", 58001, "full", false},
	{"u32", 65536, NULL, false}, {"u32", 100003, "full", false}, {"i32", 131072, "full", false},
	{"u32", 1 << 20, NULL, false}, {"i32be", 1000003, "full", false}, {"u32", 1 << 22, "full", false},
	{"u32", 300, "-0.5:255.5", false}, {"i32", 70000, "-1e30:1e30", false},
	{"u32", 5000, "3:7", false}, {"i32", 10, "0.25:0.75", false}, {"u32", 10, "-9:-5", false},
	{"u64", 1024, "full", false}, {"i64be", 1000, "full", false}, {"u64", 300, NULL, true},
	{"i64", 65536, "-1e6:1e6", false}, {"u64be", 1 << 20, "full", false},
	{"i64", 999, "-0.5:1e18", false}, {"u64", 64, "0.25:0.75", false}, {"i64", 3, "1e19:2e19", false},
	{"i64", 1000, "9007199254740991.5:9007199254740995", false},
	{"f32", 1000, "0:1", false}, {"f32", 1024, "0:1024", false}, {"f32be", 333, "-1.25:3.1", true},
	{"f32", 65536, "-1:1", false}, {"f32", 1 << 20, "-1:1", false}, {"f32", 100, "full", false},
	{"f32", 5000, "16777216:16777220", false}, {"f32", 10, "1e-320:9e-320", false},
	{"f64", 1000, "0:1", true}, {"f64be", 100003, "-1:1", false}, {"f64", 50, "full", false},
	{"f64", 1000, "1:1.0000000000001", false}, {"f64", 1 << 20, "0:1", false},
};
#define LIST_LENGTH (sizeof(LIST) / sizeof(LIST[0]))

static uint64_t state;

static uint64_t draw(void)
{
	return check_random(&state);
}

/* A real number for a float type: from the range, an edge, a neighbour, or something odd. */
static double real_sample(const struct edges *e, const struct sample_type *t, bool edges_only)
{
	const uint32_t bins = e->binning.bins;
	const double lo = edges_value(e, 0), hi = edges_value(e, bins);
	const uint64_t r = draw();
	double x;

	if (!edges_only && r % 64 == 0) {
		static const double ODD[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e-45, -1e-310};
		return ODD[r / 64 % 7];
	}
	if (!edges_only && r % 64 < 48)
		return lo + (hi - lo) * ((double)(r >> 11) * 0x1.1p-53 - 0.03);
	x = edges_value(e, (uint32_t)((r >> 20) % (bins + 1u)));
	if (t->bytes == 4) {
		const float f = (float)x;
		return (double)(r % 3 == 0 ? f : nextafterf(f, r % 3 == 1 ? INFINITY : -INFINITY));
	}
	return r % 3 == 0 ? x : nextafter(x, r % 3 == 1 ? (double)INFINITY : -(double)INFINITY);
}

/* The bits of one sample, as a little-endian number. */
static uint64_t sample_bits(const struct edges *e, const struct sample_type *t, enum data data)
{
	const struct binning *b = &e->binning;
	const uint64_t mask = t->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * t->bytes) - 1;
	const uint64_t r = draw();

	if (data == NOISE || t->bytes <= 2)
		return r & mask;
	if (t->kind == SAMPLE_FLOAT) {
		const double x = real_sample(e, t, data == EDGES);
		const float f = (float)x;
		uint64_t bits = 0;
		if (t->bytes == 4)
			memcpy(&bits, &f, 4);
		else
			memcpy(&bits, &x, 8);
		return bits;
	}
	/* Keys from a little below the range to a little above; or about the edges. */
	uint64_t key = b->first - 3 + (b->span + 7 == 0 ? r : r % (b->span + 7));
	if (data == EDGES && b->span > 1000)
		key = b->first + (uint64_t)((double)b->span * ((double)(r % b->bins) / b->bins)) + r % 5 - 2;
	return (key ^ b->bias) & mask;
}

static void put(unsigned char *p, const struct sample_type *t, uint64_t bits)
{
	for (uint32_t k = 0; k < t->bytes; k++)
		p[t->big ? t->bytes - 1 - k : k] = (unsigned char)(bits >> 8 * k);
}

static void fill(unsigned char *p, size_t n, const struct edges *e, const struct sample_type *t,
		 enum data data)
{
	const uint64_t a = sample_bits(e, t, INSIDE), b = sample_bits(e, t, INSIDE);

	for (size_t i = 0; i < n; i++) {
		uint64_t bits;
		if (data == CONSTANT)
			bits = a;
		else if (data == TWO_HOT)
			bits = draw() % 16 == 0 ? sample_bits(e, t, NOISE) : draw() % 2 ? a : b;
		else if (data == FEW)
			bits = a + draw() % 5;
		else if (data == SORTED) /* in long runs, whatever the order of the type */
			bits = a + i / 777;
		else
			bits = sample_bits(e, t, data);
		put(p + i * t->bytes, t, bits);
	}
}

/* Compares the chunk in slot with what the CPU makes of it. */
static void compare(const struct counting *c, struct lane *lane, struct slot *slot, size_t n,
		    const char *what)
{
	struct counts counts;
	struct fail fail = {.status = STATUS_OK};
	uint64_t differ = 0, first = 0;
	int done;

	CHECK(gpu_submit(lane, slot, n) == 0, "%s: submit", what);
	while ((done = gpu_done(lane, slot)) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	CHECK(done == 1, "%s: done", what);
	if (done != 1 || counts_init(&counts, c->cells, &fail) != 0)
		return;
	struct counter *counter = counter_open(c, &counts);
	counter_add(counter, slot->data, n, NULL);
	counter_close(counter);
	uint64_t *expected = calloc(lane->cells, sizeof(*expected));
	for (size_t i = 0; i < c->cells; i++)
		expected[gpu_counter(lane, i)] += counts.cell[i];
	for (size_t i = 0; i < lane->cells; i++)
		if (expected[i] != slot->cells[i] && differ++ == 0)
			first = i;
	CHECK(differ == 0, "%s, %zu samples: %llu cells differ, first %llu: cpu %llu, gpu %lu", what, n,
	      (unsigned long long)differ, (unsigned long long)first,
	      (unsigned long long)expected[first], (unsigned long)slot->cells[first]);
	free(expected);
	counts_free(&counts);
}

/* What the jobs met, over all processes. */
static struct seen {
	unsigned ways[4], kinds[BIN_KINDS];
	unsigned long passed, failed;
	bool no_gpu;
} *seen;

/* One job on all kinds of data; false when there is no GPU. */
static bool run(const struct job *job, unsigned long number)
{
	static const char *const WAYS[] = {"striped", "whole", "pair", "split"};
	struct sample_type type;
	struct edges_spec spec = {.bins = job->bins, .closed = job->closed, .ranged = job->range != NULL};
	struct edges edges;
	struct counting counting;
	struct gpu_report report;
	const char *why;
	char what[200];

	sample_type_parse(&type, job->type);
	spec.full = job->range && strcmp(job->range, "full") == 0;
	if (job->range && !spec.full) {
		const char *colon = strchr(job->range, ':');
		number_parse(&spec.lo, job->range, (size_t)(colon - job->range));
		number_parse(&spec.hi, colon + 1, strlen(colon + 1));
	}
	if (edges_init(&edges, &spec, &type, &why) != 0)
		return true;
	counting_init(&counting, &type, &edges, 2, false);
	struct gpu *gpu = gpu_start(&(struct gpu_spec){
		.counting = &counting, .devices = "0", .lanes = 2, .memory = 8 << 20}); /* two: the only lane of a GPU has windows */
	if (!gpu || gpu_wait(gpu) != 0) {
		gpu_describe(gpu, &report);
		CHECK(number == 0, "job %lu: %s", number, report.why);
		if (number == 0)
			printf("no GPU: %s\n", report.why);
		return number != 0;
	}
	gpu_describe(gpu, &report);
	for (int i = 0; i < 4; i++)
		seen->ways[i] += (unsigned)(strncmp(report.kernel, WAYS[i], strlen(WAYS[i])) == 0 ? 1 : 0);
	seen->kinds[edges.binning.kind]++;
	struct lane *lane = gpu_take_lane(gpu);
	const size_t most = gpu_slot_bytes(gpu) / type.bytes;
	for (int data = 0; data < DATA_KINDS; data++) {
		const size_t sizes[] = {draw() % 70, draw() % 5000, draw() % 100000,
					data == (int)(number % DATA_KINDS) ? most : most / 16 + 1, most / 17};
		struct slot *slot = &lane->slot[(unsigned)data % lane->slots];
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			snprintf(what, sizeof(what), "job %lu: %s -b %lu -r %s%s, data %d, %s", number,
				 job->type, (unsigned long)job->bins, job->range ? job->range : "none",
				 job->closed ? " closed" : "", data, report.kernel);
			fill(slot->data, sizes[i], &edges, &type, (enum data)data);
			compare(&counting, lane, slot, sizes[i], what);
		}
	}
	return true;
}

/* A job of random parts. */
static struct job random_job(char *range, size_t size)
{
	static const uint32_t BINS[] = {1, 2, 5, 255, 256, 1000, 1024, 5000, 16384, 57340, 58000, 65536, 90000, 114000, 131072, 1 << 18, 1000000};
	struct job job = LIST[draw() % LIST_LENGTH];

	job.bins = BINS[draw() % (sizeof(BINS) / sizeof(BINS[0]))];
	job.closed = draw() % 4 == 0;
	if (draw() % 3 == 0) {
		const double lo = ldexp((double)(int64_t)draw(), -(int)(draw() % 70));
		snprintf(range, size, "%.17g:%.17g", lo, lo + ldexp(1 + (double)(draw() % 1000), (int)(draw() % 40) - 8));
		job.range = range;
	}
	return job;
}

/*
 * The engine gives no lane back: jobs run in processes of a few of them each, or the device's
 * memory would end before they do.
 */
#define JOBS_OF_PROCESS 16

static void run_jobs(uint64_t seed, unsigned long first, unsigned long end)
{
	char range[100];

	for (unsigned long i = first; i < end; i++) {
		state = (seed + 1) * 0x9e3779b97f4a7c15u ^ (i * 0xbf58476d1ce4e5b9u + 1);
		const struct job job = i < LIST_LENGTH ? LIST[i] : random_job(range, sizeof(range));
		if (!run(&job, i)) {
			seen->no_gpu = true;
			break;
		}
	}
	seen->passed += check_passed;
	seen->failed += check_failed;
	fflush(stdout);
	_exit(0);
}

int main(int argc, char **argv)
{
	const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const unsigned long jobs = argc > 2 ? strtoul(argv[2], NULL, 10) : LIST_LENGTH;

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	for (unsigned long i = 0; i < jobs && !seen->no_gpu; i += JOBS_OF_PROCESS) {
		const unsigned long end = i + JOBS_OF_PROCESS < jobs ? i + JOBS_OF_PROCESS : jobs;
		int status = -1;
		const pid_t child = fork();
		if (child == 0)
			run_jobs(seed, i, end);
		waitpid(child, &status, 0);
		CHECK(status == 0, "jobs %lu to %lu: their process ended with %x", i, end - 1, (unsigned)status);
	}
	if (seen->no_gpu)
		return 77;
	for (int i = 0; i < 4 && jobs >= LIST_LENGTH; i++)
		CHECK(seen->ways[i] > 0, "way %d was never taken", i);
	for (int i = 0; i < BIN_KINDS && jobs >= LIST_LENGTH; i++)
		CHECK(seen->kinds[i] > 0, "kind %d was never taken", i);
	check_passed += seen->passed;
	check_failed += seen->failed;
	return check_report();
}

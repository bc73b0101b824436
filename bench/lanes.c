/* SPDX-License-Identifier: MIT */
/*
 * lanes: the parts of the way of a warm file to the GPU, each alone and all together, with the
 * program's own lanes, slots and helper.
 * usage: lanes FILE
 *
 *   fill      threads read the file into slots and give them back uncounted
 *   count     threads submit slots as they were filled over and over: doorbell, copy, clear, kernel, fetch, answer
 *   whole     the program's workers on the GPU alone: fill, submit, reap, commit. One after the other the two would
 *             reach the harmonic sum of their rates; overlapped they reach the smaller one
 *
 * Each line has the processor time of this process and that of the helper.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "driver/helper.h"
#include "gpu/gpu_state.h"
#include "worker.h"

#define THREADS 16u
#define BINS 1024u
#define COUNT_BYTES ((uint64_t)16 << 30) /* that the threads of `count` submit together */

static struct counting counting;
static struct edges edges;
static struct sample_type type;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "lanes: %s\n", what);
	exit(1);
}

struct part {
	struct work *work;
	uint64_t bytes; /* to count in, then counted */
};

static struct lane *lane_of(const struct part *p)
{
	struct lane *lane = gpu_lane_open(p->work->gpu);

	if (!lane)
		die("no lane");
	return lane;
}

static struct slot *slot_of(struct lane *lane)
{
	struct slot *slot;

	while (!(slot = gpu_take_slot(lane)))
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	return slot;
}

static void *fill(void *arg)
{
	struct part *p = arg;
	struct lane *lane = lane_of(p);
	struct reader *const reader = source_reader(p->work->source);
	struct fail fail = {.status = STATUS_OK};
	size_t got = 1;

	while (got > 0) {
		struct slot *slot = slot_of(lane);
		const struct want want = {.buffer = slot->data, .cap = gpu_slot_bytes(lane)};
		struct chunk chunk;
		if (source_take(reader, &want, &chunk, &fail) != 0)
			die(fail.text);
		got = chunk.bytes;
		if (source_done(reader, &chunk, got, &fail) != 0)
			die(fail.text);
		p->bytes += got;
		gpu_free(slot);
	}
	gpu_lane_close(lane);
	return NULL;
}

static void reap(struct lane *lane, struct slot *slot)
{
	enum gpu_answer answer;

	while ((answer = gpu_done(lane, slot, 0.1)) == GPU_NOT_YET)
		;
	if (answer != GPU_DONE)
		die("the GPU failed");
	gpu_free(slot);
}

static void *count(void *arg)
{
	struct part *p = arg;
	struct lane *lane = lane_of(p);
	struct slot *sent[REGION_SLOTS];
	const size_t bytes = gpu_slot_bytes(lane);
	const uint64_t most = p->bytes;
	unsigned first = 0, n = 0;

	for (p->bytes = 0; p->bytes < most; p->bytes += bytes) {
		struct slot *slot;
		while (!(slot = gpu_take_slot(lane)) && n > 0) {
			reap(lane, sent[first++ % REGION_SLOTS]);
			n--;
		}
		if (!slot)
			slot = slot_of(lane);
		if (gpu_submit(lane, slot, bytes) != 0)
			die("the GPU failed");
		sent[(first + n++) % REGION_SLOTS] = slot;
	}
	for (; n > 0; n--)
		reap(lane, sent[first++ % REGION_SLOTS]);
	gpu_lane_close(lane);
	return NULL;
}

static void *whole(void *arg)
{
	struct part *p = arg;
	struct worker_report report = {0};
	struct fail fail = {.status = STATUS_OK};

	if (worker_run(p->work, &report, &fail) != 0)
		die(fail.text);
	p->bytes += report.gpu_records * p->work->record;
	return NULL;
}

/* ---- processor time ---- */

static double own_seconds(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

/* Of a process that is not waited for, from /proc; 0 where there is none. */
static double helper_seconds(const struct gpu *gpu)
{
	char path[64], text[1024] = "";
	unsigned long user = 0, system = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)gpu->device[0].link.helper);
	FILE *file = fopen(path, "r");
	if (!file)
		return 0;
	const size_t got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = '\0';
	const char *const name_end = strrchr(text, ')');
	if (!name_end || sscanf(name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
				&user, &system) != 2)
		return 0;
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* ---- a line of the table ---- */

static bool ignore(void *arg)
{
	(void)arg;
	return false;
}

/* So many threads; returns GB/s. */
static double run(const char *name, struct gpu *gpu, char *path, unsigned threads,
		  void *(*part_main)(void *))
{
	struct fail fail = {.status = STATUS_OK};
	struct counts counts;
	struct source *source;
	struct part part[THREADS];
	pthread_t thread[THREADS];
	uint64_t bytes = 0;
	const struct source_spec spec = {
		.paths = &path, .path_count = 1, .limit = UINT64_MAX, .record = type.bytes};

	if (source_open(&source, &spec, &fail) != 0 ||
	    counts_init(&counts, counting.cells, &fail) != 0)
		die(fail.text);
	struct work work = {.counting = &counting,
			    .source = source,
			    .counts = &counts,
			    .block = (size_t)128 << 10,
			    .record = type.bytes,
			    .busy = ignore,
			    .gpu = gpu,
			    .gpu_only = true};
	const double own = own_seconds(), helper = helper_seconds(gpu), start = clock_seconds();
	for (unsigned i = 0; i < threads; i++) {
		part[i] = (struct part){&work, part_main == count ? COUNT_BYTES / threads : 0};
		if (pthread_create(&thread[i], NULL, part_main, &part[i]) != 0)
			die("no thread");
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		bytes += part[i].bytes;
	}
	const double seconds = clock_seconds() - start, per = 1e11 / (double)bytes;
	if (part_main == whole && counts.samples != bytes / type.bytes)
		die("not all samples are counted");
	printf("| %s | %u | %.1f | %.1f | %.1f |\n", name, threads, (double)bytes / seconds * 1e-9,
	       (own_seconds() - own) * per, (helper_seconds(gpu) - helper) * per);
	fflush(stdout);
	counts_free(&counts);
	source_close(source);
	return (double)bytes / seconds * 1e-9;
}

static struct gpu *start(void)
{
	struct gpu_report report = {.why = "no memory"};
	struct gpu *gpu = gpu_start(&(struct gpu_spec){.counting = &counting,
						       .devices = "0",
						       .lanes = THREADS,
						       .memory = (uint64_t)1 << 30});

	if (gpu && gpu_wait(gpu) == 0)
		return gpu;
	if (gpu)
		gpu_describe(gpu, &report);
	die(report.why);
}

int main(int argc, char **argv)
{
	static const unsigned MANY[] = {1, 4, 8, THREADS};
	const struct edges_spec bins = {.bins = BINS};
	struct gpu_report report;
	const char *why;

	if (helper_asked(argc, argv))
		return helper_main(argv);
	if (argc != 2 || sample_type_parse(&type, "u32") != 0)
		die("usage: lanes FILE");
	if (edges_init(&edges, &bins, &type, &why) != 0)
		die(why);
	counting_init(&counting, &type, &edges, false);
	struct gpu *gpu = start();
	gpu_describe(gpu, &report);
	printf("%u slots of %zu KiB, ready after %.0f ms\n"
	       "| part | threads | GB/s | CPU-s per 100 GB | of the helper "
	       "|\n|---|---|---|---|---|\n",
	       report.slots, report.slot_bytes >> 10, report.start_seconds * 1e3);
	for (unsigned i = 0; i < sizeof(MANY) / sizeof(MANY[0]); i++) {
		const double filled = run("fill", gpu, argv[1], MANY[i], fill);
		const double counted = run("count", gpu, argv[1], MANY[i], count);
		const double all = run("whole", gpu, argv[1], MANY[i], whole);
		printf("| of the smaller part; of both in turn | | %.2f; %.2f | | |\n",
		       all / (filled < counted ? filled : counted),
		       all * (1 / filled + 1 / counted));
	}
	gpu_close(gpu);
	edges_free(&edges);
	return 0;
}

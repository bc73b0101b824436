/* SPDX-License-Identifier: MIT */
/*
 * lanes: the parts of the way of a warm file to the GPU, each alone and all together, with the
 * program's own lanes.
 * usage: lanes FILE
 *
 *   fill    the lanes read the file into their slots and do nothing with them
 *   count   the lanes submit the same slots over and over: copy, clear, kernel, fetch, commit
 *   whole   fill, submit, reap. One after the other these would reach the harmonic sum of the
 *           two rates; overlapped they reach the smaller of the two
 *   map     windows of the mapped file are page-locked and released
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "gpu/gpu_state.h"
#include "hist/hist.h"
#include "worker.h"

#define LANES 8u
#define BINS 1024u

static struct gpu *gpu;
static struct lane *lanes[LANES];
static struct counting counting;
static struct edges edges;
static struct sample_type type;
static size_t window_bytes;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "lanes: %s\n", what);
	exit(1);
}

struct part {
	struct work work;
	struct lane *lane;
	uint64_t bytes;
	bool read, count;
};

static void finish(struct lane *lane, struct slot *slot)
{
	while (slot->state == SLOT_SUBMITTED && gpu_done(lane, slot) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	gpu_free(slot);
}

static void submit_and_wait(struct part *p, struct slot *slot)
{
	finish(p->lane, slot);
	gpu_fill(p->lane, slot, gpu_slot_bytes(gpu));
	if (gpu_submit(p->lane, slot) != 0)
		die("the GPU failed");
}

static void *parts(void *arg)
{
	struct part *p = arg;
	struct lane *lane = p->lane;
	struct fail fail = {.status = STATUS_OK};
	const uint64_t most = (uint64_t)4 << 30;
	struct reader *const reader = source_reader(p->work.source);
	size_t got = 1;

	if (gpu->cuda.context_set(gpu->device[lane->device->index].context) != 0)
		die("no context");
	if (p->read && p->count) {
		struct worker_report report = {0};
		if (worker_gpu(&p->work, reader, lane, &report, &fail) != WORKER_DONE)
			die("the GPU failed");
		p->bytes = report.gpu_records * 4;
		return NULL;
	}
	for (unsigned k = 0; got > 0; k = (k + 1) % lane->slots) {
		struct slot *slot = &lane->slot[k];
		const struct want want = {
			.buffer = slot->data, .cap = gpu_slot_bytes(gpu), .range = lane->window_bytes};
		struct chunk chunk;
		if (p->count) {
			submit_and_wait(p, slot);
			got = p->bytes < most ? gpu_slot_bytes(gpu) : 0;
		} else {
			if (source_take(reader, &want, &chunk, &fail) != 0)
				die(fail.text);
			got = chunk.bytes;
			if (got > 0 && !chunk.data) {
				gpu_fill(lane, slot, got);
				if (gpu_map(lane, slot, chunk.fd, chunk.offset, got) != 0 || slot_unmap(gpu, slot) != 0)
					die("the file cannot be mapped");
				gpu_free(slot);
			}
			if (source_done(reader, &chunk, got, &fail) != 0)
				die(fail.text);
		}
		p->bytes += got;
	}
	for (unsigned k = 0; k < lane->slots; k++)
		finish(lane, &lane->slot[k]);
	return NULL;
}

static double cpu_seconds(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

static void ignore(void *arg)
{
	(void)arg;
}

/* Runs lanes from .. to - 1; lane 0 uses windows or does not. Returns GB/s. */
static double run(const char *name, char *path, unsigned from, unsigned to, bool windows, bool read, bool count)
{
	struct fail fail = {.status = STATUS_OK};
	struct counts counts;
	struct source *source;
	struct part part[LANES];
	pthread_t thread[LANES];
	uint64_t bytes = 0;
	const struct source_spec spec = {.paths = &path, .path_count = 1, .limit = UINT64_MAX, .record = 4};

	if (source_open(&source, &spec, &fail) != 0 || counts_init(&counts, counting.cells, &fail) != 0)
		die(fail.text);
	lanes[0]->window_bytes = windows ? window_bytes : 0;
	const double cpu = cpu_seconds(), start = clock_seconds();
	for (unsigned i = from; i < to; i++) {
		memset(lanes[i]->total, 0, lanes[i]->cells * sizeof(uint64_t));
		part[i] = (struct part){
			.work = {.counting = &counting,
				 .source = source,
				 .counts = &counts,
				 .record = 4,
				 .busy = ignore,
				 .gpu = gpu,
				 .gpu_only = true},
			.lane = lanes[i],
			.read = read,
			.count = count,
		};
		if (pthread_create(&thread[i], NULL, parts, &part[i]) != 0)
			die("no thread");
	}
	for (unsigned i = from; i < to; i++) {
		pthread_join(thread[i], NULL);
		bytes += part[i].bytes;
	}
	const double seconds = clock_seconds() - start, used = cpu_seconds() - cpu;
	const double rate = (double)bytes / seconds * 1e-9;
	printf("| %s | %u | %.1f | %.1f |\n", name, to - from, rate, used / (double)bytes * 1e11);
	fflush(stdout);
	counts_free(&counts);
	source_close(source);
	return rate;
}

int main(int argc, char **argv)
{
	struct gpu_report report;

	if (argc != 2 || sample_type_parse(&type, "u32") != 0)
		die("usage: lanes FILE");
	const struct edges_spec bins = {.bins = BINS};
	const char *why;
	if (edges_init(&edges, &bins, &type, &why) != 0)
		die(why);
	counting_init(&counting, &type, &edges, false);
	gpu_choose_devices("0");
	gpu = gpu_start(
		&(struct gpu_spec){.counting = &counting, .devices = "0", .lanes = LANES, .memory = (uint64_t)1 << 30});
	if (!gpu || gpu_wait(gpu) != 0) {
		gpu_describe(gpu, &report);
		die(report.why);
	}
	for (unsigned i = 0; i < LANES; i++)
		while (!(lanes[i] = gpu_take_lane(gpu)))
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	window_bytes = lanes[0]->window_bytes;
	printf("slots of %zu KiB, windows of %zu MiB\n| part | lanes | GB/s | CPU-s per 100 GB |\n|---|---|---|---|\n",
	       gpu_slot_bytes(gpu) >> 10, window_bytes >> 20);
	static const unsigned MANY[] = {1, 4, 8};
	for (unsigned i = 0; i < 3; i++) {
		const double fill = run("fill", argv[1], 0, MANY[i], false, true, false);
		const double count = run("count", argv[1], 0, MANY[i], false, false, true);
		const double whole = run("whole", argv[1], 0, MANY[i], false, true, true);
		printf("| of the smaller part; of both in turn | | %.2f; %.2f | |\n",
		       whole / (fill < count ? fill : count), whole * (1 / fill + 1 / count));
	}
	if (window_bytes > 0) {
		run("map", argv[1], 0, 1, true, true, false);
		run("whole, windows", argv[1], 0, 1, true, true, true);
		run("whole, windows and slots", argv[1], 0, 3, true, true, true);
		run("whole, windows and slots", argv[1], 0, 5, true, true, true);
		run("whole, windows and slots", argv[1], 0, 8, true, true, true);
	}
	fflush(NULL);
	_Exit(0); /* lanes are not torn down, as in the program */
}

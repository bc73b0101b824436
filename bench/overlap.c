/* SPDX-License-Identifier: MIT */
/*
 * overlap: when the copies and kernels of 32 chunks ran, on two streams and on one, from the events
 * of a real run. Needs a GPU.
 * usage: overlap FILE.svg
 *
 * A chunk is 4 MiB of u32 in pinned memory and 65,536 bins, queued as pump.c does it: copy in,
 * clear and count, copy the counters out. An event before and after each step tells when its stream
 * reached it. One engine does all copies to the device, in the order in which they were queued, so
 * a copy is drawn from the end of the copy before it, if its stream has reached it by then. The rate
 * is compared with the rate of the same copies without kernels.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bins/edges.h"
#include "count/count.h"
#include "gpu_helper/kernel.h"

enum { CHUNKS = 32, SLOTS = 12, STEPS = 3, BYTES = 4 << 20, BINS = 65536 };
static const char *const STEP[STEPS] = {"copy to the device", "clear and count",
					"copy of the counters"};

static struct cuda cuda;
static CUresult (*elapsed)(float *ms, CUevent from, CUevent to);
static struct kernel_plan plan;
static struct counting counting;

/* The copies and kernels of a run, with their times in microseconds. */
struct trace {
	unsigned streams;
	bool alone; /* copies to the device alone */
	CUevent event[CHUNKS][STEPS + 1];
	double begin[CHUNKS][STEPS], end[CHUNKS][STEPS];
	double all;  /* from the start of the first copy to the end of the last */
	double both; /* another step ran while a copy to the device did */
};

struct slot {
	unsigned char *data;
	uint32_t *cells;
	struct kernel_chunk chunk;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "no GPU, or it failed: %s: %s\n", what, why);
	exit(cuda.module ? 1 : 77);
}

static void must(CUresult r, const char *what)
{
	cuda_must(&cuda, r, what);
}

static void *pinned(size_t bytes)
{
	void *const p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

	if (!p)
		exit(1);
	memset(p, 1, bytes);
	must(cuda.host_register(p, bytes, 0), "pinned memory");
	return p;
}

static void open_all(struct slot *slot, CUstream *stream)
{
	const struct axis_spec spec = {.bins = BINS, .kind = AXIS_VALUES};
	struct sample_type type;
	struct edges edges;
	const char *why;
	void *const library = dlopen("libcuda.so.1", RTLD_NOW);
	void *const found = library ? dlsym(library, "cuEventElapsedTime") : NULL;

	cuda.fail = fail;
	cuda_open(&cuda);
	if (!found)
		fail("driver", "it has no cuEventElapsedTime");
	memcpy(&elapsed, &found, sizeof(elapsed));
	sample_type_parse(&type, "u32");
	if (edges_init(&edges, &spec, &type, &why) != 0)
		exit(1);
	counting_init(&counting, &type, &edges, NULL, false);
	kernel_plan_init(&plan, &counting, &cuda, false);
	for (int i = 0; i < 2; i++)
		must(cuda.stream_create(&stream[i], CU_STREAM_NON_BLOCKING), "stream");
	for (int i = 0; i < SLOTS; i++) {
		slot[i].data = pinned(BYTES);
		slot[i].cells = pinned(4 * counting.cells);
		for (size_t k = 0; k < BYTES / 4; k++)
			((uint32_t *)(void *)slot[i].data)[k] =
				(uint32_t)(k * 2654435761u >> 7) % BINS;
		must(cuda.memory_alloc(&slot[i].chunk.data, BYTES), "memory");
		must(cuda.memory_alloc(&slot[i].chunk.cells, 4 * counting.cells), "memory");
	}
}

/* Queue the chunks as the program does, and wait for all of them. */
static void run(struct trace *t, struct slot *slot, CUstream *stream)
{
	for (int i = 0; i < CHUNKS; i++) {
		struct slot *const s = &slot[i % SLOTS];
		CUevent *const e = t->event[i];
		const CUstream own = stream[(unsigned)i % t->streams];
		s->chunk.stream = own;
		must(cuda.event_record(e[0], own), "event");
		must(cuda.to_device(s->chunk.data, s->data, BYTES, own), "copy");
		must(cuda.event_record(e[1], own), "event");
		if (!t->alone) {
			must(cuda.fill32(s->chunk.cells, 0, counting.cells, own), "clear");
			kernel_launch(&plan, &cuda, &s->chunk, BYTES / 4, NULL, false);
		}
		must(cuda.event_record(e[2], own), "event");
		if (!t->alone)
			must(cuda.to_host(s->cells, s->chunk.cells, 4 * counting.cells, own),
			     "copy");
		must(cuda.event_record(e[3], own), "event");
	}
	for (int i = 0; i < CHUNKS; i++) {
		CUresult r;
		while ((r = cuda.event_query(t->event[i][STEPS])) == CUDA_ERROR_NOT_READY)
			;
		must(r, "work");
	}
}

static double at(const struct trace *t, int chunk, int event)
{
	float ms;

	must(elapsed(&ms, t->event[0][0], t->event[chunk][event]), "time");
	return 1e3 * (double)ms;
}

/* Return whether a copy to the device (or, if `kernels`, a later step) was running at that time. */
static bool busy(const struct trace *t, double time, bool kernels)
{
	for (int i = 0; i < CHUNKS; i++)
		for (int k = kernels; k < (kernels ? STEPS : 1); k++)
			if (t->begin[i][k] <= time && time < t->end[i][k])
				return true;
	return false;
}

static void measure(struct trace *t)
{
	double before = 0;
	const double step = 0.1;

	for (int i = 0; i < CHUNKS; i++) {
		for (int k = 0; k < STEPS; k++) {
			t->begin[i][k] = at(t, i, k);
			t->end[i][k] = at(t, i, k + 1);
			t->all = t->end[i][k] > t->all ? t->end[i][k] : t->all;
		}
		if (t->begin[i][0] < before)
			t->begin[i][0] = before;
		before = t->end[i][0];
	}
	for (double time = 0; time < t->all; time += step) {
		t->both += busy(t, time, false) && busy(t, time, true) ? step : 0;
	}
}

static double rate(const struct trace *t)
{
	return CHUNKS * (double)BYTES / t->all * 1e-3;
}

static void say(const struct trace *t, double alone)
{
	printf("%u stream%s: %.0f us, %.1f of the %.1f GB/s of copies alone (%.2f); for %.1f%% of "
	       "the time kernels or copies back ran while a copy to the device did\n",
	       t->streams, t->streams > 1 ? "s" : "", t->all, rate(t), alone, rate(t) / alone,
	       100 * t->both / t->all);
}

static void draw(FILE *f, const struct trace *t, double alone, double scale, int top)
{
	fprintf(f, "<text x=\"10\" y=\"%d\">%u stream%s: %.0f us, %.1f of %.1f GB/s</text>\n",
		top - 6, t->streams, t->streams > 1 ? "s" : "", t->all, rate(t), alone);
	for (int i = 0; i < CHUNKS; i++)
		for (int k = 0; k < STEPS; k++)
			fprintf(f,
				"<rect class=\"s%d\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" "
				"height=\"18\"/>\n",
				k, 10 + t->begin[i][k] * scale,
				top + 22 * (int)((unsigned)i % t->streams),
				(t->end[i][k] - t->begin[i][k]) * scale);
}

static int draw_all(const char *path, const struct trace *two, const struct trace *one,
		    double alone, const char *name)
{
	const double longest = two->all > one->all ? two->all : one->all, scale = 880 / longest;
	FILE *const f = fopen(path, "w");

	if (!f)
		return -1;
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 900 190\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<style>text{fill:#333}"
		".s0{fill:#3b7dd8}.s1{fill:#d8543b}.s2{fill:#4aa564}"
		"@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>\n");
	draw(f, two, alone, scale, 24);
	draw(f, one, alone, scale, 96);
	for (int k = 0; k < STEPS; k++)
		fprintf(f,
			"<rect class=\"s%d\" x=\"%d\" y=\"134\" width=\"12\" height=\"12\"/>"
			"<text x=\"%d\" y=\"145\">%s</text>\n",
			k, 10 + 170 * k, 28 + 170 * k, STEP[k]);
	fprintf(f,
		"<text x=\"10\" y=\"172\">%d chunks of 4 MiB of u32, %d bins, %s; width: %.0f us"
		"</text>\n</svg>\n",
		CHUNKS, BINS, name, longest);
	return fclose(f);
}

int main(int argc, char **argv)
{
	static struct slot slot[SLOTS];
	static struct trace trace[3] = {
		{.streams = 2, .alone = true}, {.streams = 2}, {.streams = 1}};
	CUstream stream[2];
	char name[128] = "";

	open_all(slot, stream);
	(void)cuda.device_name(name, (int)sizeof(name) - 1, cuda.device);
	for (int t = 0; t < 3; t++) {
		for (int i = 0; i < CHUNKS; i++)
			for (int k = 0; k <= STEPS; k++)
				must(cuda.event_create(&trace[t].event[i][k], 0), "event");
		run(&trace[t], slot, stream); /* warm */
		run(&trace[t], slot, stream);
		measure(&trace[t]);
		if (t > 0)
			say(&trace[t], rate(&trace[0]));
	}
	if (argc > 1 && draw_all(argv[1], &trace[1], &trace[2], rate(&trace[0]), name) != 0) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}

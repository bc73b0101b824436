/* SPDX-License-Identifier: MIT */
/*
 * gpu_wide: 64-bit counters that begin just below 2^32, on a device that is opened in this process.
 * No test has time to count that many samples.
 */
#ifndef GPUHIST_GPU_WIDE_H
#define GPUHIST_GPU_WIDE_H

#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "gpu_helper/device.h"
#include "gpu_jobs.h"

#define WIDE_BINS 1000u
#define WIDE_SAMPLES 20000u

static void __attribute__((noreturn)) no_device(const char *what, const char *why)
{
	printf("wide: %s: %s\n0 passed, 1 failed\n", what, why);
	exit(1);
}

static struct counting wide_counting(void)
{
	const struct axis_spec spec = {.bins = WIDE_BINS, .kind = AXIS_VALUES};
	struct counting counting;
	struct sample_type type;
	struct edges edges;
	const char *why;

	sample_type_parse(&type, "u32");
	CHECK(edges_init(&edges, &spec, &type, &why) == 0, "edges");
	counting_init(&counting, &type, &edges, NULL, true);
	return counting;
}

static void wait_for(struct device *d, CUevent event)
{
	CUresult r;

	cuda_must(&d->cuda, d->cuda.event_record(event, d->stream[0]), "event");
	while ((r = d->cuda.event_query(event)) == CUDA_ERROR_NOT_READY)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	cuda_must(&d->cuda, r, "kernel");
}

/* Count noise, and one hot bin: by atomics on the table, and on the blocks' own tables. */
static void check_wide(uint64_t seed)
{
	static _Alignas(4096) unsigned char memory[1 << 18]; /* samples, then counters */
	static struct region region;                         /* everything that opening needs */
	static struct device d;
	const struct counting counting = wide_counting();
	uint32_t *const sample = (uint32_t *)(void *)memory;
	uint64_t *const counter = (uint64_t *)(void *)(sample + WIDE_SAMPLES);
	const size_t bytes = counting.cells * sizeof(*counter);
	struct kernel_chunk chunk;
	uint64_t *const expected = calloc(counting.cells, sizeof(*expected));
	CUevent event;
	size_t wrong = 0;

	state = seed + 77;
	d = (struct device){.region = &region, .cuda.fail = no_device};
	device_open(&d);
	cuda_must(&d.cuda, d.cuda.host_register(memory, sizeof(memory), 0), "host memory");
	cuda_must(&d.cuda, d.cuda.event_create(&event, CU_EVENT_DISABLE_TIMING), "event");
	chunk = (struct kernel_chunk){.stream = d.stream[0]};
	cuda_must(&d.cuda, d.cuda.memory_alloc(&chunk.data, WIDE_SAMPLES * 4), "memory");
	cuda_must(&d.cuda, d.cuda.memory_alloc(&chunk.cells, bytes), "memory");
	for (size_t i = 0; i < counting.cells; i++)
		counter[i] = expected[i] = UINT32_MAX - draw() % 30;
	for (size_t i = 0; i < WIDE_SAMPLES; i++) {
		sample[i] = draw() % 4 == 0 ? 7 : (uint32_t)(draw() % WIDE_BINS);
		expected[sample[i]]++;
	}
	cuda_must(&d.cuda, d.cuda.to_device(chunk.data, sample, WIDE_SAMPLES * 4, chunk.stream),
		  "copy");
	cuda_must(&d.cuda, d.cuda.to_device(chunk.cells, counter, bytes, chunk.stream), "copy");
	kernel_plan_init(&d.plan, &counting, &d.cuda, true);
	kernel_launch(&d.plan, &d.cuda, &chunk, WIDE_SAMPLES, NULL, false);
	cuda_must(&d.cuda, d.cuda.to_host(counter, chunk.cells, bytes, chunk.stream), "copy");
	wait_for(&d, event);
	for (size_t i = 0; i < counting.cells; i++)
		wrong += counter[i] != expected[i];
	CHECK(wrong == 0, "%zu of %zu counters of 64 bits are wrong", wrong, counting.cells);
	free(expected);
}

#endif

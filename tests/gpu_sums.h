/* SPDX-License-Identifier: MIT */
/*
 * gpu_sums: the kernel that adds up counters, launched by itself in this process, beside sums of
 * our own.
 */
#ifndef GPUHIST_GPU_SUMS_H
#define GPUHIST_GPU_SUMS_H

#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "driver/device.h"
#include "gpu_jobs.h"

static void __attribute__((noreturn)) no_device(const char *what, const char *why)
{
	printf("sums: %s: %s\n0 passed, 1 failed\n", what, why);
	exit(1);
}

/* sum_pieces of a table, on a device that is open, beside sums of our own. */
static void check_sums(struct device *d, CUfunction sum_pieces, CUevent event,
		       unsigned char *memory, size_t cells, uint32_t piece)
{
	const uint32_t pieces = (uint32_t)((cells + piece - 1) / piece);
	const size_t bytes = (cells * sizeof(uint32_t) + 4095) / 4096 * 4096;
	uint32_t *const table = (uint32_t *)(void *)memory;
	const uint64_t *const found = (const uint64_t *)(void *)(memory + bytes);
	uint64_t many = cells, wrong = 0;
	CUdeviceptr counters, sums;
	CUresult r;

	for (size_t i = 0; i < cells; i++)
		table[i] = draw() % 3 == 0 ? UINT32_MAX - (uint32_t)(draw() % 3)
					   : (uint32_t)draw() >> draw() % 32;
	cuda_must(&d->cuda, d->cuda.memory_alloc(&counters, cells * sizeof(uint32_t)), "memory");
	cuda_must(&d->cuda, d->cuda.memory_alloc(&sums, pieces * sizeof(uint64_t)), "memory");
	cuda_must(&d->cuda,
		  d->cuda.to_device(counters, memory, cells * sizeof(uint32_t), d->stream[0]),
		  "copy");
	void *arguments[] = {&counters, &many, &piece, &sums};
	cuda_must(&d->cuda,
		  d->cuda.launch(sum_pieces, pieces, 1, 1, 1024, 1, 1, 0, d->stream[0], arguments,
				 NULL),
		  "kernel");
	cuda_must(&d->cuda,
		  d->cuda.to_host(memory + bytes, sums, pieces * sizeof(uint64_t), d->stream[0]),
		  "copy");
	cuda_must(&d->cuda, d->cuda.event_record(event, d->stream[0]), "event");
	while ((r = d->cuda.event_query(event)) == CUDA_ERROR_NOT_READY)
		nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	cuda_must(&d->cuda, r, "kernel");
	for (uint32_t p = 0; p < pieces; p++) {
		uint64_t sum = 0;
		for (size_t i = (size_t)p * piece; i < cells && i < (size_t)(p + 1) * piece; i++)
			sum += table[i];
		wrong += sum != found[p];
	}
	CHECK(wrong == 0, "%llu of %lu sums of %zu counters in pieces of %lu are wrong",
	      (unsigned long long)wrong, (unsigned long)pieces, cells, (unsigned long)piece);
}

static void check_all_sums(uint64_t seed)
{
	static const size_t CELLS[] = {1, 31, 1023, 1024, 1025, 4099, 131077, 1000003};
	static const uint32_t PIECES[] = {1, 33, 1024, 1000, 65536, 1 << 18, 1 << 20};
	static struct region region; /* all that opening asks for */
	static struct device d;
	static _Alignas(4096) unsigned char memory[5 << 20]; /* of the most counters, and sums */
	CUevent event;

	state = seed + 77;
	d = (struct device){.region = &region, .cuda.fail = no_device};
	device_open(&d);
	const CUfunction sum_pieces = cuda_function(&d.cuda, "sum_pieces");
	cuda_must(&d.cuda, d.cuda.host_register(memory, sizeof(memory), 0), "host memory");
	cuda_must(&d.cuda, d.cuda.event_create(&event, CU_EVENT_DISABLE_TIMING), "event");
	for (size_t i = 0; i < sizeof(CELLS) / sizeof(CELLS[0]); i++)
		for (size_t k = 0; k < sizeof(PIECES) / sizeof(PIECES[0]); k++)
			if (CELLS[i] / PIECES[k] <
			    150) /* blocks, which are slow where they are simulated */
				check_sums(&d, sum_pieces, event, memory, CELLS[i], PIECES[k]);
}

#endif

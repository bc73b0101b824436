/* SPDX-License-Identifier: MIT */
/* kernels: the shipped kernels, found by name and run on the host. */
#ifndef FAKECUDA_KERNELS_H
#define FAKECUDA_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KERNEL_SHARED_MOST 232448u  /* for a block, dynamic and static together */
#define KERNEL_SHARED_STATIC 16384u /* no kernel declares more */
#define KERNEL_SHARED_USUAL 49152u  /* dynamic, unless the kernel is allowed more */

enum kernel_kind {
	KERNEL_COUNT,
	KERNEL_GATHER,
	KERNEL_EXTENT,
	KERNEL_UNPACK, /* of one batch */
	KERNEL_RESOLVE,
	KERNEL_GROUP /* of several batches */
};

#define KERNEL_RANGES 128 /* most ranges of device memory that a kernel gets */

struct kernel {
	const void *code;
	enum kernel_kind kind;
	unsigned sample; /* bytes; 0: it reads no samples */
	unsigned codes;  /* number of counters, if independent of the bins */
};

struct launch {
	struct kernel kernel;
	unsigned grid, rows, threads, shared; /* grid, rows: in x and y */
	union {
		uint64_t word[128];
		unsigned char bytes[1024];
	} arguments; /* one after the other, each aligned to 8 */
};

/* Find a kernel by its name. Return -1 if there is none. */
int kernel_find(const char *name, struct kernel *kernel);

/* Copy the arguments, which cuLaunchKernel's caller may change after it has returned. */
void kernel_arguments(struct launch *launch, void **arguments);

/*
 * Device memory that a kernel gets; bytes: the size that follows from its arguments, at least 1.
 */
struct kernel_range {
	uint64_t at;
	size_t bytes;
};

/* Are a kernel's samples at an address that is a multiple of their size, as it needs? */
bool kernel_aligned(const struct launch *launch);

/* Return how many ranges a kernel gets, at most KERNEL_RANGES. */
unsigned kernel_memory(const struct launch *launch, struct kernel_range *memory);

/* Run the grid, one block after the other, in a random order. */
void kernel_run(const struct launch *launch, uint64_t *seed);

#ifdef __cplusplus
}
#endif

#endif

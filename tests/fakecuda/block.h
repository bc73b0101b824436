/*
 * block: the threads of one block, one at a time on the calling thread of the host.
 *
 * A thread runs until it meets a barrier or an operation of its warp, ends, or is made to
 * wait at an atomic now and then. Who goes on is drawn anew each time, by a seed: what a
 * missing barrier leaves open comes out differently from one run to the next, and wrong.
 * One block runs at a time in the process.
 */
#ifndef FAKECUDA_BLOCK_H
#define FAKECUDA_BLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLOCK_THREADS_MAX 1024u
#define BLOCK_POISON 0xdbdbdbdbu /* in what was never written, and from lanes that are not there */

struct block_index {
	unsigned x, y, z;
};

/* What the kernels see as threadIdx, blockIdx, blockDim, gridDim. */
extern struct block_index block_thread, block_at, block_size, block_grid;

/* Runs body(argument) as each of block_size.x threads, to the end of all. */
void block_run(void (*body)(void *argument), void *argument, uint64_t *seed);

/* ---- for the kernels; line tells two of them apart ---- */

enum warp_operation { WARP_SHUFFLE, WARP_SHUFFLE_UP, WARP_SHUFFLE_XOR, WARP_MATCH };

void block_barrier(int line);

/* The value that this lane gets when all lanes of mask have come. */
uint32_t block_warp(enum warp_operation operation, uint32_t mask, uint32_t value, uint32_t which,
		    uint32_t width, int line);

/* Called at each atomic; lets others go first when its count runs out. */
extern uint32_t block_patience;
void block_yield(void);

/* A kernel did what no kernel may; does not return. */
void block_fault(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif

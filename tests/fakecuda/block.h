/* SPDX-License-Identifier: MIT */
/*
 * block: the threads of one block, one at a time on the calling thread of the host.
 *
 * A thread runs until it reaches a barrier or an operation of its warp, or ends; now and then it
 * must wait at an atomic. A seed then draws the next thread: if a barrier is missing, results are
 * wrong and differ from seed to seed. The process runs one block at a time.
 */
#ifndef FAKECUDA_BLOCK_H
#define FAKECUDA_BLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BLOCK_THREADS_MAX 1024u
/* the contents of memory that was never written, and of lanes that do not exist */
#define BLOCK_POISON 0xdbdbdbdbu

struct block_index {
	unsigned x, y, z;
};

/* The kernels' threadIdx, blockIdx, blockDim and gridDim. */
extern struct block_index block_thread, block_at, block_size, block_grid;

/* Run body(argument) as each of block_size.x threads, until all have ended. */
void block_run(void (*body)(void *argument), void *argument, uint64_t *seed);

/* ---- for the kernels; line identifies the operation ---- */

enum warp_operation { WARP_SHUFFLE, WARP_SHUFFLE_UP, WARP_SHUFFLE_XOR, WARP_ANY };

void block_barrier(int line);

/* Wait until all lanes of mask have arrived, and return this lane's result. */
uint32_t block_warp(enum warp_operation operation, uint32_t mask, uint32_t value, uint32_t which,
		    int line);

/* Called at each atomic; lets other threads go first when the count runs out. */
extern uint32_t block_patience;
void block_yield(void);

/* End the process: a kernel did something forbidden. */
void block_fault(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif

#endif

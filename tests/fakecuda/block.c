/* SPDX-License-Identifier: MIT */
/* block: threads as fibers on stacks of their own, switched by a few instructions. */
#include "block.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define STACK_BYTES ((size_t)64 << 10)
#define STACK_MARK 0x5ac3f00d5ac3f00dull /* at the far end of each stack */

enum state { READY, AT_BARRIER, IN_WARP, ENDED };

struct fiber {
	void *stack_pointer;
	enum state state;
	int line; /* of the kernel, at which the thread waits */
	enum warp_operation operation;
	uint32_t mask, value, which, result; /* of the warp's operation */
};

struct block_index block_thread, block_at, block_size, block_grid;
uint32_t block_patience;

static struct fiber fibers[BLOCK_THREADS_MAX];
static unsigned char *stacks;
static void *scheduler; /* the stack pointer of block_run */
static unsigned current;
static uint16_t queue[BLOCK_THREADS_MAX]; /* a ring of the threads that can go on */
static unsigned queue_first, queued;
static unsigned alive, at_barrier;
static void (*body)(void *);
static void *argument;
static uint64_t *state;

void block_fault(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "fakecuda: a kernel, block %u, thread %u: ", block_at.x, current);
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	abort();
}

static unsigned draw(unsigned below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (unsigned)(*state >> 33) % below;
}

/* ---- the switch ---- */

static void fiber_main(void);

#ifdef __x86_64__
/* Save the registers that a call must preserve, change stacks, and return on the other one. */
void block_switch(void **from, void *to) __attribute__((visibility("hidden")));
__asm__(".text\n"
	".hidden block_switch\n"
	".globl block_switch\n"
	".type block_switch, @function\n"
	"block_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	"
	"push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	"
	"pop %rbp\n"
	"	ret\n"
	".size block_switch, . - block_switch\n");

static void prepare(struct fiber *f, unsigned char *stack)
{
	/* Six registers, the return address, and a place for a caller's return address. */
	void **top = (void **)(void *)(stack + STACK_BYTES) - 8;

	for (int i = 0; i < 8; i++)
		top[i] = NULL;
	top[6] = (void *)(uintptr_t)fiber_main;
	f->stack_pointer = top;
}
#else
#include <ucontext.h>

static ucontext_t contexts[BLOCK_THREADS_MAX + 1];

/* A context is a stack pointer here; NULL stands for the scheduler's. */
static void block_switch(void **from, void *to)
{
	ucontext_t *own = from == &scheduler ? &contexts[BLOCK_THREADS_MAX] : *from;

	swapcontext(own, to ? to : &contexts[BLOCK_THREADS_MAX]);
}

static void prepare(struct fiber *f, unsigned char *stack)
{
	ucontext_t *c = &contexts[f - fibers];

	getcontext(c);
	c->uc_stack.ss_sp = stack + sizeof(uint64_t);
	c->uc_stack.ss_size = STACK_BYTES - sizeof(uint64_t);
	makecontext(c, fiber_main, 0);
	f->stack_pointer = c;
}
#endif

static void push(unsigned thread)
{
	fibers[thread].state = READY;
	queue[(queue_first + queued++) % BLOCK_THREADS_MAX] = (uint16_t)thread;
}

/* Queue `count` threads from `first` on: a power of two in a random order, else rotated. */
static void push_all(unsigned first, unsigned count, uint32_t mask)
{
	const unsigned at = draw(count);
	const unsigned step = (count & (count - 1)) == 0 ? 2 * draw(count) + 1 : 1;

	for (unsigned i = 0; i < count; i++) {
		const unsigned k = (at + i * step) % count;
		if (count > 32 || mask >> k & 1)
			push(first + k);
	}
}

static void wait_here(enum state why, int line)
{
	struct fiber *f = &fibers[current];

	f->state = why;
	f->line = line;
	block_switch(&f->stack_pointer, scheduler);
}

static void fiber_main(void)
{
	body(argument);
	alive--;
	if (alive > 0 && at_barrier == alive)
		block_fault("ended while the others wait at a barrier");
	wait_here(ENDED, 0);
}

/* ---- what threads wait for ---- */

void block_barrier(int line)
{
	at_barrier++;
	if (at_barrier < alive) {
		wait_here(AT_BARRIER, line);
		return;
	}
	if (alive < block_size.x)
		block_fault("a barrier in line %d where threads have ended", line);
	for (unsigned i = 0; i < block_size.x; i++)
		if (i != current && fibers[i].line != line)
			block_fault("one block, two barriers: lines %d and %d", line,
				    fibers[i].line);
	at_barrier = 0;
	push_all(0, block_size.x, 0xffffffff);
	wait_here(READY, line);
}

static uint32_t source_value(const struct fiber *warp, const struct fiber *own, uint32_t source)
{
	if (source > 31 || !(own->mask >> source & 1))
		return BLOCK_POISON;
	return warp[source].value;
}

static uint32_t answer(const struct fiber *warp, uint32_t lane)
{
	const struct fiber *own = &warp[lane];
	uint32_t any = 0;

	switch (own->operation) {
	case WARP_SHUFFLE:
		return source_value(warp, own, own->which & 31);
	case WARP_SHUFFLE_UP: /* the first lanes keep their own */
		return source_value(warp, own, lane < own->which ? lane : lane - own->which);
	case WARP_SHUFFLE_XOR:
		return source_value(warp, own, lane ^ own->which);
	case WARP_ANY:
		for (uint32_t k = 0; k < 32; k++)
			any |= own->mask >> k & 1 ? warp[k].value : 0;
	}
	return any;
}

uint32_t block_warp(enum warp_operation operation, uint32_t mask, uint32_t value, uint32_t which,
		    int line)
{
	struct fiber *own = &fibers[current];
	const unsigned first = current & ~31u;
	struct fiber *warp = &fibers[first];

	if (!(mask >> (current & 31) & 1))
		block_fault("line %d: the mask %08x lacks the lane itself", line, mask);
	own->operation = operation;
	own->mask = mask;
	own->value = value;
	own->which = which;
	own->state = IN_WARP;
	own->line = line;
	for (uint32_t k = 0; k < 32; k++)
		if (mask >> k & 1 && (first + k >= block_size.x || warp[k].state != IN_WARP)) {
			wait_here(IN_WARP, line);
			return own->result;
		}
	for (uint32_t k = 0; k < 32; k++)
		if (mask >> k & 1 && (warp[k].mask != mask || warp[k].line != line))
			block_fault(
				"lanes of one mask meet in lines %d and %d, masks %08x and %08x",
				line, warp[k].line, mask, warp[k].mask);
	for (uint32_t k = 0; k < 32; k++)
		if (mask >> k & 1)
			warp[k].result = answer(warp, k);
	push_all(first, 32, mask);
	wait_here(READY, line);
	return own->result;
}

void block_yield(void)
{
	block_patience = 1 + draw(4096);
	push(current);
	wait_here(READY, 0);
}

/* ---- the block ---- */

static void start_all(void)
{
	const size_t bytes = BLOCK_THREADS_MAX * STACK_BYTES;

	if (!stacks) {
		stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (stacks == MAP_FAILED)
			block_fault("no memory for its stack");
	}
	for (unsigned i = 0; i < block_size.x; i++) {
		unsigned char *stack = stacks + i * STACK_BYTES;
		*(uint64_t *)(void *)stack = STACK_MARK;
		prepare(&fibers[i], stack);
	}
	alive = block_size.x;
	at_barrier = 0;
	queue_first = queued = 0;
	push_all(0, block_size.x, 0xffffffff);
}

void block_run(void (*b)(void *), void *a, uint64_t *seed)
{
	body = b;
	argument = a;
	state = seed;
	block_patience = 1 + draw(4096);
	start_all();
	while (queued > 0) {
		current = queue[queue_first];
		queue_first = (queue_first + 1) % BLOCK_THREADS_MAX;
		queued--;
		block_thread.x = current;
		block_switch(&scheduler, fibers[current].stack_pointer);
	}
	for (unsigned i = 0; i < block_size.x; i++) {
		current = i;
		if (fibers[i].state != ENDED)
			block_fault("waits for ever in line %d", fibers[i].line);
		if (*(uint64_t *)(void *)(stacks + i * STACK_BYTES) != STACK_MARK)
			block_fault("its stack has overflowed");
	}
}

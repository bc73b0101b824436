/* SPDX-License-Identifier: MIT */
/*
 * stream: the device. Its thread takes the first operation of a random stream, does it without the
 * lock, and repeats. Each chunk draws whether its work is due at once, or only after a later event
 * has been queried a number of times; so that no wait lasts for ever, all work is due once the
 * device has been idle for a while. Until then copies read nothing and kernels write nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake.h"

#define IDLE_NS 20000000L

static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static CUstream streams;

/* ---- operations ---- */

static void fill(uint32_t *to, uint32_t value, size_t words)
{
	volatile uint32_t *p = to; /* volatile, or the compiler makes it memset */

	for (size_t i = 0; i < words; i++)
		p[i] = value;
}

/* Run one kernel at a time, on all devices together; *seed is the kernel's own. */
static void run_kernel(const struct launch *l, uint64_t *seed)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&one);
	kernel_run(l, seed);
	pthread_mutex_unlock(&one);
}

/* Return the word that FAKECUDA_WRONG makes too high after this kernel; under lock. */
static uint32_t *wrong_counter(const struct launch *l)
{
	static unsigned long kernels;
	struct kernel_range range[KERNEL_RANGES];

	if (l->kernel.kind >= KERNEL_GATHER)
		return NULL;
	if (++kernels == setting("FAKECUDA_STICKY")) {
		const char *error = strchr(getenv("FAKECUDA_STICKY"), ':');
		die(error ? atoi(error + 1) : 700, "sticky");
	}
	if (kernels != setting("FAKECUDA_WRONG"))
		return NULL;
	note("met wrong\n");
	const unsigned n = kernel_memory(l, range);
	return (uint32_t *)(uintptr_t)range[n - 1].at +
	       (strchr(getenv("FAKECUDA_WRONG"), ':') ? 1 : 0);
}

/* Do an operation, without the lock. */
static void perform(const struct operation *o, uint64_t seed)
{
	switch (o->kind) {
	case COPY_IN:
		/* memcpy, so that a sanitizer checks the program's memory when it is read */
		memcpy((void *)(uintptr_t)o->to, (const void *)(uintptr_t)o->from, o->bytes);
		break;
	case COPY_OUT:
		memcpy((void *)(uintptr_t)o->to, (const void *)(uintptr_t)o->from, o->bytes);
		break;
	case FILL:
		fill((uint32_t *)(uintptr_t)o->to, o->value, o->bytes / 4);
		break;
	case KERNEL:
		run_kernel(o->launch, &seed);
		break;
	case EVENT:
	case WAIT:
		break;
	}
}

/* ---- the device's thread ---- */

static bool ready(const struct CUstream_st *s, bool idle)
{
	const struct operation *const o = &s->queue[s->first];

	if (s->busy || s->queued == 0 || (!idle && s->taken >= s->due))
		return false;
	return o->kind != WAIT || (o->other && o->other->taken >= o->place);
}

/* Return one of the streams that can go on, or NULL. */
static CUstream choose(bool idle)
{
	CUstream chosen = NULL;
	unsigned n = 0;

	for (CUstream s = streams; s; s = s->next)
		if (ready(s, idle) && draw(++n) == 0)
			chosen = s;
	return chosen;
}

static void take(CUstream s)
{
	struct operation o = s->queue[s->first];
	uint32_t *counter = NULL;

	s->busy = true;
	if (o.kind == KERNEL)
		counter = wrong_counter(o.launch);
	const bool gone = death() == CUDA_SUCCESS ? false : getenv("FAKECUDA_STICKY") != NULL;
	const uint64_t seed = *draw_state() + draw(1000);
	if (!gone) {
		pthread_mutex_unlock(&fake_lock);
		perform(&o, seed);
		pthread_mutex_lock(&fake_lock);
		if (o.kind == KERNEL)
			memory_check_guards("a kernel");
		if (counter)
			++*counter;
		if (o.kind == EVENT && !o.event->hangs)
			o.event->done = true;
	}
	free(o.launch);
	s->first = (s->first + 1) % STREAM_OPERATIONS;
	s->queued--;
	s->taken++;
	s->busy = false;
}

static void *device(void *arg)
{
	bool idle = false;

	(void)arg;
	pthread_mutex_lock(&fake_lock);
	for (;;) {
		CUstream s = choose(idle);
		if (s) {
			take(s);
			continue;
		}
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += IDLE_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		idle = pthread_cond_timedwait(&work, &fake_lock, &until) == ETIMEDOUT;
	}
	return NULL;
}

void stream_add(CUstream s)
{
	static bool started;
	pthread_t thread;

	s->next = streams;
	streams = s;
	if (started)
		return;
	started = true;
	if (pthread_create(&thread, NULL, device, NULL) != 0)
		wrong("no thread for the device");
	pthread_detach(thread);
}

void stream_queue(CUstream s, const struct operation *o)
{
	if (s->queued == STREAM_OPERATIONS)
		wrong("a stream was given more than the lanes have chunks for");
	s->queue[(s->first + s->queued) % STREAM_OPERATIONS] = *o;
	s->queued++;
}

/* Make the work of a stream due, and the work that it waits for. */
static void release(CUstream s, uint64_t place)
{
	const uint64_t was = s->due > s->taken ? s->due : s->taken;

	if (was >= place)
		return;
	s->due = place;
	for (uint64_t i = was; i < place; i++) {
		const struct operation *const o =
			&s->queue[(s->first + (i - s->taken)) % STREAM_OPERATIONS];
		if (o->kind == WAIT && o->other)
			release(o->other, o->place);
	}
}

void stream_release(CUevent e)
{
	release(e->stream, e->place);
	pthread_cond_signal(&work);
}

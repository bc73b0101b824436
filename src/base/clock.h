/* SPDX-License-Identifier: MIT */
/* clock: monotonic seconds, for rates, at about 25 ns per call; CPU time of a thread. */
#ifndef GPUHIST_CLOCK_H
#define GPUHIST_CLOCK_H

#include <time.h>

static inline double clock_read(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double clock_seconds(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread. A system call: make it once per thread, not per chunk. */
static inline double clock_core_seconds(void)
{
	return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif

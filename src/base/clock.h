/* SPDX-License-Identifier: MIT */
/* clock: monotonic seconds, for rates, at about 25 ns per call; CPU time of a thread. */
#ifndef GPUHIST_CLOCK_H
#define GPUHIST_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU time of the calling thread. A system call: make it once per thread, not per chunk. */
static inline double clock_core_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif

/* SPDX-License-Identifier: MIT */
/* clock: seconds of the monotonic clock, for rates, some 25 ns a call; seconds that a thread had a core. */
#ifndef GPUHIST_CLOCK_H
#define GPUHIST_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Of the calling thread. A system call: once a thread, not once a chunk. */
static inline double clock_core_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif

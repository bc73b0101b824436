/* clock: seconds of the monotonic clock, for rates; some 25 ns a call. */
#ifndef GPUHIST_CLOCK_H
#define GPUHIST_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif

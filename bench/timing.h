/* SPDX-License-Identifier: MIT */
/* timing: whole processes, start to end. */
#ifndef GPUHIST_TIMING_H
#define GPUHIST_TIMING_H

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct timing {
	double seconds, cpu;
	long peak_kib;
	int failed;
};

static inline double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Runs a shell command and discards its output. */
static inline struct timing timed(const char *command)
{
	const double start = now();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	wait4(pid, &status, 0, &usage);
	return (struct timing){
		.seconds = now() - start,
		.cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		       1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
		.peak_kib = usage.ru_maxrss,
		.failed = status != 0,
	};
}

static inline int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static inline double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

#endif

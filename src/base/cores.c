/* SPDX-License-Identifier: MIT */
/* cores: the scheduler's set of cores, and the quotas of control groups. */
#include "base/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOUNT "/sys/fs/cgroup"
#define LINE (PATH_MAX + 16)

/* "150000 100000", a quota and the period to which it applies; "max 100000" is no limit. */
static unsigned limit_of_quota(const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return UINT_MAX;
	const unsigned long long quota = strtoull(text, &end, 10);
	const unsigned long long period = *end == ' ' ? strtoull(end + 1, NULL, 10) : 0;
	if (quota == 0 || period == 0)
		return UINT_MAX;
	const unsigned long long n = quota / period + (quota % period != 0);
	return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

/* A line of a file, the first that begins with `with`, without its end; "" where there is none. */
static void read_line(char line[LINE], const char *path, const char *with)
{
	FILE *const f = fopen(path, "re");
	bool found = false;

	while (f && !found && fgets(line, LINE, f))
		found = strncmp(line, with, strlen(with)) == 0;
	if (f)
		fclose(f);
	line[found ? strcspn(line, "\n") : 0] = '\0';
}

unsigned cores_limit(const char *root)
{
	char line[LINE], path[PATH_MAX + 2 * LINE];
	unsigned least = UINT_MAX;

	snprintf(path, sizeof(path), "%.*s/proc/self/cgroup", PATH_MAX, root);
	read_line(line, path, "0::/");
	if (line[0] == '\0')
		return least;
	/*
	 * A container may not see its group by the name that it has outside: then its folders are not
	 * there, and the limit is that of what is mounted.
	 */
	char *const group = strstr(line, "/..") ? strchr(line, '\0') : line + 3;
	for (;;) {
		char quota[LINE];
		snprintf(path, sizeof(path), "%.*s" MOUNT "%s/cpu.max", PATH_MAX, root, group);
		read_line(quota, path, "");
		const unsigned limit = limit_of_quota(quota);
		least = limit < least ? limit : least;
		char *const last = strrchr(group, '/');
		if (!last)
			return least;
		*last = '\0';
	}
}

unsigned cores_usable(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
#ifdef CPU_COUNT
	cpu_set_t set;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
#endif
	if (n <= 1)
		return 1;
	const unsigned limit = cores_limit("");
	return (unsigned)n < limit ? (unsigned)n : limit;
}

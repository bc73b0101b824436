/* SPDX-License-Identifier: MIT */
/* cores: the CPU affinity mask, the machine's memory, and the limits of control groups. */
#include "base/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MOUNT "/sys/fs/cgroup"
#define LINE (PATH_MAX + 16)

/* Cores that cpu.max allows: "150000 100000" (quota and period) or "max 100000" (no limit). */
static uint64_t limit_of_quota(const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return UINT64_MAX;
	const unsigned long long quota = strtoull(text, &end, 10);
	const unsigned long long period = *end == ' ' ? strtoull(end + 1, NULL, 10) : 0;
	if (quota == 0 || period == 0)
		return UINT64_MAX;
	return quota / period + (quota % period != 0);
}

/* Bytes that memory.max allows: "536870912", or "max" for no limit. */
static uint64_t limit_of_bytes(const char *text)
{
	return *text < '0' || *text > '9' ? UINT64_MAX : strtoull(text, NULL, 10);
}

/* Read the first line of a file that begins with `with`, without its newline; "": none. */
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

/* Lowest limit in the files of this name, in the process's group and all its parents. */
static uint64_t limit_of_groups(const char *root, const char *file,
				uint64_t (*limit_of)(const char *text))
{
	char line[LINE], path[PATH_MAX + 2 * LINE];
	uint64_t least = UINT64_MAX;

	snprintf(path, sizeof(path), "%.*s/proc/self/cgroup", PATH_MAX, root);
	read_line(line, path, "0::/");
	if (line[0] == '\0')
		return least;
	/*
	 * A container may see its group under another name than the host does. Then no directory
	 * has that name, and the limit is the mounted directory's own.
	 */
	char *const group = strstr(line, "/..") ? strchr(line, '\0') : line + 3;
	for (;;) {
		char text[LINE];
		snprintf(path, sizeof(path), "%.*s" MOUNT "%s/%s", PATH_MAX, root, group, file);
		read_line(text, path, "");
		const uint64_t limit = limit_of(text);
		least = limit < least ? limit : least;
		char *const last = strrchr(group, '/');
		if (!last)
			return least;
		*last = '\0';
	}
}

unsigned cores_limit(const char *root)
{
	const uint64_t n = limit_of_groups(root, "cpu.max", limit_of_quota);

	return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

uint64_t memory_limit(const char *root)
{
	return limit_of_groups(root, "memory.max", limit_of_bytes);
}

uint64_t memory_usable(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t bytes = memory_limit("");
	struct rlimit space;

	if (pages > 0 && page > 0 && (uint64_t)pages < bytes / (uint64_t)page)
		bytes = (uint64_t)pages * (uint64_t)page;
	if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
	    space.rlim_cur < bytes)
		bytes = space.rlim_cur;
	return bytes;
}

unsigned cores_usable(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
	if (n <= 1)
		return 1;
	const unsigned limit = cores_limit("");
	return (unsigned)n < limit ? (unsigned)n : limit;
}

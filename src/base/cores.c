/* SPDX-License-Identifier: MIT */
/*
 * cores: the scheduler's set of cores, and the quotas of control groups, version 2 and version 1.
 */
#include "base/cores.h"

#include <limits.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A line of mountinfo may be longer; its rest is then read as a line that names no control group.
 */
#define LINE (2 * PATH_MAX)

#define VERSIONS 2 /* of control groups; both may be in use, each for other resources */

/* Where the groups that limit this process are. */
struct hierarchy {
	char group[PATH_MAX]; /* the process's, from the hierarchy's root on; "": none */
	/*
	 * the group's folder where the hierarchy is mounted; limits are looked up there and in its
	 * parents
	 */
	char path[LINE];
	size_t mount; /* length of the part of path that is the mount point; 0: not found */
};

bool cores_of_quota(const char *text, unsigned *cores)
{
	char *end;

	/* "max" and "-1" stand for no limit. */
	if (*text < '0' || *text > '9')
		return false;
	const unsigned long long quota = strtoull(text, &end, 10);
	if (*end != ' ')
		return false;
	const unsigned long long period = strtoull(end + 1, NULL, 10);
	if (quota == 0 || period == 0)
		return false;
	const unsigned long long n = quota / period + (quota % period != 0);
	*cores = n < UINT_MAX ? (unsigned)n : UINT_MAX;
	return true;
}

static FILE *open_below(const char *root, const char *folder, const char *file)
{
	char name[LINE + PATH_MAX];
	const int n = snprintf(name, sizeof(name), "%s%s/%s", root, folder, file);

	return n > 0 && (size_t)n < sizeof(name) ? fopen(name, "re") : NULL;
}

/* The first line of a file in a group's folder, without its end. */
static bool read_line(const char *root, const char *folder, const char *file, char *line,
		      size_t room)
{
	FILE *const f = open_below(root, folder, file);

	if (!f)
		return false;
	const bool read = fgets(line, (int)room, f) != NULL;
	fclose(f);
	line[read ? strcspn(line, "\n") : 0] = '\0';
	return read;
}

static bool limit_of_folder(const char *root, const char *folder, bool v2, unsigned *cores)
{
	char quota[64], period[64], both[132];

	if (v2)
		return read_line(root, folder, "cpu.max", both, sizeof(both)) &&
		       cores_of_quota(both, cores);
	if (!read_line(root, folder, "cpu.cfs_quota_us", quota, sizeof(quota)) ||
	    !read_line(root, folder, "cpu.cfs_period_us", period, sizeof(period)))
		return false;
	snprintf(both, sizeof(both), "%s %s", quota, period);
	return cores_of_quota(both, cores);
}

/* Is word one of a list with commas? */
static bool among(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (const char *p = list; p; p = strchr(p, ',')) {
		p += *p == ',';
		if (strncmp(p, word, length) == 0 && (p[length] == ',' || p[length] == '\0'))
			return true;
	}
	return false;
}

/* The group of this process: "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1. */
static void find_groups(const char *root, struct hierarchy found[VERSIONS])
{
	char line[LINE];
	FILE *f = open_below(root, "/proc/self", "cgroup");

	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*controllers++ = *path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		const bool v2 = strcmp(line, "0") == 0 && *controllers == '\0';
		if (v2 || among(controllers, "cpu"))
			snprintf(found[v2].group, sizeof(found[v2].group), "%s", path);
	}
	if (f)
		fclose(f);
}

/* mountinfo writes blanks and backslashes as \040. */
static void decode(char *text)
{
	char *to = text;

	for (const char *p = text; *p; to++) {
		const bool octal = p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' &&
				   p[2] <= '7' && p[3] >= '0' && p[3] <= '7';
		*to = octal ? (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + p[3] - '0') : *p;
		p += octal ? 4 : 1;
	}
	*to = '\0';
}

/* The next word of a line, ended in place; *rest moves past it. NULL where there is none. */
static char *word(char **rest)
{
	char *start = *rest + strspn(*rest, " \n");
	const size_t length = strcspn(start, " \n");

	if (length == 0)
		return NULL;
	*rest = start + length + (start[length] != '\0');
	start[length] = '\0';
	return start;
}

/*
 * One line of mountinfo: "36 35 0:31 ROOT MOUNT options [fields] - cgroup2 source options". ROOT is
 * the group that is mounted at MOUNT; the process's group is named from the hierarchy's own root.
 */
static void use_mount(struct hierarchy found[VERSIONS], char *line)
{
	char *fields[5], *dash = strstr(line, " - ");

	if (!dash)
		return;
	char *after = dash + 3;
	*dash = '\0';
	for (int i = 0; i < 5; i++)
		if (!(fields[i] = word(&line)))
			return;
	const char *type = word(&after), *source = word(&after), *options = word(&after);
	if (!type || !source || !options)
		return;
	const bool v2 = strcmp(type, "cgroup2") == 0;
	struct hierarchy *h = &found[v2];
	if ((!v2 && (strcmp(type, "cgroup") != 0 || !among(options, "cpu"))) || *h->group == '\0' ||
	    h->mount > 0)
		return;
	decode(fields[3]);
	decode(fields[4]);
	/*
	 * A group outside of what is mounted here cannot be looked at; the mounted group's limit is
	 * applied instead.
	 */
	const size_t length = strcmp(fields[3], "/") == 0 ? 0 : strlen(fields[3]);
	const bool inside = strncmp(h->group, fields[3], length) == 0 && !strstr(h->group, "/..") &&
			    (h->group[length] == '/' || h->group[length] == '\0');
	const char *below = !inside || strcmp(h->group + length, "/") == 0 ? "" : h->group + length;
	h->mount = strlen(fields[4]);
	snprintf(h->path, sizeof(h->path), "%s%s", fields[4], below);
}

static unsigned limit_of(const char *root, struct hierarchy *h, bool v2)
{
	unsigned least = UINT_MAX;

	while (h->mount > 0) {
		unsigned cores;
		if (limit_of_folder(root, h->path, v2, &cores) && cores < least)
			least = cores;
		if (strlen(h->path) <= h->mount)
			break;
		*strrchr(h->path, '/') = '\0';
	}
	return least;
}

unsigned cores_limit(const char *root)
{
	struct hierarchy found[VERSIONS];
	char line[LINE];

	for (int v2 = 0; v2 < VERSIONS; v2++) {
		found[v2].group[0] = '\0';
		found[v2].mount = 0;
	}
	find_groups(root, found);
	FILE *f = found[0].group[0] || found[1].group[0]
			  ? open_below(root, "/proc/self", "mountinfo")
			  : NULL;
	while (f && fgets(line, sizeof(line), f))
		use_mount(found, line);
	if (f)
		fclose(f);
	const unsigned v1 = limit_of(root, &found[0], false), v2 = limit_of(root, &found[1], true);
	return v1 < v2 ? v1 : v2;
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

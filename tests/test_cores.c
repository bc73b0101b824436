/* SPDX-License-Identifier: MIT */
/* cores: quotas of control groups of both versions, in folders that stand for the system's. */
#include "base/cores.h"

#include <ftw.h>
#include <limits.h>

#include "check.h"
#include "scratch.h"

static void quotas(void)
{
	static const struct {
		const char *text;
		unsigned cores; /* 0: no limit */
	} CASES[] = {
		{"max 100000", 0},
		{"-1 100000", 0},
		{"100000 100000", 1},
		{"150000 100000", 2},
		{"200000 100000", 2},
		{"200001 100000", 3},
		{"1 100000", 1},
		{"1000 1000000", 1},
		{"50000 100000\n", 1},
		{"6400000 100000", 64},
		{"0 100000", 0},
		{"100000 0", 0},
		{"", 0},
		{"100000", 0},
		{"100000 ", 0},
		{"100000 x", 0},
		{"x 100000", 0},
		{" 100000 100000", 0},
		{"18446744073709551615 1", UINT_MAX},
		{"99999999999999999999999 1", UINT_MAX},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		unsigned cores = 0;
		const bool limit = cores_of_quota(CASES[i].text, &cores);
		CHECK(limit == (CASES[i].cores != 0) && cores == CASES[i].cores,
		      "'%s' gives %d, %u", CASES[i].text, limit, cores);
	}
}

/* Writes a text to a file, and makes the folders that it is in. */
static void put(const char *path, const char *text)
{
	char folder[256];

	for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(p - path), path);
		(void)mkdir(folder, 0777);
	}
	scratch_write(path, text, strlen(text));
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

struct file {
	const char *path, *text;
};

static const char V2_MOUNTS[] =
	"22 27 0:21 / /proc rw,relatime - proc proc rw\n"
	"31 23 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
static const char V1_MOUNTS[] =
	"31 23 0:27 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
	"32 31 0:28 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n"
	"33 31 0:29 / /cg/cpu,cpuacct rw master:3 - cgroup cgroup rw,cpu,cpuacct\n";

static void groups(void)
{
	static const struct {
		const char *what;
		unsigned cores; /* UINT_MAX: no limit */
		struct file files[8];
	} CASES[] = {
		{"nothing to read", UINT_MAX, {{NULL, NULL}}},
		{"no mounts",
		 UINT_MAX,
		 {{"t/proc/self/cgroup", "0::/a\n"}, {"t/sys/fs/cgroup/a/cpu.max", "1 1\n"}}},
		{"its own group",
		 2,
		 {{"t/proc/self/cgroup", "0::/a/b\n"},
		  {"t/proc/self/mountinfo", V2_MOUNTS},
		  {"t/sys/fs/cgroup/a/cpu.max", "max 100000\n"},
		  {"t/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"}}},
		{"a parent's, which is less",
		 3,
		 {{"t/proc/self/cgroup", "0::/a/b/c\n"},
		  {"t/proc/self/mountinfo", V2_MOUNTS},
		  {"t/sys/fs/cgroup/a/cpu.max", "300000 100000\n"},
		  {"t/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n"}}},
		{"the mounted group's own, as a container sees it",
		 1,
		 {{"t/proc/self/cgroup", "0::/\n"},
		  {"t/proc/self/mountinfo", V2_MOUNTS},
		  {"t/sys/fs/cgroup/cpu.max", "50000 100000\n"}}},
		{"no limit anywhere",
		 UINT_MAX,
		 {{"t/proc/self/cgroup", "0::/a\n"},
		  {"t/proc/self/mountinfo", V2_MOUNTS},
		  {"t/sys/fs/cgroup/a/cpu.max", "max 100000\n"}}},
		{"a group beside it does not count",
		 UINT_MAX,
		 {{"t/proc/self/cgroup", "0::/ab\n"},
		  {"t/proc/self/mountinfo", V2_MOUNTS},
		  {"t/sys/fs/cgroup/a/cpu.max", "100000 100000\n"}}},
		{"a group that is not mounted: the mounted one's",
		 4,
		 {{"t/proc/self/cgroup", "0::/../x\n"},
		  {"t/proc/self/mountinfo", V2_MOUNTS},
		  {"t/sys/fs/cgroup/cpu.max", "400000 100000\n"},
		  {"t/sys/fs/x/cpu.max", "1 1\n"}}},
		{"version 1",
		 5,
		 {{"t/proc/self/cgroup", "3:cpuset:/s\n2:cpu,cpuacct:/a/b\n0::/a/b\n"},
		  {"t/proc/self/mountinfo", V1_MOUNTS},
		  {"t/cg/cpu,cpuacct/a/b/cpu.cfs_quota_us", "450000\n"},
		  {"t/cg/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n"},
		  {"t/cg/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n"},
		  {"t/cg/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"},
		  {"t/cg/cpuset/s/cpu.cfs_quota_us", "100000\n"},
		  {"t/cg/cpuset/s/cpu.cfs_period_us", "100000\n"}}},
		{"version 1 in a container without a namespace of its own",
		 7,
		 {{"t/proc/self/cgroup", "2:cpu,cpuacct:/docker/f00/in\n"},
		  {"t/proc/self/mountinfo",
		   "33 31 0:29 /docker/f00 /cg\\040cpu ro master:3 - cgroup cgroup "
		   "rw,cpuacct,cpu\n"},
		  {"t/cg cpu/cpu.cfs_quota_us", "700000\n"},
		  {"t/cg cpu/cpu.cfs_period_us", "100000\n"},
		  {"t/cg cpu/in/cpu.cfs_quota_us", "900000\n"},
		  {"t/cg cpu/in/cpu.cfs_period_us", "100000\n"}}},
		{"a damaged mountinfo",
		 UINT_MAX,
		 {{"t/proc/self/cgroup", "0::/a\n\n:\n0:\n"},
		  {"t/proc/self/mountinfo",
		   "\n - \n1 2 - cgroup2\n1 2 3 4 5 - cgroup2 x\n - cgroup2 x y\n"},
		  {"t/sys/fs/cgroup/a/cpu.max", "1 1\n"}}},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		for (const struct file *f = CASES[i].files; f < CASES[i].files + 8 && f->path; f++)
			put(f->path, f->text);
		const unsigned cores = cores_limit("t");
		CHECK(cores == CASES[i].cores, "%s: %u", CASES[i].what, cores);
		nftw("t", remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
}

int main(void)
{
	scratch_enter();
	quotas();
	groups();
	CHECK(cores_usable() >= 1, "no core at all");
	scratch_leave();
	return check_report();
}

/* SPDX-License-Identifier: MIT */
/* cores: quotas of control groups, in directories that stand for the system's. */
#include "base/cores.h"

#include <ftw.h>
#include <limits.h>
#include <sys/resource.h>

#include "check.h"
#include "scratch.h"

/* Write a text to a file, and make the directories above it. */
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

static void groups(void)
{
	static const struct {
		const char *what;
		unsigned cores;  /* UINT_MAX: no limit */
		uint64_t memory; /* 0: no limit */
		struct file files[4];
	} CASES[] = {
		{"nothing to read", UINT_MAX, 0, {{NULL, NULL}}},
		{"its own group",
		 2,
		 0,
		 {{"t/proc/self/cgroup", "0::/a/b\n"},
		  {"t/sys/fs/cgroup/a/cpu.max", "max 100000\n"},
		  {"t/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n"}}},
		{"a parent's, which is less",
		 3,
		 0,
		 {{"t/proc/self/cgroup", "0::/a/b/c\n"},
		  {"t/sys/fs/cgroup/a/cpu.max", "300000 100000\n"},
		  {"t/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n"}}},
		{"the mounted group's own, as a container sees it",
		 1,
		 0,
		 {{"t/proc/self/cgroup", "0::/\n"}, {"t/sys/fs/cgroup/cpu.max", "50000 100000\n"}}},
		{"the same without a namespace of its own",
		 7,
		 0,
		 {{"t/proc/self/cgroup", "0::/docker/f00\n"},
		  {"t/sys/fs/cgroup/cpu.max", "700000 100000\n"}}},
		{"no limit anywhere",
		 UINT_MAX,
		 0,
		 {{"t/proc/self/cgroup", "0::/a\n"},
		  {"t/sys/fs/cgroup/a/cpu.max", "max 100000\n"}}},
		{"a group next to it does not count",
		 UINT_MAX,
		 0,
		 {{"t/proc/self/cgroup", "0::/ab\n"},
		  {"t/sys/fs/cgroup/a/cpu.max", "100000 100000\n"}}},
		{"a group that is not mounted: the mounted one's",
		 4,
		 0,
		 {{"t/proc/self/cgroup", "0::/../x\n"},
		  {"t/sys/fs/cgroup/cpu.max", "400000 100000\n"},
		  {"t/sys/fs/x/cpu.max", "1 1\n"}}},
		{"after the lines of version 1",
		 5,
		 0,
		 {{"t/proc/self/cgroup", "2:cpu,cpuacct:/b\n0::/a\n"},
		  {"t/sys/fs/cgroup/a/cpu.max", "450000 100000\n"},
		  {"t/sys/fs/cgroup/b/cpu.max", "1 1\n"}}},
		{"more than there are numbers",
		 UINT_MAX,
		 0,
		 {{"t/proc/self/cgroup", "0::/\n"},
		  {"t/sys/fs/cgroup/cpu.max", "99999999999999999999999 1\n"}}},
		{"no period",
		 UINT_MAX,
		 0,
		 {{"t/proc/self/cgroup", "0::/\n"}, {"t/sys/fs/cgroup/cpu.max", "100000\n"}}},
		{"a period of nothing",
		 UINT_MAX,
		 0,
		 {{"t/proc/self/cgroup", "0::/\n"}, {"t/sys/fs/cgroup/cpu.max", "100000 0\n"}}},
		{"a damaged list of groups",
		 UINT_MAX,
		 0,
		 {{"t/proc/self/cgroup", "\n:\n0:\n0::a\n"}, {"t/sys/fs/cgroup/cpu.max", "1 1\n"}}},
		{"a limit of its own memory, and one above",
		 UINT_MAX,
		 (uint64_t)64 << 20,
		 {{"t/proc/self/cgroup", "0::/a/b\n"},
		  {"t/sys/fs/cgroup/a/memory.max", "67108864\n"},
		  {"t/sys/fs/cgroup/a/b/memory.max", "536870912\n"},
		  {"t/sys/fs/cgroup/memory.max", "max\n"}}},
		{"one that is not read",
		 UINT_MAX,
		 0,
		 {{"t/proc/self/cgroup", "0::/\n"}, {"t/sys/fs/cgroup/memory.max", "much\n"}}},
	};

	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		for (const struct file *f = CASES[i].files; f < CASES[i].files + 4 && f->path; f++)
			put(f->path, f->text);
		const unsigned cores = cores_limit("t");
		const uint64_t memory = memory_limit("t");
		CHECK(cores == CASES[i].cores, "%s: %u", CASES[i].what, cores);
		CHECK(memory == (CASES[i].memory > 0 ? CASES[i].memory : UINT64_MAX), "%s: %llu",
		      CASES[i].what, (unsigned long long)memory);
		nftw("t", remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
}

int main(void)
{
	scratch_enter();
	groups();
	CHECK(cores_usable() >= 1, "no core at all");
	/* A sanitizer has mapped more memory than any limit. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	struct rlimit space;
	CHECK(getrlimit(RLIMIT_AS, &space) == 0, "limits");
	space.rlim_cur = (rlim_t)300 << 20;
	CHECK(setrlimit(RLIMIT_AS, &space) == 0 && memory_usable() <= (uint64_t)300 << 20,
	      "%llu bytes of 300 MiB", (unsigned long long)memory_usable());
#endif
	scratch_leave();
	return check_report();
}

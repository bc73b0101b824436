/* SPDX-License-Identifier: MIT */
/*
 * cores: how many threads this process can keep busy, and how much memory it may use.
 *
 * The threads are the number of cores that it may run on (taskset, cpusets), or less where a
 * control group of its own or one above it limits its share of their time, as containers and
 * systemd's CPUQuota do. The memory is the machine's, or less where a group or ulimit -v limits it.
 * Groups are those of version 2, mounted where systemd and containers have them.
 */
#ifndef GPUHIST_CORES_H
#define GPUHIST_CORES_H

#include <stdint.h>

/* How many cores, at least 1. A limit that cannot be read counts as none. */
unsigned cores_usable(void);

/*
 * How many cores control groups allow, rounded up to whole ones; UINT_MAX if they set no limit.
 * `root` is put before /proc and /sys: "" for the running system; tests have a folder of their own.
 */
unsigned cores_limit(const char *root);

/* How many bytes of memory. A limit that cannot be read counts as none. */
uint64_t memory_usable(void);

/* How many bytes control groups allow; UINT64_MAX if they set no limit. `root`: as above. */
uint64_t memory_limit(const char *root);

#endif

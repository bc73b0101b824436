/* SPDX-License-Identifier: MIT */
/*
 * cores: finds how many threads this process can keep busy, and how much memory it may use.
 *
 * The number of threads is the number of cores that it may run on (taskset, cpusets), or less if
 * its control group or a parent group limits its CPU time, as containers and systemd's CPUQuota do.
 * The memory is the machine's, or less if a group or ulimit -v limits it. Only version 2 groups are
 * supported, mounted at the usual place.
 */
#ifndef GPUHIST_CORES_H
#define GPUHIST_CORES_H

#include <stdint.h>

/* Number of usable cores, at least 1. A limit that cannot be read is ignored. */
unsigned cores_usable(void);

/*
 * Number of cores that control groups allow, rounded up; UINT_MAX if they set no limit. `root` is a
 * prefix for /proc and /sys: "" for the running system; tests have their own directory.
 */
unsigned cores_limit(const char *root);

/* Usable bytes of memory. A limit that cannot be read is ignored. */
uint64_t memory_usable(void);

/* Bytes that control groups allow; UINT64_MAX if they set no limit. `root`: as above. */
uint64_t memory_limit(const char *root);

#endif

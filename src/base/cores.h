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

/* At least 1. What cannot be read sets no limit. */
unsigned cores_usable(void);

/*
 * The limit by control groups alone, rounded up to whole cores; UINT_MAX where there is none.
 * `root` is put before /proc and /sys: "" for the running system; tests have one of their own.
 */
unsigned cores_limit(const char *root);

/* Bytes; what cannot be read sets no limit. */
uint64_t memory_usable(void);

/* The limit by control groups alone, likewise; UINT64_MAX where there is none. */
uint64_t memory_limit(const char *root);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * cores: how many threads this process can keep busy.
 *
 * That is the number of cores that it may run on (taskset, cpusets), or less where a control group
 * of its own or one above it limits its share of their time, as containers and systemd's CPUQuota
 * do. Groups are those of version 2, mounted where systemd and containers have them.
 */
#ifndef GPUHIST_CORES_H
#define GPUHIST_CORES_H

/* At least 1. What cannot be read sets no limit. */
unsigned cores_usable(void);

/*
 * The limit by control groups alone, rounded up to whole cores; UINT_MAX where there is none.
 * `root` is put before /proc and /sys: "" for the running system; tests have one of their own.
 */
unsigned cores_limit(const char *root);

#endif

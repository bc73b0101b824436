/* SPDX-License-Identifier: MIT */
/*
 * cores: how many threads this process can keep busy.
 *
 * That is the number of cores that it may run on (taskset, cpusets), or less where a control group
 * of its own or one above it limits its share of their time, as containers and systemd's CPUQuota
 * do.
 */
#ifndef GPUHIST_CORES_H
#define GPUHIST_CORES_H

#include <stdbool.h>

/* At least 1. What cannot be read sets no limit. */
unsigned cores_usable(void);

/*
 * The limit by control groups alone, rounded up to whole cores; UINT_MAX where there is none.
 * `root` is put before /proc and before the groups' folders: "" for the running system; tests have
 * one of their own.
 */
unsigned cores_limit(const char *root);

/*
 * "150000 100000", a quota and the period to which it applies, gives 2 cores; false where the text
 * sets no limit ("max 100000", "-1 100000") or is of neither form.
 */
bool cores_of_quota(const char *text, unsigned *cores);

#endif

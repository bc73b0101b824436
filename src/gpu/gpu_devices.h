/* SPDX-License-Identifier: MIT */
/*
 * gpu_devices: which devices a helper's driver is to see.
 *
 * A driver starts five times faster when it sees only the device that is wanted, so each helper is shown one, by its
 * environment. What the user's own CUDA_VISIBLE_DEVICES hides stays hidden: our numbers count what it shows.
 */
#ifndef GPUHIST_GPU_DEVICES_H
#define GPUHIST_GPU_DEVICES_H

#include <stddef.h>

/* How many devices a list names: "0,2" two; "all": 0. */
unsigned devices_named(const char *wanted);

/* The number of the nth, from 0, of a list. */
unsigned devices_nth(const char *wanted, unsigned nth);

/*
 * What CUDA_VISIBLE_DEVICES must be to show the device with this number of those that `visible`, its value now or
 * NULL, shows. A number past them gives one that no device has.
 */
void devices_show(char *text, size_t size, const char *visible, unsigned number);

#endif

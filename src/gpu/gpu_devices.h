/* SPDX-License-Identifier: MIT */
/*
 * gpu_devices: which devices a helper's driver is to see.
 *
 * A driver starts five times faster when it sees only the device that is needed, so each helper is
 * shown one, by its environment. Devices that the user hides by CUDA_VISIBLE_DEVICES stay hidden:
 * our numbers count those that it shows.
 */
#ifndef GPUHIST_GPU_DEVICES_H
#define GPUHIST_GPU_DEVICES_H

#include <stddef.h>

/* How many devices a list names: "0,2" names two; for "all" this is 0. */
unsigned devices_named(const char *wanted);

/* The number of the nth device of a list; the first is number 0. */
unsigned devices_nth(const char *wanted, unsigned nth);

/*
 * Makes the value of CUDA_VISIBLE_DEVICES that shows one device: that with this number among those
 * that `visible`, its present value or NULL, shows. For a number past them it shows none.
 */
void devices_show(char *text, size_t size, const char *visible, unsigned number);

#endif

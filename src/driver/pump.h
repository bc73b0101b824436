/* SPDX-License-Identifier: MIT */
/*
 * pump: the helper's loop: what slots were submitted is queued on the device, and answered when it is done.
 *
 * One thread for all slots: a chunk takes five calls of the driver, some 20 microseconds of the 76 that its 4 MiB take
 * on the bus.
 */
#ifndef GPUHIST_PUMP_H
#define GPUHIST_PUMP_H

#include "driver/device.h"

/* Until the process ends. */
void pump(struct device *d) __attribute__((noreturn));

#endif

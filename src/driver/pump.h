/* SPDX-License-Identifier: MIT */
/*
 * pump: the helper's loop: queues what slots were submitted for on the device, and answers when it
 * is done.
 *
 * One thread serves all slots: a chunk takes five calls of the driver, some 20 microseconds of the
 * 76 that its 4 MiB take on the bus.
 */
#ifndef GPUHIST_PUMP_H
#define GPUHIST_PUMP_H

#include "driver/device.h"

/* Runs until the process ends. */
void pump(struct device *d) __attribute__((noreturn));

#endif

/* SPDX-License-Identifier: MIT */
/*
 * helper: the GPU process, which runs the driver. The program starts itself again for it
 * (gpu_link.c).
 *
 * The process has only the region, a socket to its parent and the driver's device files open, and a
 * session of its own, so it affects neither pipelines nor terminals. It exits when the driver
 * fails, and is killed when the thread that started it exits.
 */
#ifndef GPUHIST_HELPER_H
#define GPUHIST_HELPER_H

#include <stdbool.h>

/* Do main's arguments ask for the GPU process? */
bool helper_asked(int argc, char **argv);

/* Run the GPU process. Return an exit status only if a user started it by hand. */
int helper_main(char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * helper: the process that has the driver: this program, started once more by itself (gpu_link.h).
 *
 * It has nothing of the world outside but the region, a socket to the program that started it, and the devices' own
 * files: no standard streams, no working folder, no descriptor that was inherited, a session of its own, so that
 * neither a pipeline nor a terminal has to do with it. It ends when that program does, in whatever way, because a
 * thread of its own waits for the end of the socket and the kernel sends it SIGKILL; or when the driver fails.
 */
#ifndef GPUHIST_HELPER_H
#define GPUHIST_HELPER_H

#include <stdbool.h>

/* Do these arguments of main ask for the helper? */
bool helper_asked(int argc, char **argv);

/* The helper, to its end. Returns an exit status only where a user started it by hand. */
int helper_main(char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * helper: the process that has the driver: this program, started once more by itself (gpu_link.c).
 *
 * It has nothing but the region, a socket to the program that started it, and the device files of
 * the driver; and a session of its own, so that neither a pipeline nor a terminal is affected by
 * it. It ends when the driver fails, or, by SIGKILL, with the thread that started it.
 */
#ifndef GPUHIST_HELPER_H
#define GPUHIST_HELPER_H

#include <stdbool.h>

/* Do the arguments of main ask for the helper? */
bool helper_asked(int argc, char **argv);

/* Runs the helper to its end. Returns an exit status only where a user started it by hand. */
int helper_main(char **argv);

#endif

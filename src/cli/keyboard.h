/* SPDX-License-Identifier: MIT */
/* keyboard: for a user at a keyboard who may not know that the program waits for standard input. */
#ifndef GPUHIST_KEYBOARD_H
#define GPUHIST_KEYBOARD_H

#include "cli/job.h"

/*
 * Called before the run. If an input is standard input and that is a terminal, says what is
 * expected and how it ends (a note: not under -q), and returns 0. If moreover the command line has
 * no words but the command's name (words is 1), prints the help to stderr: -1 and STATUS_USAGE.
 */
int keyboard_check(const struct job *job, int words, struct fail *fail);

#endif

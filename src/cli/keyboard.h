/* SPDX-License-Identifier: MIT */
/* keyboard: a user at a keyboard who may not know that standard input is waited for. */
#ifndef GPUHIST_KEYBOARD_H
#define GPUHIST_KEYBOARD_H

#include "cli/job.h"

/*
 * Before the run. Where an input is standard input and that is a terminal, says what is waited for and how it
 * ends (a note: not under -q), and returns 0. Where moreover nothing at all was asked for, `words` being the
 * command's name alone, prints the help to stderr: -1 and STATUS_USAGE.
 */
int keyboard_check(const struct job *job, int words, struct fail *fail);

#endif

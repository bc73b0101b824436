/* SPDX-License-Identifier: MIT */
/* options_again: the command line of a job, changed: what a hint tells the user to run. */
#ifndef GPUHIST_OPTIONS_AGAIN_H
#define GPUHIST_OPTIONS_AGAIN_H

#include <stddef.h>

#include "cli/job.h"

/*
 * Writes "gpuhist WORDS OPTIONS FILES", quoted for a shell, where the options are the job's without those that say
 * how to bin, and, if `type` is not NULL, without --type. `words`: what is new, which stands first. -1: there is no
 * such line that could be run as it is: it is too long, has control characters, or has effects that a second run would
 * repeat (--into, --tee); *text is then empty. By the main thread: getopt is asked again.
 */
int options_again(char *text, size_t room, const struct job *job, const char *words, const char *type);

#endif

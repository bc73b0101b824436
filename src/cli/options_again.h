/* SPDX-License-Identifier: MIT */
/* options_again: the command line of a job with changes, as a hint tells the user to run it. */
#ifndef GPUHIST_OPTIONS_AGAIN_H
#define GPUHIST_OPTIONS_AGAIN_H

#include <stddef.h>

#include "cli/job.h"

/*
 * Writes "gpuhist WORDS OPTIONS FILES", quoted for a shell. OPTIONS are the job's, without those
 * that say how to bin and, if `type` is not NULL, without --type. `words` are the new ones. -1: no
 * such line could be run as it is, because it is too long, has control characters, or has effects
 * that a second run would repeat (--into, --tee); *text is empty then. Main thread: it calls
 * getopt.
 */
int options_again(char *text, size_t room, const struct job *job, const char *words,
		  const char *type);

#endif

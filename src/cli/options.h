/* SPDX-License-Identifier: MIT */
/* options: turns argv into a job; only options.c and options_complete.c know them. Main thread. */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "base/fail.h"
#include "cli/job.h"

/* -h asks for HELP, --help for LIST. */
enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_LIST, OPTIONS_VERSION, OPTIONS_FAILED };

/*
 * The job borrows argv, which getopt may reorder. OPTIONS_FAILED: *fail says why. The caller always
 * calls options_free.
 */
enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail);

/* Free the job's memory, after all its runs. */
void options_free(struct job *job);

/* Text for -h (one screen), --help (every option) or -V (this build). */
const char *options_text(enum options_result asked);

/*
 * Help a user who may not know that the program waits for standard input. If an input is standard
 * input, and that is a terminal, explain what to type and how to end it; or fail with STATUS_USAGE
 * if the command has no arguments (words is 1).
 */
int options_wait(const struct job *job, int words, struct fail *fail);

#endif

/* SPDX-License-Identifier: MIT */
/* options: argv to a job; only options.c and settle.c know flags. Main thread. */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "base/fail.h"
#include "cli/job.h"

/* -h asks for HELP, --help for LIST. */
enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_LIST, OPTIONS_VERSION, OPTIONS_FAILED };

/*
 * The job borrows argv, which getopt may reorder. OPTIONS_FAILED: *fail says why. The caller calls
 * options_free in any case.
 */
enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail);

/* Frees what the job owns. No run of the job may be left. */
void options_free(struct job *job);

/* The text of -h, one screen; of --help, every option; or of -V, what this build holds. */
const char *options_text(enum options_result asked);

/*
 * For a user at a keyboard who may not know that the program waits for standard input. If an input
 * is standard input, and that is a terminal, says what is expected and how to end it; or fails with
 * STATUS_USAGE if the command line has no word but the command's name (words is 1).
 */
int options_wait(const struct job *job, int words, struct fail *fail);

#endif

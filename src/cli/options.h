/* SPDX-License-Identifier: MIT */
/* options: argv to a job; only the options files know flags. */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "base/fail.h"
#include "cli/job.h"

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_FAILED };

/*
 * The job borrows argv, which getopt may reorder. OPTIONS_FAILED: *fail says why. The caller calls
 * options_free in any case.
 */
enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail);

/* Frees what the job owns. No run of the job may be left. */
void options_free(struct job *job);

#endif

/* SPDX-License-Identifier: MIT */
/* options: argv to a job; the only file that knows flags. */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "base/fail.h"
#include "cli/job.h"

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_FAILED };

/* The job borrows argv, which getopt may reorder. OPTIONS_FAILED: *fail says why. In any case options_free is due. */
enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail);

/* Frees what the job owns. No run of it may be left. */
void options_free(struct job *job);

#endif

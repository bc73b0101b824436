/* options: argv to a job; the only file that knows flags. */
#ifndef GPUHIST_OPTIONS_H
#define GPUHIST_OPTIONS_H

#include "fail.h"
#include "job.h"

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_FAILED };

/* The job borrows argv, which getopt may reorder. OPTIONS_FAILED: *fail says why. */
enum options_result options_parse(struct job *job, int argc, char **argv, struct fail *fail);

extern const char options_help[];
extern const char options_version[];

#endif

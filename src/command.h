/* SPDX-License-Identifier: MIT */
/*
 * command: what a job asks for, from its first file to its last message. On failure *fail says why and nothing is
 * published under the asked name. Main thread.
 */
#ifndef GPUHIST_COMMAND_H
#define GPUHIST_COMMAND_H

#include "base/fail.h"
#include "cli/job.h"

/* Counts samples. Does not return where a GPU was started (run.h). */
void command_count(const struct job *job, struct fail *fail);

/* Adds documents: --merge. */
void command_merge(const struct job *job, struct fail *fail);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * command: carries out a job, from its first file to its last message. On failure *fail says why,
 * and no output has been published under its name. Main thread.
 */
#ifndef GPUHIST_COMMAND_H
#define GPUHIST_COMMAND_H

#include "base/fail.h"
#include "cli/job.h"

/* Count samples. */
void command_count(const struct job *job, struct fail *fail);

/* Write a row of figures for each tensor (--each=tensor). */
void command_tensors(const struct job *job, struct fail *fail);

/* Add documents (--merge). */
void command_merge(const struct job *job, struct fail *fail);

#endif

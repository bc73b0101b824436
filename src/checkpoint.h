/* SPDX-License-Identifier: MIT */
/*
 * checkpoint: implements --each=tensor as a loop of runs. Each tensor in each FILE is a separate
 * run with its own type. A file's header is read to check it, and again before the file's runs,
 * which are told where their samples are. The run of a small tensor starts no thread except the
 * watching one.
 */
#ifndef GPUHIST_CHECKPOINT_H
#define GPUHIST_CHECKPOINT_H

#include "base/fail.h"
#include "cli/job.h"
#include "output/output.h"

/*
 * Check the headers of all FILEs, then count the tensors, writing each row as soon as it is
 * complete. Main thread.
 */
int checkpoint_rows(const struct job *job, struct output *out, struct fail *fail);

#endif

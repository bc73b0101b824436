/* SPDX-License-Identifier: MIT */
/*
 * checkpoint: implements --each=tensor as a loop of runs. Each tensor in each FILE is a separate
 * run with its own type. The headers of all FILEs are checked first; each is read again just before
 * the runs of its file, to tell them where their samples are. The run of a small tensor starts no
 * thread except the watching one.
 */
#ifndef GPUHIST_CHECKPOINT_H
#define GPUHIST_CHECKPOINT_H

#include "base/fail.h"
#include "cli/job.h"
#include "output/output.h"

/*
 * Checks the headers of all FILEs, then counts the tensors, writing each row as soon as it is
 * complete. Main thread.
 */
int checkpoint_rows(const struct job *job, struct output *out, struct fail *fail);

#endif

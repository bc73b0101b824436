/* SPDX-License-Identifier: MIT */
/*
 * checkpoint: --each=tensor: a loop above the run. Each tensor of each FILE is a run of its own, with
 * its own type, that knows where its samples are, so a header is read only once before the runs. A
 * small tensor is a run without a thread but the one that watches.
 */
#ifndef GPUHIST_CHECKPOINT_H
#define GPUHIST_CHECKPOINT_H

#include "base/fail.h"
#include "cli/job.h"
#include "output/output.h"

/*
 * Writes a row for each tensor as soon as it is counted, once the headers of all FILEs were found
 * to be right. Main thread.
 */
int checkpoint_rows(const struct job *job, struct output *out, struct fail *fail);

#endif

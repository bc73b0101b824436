/* SPDX-License-Identifier: MIT */
/* picture: -p, the picture on stderr beside the output. */
#ifndef GPUHIST_PICTURE_H
#define GPUHIST_PICTURE_H

#include "cli/job.h"
#include "hist/hist.h"

/*
 * Draws the picture if -p asks for it, under -q too. Main thread, after the output is published. A
 * picture that cannot be written is the failure of a run that has no other; what was published stays.
 */
void picture_draw(const struct job *job, const struct hist *hist, const struct provenance *from,
		  struct fail *fail);

#endif

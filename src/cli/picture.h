/* SPDX-License-Identifier: MIT */
/* picture: -p, the picture on stderr beside the output. */
#ifndef GPUHIST_PICTURE_H
#define GPUHIST_PICTURE_H

#include "cli/job.h"
#include "hist/hist.h"

/*
 * Draws the picture if -p asks for it, under -q too. Main thread, after the output is published. If
 * stderr cannot be written the picture is lost, as messages are; what was published stays.
 */
void picture_draw(const struct job *job, const struct hist *hist, const struct provenance *from);

#endif

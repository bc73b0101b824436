/* SPDX-License-Identifier: MIT */
/*
 * picture: -p, the picture on stderr beside the output; and the only place that knows terminals and
 * the variables that describe them, so that a writer's same settings give the same bytes.
 */
#ifndef GPUHIST_PICTURE_H
#define GPUHIST_PICTURE_H

#include "cli/job.h"
#include "hist/hist.h"

/*
 * Draws the picture if -p asks for it, under -q too. Main thread, after the output is published. A
 * picture that cannot be written is the failure of a run that has no other; what was published
 * stays.
 */
void picture_draw(const struct job *job, const struct hist *hist, const struct provenance *from,
		  struct fail *fail);

/*
 * Sets everything in the picture but what the user asks for (log). fd -1: it is written to a file.
 * Colour: on a terminal, unless NO_COLOR is not empty or TERM is "dumb". utf8: if the first of
 * LC_ALL, LC_CTYPE and LANG that is not empty names that character set; setlocale would load a
 * whole locale for this.
 */
void picture_settle(struct picture *picture, int fd);

#endif

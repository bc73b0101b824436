/* SPDX-License-Identifier: MIT */
/* picture: -p, the picture on stderr beside the output. */
#ifndef GPUHIST_PICTURE_H
#define GPUHIST_PICTURE_H

#include "cli/job.h"
#include "hist/hist.h"

/*
 * Draws what -p asks for, if it does; -q does not silence what was asked for. By the main thread, when the output is
 * published. A stderr that cannot be written loses the picture as it loses messages: what was published stays so.
 */
void picture_draw(const struct job *job, const struct hist *hist, const struct provenance *from);

#endif

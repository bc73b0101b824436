/* SPDX-License-Identifier: MIT */
/* publish: the finished histogram to its output, in the format and the counters asked for. */
#ifndef GPUHIST_PUBLISH_H
#define GPUHIST_PUBLISH_H

#include <limits.h>

#include "base/fail.h"
#include "hist/hist.h"
#include "output/format.h"
#include "output/output.h"

/*
 * Takes out over. Under -C u32 a count past 2^32-1 publishes nothing: the exact histogram is
 * saved beside a file as NAME.rescue.json, otherwise as gpuhist-PID.rescue.json in the working
 * folder, $TMPDIR or /tmp, and *fail, STATUS_LIMIT, names it. It says where its counts come from too.
 */
int publish(struct output *out, const struct format *format, const struct style *style, const struct hist *hist,
	    const struct provenance *from, struct fail *fail);

/*
 * Saves the exact histogram of a run that could not be added to the file `path`: beside it as FILE.rescue.json, or
 * FILE.2.rescue.json and so on where an earlier one is there, which is kept; else in a folder, as above. name is what
 * it was saved as. -1: nowhere; *fail says why. While no output is open.
 */
int publish_rescue(const char *path, const struct hist *hist, const struct provenance *from, char name[PATH_MAX],
		   struct fail *fail);

#endif

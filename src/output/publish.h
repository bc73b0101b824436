/* SPDX-License-Identifier: MIT */
/*
 * publish: writes the finished histogram to its output, in the format and with the counters asked
 * for.
 */
#ifndef GPUHIST_PUBLISH_H
#define GPUHIST_PUBLISH_H

#include <limits.h>

#include "base/fail.h"
#include "hist/hist.h"
#include "output/format.h"
#include "output/output.h"

/*
 * Closes out in any case. Under -C u32 a count above 2^32-1 publishes nothing: the exact histogram
 * is saved beside a file as NAME.rescue.json, otherwise as gpuhist-PID.rescue.json in the working
 * folder, $TMPDIR or /tmp, and *fail, STATUS_LIMIT, names it. The saved file says where its counts
 * come from, too.
 */
int publish(struct output *out, const struct format *format, const struct style *style,
	    const struct hist *hist, const struct provenance *from, struct fail *fail);

/*
 * Saves the exact histogram of a run that could not be added to the file `path`: beside it as
 * FILE.rescue.json, or as FILE.2.rescue.json and so on if an earlier one exists, which is kept; if
 * that fails, in a folder, as above. name is what it was saved as. -1: it could not be saved; *fail
 * says why. Call it while no output is open.
 */
int publish_rescue(const char *path, const struct hist *hist, const struct provenance *from,
		   char name[PATH_MAX], struct fail *fail);

#endif

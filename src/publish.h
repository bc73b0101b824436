/* publish: the finished histogram to its output, in the format and the counters asked for. */
#ifndef GPUHIST_PUBLISH_H
#define GPUHIST_PUBLISH_H

#include "fail.h"
#include "hist.h"
#include "job.h"
#include "output.h"

/*
 * Takes out over. Under -C u32 a count past 2^32-1 publishes nothing: the exact histogram is
 * saved beside the output as NAME.rescue.json and *fail, STATUS_LIMIT, names it.
 */
int publish(struct output *out, const struct job *job, const struct hist *hist,
	    struct fail *fail);

#endif

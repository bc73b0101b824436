/* report: what a user should know about a finished run, as messages. */
#ifndef GPUHIST_REPORT_H
#define GPUHIST_REPORT_H

#include "hist.h"
#include "job.h"
#include "run.h"

/* Samples out of range, partial records, saturated bins: nothing is dropped in silence. */
void report_warnings(const struct job *job, const struct hist *hist,
		     const struct run_report *run);

/* -v: what was read, how fast, by whom, and what held it up. */
void report_verbose(const struct job *job, const struct run_report *run);

#endif

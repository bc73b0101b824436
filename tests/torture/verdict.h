/* SPDX-License-Identifier: MIT */
/* verdict: did a run do what it should? */
#ifndef TORTURE_VERDICT_H
#define TORTURE_VERDICT_H

#include "process.h"

enum { JOBS_MAX = 64 };

/* What each job publishes and says when nothing fails, from a plain run of the plainest route. */
extern struct bytes expected[JOBS_MAX], said[JOBS_MAX];

/* What standard output gets of a job with --tee. */
extern struct bytes passes[JOBS_MAX];
/* Of jobs that are added to a document: what was counted, on its own. */
extern struct bytes counted[JOBS_MAX];

/* What is wrong with a run, or NULL. */
const char *judge(const struct plan *plan, const struct result *r);

/* May a run have left a temporary file? */
bool may_leave(const struct plan *plan, const struct result *r);

/* Is what was written synced before its name is there, and the name afterwards? */
const char *judge_order(size_t k, const char *log);

#endif

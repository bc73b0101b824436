/* SPDX-License-Identifier: MIT */
/* verdict: both programs do the job; is their output the same? */
#ifndef JOBS_VERDICT_H
#define JOBS_VERDICT_H

#include <stdio.h>

#include "command.h"

struct result {
	int status;           /* as finish() says */
	char out[PATH_BYTES]; /* file with standard output */
	char err[PATH_BYTES]; /* file with standard error */
};

enum { MAX_SLICES = 40 };

/* A job that several runs count, a --part each. */
struct slices {
	struct command *merge; /* what adds them up; their documents are added to its arguments */
	unsigned count;        /* 0: one run counts all */
	const char *folder;    /* for their documents */
};

void run_both(const struct command *gpuhist, const struct command *oracle, const struct input *in,
	      unsigned inputs, const struct slices *slices, struct result *ours,
	      struct result *theirs);

/* Whether the job passed; if not, why not. */
bool judge(const struct job *j, const struct result *ours, const struct result *theirs, FILE *why);

void print_command(const char *who, const struct command *c, const struct input *in,
		   unsigned inputs);
void remove_job(const struct input *in, unsigned inputs, const struct slices *slices,
		const struct result *ours, const struct result *theirs);

#endif

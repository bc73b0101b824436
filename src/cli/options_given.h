/* SPDX-License-Identifier: MIT */
/*
 * options_given: the parsed command line, passed from options.c to options_complete.c, which makes
 * a job of it. Options are identified by their long names.
 */
#ifndef GPUHIST_OPTIONS_GIVEN_H
#define GPUHIST_OPTIONS_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "cli/job.h"

#define THREADS_MAX 4096u

/* The last occurrence of an option. */
struct value {
	bool given;
	const char *text; /* NULL: it has no value */
};

#define OPTIONS_MAX 56

struct given {
	struct fail *fail;
	struct job job;
	struct value values[OPTIONS_MAX]; /* in the order of the table */
	size_t edges;                     /* number of --edges */
	bool pair;      /* --type names complex numbers, so -c is 2 unless given */
	bool ranks;     /* --log=auto */
	uint32_t steps; /* number of bins from the STEP of --range; 0: no STEP */
};

bool given(const struct given *g, const char *name);
const char *given_text(const struct given *g, const char *name); /* NULL: none */

/* Fail with the usage error "--NAME TEXT why"; `why` begins with a verb. Return -1. */
int given_refuse(const char *name, const char *text, const char *why, struct fail *fail);

void given_stats(struct given *g); /* imply --stats */

/*
 * options_complete.c: make a job of the given options, and refuse options that contradict each
 * other. Afterwards only an input's header adds to it (job.h).
 */
int options_complete(struct given *g);

#endif

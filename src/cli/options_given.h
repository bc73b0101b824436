/* SPDX-License-Identifier: MIT */
/*
 * options_given: the command line between options.c, which reads it, and settle.c, which makes a
 * job of it. Options go by the names that the user knows.
 */
#ifndef GPUHIST_OPTIONS_GIVEN_H
#define GPUHIST_OPTIONS_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "bins/number.h"
#include "cli/job.h"

#define THREADS_MAX 4096u

/* An option as it was given the last time. */
struct value {
	bool given;
	const char *text; /* NULL: it has no value */
};

#define OPTIONS_MAX 48

struct given {
	struct fail *fail;
	struct job job;
	struct value values[OPTIONS_MAX]; /* in the order of the table */
	size_t edges;                     /* how many numbers --edges has */
	bool pair;               /* --type names complex numbers, so -c is 2 unless given */
	bool ranks;              /* --log=auto */
	char steps[NUMBER_TEXT]; /* the -b that a STEP of --range stands for; "": there is none */
};

bool given(const struct given *g, const char *name);
const char *given_text(const struct given *g, const char *name); /* NULL: it has none */

/* "--NAME TEXT: why", a usage error; -1. */
int given_refuse(const char *name, const char *text, const char *why, struct fail *fail);

/*
 * settle.c: makes a job of what was given, and refuses what does not fit together. Afterwards only
 * what an input's header says may change it (job.h).
 */
int settle(struct given *g);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * options_given: the command line between options.c, which reads it, and settle.c, which makes a
 * job of it.
 */
#ifndef GPUHIST_OPTIONS_GIVEN_H
#define GPUHIST_OPTIONS_GIVEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "cli/job.h"

#define THREADS_MAX 4096u

/* The rows of the table in options.c, in the order of -h and of the options in documents. */
enum option_row {
	OPT_TYPE,
	OPT_BINS,
	OPT_RANGE,
	OPT_AUTO,
	OPT_LOG,
	OPT_EDGES,
	OPT_MOD,
	OPT_CLAMP,
	OPT_CLOSED,
	OPT_SKIP,
	OPT_COUNT,
	OPT_CHANNELS,
	OPT_RECORD,
	OPT_OFFSET,
	OPT_ROWS,
	OPT_IGNORE_TAIL,
	OPT_PART,
	OPT_RAW,
	OPT_ZSTD,
	OPT_COUNTER,
	OPT_FORMAT,
	OPT_OUTPUT,
	OPT_EVERY,
	OPT_INTO,
	OPT_MERGE,
	OPT_TEE,
	OPT_PLOT,
	OPT_STATS,
	OPT_FLOW,
	OPT_NONZERO,
	OPT_NO_HEADER,
	OPT_DEVICE,
	OPT_THREADS,
	OPT_MEMORY,
	OPT_QUIET,
	OPT_VERBOSE,
	OPT_PROGRESS,
	OPT_NO_PROGRESS,
	OPT_HELP,
	OPT_VERSION,
	OPTIONS
};

struct given {
	struct job *job;
	unsigned at[OPTIONS];      /* its place among the options, the last time; 0: not given */
	const char *text[OPTIONS]; /* its value as it was given, or NULL */
	uint64_t number[OPTIONS];  /* ... where that is a number */
	size_t edges;              /* how many there are */
};

/* "--OPTION TEXT: why", a usage error; -1. */
int given_refuse(enum option_row option, const char *text, const char *why, struct fail *fail);

const char *option_name(enum option_row option);

/* Is it about counting, and of no use to --merge? */
bool option_counts(enum option_row option);

/*
 * settle.c: makes a job of what was given, and refuses what does not fit together. Afterwards only
 * what an input's header says may change it (job.h).
 */
int settle(const struct given *g, struct fail *fail);

#endif

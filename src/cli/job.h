/* SPDX-License-Identifier: MIT */
/* job: the work, validated once by options.c, then const and shared by all threads. */
#ifndef GPUHIST_JOB_H
#define GPUHIST_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/axis.h"
#include "bins/sample.h"
#include "bins/layout.h"
#include "cli/options_layout.h"
#include "input/header.h"
#include "input/source.h"
#include "output/format.h"

enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU };

/* The picture on stderr beside the output. */
enum plot { PLOT_NONE, PLOT_LINEAR, PLOT_LOG };

/* The line on stderr: where stderr is a terminal, always, or only on SIGUSR1. */
enum progress { PROGRESS_TERMINAL, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct job {
	struct source_spec source; /* the inputs, -S, -n, --part, --ignore-tail, --raw; its record is the layout's */
	const char *part_variable; /* --part=auto: what said how many parts there are; NULL: not given */
	struct sample_type type;   /* -t; source.typed: it was given. Else of inputs that do not say what they are */
	struct layout_options layout_options; /* what was asked of the layout ... */
	struct layout layout;                 /* ... and what that makes of it for the type */
	struct axis_spec axis;                /* the bins that were asked for ... */
	const char *bins_text; /* ... the value of --range or --log as it was given, for messages; NULL: none */
	double *edges;         /* --edges, to which axis points; NULL: not given. options_free's */

	enum device device;      /* --device */
	const char *gpus;        /* which, for DEVICE_GPU: "0", "0,2", "all" */
	unsigned threads;        /* workers at most */
	uint64_t memory;         /* -M: bytes to take, the bins aside ... */
	const char *memory_text; /* ... as they were given, for messages */

	const struct format *format; /* -f, or the suffix of the output */
	struct style style;
	const char *output; /* -o, of a part without %K and %N; NULL for standard output */
	char *output_part;  /* ... where it is not the text that was given. options_free's */
	bool output_named;  /* -o was given, be it "-" */
	bool stats;         /* --stats */
	enum plot plot;     /* -p */
	const char *into;   /* --into: the document to add to; NULL: none */
	bool output_none;   /* --into without -o and -f: nothing else is written */
	double every;       /* --every: seconds from one partial output to the next; 0: only the last one */
	bool tee;           /* --tee: the inputs' bytes go to standard output */
	bool merge;         /* --merge: the inputs are documents, not samples ... */
	bool merge_some;    /* ... and of parts of a whole some are enough: --merge=some */
	enum progress progress;
	bool quiet, verbose;

	char *const *words; /* of the command line, without the inputs, as they were given */
	size_t word_count;
	char *options; /* those that decide what is counted and into which bins (options_text.c). options_free's */
};

/*
 * The axis of a job whose type is known. -1: the type cannot have these bins, *fail names the option. By
 * options.c where no input can change the type, else by the run.
 */
int job_axis(struct axis *axis, const struct job *job, struct fail *fail);

/*
 * The layout of a job whose type is known, with what its first input says of itself, or NULL, and what later inputs
 * must say. -1: options and header, or the options, contradict each other.
 */
int job_layout(struct job *job, const struct header *said, struct fail *fail);

#endif

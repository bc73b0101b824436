/* SPDX-License-Identifier: MIT */
/* job: what is to be done, validated once by options.c, then const and shared by all threads. */
#ifndef GPUHIST_JOB_H
#define GPUHIST_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/axis.h"
#include "bins/sample.h"
#include "cli/terminal.h"
#include "count/layout.h"
#include "input/header.h"
#include "input/source.h"
#include "output/format.h"

enum device_asked { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU };

/* When the line of progress is shown: if stderr is a terminal, always, or only after SIGUSR1. */
enum progress { PROGRESS_TERMINAL, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* What is said on stderr beside errors: warnings and notes, nothing, or the lines of -v too. */
enum voice { VOICE_PLAIN, VOICE_QUIET, VOICE_VERBOSE };

/* -c, --record, --offset, --rows and -n as they were given; 0 or NULL: not given. */
struct layout_options {
	uint32_t channels;
	/* -c last: as many as the header says; for an array, the length of its last axis */
	bool last;
	uint32_t record, offset; /* in bytes */
	uint32_t width;          /* samples in a row, all channels together */
	uint32_t pitch;          /* bytes from one row to the next */
	uint64_t limit;          /* -n; UINT64_MAX: not given */
	/* as the user wrote them, for messages */
	const char *record_text, *rows_text, *limit_text;
};

/*
 * What the samples are, how they lie and what they are counted by: from the options, and from what
 * the first input says. A run makes it once, by job_shape.
 */
struct shape {
	/* where samples are in a record; packed samples are laid out as the bytes that hold them */
	struct layout layout;
	uint32_t channels; /* a byte of packed samples may hold several */
	uint32_t record;   /* bytes of a record of the source */
	uint32_t packed;   /* records of -n in a record of the source: a byte may hold several */
	uint64_t samples;  /* samples of all channels in a record of the source */
	uint64_t limit;    /* -n, in records of the source; UINT64_MAX: not given */
	uint64_t row;      /* --each, in source records, or ROW_IS_INPUT; 0: not given */
	uint32_t header_channels; /* channels that later headers must have (struct source_use) */
	uint64_t header_last;     /* length that the last axis of later arrays must have */
	struct axis axis;         /* and the type of the samples; the run frees its edges */
};

/* What of the machine may be used. */
struct machine {
	enum device_asked device; /* --device */
	unsigned gpu;             /* which GPU, by its number among the visible ones */
	unsigned threads;         /* the most workers */
	uint64_t memory;          /* -M: the bytes that may be taken, not counting the bins */
	const char *memory_text;  /* -M as the user wrote it, or "default", for messages */
};

struct job {
	struct source_spec source; /* the inputs, -S, --part, --ignore-tail, --raw */
	struct sample_type type;   /* -t, if source.typed */
	struct layout_options layout_options;
	struct axis_spec bins; /* the bins that were asked for */
	/* the value of --range or --log as the user wrote it, for messages; NULL: none */
	const char *bins_text;
	/* the numbers of --edges, for bins.edges.list; NULL: not given. Freed by options_free */
	double *edges;
	struct machine machine;

	const struct format *format; /* -f, or the suffix of the output */
	struct style style;
	const char *output;         /* -o; NULL for standard output */
	struct quantiles quantiles; /* --stats; n is 0 if it was not given */
	bool plot;                  /* -p: a picture on stderr too */
	enum color color;           /* --color */
	uint64_t each;              /* --each as given: records, or ROW_IS_INPUT; 0: not given */
	const char *each_text;
	const char *into; /* --into: the document to add to; NULL: none */
	bool output_none; /* --into without -o and -f: nothing else is written */
	/* --every: seconds from one partial output to the next; 0: only the last one */
	double every;
	bool tee;    /* --tee: the inputs' bytes are passed on to standard output */
	bool finish; /* --finish: the first INT or TERM ends the inputs, which are streams */
	bool merge;  /* --merge: the inputs are documents, not samples */
	enum progress progress;
	enum voice voice;

	/*
	 * the options that decide what is counted, and its bins, in one order. Freed by
	 * options_free
	 */
	char *options;
};

/*
 * How many FILEs have names that end in another type than -t; none with --raw. Gives the first
 * such *name, and the type that it *says.
 */
size_t job_misnamed(const struct job *job, const char **name, struct sample_type *says);

/* Does the name of a FILE end in a type, or in a word that has two meanings as one? */
bool job_names_type(const struct job *job);

/*
 * Decides the type of the samples, their layout, what later inputs must agree with, and the axis:
 * by the options, else by the header of the first input, else by the FILEs' names. -1: these
 * contradict each other, or the type cannot have these bins. The caller calls edges_free for the
 * axis in any case.
 */
int job_shape(struct shape *shape, const struct job *job, const struct header *said,
	      struct fail *fail);

/* Before an input is opened. -1: no header can make this job one that job_shape takes. */
int job_shape_check(const struct job *job, struct fail *fail);

/* The name of an input that has an end of its own, a file or a disk; NULL: all are streams. */
const char *job_file(const struct job *job);

/* Does --every draw a plot on a terminal, each in place of the one before? */
bool job_draws_in_place(const struct job *job);

/* Is one of the inputs standard input? */
bool job_reads_stdin(const struct job *job);

#endif

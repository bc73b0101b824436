/* SPDX-License-Identifier: MIT */
/* job: what is to be done, validated once by options.c, then const and shared by all threads. */
#ifndef GPUHIST_JOB_H
#define GPUHIST_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/axis.h"
#include "bins/sample.h"
#include "input/header.h"
#include "input/source.h"
#include "output/format.h"

enum device { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU };

/* When the line of progress is shown: if stderr is a terminal, always, or only after SIGUSR1. */
enum progress { PROGRESS_TERMINAL, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* -c, --record, --offset, --rows and -n as they were given; 0 or NULL: not given. */
struct layout_options {
	uint32_t channels;
	/* -c last: as many as the header says; for an array, the length of its last axis */
	bool last;
	uint32_t record, offset; /* in bytes */
	uint32_t width;          /* samples in a row, all channels together */
	uint32_t pitch;          /* bytes from one row to the next */
	uint64_t limit;          /* -n */
	/* for messages */
	const char *record_text, *rows_text, *limit_text;
};

struct job {
	/* the inputs, -S, -n, --part, --ignore-tail, --raw; its record is the layout's */
	struct source_spec source;
	/* --part=auto: the variable that gave the number of parts; NULL: not given */
	const char *part_variable;
	/* -t; source.typed: it was given. Otherwise of inputs that neither header nor name tells */
	struct sample_type type;
	struct layout_options layout_options; /* the options of the layout ... */
	/* ... and the layout that they give for the type; bytes, where samples are packed ... */
	struct layout layout;
	uint32_t channels;     /* ... of which a byte may have several */
	struct axis_spec axis; /* the bins that were asked for ... */
	/* ... the value of --range or --log as it was given, for messages; NULL: none */
	const char *bins_text;
	/* the numbers of --edges, to which axis points; NULL: not given. Freed by options_free */
	double *edges;

	enum device device;      /* --device */
	const char *gpus;        /* for a GPU, which: "0", "0,2", "all" */
	unsigned threads;        /* the most workers */
	uint64_t memory;         /* -M: the bytes that may be taken, without the bins ... */
	const char *memory_text; /* ... as the user wrote it, or "default", for messages */

	const struct format *format; /* -f, or the suffix of the output */
	struct style style;
	const char *output; /* -o, for a part with %K and %N replaced; NULL for standard output */
	char *output_part;  /* ... where it differs from the user's text. Freed by options_free */
	bool stats;         /* --stats ... */
	struct quantiles quantiles; /* ... with these */
	bool plot;                  /* -p: a picture on stderr beside the output */
	const char *into;           /* --into: the document to add to; NULL: none */
	bool output_none;           /* --into without -o and -f: nothing else is written */
	/* --every: seconds from one partial output to the next; 0: only the last one */
	double every;
	bool tee;   /* --tee: the inputs' bytes are passed on to standard output */
	bool merge; /* --merge: the inputs are documents, not samples */
	enum progress progress;
	bool quiet, verbose;

	/*
	 * the options that decide what is counted, and its bins, in one spelling and order. Freed
	 * by options_free
	 */
	char *options;
};

/*
 * Makes the axis of a job whose type is known. -1: the type cannot have these bins, and *fail names
 * the option. Called by options.c if no input can change the type, otherwise by the run.
 */
int job_axis(struct axis *axis, const struct job *job, struct fail *fail);

/*
 * The type that the FILEs' names end in (a.f32, b.u16be.zst, c.s16; of d.cf32 *channels is 2, else
 * 1). 0: no name says one; -1: they say different ones, only some do, or one has two meanings.
 */
int job_named(const struct job *job, struct sample_type *type, uint32_t *channels,
	      struct fail *fail);

/*
 * Sets the type of a job, its layout, and what later inputs must agree with: by the options, else
 * by the header of its first input, or NULL, else by the FILEs' names. -1: these contradict each
 * other.
 */
int job_layout(struct job *job, const struct header *said, struct fail *fail);

/* How many records, as -n counts them, are in one of the source: a byte may hold several. */
uint32_t job_records_packed(const struct job *job);

/* Samples of all channels in a record of the source. No overflow: a bit has one at most. */
uint64_t job_record_samples(const struct job *job);

/* Is one of the inputs standard input? */
bool job_reads_stdin(const struct job *job);

#endif

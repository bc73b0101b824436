/* SPDX-License-Identifier: MIT */
/* job: the task, validated once by options.c, then const and shared by all threads. */
#ifndef GPUHIST_JOB_H
#define GPUHIST_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bins/axis.h"
#include "bins/sample.h"
#include "cli/alarm.h"
#include "cli/terminal.h"
#include "count/keys.h"
#include "count/layout.h"
#include "hist/linearity.h"
#include "format/header.h"
#include "source/source.h"
#include "output/format.h"

enum device_asked { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU };

/* When to show progress: if stderr is a terminal, always, or only after SIGUSR1. */
enum progress { PROGRESS_TERMINAL, PROGRESS_ALWAYS, PROGRESS_NEVER };

/* Output on stderr besides errors: warnings and notes, nothing, or the lines of -v too. */
enum voice { VOICE_PLAIN, VOICE_QUIET, VOICE_VERBOSE };

/* -c, --record, --offset, --rows and -n as given; 0 or NULL: not given. */
struct layout_options {
	uint32_t channels;
	/* -c last: take the number from the header; for an array, the length of its last axis */
	bool last;
	uint32_t record, offset; /* in bytes */
	uint32_t width;          /* samples in a row, over all channels */
	uint32_t pitch;          /* bytes from one row to the next */
	uint64_t limit;          /* -n; UINT64_MAX: not given */
	/* as the user wrote them, for messages */
	const char *record_text, *rows_text, *limit_text;
};

/*
 * Type, layout and axis of the samples, from the options and the first input's header. A run makes
 * it once, with job_shape.
 */
struct shape {
	/* positions of samples in a record; for packed samples, of the bytes that hold them */
	struct layout layout;
	uint32_t channels;        /* a byte of packed samples may hold several */
	uint32_t record;          /* bytes of a record, or that `packed` records share */
	uint32_t packed;          /* records that share bytes; 1: they do not */
	uint64_t samples;         /* samples of all channels in a record */
	uint64_t limit;           /* -n; UINT64_MAX: not given */
	struct key_place by;      /* --by: where a record has its key */
	uint64_t row;             /* --each: records, or ROW_IS_INPUT; 0: not given */
	bool pairs;               /* of channels: I and Q */
	uint32_t header_channels; /* number of channels required of later headers (source_use) */
	uint64_t header_last;     /* length required of the last axis of later arrays */
	struct axis axis;         /* with the sample type; the run frees its edges */
};

/* Resources that a job may use. */
struct machine {
	enum device_asked device; /* --device */
	unsigned gpu;             /* index of the GPU among the visible ones */
	unsigned threads;         /* maximum number of workers */
	uint64_t memory;          /* -M: memory limit in bytes, not counting the bins */
	const char *memory_text;  /* -M as the user wrote it, or "default", for messages */
};

struct document; /* document/document.h */

struct job {
	struct source_spec source; /* the inputs, -S, --part, --ignore-tail, --raw */
	struct sample_type type;   /* -t, if source.typed */
	uint32_t mask;             /* --mask; 0: not given */
	bool pair;                 /* -t names complex numbers */
	bool abs;                  /* --abs */
	const char *missing_text;  /* --missing; NULL: not given */
	struct layout_options layout_options;
	const char *by_text; /* --by as given; NULL: not given */
	/* --by=TYPE@OFFSET; in text the reader makes the records (job_shape) */
	struct key_place by;
	struct axis_spec bins; /* bins that the user asked for */
	/* value of --range or --log as the user wrote it, for messages; NULL: none */
	const char *bins_text;
	/* numbers of --edges, for bins.list; NULL: not given. Freed by options_free */
	double *edges;
	struct machine machine;

	const struct format *format; /* -f, or the suffix of the output */
	struct style style;
	const char *output;         /* -o; NULL for standard output */
	struct quantiles quantiles; /* --stats; n is 0 if neither given nor implied */
	bool tabled;                /* --stats was given, so its table is printed */
	bool titled;                /* --title was given */
	enum waveform linearity;    /* --linearity */
	bool plot;                  /* -p: a picture on stderr too */
	enum color color;           /* --color */
	uint64_t each;              /* --each as given: records, or ROW_IS_INPUT; 0: not given */
	const char *each_text;
	const char *into;    /* --into: document to add to; NULL: none */
	bool output_none;    /* --into without -o and -f: write nothing else */
	const char *compare; /* --compare: document of the reference; NULL: none */
	struct alarms alarms;
	const char *alarm_text; /* --alarm; NULL: not given */
	/*
	 * --compare, else --into: it has the type, bins and channels that nothing else gives; or
	 * NULL
	 */
	const struct document *like;
	const struct hist *reference; /* --compare: once it was read; borrowed */
	/* --every: seconds between partial outputs; 0: none */
	double every;
	bool tee;    /* --tee: copy the inputs to standard output */
	bool finish; /* --finish: the first INT or TERM ends the inputs, which are streams */
	bool merge;  /* --merge: inputs are documents, not samples */
	enum progress progress;
	enum voice voice;

	char *title; /* of pictures, unless one is given; NULL: none. Freed by options_free */
	/* options that select samples and bins, in a fixed order. Freed by options_free */
	char *options;
};

/* The FILEs whose names end in another type than -t. */
struct misnamed {
	size_t count;     /* 0 with --raw */
	const char *name; /* the first one */
	/* the types of -t and of that name; complex types begin with c */
	char typed[20], named[20];
};
struct misnamed job_misnamed(const struct job *job);

/*
 * The first FILE whose name says that it is text (.txt, .csv, .tsv, .log, also before .zst), or
 * NULL; *binary: the first whose name says that it is not, or NULL.
 */
const char *job_names_text(const struct job *job, const char **binary);

/* Does a FILE's name end in a type, or in a word that could be two types? */
bool job_names_type(const struct job *job);

/*
 * Decide the sample type, layout, axis, and the requirements on later inputs, from the options,
 * else the first input's header, else the FILEs' names. -1: these contradict each other, or the
 * bins do not suit the type. The caller always calls edges_free for the axis, even after a failure.
 */
int job_shape(struct shape *shape, const struct job *job, const struct header *said,
	      struct fail *fail);

/* Check the job before an input is opened. -1: job_shape would fail whatever the header says. */
int job_shape_check(const struct job *job, struct fail *fail);

/*
 * Why a GPU cannot count the job's samples, as a sentence for -v and for the refusal of
 * --device=gpu; NULL: it can. The cores then count them. job_shape refuses --device=gpu itself.
 */
const char *gpu_declines(const struct job *job, const struct shape *shape);

/* Name of an input that is a file or a disk, and so has an end; NULL: all are streams. */
const char *job_file(const struct job *job);

/* Are all inputs files, which can be read again? */
bool job_reads_files(const struct job *job);

/* Does --every draw each plot over the previous one on a terminal? */
bool job_draws_in_place(const struct job *job);

/* Does the job draw a picture, as its output or in addition to it? */
bool job_draws(const struct job *job);

/*
 * The name of the keys of --by, in one spelling: u16@2, or a column as given. The caller frees it;
 * NULL: no memory.
 */
char *job_by_name(const struct job *job);

/* Is one of the inputs standard input? */
bool job_reads_stdin(const struct job *job);

#endif

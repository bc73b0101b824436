/* SPDX-License-Identifier: MIT */
/* report: what a user should know about a finished run: messages, and the picture of -p. */
#ifndef GPUHIST_REPORT_H
#define GPUHIST_REPORT_H

#include "cli/job.h"
#include "document/sum.h"
#include "gpu/gpu.h"
#include "hist/hist.h"

/* What a run did, for -v. */
struct run_report {
	uint64_t saturated; /* --each: counts of rows that were clipped */
	struct source_totals totals;
	struct sample_type type; /* of the samples */
	uint32_t record;         /* bytes of a record */
	struct header header;    /* of the first input; its format is NULL where it has none */
	uint64_t records;
	uint32_t packed;  /* records, as -n counts them, in one of these (job.h) */
	uint64_t samples; /* of all channels */
	double seconds;
	unsigned workers;     /* how many found something to count */
	double read_seconds;  /* of all workers together ... */
	double count_seconds; /* ... so the larger one names the bottleneck; of both together ... */
	/* ... this much was work; in the rest a thread slept, or had no core */
	double core_seconds;
	bool kernels;       /* the program contains kernels for a GPU ... */
	bool gpu_fits;      /* ... which may be started: its buffers fit the memory */
	const char *method; /* the way in which they counted */
	const char *isa;
	uint64_t gpu_records; /* of records, counted by the GPU */
	struct gpu_report gpu;
	size_t memory; /* bytes taken for workers and counts */
};

/*
 * -p, under -q too. A picture that cannot be written is the failure of a run that has no other;
 * what was published stays.
 */
void report_picture(const struct job *job, const struct hist *hist, const struct provenance *from,
		    struct fail *fail);

/*
 * Sets everything in the picture but what the user asks for (log, title). fd -1: it is written to a
 * file. Columns: as the terminal has, or as COLUMNS says, or 80.
 * Colour: on a terminal, unless NO_COLOR is not empty or TERM is "dumb". utf8: if the first of
 * LC_ALL, LC_CTYPE and LANG that is not empty names that character set; setlocale would load a
 * whole locale for this. Nothing else knows terminals, so that a writer's same settings give the
 * same bytes.
 */
void picture_for(struct picture *picture, int fd);

/*
 * --stats: a line for each figure, with a column for each channel; as many channels beside each
 * other as the terminal has room for.
 */
void report_stats(const struct hist *hist);

/*
 * Warns about samples out of range, partial records and saturated bins: nothing is dropped in
 * silence.
 */
void report_warnings(const struct job *job, const struct hist *hist, const struct run_report *run);

/* The same for a sum of histograms that were counted before. */
void report_sum(const struct job *job, const struct sum *sum);

/* -v: what the file of --into holds now. */
void report_into(const struct job *job, uint64_t samples, uint64_t inputs);

/* -v: what was read, how fast and by what, and last what limited the speed. */
void report_verbose(const struct job *job, const struct run_report *run);

#endif

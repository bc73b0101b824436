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
	struct header header;    /* of the first input; header.format is NULL if there is none */
	uint64_t records;
	uint32_t packed;  /* records, as -n counts them, in a record of the source (job.h) */
	uint64_t samples; /* of all channels */
	double seconds;
	unsigned workers;     /* how many found something to count */
	double read_seconds;  /* all workers' time in source_take */
	double count_seconds; /* all workers' counting time; if less, reading is the bottleneck */
	/* all workers' time on a core; in the rest of both times a thread slept, or had no core */
	double core_seconds;
	const char *no_gpu; /* why no GPU may be started; NULL: one may */
	const char *method; /* the way in which workers counted */
	const char *isa;
	uint64_t gpu_records; /* how many of the records a GPU counted */
	struct gpu_report gpu;
	size_t memory;        /* bytes taken for workers and counts */
	struct screen screen; /* --every: the picture on the terminal */
};

/*
 * Draws the picture of -p, under -q too. If it cannot be written, a run without another failure
 * fails; what was published stays.
 */
void report_picture(const struct job *job, const struct hist *hist, const struct provenance *from,
		    struct fail *fail);

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

/* Warns about samples out of range and saturated bins of a sum of histograms (--merge). */
void report_sum(const struct job *job, const struct sum *sum);

/* -v: what the file of --into holds now. */
void report_into(const struct job *job, uint64_t samples, uint64_t inputs);

/* -v: what was read, how fast and by what, and last what limited the speed. */
void report_verbose(const struct job *job, const struct run_report *run);

#endif

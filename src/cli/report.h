/* SPDX-License-Identifier: MIT */
/* report: what a user should know about a finished run: messages, and the picture of -p. */
#ifndef GPUHIST_REPORT_H
#define GPUHIST_REPORT_H

#include "cli/job.h"
#include "document/sum.h"
#include "gpu/gpu.h"
#include "hist/hist.h"

/* Totals of all workers. */
struct work_report {
	uint64_t records, gpu_records; /* counted; of these by a GPU */
	unsigned workers;              /* how many found something to count */
	/* times of all workers: in source_take; counting; on a core, else asleep or without one */
	double read_seconds, count_seconds, core_seconds;
};

/* How the work was planned. */
struct plan_report {
	const char *no_gpu; /* why no GPU may be started; NULL: one may */
	const char *method; /* how workers count */
	const char *isa;
	size_t memory; /* bytes for workers and counts */
};

/* What a run did. */
struct run_report {
	struct source_totals totals;
	struct header header;    /* of the first input; header.format is NULL if it has none */
	struct sample_type type; /* of the samples */
	uint32_t record;         /* bytes of a record */
	uint32_t packed;         /* records, as -n counts them, in a record of the source (job.h) */
	uint64_t samples;        /* of all channels */
	uint64_t saturated;      /* --each: counts of rows that were clipped */
	double seconds;
	struct plan_report plan;
	struct work_report work;
	struct gpu_report gpu;
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

/* Warns if some of `samples` samples are in no bin. */
void report_outside(const struct hist_flow *flow, uint64_t samples, const char *advice);

/* Warns about samples out of range and saturated bins of a sum of histograms (--merge). */
void report_sum(const struct job *job, const struct sum *sum);

/* -v: what the file of --into holds now. */
void report_into(const struct job *job, uint64_t samples, uint64_t inputs);

/* -v: what was read, how fast and by what, and last what limited the speed. */
void report_verbose(const struct job *job, const struct run_report *run);

#endif

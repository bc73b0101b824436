/* SPDX-License-Identifier: MIT */
/* report: reports on a finished run: messages, and the picture of -p. */
#ifndef GPUHIST_REPORT_H
#define GPUHIST_REPORT_H

#include "cli/job.h"
#include "document/into.h"
#include "document/sum.h"
#include "gpu/gpu.h"
#include "hist/hist.h"

#define TITLE_TEXT 512

/* Totals of all workers. */
struct work_report {
	uint64_t records, gpu_records; /* records counted, in total and by a GPU */
	unsigned workers;              /* number that found something to count */
	/* sums over workers: time in source_take, time counting, CPU time */
	double read_seconds, count_seconds, core_seconds;
};

/* How the work was planned. */
struct plan_report {
	const char *no_gpu; /* reason for not using a GPU; NULL: one may be started */
	const char *method; /* how workers count */
	const char *isa;
	size_t memory; /* bytes for workers and counts */
};

struct run_report {
	struct style style; /* the job's, with the title of the inputs that are counted */
	char title[TITLE_TEXT];
	struct source_totals totals;
	struct header header;    /* first input's header; header.format is NULL if it has none */
	struct sample_type type; /* sample type */
	uint32_t record;         /* bytes in a source record */
	uint32_t packed;         /* records that share bytes (job.h) */
	uint64_t samples;        /* samples of all channels */
	uint64_t saturated;      /* --each: number of clipped counts in rows */
	double seconds;
	struct plan_report plan;
	struct work_report work;
	struct gpu_report gpu;
	struct screen screen; /* --every: picture on the terminal */
};

/*
 * Draw the picture of -p, even with -q. If it cannot be written, the run fails (unless it already
 * has), but keeps its published output.
 */
void report_picture(const struct job *job, const struct style *asked, const struct hist *hist,
		    const struct provenance *from, struct fail *fail);

/*
 * --stats: print a line per figure with a column per channel, as many side by side as fit on the
 * terminal. With -q, only if the output does not have the figures.
 */
void report_stats(const struct job *job, const struct hist *hist);

/* --compare: print the distances of each channel, or of the farthest if there are many. */
void report_comparison(const struct job *job, const struct hist *hist);

/*
 * --linearity: print the worst DNL and INL of each channel, the error of DNL, the codes that were
 * hit and those that are missing. Warn if fewer than half of the codes were reached.
 */
void report_linearity(const struct hist *hist);

/* Warn about samples out of range, partial records and saturated bins. */
void report_warnings(const struct job *job, const struct hist *hist, const struct run_report *run);

/* Warn if some of `samples` samples are in no bin. */
void report_outside(const struct hist_flow *flow, uint64_t samples, bool real, const char *advice);

/* Warn about samples out of range and saturated bins in a sum of histograms (--merge). */
void report_sum(const struct job *job, const struct sum *sum);

/* Warn if the file of --into has lost statistics; -v: report its contents. */
void report_into(const struct job *job, const struct into_sum *sum);

/* -v: report the inputs, the speed, the devices and, last, the bottleneck. */
void report_verbose(const struct job *job, const struct run_report *run);

#endif

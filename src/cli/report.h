/* report: what a user should know about a finished run, as messages. */
#ifndef GPUHIST_REPORT_H
#define GPUHIST_REPORT_H

#include "cli/job.h"
#include "gpu/gpu.h"
#include "hist/hist.h"

/* What a run did, for -v. */
struct run_report {
	struct source_totals totals;
	struct sample_type type; /* of the samples */
	uint32_t record;         /* bytes of a record */
	struct header header;    /* of the first input; its format is NULL where it has none */
	uint64_t records;
	uint64_t samples; /* of all channels */
	double seconds;
	unsigned workers;     /* that found something to count */
	double read_seconds;  /* of all workers together ... */
	double count_seconds; /* ... so that the larger one names the bottleneck */
	const char *method;   /* how they counted */
	const char *isa;
	uint64_t gpu_records;    /* of records, counted by the GPU ... */
	uint64_t mapped_records; /* ... and of these, straight from mapped files */
	struct gpu_report gpu;
	size_t memory; /* bytes that were taken for workers and counts */
};

/* --stats: a line for each figure of each channel. */
void report_stats(const struct hist *hist);

/* Samples out of range, partial records, saturated bins: nothing is dropped in silence. */
void report_warnings(const struct job *job, const struct hist *hist, const struct run_report *run);

/* The same of a sum of histograms, which were counted before. */
void report_sum(const struct job *job, const struct hist *hist, uint64_t documents);

/* -v: what was read, how fast, by whom, and what held it up. */
void report_verbose(const struct job *job, const struct run_report *run);

#endif

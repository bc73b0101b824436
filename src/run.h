/* run: the workers of a job, from the first to the last record. */
#ifndef GPUHIST_RUN_H
#define GPUHIST_RUN_H

#include "fail.h"
#include "gpu.h"
#include "hist.h"
#include "job.h"

/* What -v tells. */
struct run_report {
	struct source_totals totals;
	uint64_t records;
	double seconds;
	unsigned workers;       /* that found something to count */
	double read_seconds;    /* of all workers together ... */
	double count_seconds;   /* ... so that the larger one names the bottleneck */
	const char *method;     /* how they counted */
	const char *isa;
	uint64_t gpu_records;   /* of records, counted by the GPU ... */
	uint64_t mapped_records; /* ... and of these, straight from mapped files */
	struct gpu_report gpu;
	size_t memory;          /* bytes that were taken for workers and counts */
};

/*
 * Reads all inputs and gives the audited histogram. On failure hist is empty and *fail says
 * why. Returns when every worker has ended.
 */
int run_job(const struct job *job, struct hist *hist, struct run_report *report,
	    struct fail *fail);

#endif

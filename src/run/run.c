/* SPDX-License-Identifier: MIT */
/*
 * run: prepares, counts, makes the histogram, audits it. If the GPU fails and its counts are lost,
 * the run restarts on the CPU.
 */
#include "run/run_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/msg.h"
#include "document/into.h"
#include "each/formats.h"
#include "gpu/gpu_resident.h"
#include "gpu_helper/cuda.h"
#include "hist/compare.h"
#include "hist/series.h"
#include "input/source_open.h"

static int run_once(const struct job *job, struct output *rows, struct hist *hist,
		    struct run_report *report, bool *lost, struct fail *fail);
static int run_reserve(const struct run *run, struct fail *fail);
static int make_hist(struct run *run, struct fail *fail);
static int run_audit(const struct run *run, struct fail *fail);
static void free_run(struct run *run);
static void end_report(struct run *run);

int run_job(const struct job *job, struct output *rows, struct hist *hist,
	    struct run_report *report, struct fail *fail)
{
	const off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	struct job again = *job;
	bool lost = false;
	const int rc = run_once(job, rows, hist, report, &lost, fail);

	if (!lost || job->machine.device == DEVICE_GPU || !job_reads_files(job))
		return rc;
	msg_warning("the GPU failed (%s); counting starts again on the CPU", report->gpu.why);
	if (job_reads_stdin(job))
		(void)lseek(STDIN_FILENO, start, SEEK_SET);
	again.machine.device = DEVICE_CPU;
	*fail = (struct fail){.status = STATUS_OK};
	const int rc_again = run_once(&again, rows, hist, report, &lost, fail);
	report->plan.no_gpu = "it failed";
	return rc_again;
}

/* Set *lost if the run failed because a GPU failed and took its counts with it. */
static int run_once(const struct job *job, struct output *rows, struct hist *hist,
		    struct run_report *report, bool *lost, struct fail *fail)
{
	struct run run = {.job = job, .began = clock_seconds(), .out = rows};

	snapshot_init(&run.snapshot);
	lock_init(&run.team.lock, LOCK_RUN);
	run_start_watch(&run);
	int rc = run_prepare(&run, fail);
	/* Report an unsuitable FILE before the work. */
	if (rc == 0 && job->into)
		rc = into_compare(job->into, &run.hist, fail);
	if (rc == 0)
		rc = run_reference(job, &run.hist, "this run", fail);
	if (rc == 0)
		rc = run_reserve(&run, fail);
	if (rc == 0)
		rc = run_count(&run, fail);
	*lost = rc != 0 && run.work.gpu && gpu_resident_lost(run.work.gpu);
	/* The GPU process takes a while to end: let it do so while the result is made and written. */
	gpu_close(run.work.gpu);
	run.work.gpu = NULL;
	watch_stop(run.watch);
	if (rc == 0)
		rc = make_hist(&run, fail);
	*hist = (struct hist){0};
	if (rc == 0)
		*hist = run.hist;
	else
		hist_free(&run.hist);
	free_run(&run);
	end_report(&run);
	*report = run.report;
	if (report->title[0])
		report->style.canvas.title = report->title;
	return rc;
}

/* Without bins: can --alarm compare figures with these? */
static bool limits_fit(char why[AXIS_WHY], const struct hist *limits, const struct hist *hist)
{
	if (strcmp(limits->axis.type.name, hist->axis.type.name) == 0)
		return series_fit(why, limits, hist);
	snprintf(why, AXIS_WHY, "its samples are %s, not %s", hist->axis.type.name,
		 limits->axis.type.name);
	return false;
}

int run_reference(const struct job *job, const struct hist *hist, const char *what,
		  struct fail *fail)
{
	const uint64_t bytes = job->reference && job_draws(job) ? compare_bytes(hist) : 0;
	const struct hist *const limits = job->alarms.reference;
	char why[AXIS_WHY];

	if (job->reference ? !sum_fits(why, job->reference, hist)
			   : limits && !limits_fit(why, limits, hist))
		return fail_set(fail, STATUS_DATA, "%s cannot be compared with %s: %s", what,
				job->compare, why);
	if (bytes <= job->machine.memory)
		return 0;
	return fail_set(fail, STATUS_LIMIT,
			"the picture needs %llu bytes for the counts of %s, more than -M gives; "
			"-M %lluK is enough",
			(unsigned long long)bytes, job->compare,
			(unsigned long long)(bytes + 1023) / 1024);
}

/* Raw and npy have a size that is known before the work, unless rows come from a stream. */
static int run_reserve(const struct run *run, struct fail *fail)
{
	const struct job *const job = run->job;
	const struct source *const source = run->work.source;
	const uint64_t heads = source_said(source)->begin * job->source.path_count,
		       length = source_length(source), bytes = length > heads ? length - heads : 0,
		       records = layout_records(bytes, run->shape.record, run->shape.packed);
	const uint64_t rows = job->each == 0              ? 1
			      : job->each == ROW_IS_INPUT ? job->source.path_count
							  : records / job->each;
	uint64_t size = (uint64_t)run->shape.channels * axis_bins(&run->shape.axis) *
			COUNTERS[job->style.counter].bytes;

	if (!run->out || job->format->can & CAN_TERMINAL)
		return 0;
	if (__builtin_mul_overflow(size, rows, &size))
		size = UINT64_MAX;
	return output_reserve(
		run->out, size,
		job->each > 0 ? "use fewer bins or longer rows of --each" : "use fewer bins", fail);
}

/* Make the histogram of the totals, and end the rows of --each. */
static int make_hist(struct run *run, struct fail *fail)
{
	struct source *const source = run->work.source;

	if (source_failure(source, fail) != 0)
		return -1;
	if (!source_exhausted(source))
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: the input was left unread; please report this");
	if (run->work.each && each_finish(run->work.each, run->report.work.records, &run->counts,
					  &run->report.saturated, fail) != 0)
		return -1;
	run->report.totals = *source_totals(source);
	run->report.samples = run->report.work.records * run->shape.samples;
	if (run->job->by_text)
		run->hist.channels = run->keys.n;
	hist_fill(&run->hist, &run->counts, &run->book, run->scratch);
	if (run->job->by_text &&
	    hist_set_keys(&run->hist, &run->keys, run->names ? run->names->name : NULL, fail) != 0)
		return -1;
	return run_audit(run, fail);
}

/* Audit: samples must match bytes, and records read must match records counted. */
static int run_audit(const struct run *run, struct fail *fail)
{
	const struct source_totals *t = &run->report.totals;
	const uint64_t records = run->report.work.records;
	const uint64_t bits = (uint64_t)8 * run->shape.record / run->shape.packed;

	if ((t->bytes - t->skipped - t->tail) * 8 != records * bits + t->padding ||
	    run->hist.samples != run->report.samples)
		return fail_set(fail, STATUS_INTERNAL,
				"internal error: %llu bytes were read, %llu samples of %llu "
				"records counted; please report this",
				(unsigned long long)t->bytes, (unsigned long long)run->hist.samples,
				(unsigned long long)records);
	return hist_audit(&run->hist, fail);
}

/* Free all but the histogram. */
static void free_run(struct run *run)
{
	each_close(run->work.each);
	free(run->row.begin);
	counts_free(&run->counts);
	keys_free(&run->keys);
	codebook_free(&run->book);
	free(run->scratch);
	source_close(run->work.source);
	text_keys_free(run->names);
	edges_free(&run->shape.axis.edges);
	lock_destroy(&run->team.lock);
	snapshot_destroy(&run->snapshot);
	free(run->team.workers);
}

static void end_report(struct run *run)
{
	struct run_report *const report = &run->report;

	report->screen = run->partial.screen;
	report->seconds = clock_seconds() - run->began;
	if (run->job->voice == VOICE_VERBOSE && report->gpu.state == GPU_NONE &&
	    !report->plan.no_gpu && !cuda_found())
		report->plan.no_gpu = "no NVIDIA driver found (libcuda.so.1)";
}

struct provenance run_provenance(const struct job *job, const struct source_totals *totals)
{
	const bool slices = job->source.parts > 0;

	return (struct provenance){
		.inputs = totals->inputs,
		.bytes = totals->bytes,
		.skipped = totals->skipped,
		.tail = totals->tail,
		.bad = totals->text.bad,
		.state = totals->slice.state,
		.part = slices ? job->source.part : 1,
		.parts = slices ? job->source.parts : 1,
		.options = job->options,
	};
}

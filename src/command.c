/* SPDX-License-Identifier: MIT */
/* command: count or merge, publish, report. */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/isa.h"
#include "base/signals.h"
#include "cli/msg.h"
#include "cli/report.h"
#include "document/into.h"
#include "document/sum.h"
#include "each/formats.h"
#include "hist/compare.h"
#include "bytes/tee.h"
#include "output/output.h"
#include "output/format.h"
#include "run/run.h"

/* With --tee, also copy the inputs to standard output, to their end even if counting fails. */
static int count(const struct job *asked, struct output *rows, struct hist *hist,
		 struct run_report *report, struct fail *fail)
{
	struct job job = *asked;
	struct fail passing = {.status = STATUS_OK};
	struct tee tee;

	if (!job.tee)
		return run_job(asked, rows, hist, report, fail);
	if (tee_begin(&tee, job.source.paths, job.source.path_count, STDOUT_FILENO, fail) != 0)
		return -1;
	job.source.tee = &tee;
	int rc = run_job(&job, rows, hist, report, fail);
	/* Warn after a second, not at the end: a capture may go on for days after its first bad byte. */
	if (rc != 0 && tee_rest(&tee, 1))
		msg_warning("%s; counting has stopped, but --tee goes on copying", fail->text);
	(void)tee_rest(&tee, 0);
	const int passed = tee_end(&tee, &passing);
	if (passed > 0)
		msg_warning("the reader of standard output exited before all bytes were copied");
	if (passed < 0) {
		/* If --tee ended the run, report its failure; the run has none of its own. */
		*fail = passing;
		hist_free(hist);
		rc = -1;
	}
	return rc;
}

/* Fail the run if a report that an option asked for could not be written. */
static void check_reports(const struct job *job, struct fail *fail)
{
	errno = msg_lost();
	if (errno != 0 && fail->status == STATUS_OK &&
	    (job->tabled || job->compare || job->linearity != WAVE_NONE ||
	     job->voice == VOICE_VERBOSE))
		fail_errno(fail, "standard error");
}

/*
 * Set the message for INT or TERM while inputs are read. It must be true at any moment until then,
 * and mentions --finish only if the user could have given it.
 */
static void set_interrupted(const struct job *job)
{
	const bool as_they_come = job->each > 0 && !output_is_file(job->output);
	char text[128];

	snprintf(text, sizeof(text), "interrupted; %s%s",
		 as_they_come     ? "the remaining rows were not written"
		 : job->every > 0 ? "the final counts were not written"
		 : job->tee       ? "no histogram was written"
				  : "nothing was written",
		 job->merge || job->finish || job_file(job) ? ""
							    : " (--finish keeps what was counted)");
	msg_interrupted(text);
}

static int choose_isa(struct fail *fail)
{
	const char *const isa = getenv("GPUHIST_ISA");

	if (!isa || !*isa || isa_force(isa) == 0)
		return 0;
	return fail_set(fail, STATUS_USAGE,
			"GPUHIST_ISA=%s is not an instruction set of this machine; use base, avx2, "
			"avx512 or vbmi2",
			isa);
}

void command_tensors(const struct job *job, struct fail *fail)
{
	struct output *out;

	if (choose_isa(fail) != 0 || output_open(&out, job->output, fail) != 0)
		return;
	set_interrupted(job);
	const int rc = run_tensors(job, out, fail);
	msg_interrupted(NULL);
	if (rc == 0)
		output_commit_finally(out, fail);
	else
		output_abort(out);
	check_reports(job, fail);
}

/* Read the document of --compare, or else of --into, for job->like. -1: it cannot be used. */
static int read_like(struct job *job, struct document *like, struct fail *fail)
{
	*like = (struct document){.options = NULL};
	if (job->compare) {
		/* Limits such as p99:2x use the reference's quantiles, not its bins. */
		const bool apart = alarms_have(&job->alarms, ALARM_TIMES) &&
				   !alarms_have(&job->alarms, ALARM_KS);
		job->like = like;
		if (document_only(like, job->compare, fail) == 0 &&
		    ((apart && axis_is_blind(&like->hist.axis)) ||
		     compare_refuses(&like->hist, job->compare, fail) == 0) &&
		    alarms_take(&job->alarms, &like->hist, job->compare, fail) == 0) {
			job->reference = apart && job->style.binless       ? NULL
					 : axis_is_blind(&like->hist.axis) ? NULL
									   : &like->hist;
			return 0;
		}
		document_free(like);
		return -1;
	}
	const int there = job->into ? into_read(job->into, like, fail) : 0;
	job->like = there > 0 ? like : NULL;
	return there < 0 ? -1 : 0;
}

/* A finished histogram, and where it goes. */
struct outcome {
	struct hist *hist;
	const struct provenance *from;
	struct style style;
	struct output *out;     /* NULL: no output but --into */
	struct run_report *run; /* NULL: it is a sum */
	const struct sum *sum;  /* NULL: it is a run */
};

/* End a count or a sum: write, report, add to --into's FILE, check --alarm. */
static void finish(const struct job *job, const struct outcome *r, struct fail *fail)
{
	struct hist *const hist = r->hist;
	struct style style = r->style;
	struct fail apart = {.status = STATUS_OK};
	struct into_sum sum;

	/* If empty data cannot be measured or compared, write the output anyway. */
	if (job->linearity != WAVE_NONE)
		(void)linearity_measure(hist, job->linearity, &apart);
	if (job->reference)
		(void)hist_compare(hist, job->reference, job_draws(job), &apart);
	if (apart.status != STATUS_OK && apart.status != STATUS_DATA) {
		output_abort(r->out);
		fail_pass(fail, &apart);
		return;
	}
	if (job_draws_in_place(job))
		screen_begin(&r->run->screen, &style.canvas);
	if (job->each > 0)
		output_commit_finally(r->out, fail);
	else if (r->out)
		publish(r->out, job->format, &style, hist, r->from, fail);
	report_picture(job, &r->style, hist, r->from, fail);
	report_stats(job, hist);
	report_comparison(job, hist);
	report_linearity(hist);
	if (r->run) {
		report_warnings(job, hist, r->run);
		report_verbose(job, r->run);
	} else {
		report_sum(job, r->sum);
	}
	check_reports(job, fail);
	/* Add to FILE last: a failed command must add nothing, as it may be repeated. */
	if (job->into && fail->status == STATUS_OK &&
	    into_add(job->into, hist, job->style.nonzero, r->from, &sum, fail) == 0)
		report_into(job, &sum);
	/* --alarm=empty reports empty data itself, in place of the comparison's complaint. */
	if (apart.status != STATUS_OK &&
	    (hist->samples > 0 || !alarms_have(&job->alarms, ALARM_EMPTY)))
		fail_pass(fail, &apart);
	alarms_raise(&job->alarms, hist, fail);
}

void command_count(const struct job *asked, struct fail *fail)
{
	struct job with_like = *asked;
	const struct job *const job = &with_like;
	struct document like;
	struct output *out = NULL;
	struct hist hist = {.channels = 0};
	struct run_report report = {.gpu.state = GPU_NONE};

	if (choose_isa(fail) != 0)
		return;
	if (job->finish && signals_finish(job_draws_in_place(job) ? -1
					  : isatty(STDERR_FILENO) ? STDERR_FILENO
					  : isatty(STDOUT_FILENO) ? STDOUT_FILENO
								  : -1) != 0) {
		fail_errno(fail, "pipe");
		return;
	}
	/* Report an unwritable output before the work. */
	if ((job->into && into_check(job->into, fail) != 0) ||
	    read_like(&with_like, &like, fail) != 0)
		return;
	if (!job->output_none && output_open(&out, job->output, fail) != 0) {
		document_free(&like);
		return;
	}
	set_interrupted(job);
	const int rc = count(job, out, &hist, &report, fail);
	msg_interrupted(NULL);
	const struct provenance from = run_provenance(job, &report.totals);
	struct outcome result = {&hist, &from, report.style, out, &report, NULL};
	if (rc == 0)
		finish(job, &result, fail);
	else
		output_abort(out);
	hist_free(&hist);
	document_free(&like);
}

/* Apply -b and --stats to a sum. */
static int rework(const struct job *job, struct document *total, struct fail *fail)
{
	const uint32_t bins = job->bins.bins;
	struct hist *const hist = &total->hist;
	const bool stats = job->quantiles.n > 0;

	/* Joined bins may no longer determine the quantiles, so compute them first. */
	if (bins > 0 && stats && hist_set_stats(hist, &job->quantiles, fail) != 0)
		return -1;
	if (bins > 0 && hist_rebin(hist, bins, fail) != 0)
		return -1;
	if (job->style.binless &&
	    (hist_set_stats(hist, &job->quantiles, fail) != 0 || hist_unbin(hist, fail) != 0))
		return -1;
	/* The options of the runs give another number of bins. */
	if (bins > 0 || job->style.binless)
		total->from.options = NULL;
	/* Statistics from bins cannot be computed again once the bins are gone. */
	if ((stats || hist->stats) && !(job->style.binless && hist->from_bins) &&
	    hist_set_stats(hist, &job->quantiles, fail) != 0)
		return -1;
	const char *const why = job->linearity == WAVE_NONE ? NULL
				: hist->what == SERIES_KEYS
					? "cannot be combined with keys"
					: linearity_refuses(&hist->axis, hist->channels);
	if (why)
		return fail_set(fail, STATUS_DATA, "--linearity %s (the type is %s)", why,
				hist->axis.type.name);
	if (format_refuses_sum(job->format, &job->style, hist, fail) != 0)
		return -1;
	return run_reference(job, hist, "the sum", fail);
}

void command_merge(const struct job *asked, struct fail *fail)
{
	struct job with_like = *asked;
	const struct job *const job = &with_like;
	struct document like;
	struct output *out;
	struct sum sum;
	struct outcome result = {&sum.total.hist, &sum.total.from, job->style, NULL, NULL, &sum};
	char title[64];

	if (read_like(&with_like, &like, fail) != 0)
		return;
	if (output_open(&out, job->output, fail) != 0) {
		document_free(&like);
		return;
	}
	set_interrupted(job);
	const int rc = merge_files(&sum, job->source.paths, job->source.path_count, fail);
	msg_interrupted(NULL);
	if (!job->titled && sum.documents > 1)
		result.style.canvas.title = title;
	snprintf(title, sizeof(title), "sum of %llu histograms", (unsigned long long)sum.documents);
	result.out = out;
	if (rc == 0 && rework(job, &sum.total, fail) == 0)
		finish(job, &result, fail);
	else
		output_abort(out);
	sum_free(&sum);
	document_free(&like);
}
